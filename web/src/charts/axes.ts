// What the charts have in common: axes that say what and in which unit, tooltips, grids.

import { h } from "../dom";
import { brackets } from "../i18n";
import { FONT, INK, MUTED, RULE } from "../theme";
import { plain } from "../format";
import type { Option } from "./echarts";

export interface Quantity {
  name: string;
  unit: string;
}

/** "Length of the run (days)". */
export function axisName(quantity: Quantity): string {
  return quantity.unit === "" ? quantity.name : quantity.name + brackets(quantity.unit);
}

const TEXT = { fontFamily: FONT, fontSize: 12, color: MUTED };

/** An axis across: its name stands below it. */
export function xAxis(quantity: Quantity) {
  return {
    name: axisName(quantity),
    nameLocation: "middle" as const,
    nameGap: 28,
    nameTextStyle: TEXT,
    axisLabel: { ...TEXT, hideOverlap: true, formatter: plain },
    axisLine: { show: true, lineStyle: { color: MUTED } },
    axisTick: { show: true, lineStyle: { color: MUTED } },
    splitLine: { show: false },
  };
}

/** An axis upwards: its name stands above the drawing (`above`), where it is read without turning. */
export function yAxis() {
  return {
    axisLabel: { ...TEXT, hideOverlap: true, formatter: plain },
    axisLine: { show: false },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: RULE } },
  };
}

/** Pixels that a text of 12 px takes, about: wide characters are twice as wide as others. */
export function textWidth(name: string): number {
  return [...name].reduce((sum, character) => sum + (character > "\u2e7f" ? 12.5 : 7), 0);
}

const rowLimit = (width: number) => Math.min(width * 0.36, 240);

/** What names of rows leave of the width for their bars. */
export function barRoom(names: string[], width: number, right: number): number {
  return width - Math.min(Math.max(...names.map(textWidth)), rowLimit(width)) - right - 16;
}

/** Names of rows, left of horizontal bars, first row on top. */
export function rowAxis(names: string[], width: number) {
  const widest = Math.max(...names.map(textWidth));
  return {
    type: "category" as const,
    data: names,
    inverse: true,
    axisLabel: {
      ...TEXT,
      color: INK,
      width: Math.min(widest, rowLimit(width)),
      overflow: "break" as const,
      interval: 0,
      lineHeight: 15,
    },
    axisLine: { lineStyle: { color: MUTED } },
    axisTick: { show: false },
  };
}

/** Room below for the name of the axis across. */
export const GRID = { left: 4, top: 4, bottom: 30, containLabel: true };

export function base(above?: Quantity): Option {
  return {
    animation: false,
    textStyle: { fontFamily: FONT },
    ...(above && {
      title: {
        text: axisName(above),
        left: 0,
        top: 4,
        padding: 0,
        textStyle: { ...TEXT, fontWeight: "normal" as const },
      },
    }),
    grid: { ...GRID, right: 18, top: above ? 34 : 8 },
    tooltip: {
      confine: true,
      borderColor: RULE,
      padding: [8, 12],
      textStyle: { fontFamily: FONT, fontSize: 13, color: INK },
    },
  };
}

/** What a tooltip says: a heading, and values with their units. */
export function tip(heading: string, rows: [string, string][]): HTMLElement {
  return h(
    "div",
    { class: "tip" },
    h("strong", {}, heading),
    h("dl", {}, ...rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
  );
}
