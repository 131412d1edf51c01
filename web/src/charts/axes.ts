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
    nameGap: 26,
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

/** Names of rows, left of horizontal bars, first row on top. */
export function rowAxis(names: string[], width: number) {
  return {
    type: "category" as const,
    data: names,
    inverse: true,
    axisLabel: {
      ...TEXT,
      color: INK,
      width: Math.min(width * 0.34, 220),
      overflow: "break" as const,
      interval: 0,
      lineHeight: 15,
    },
    axisLine: { lineStyle: { color: MUTED } },
    axisTick: { show: false },
  };
}

export function base(above?: Quantity): Option {
  return {
    animation: false,
    textStyle: { fontFamily: FONT },
    ...(above && {
      title: {
        text: axisName(above),
        left: 0,
        top: 0,
        padding: 0,
        textStyle: { ...TEXT, fontWeight: "normal" as const },
      },
    }),
    grid: { left: 4, right: 18, top: above ? 30 : 8, bottom: 8, containLabel: true },
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
