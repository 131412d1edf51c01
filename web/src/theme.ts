// Colours, and what stands beside them for eyes that do not tell them apart: every fabric has a
// marker and a line of its own too. All have a contrast of at least 4.5 on white.

import type { FabricKind } from "./result";

export const INK = "#1c2733";
export const MUTED = "#566270";
export const RULE = "#d7dde3";
export const FAINT = "#eef1f4";
export const WARNING = "#b0103a";

export const FONT =
  '"Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", "PingFang SC", "Microsoft YaHei", ' +
  '"Noto Sans CJK SC", "Source Han Sans SC", sans-serif';

/** Shades of each kind, for several fabrics of one kind. */
const SHADES: Record<FabricKind, string[]> = {
  infiniband: ["#17725f", "#0b463a", "#3f7f2f", "#5d7416"],
  "roce-v2": ["#2a5db0", "#143468", "#5a54c4", "#1d7391"],
  tcp: ["#a85b1d", "#6f3a0f", "#94600a", "#8a4b3a"],
  "roce-v1": ["#84479c", "#552a66", "#a13f83", "#6a5a8c"],
};

const SYMBOLS = ["circle", "rect", "triangle", "diamond"] as const;
export type Symbol = (typeof SYMBOLS)[number];

export const LINES = ["solid", "dashed", "dotted"] as const;

export interface Look {
  colour: string;
  symbol: Symbol;
}

export const KINDS: FabricKind[] = ["infiniband", "roce-v2", "tcp", "roce-v1"];

export function kindLook(kind: FabricKind, shade = 0): Look {
  const shades = SHADES[kind];
  return {
    colour: shades[shade % shades.length] ?? INK,
    symbol: SYMBOLS[KINDS.indexOf(kind)] ?? "circle",
  };
}

/** Looks of fabrics by name, in their order; those of one kind are shades of its colour. */
export function looksOf(fabrics: [string, FabricKind][]): Map<string, Look> {
  const seen = new Map<FabricKind, number>();
  return new Map(
    fabrics.map(([name, kind]) => {
      const shade = seen.get(kind) ?? 0;
      seen.set(kind, shade + 1);
      return [name, kindLook(kind, shade)];
    }),
  );
}

/** Parts of a whole, dark beside light so that neighbours differ without colour. */
export const PARTS = ["#27476b", "#8fb3d9", "#b5762b", "#e6cf9f", "#5b7f6a", "#c3d6c5", "#7b5a86"] as const;
