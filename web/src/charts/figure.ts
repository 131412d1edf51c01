// A chart on the page: title, legend, drawing, and its numbers as a table for those who cannot see
// it or want to copy them.

import { h } from "../dom";
import { colon, say, text } from "../i18n";
import { table, type TableText } from "../table";
import { legend, type LegendItem } from "./legend";
import { init, type Option } from "./echarts";

export interface Chart {
  /** Names the chart in the page's address and in tests. */
  id: string;
  title: string;
  /** One sentence of what is to be seen and how to read it. */
  lead?: string;
  legend?: LegendItem[];
  height: number;
  /** Takes the whole width of the page where two charts would fit side by side. */
  wide?: boolean;
  option: (width: number) => Option;
  numbers: TableText;
}

/** Content width of an A4 page with the margins of style.css, in CSS pixels. */
const PRINT_WIDTH = 686;

type Draw = (width: number) => void;
const drawings = new Map<Element, Draw>();
const observer =
  typeof ResizeObserver === "undefined"
    ? undefined
    : new ResizeObserver((entries) => {
        for (const { target, contentRect } of entries) {
          if (contentRect.width > 0) drawings.get(target)?.(contentRect.width);
        }
      });

/** Draws all charts as wide as the paper, before it is printed. */
export function drawForPrint(): void {
  for (const draw of drawings.values()) draw(PRINT_WIDTH);
}

export function drawForScreen(): void {
  for (const [element, draw] of drawings) draw(element.clientWidth);
}

/** Before the page is drawn anew. */
export function forgetCharts(): void {
  observer?.disconnect();
  drawings.clear();
}

function described({ title, lead }: Chart): string {
  const numbers = say(text("Its numbers are in the table below.", "数据见下方表格。"));
  return lead === undefined ? colon(title, numbers) : `${colon(title, lead)} ${numbers}`;
}

function plot(chart: Chart): HTMLElement {
  const element = h("div", {
    class: "plot",
    role: "img",
    "aria-label": described(chart),
    style: `height:${chart.height}px`,
  });
  const instance = init(element, null, { renderer: "svg", width: 300, height: chart.height });
  let drawn = 0;
  drawings.set(element, (width) => {
    if (width === drawn) return;
    drawn = width;
    instance.resize({ width, height: chart.height });
    instance.setOption(chart.option(width), { notMerge: true });
  });
  observer?.observe(element);
  return element;
}

export function figure(chart: Chart): HTMLElement {
  return h(
    "figure",
    { class: chart.wide ? "chart wide" : "chart", id: chart.id },
    h("figcaption", {}, h("h3", {}, chart.title), chart.lead ? h("p", {}, chart.lead) : null),
    chart.legend ? legend(chart.legend) : null,
    plot(chart),
    h(
      "details",
      { class: "repeats" },
      h("summary", {}, say(text("Numbers of this chart", "本图数据"))),
      table(chart.numbers),
    ),
  );
}
