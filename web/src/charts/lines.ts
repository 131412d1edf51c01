// Lines over a number: load, size, an unknown.

import { number, plain, quantity } from "../format";
import type { TableText } from "../table";
import { type Look, MUTED, WARNING } from "../theme";
import { axisName, base, type Quantity, tip, xAxis, yAxis } from "./axes";
import type { LineSeriesOption } from "./echarts";
import type { Chart } from "./figure";
import { type LegendItem, lineItem } from "./legend";

export interface Line {
  name: string;
  look: Look;
  dash?: "solid" | "dashed" | "dotted";
  /** In the order of x; y is null where there is none. */
  points: [number, number | null][];
  /** A help for the eye and not data. */
  guide?: boolean;
}

export interface Mark {
  at: number;
  name: string;
}

export interface Lines {
  id: string;
  title: string;
  lead?: string;
  lines: Line[];
  x: Quantity;
  y: Quantity;
  logX?: boolean;
  logY?: boolean;
  /** Lines across the drawing: a limit of y, a crossing in x. */
  limit?: Mark;
  crossing?: Mark;
  wide?: boolean;
  /** Instead of what is drawn. */
  numbers?: TableText;
}

function seriesOf(line: Line): LineSeriesOption {
  return {
    type: "line",
    name: line.name,
    data: line.points.map(([x, y]) => [x, y ?? "-"]),
    symbol: line.guide ? "none" : line.look.symbol,
    symbolSize: 7,
    showAllSymbol: true,
    silent: line.guide ?? false,
    itemStyle: { color: line.look.colour },
    lineStyle: {
      color: line.look.colour,
      width: line.guide ? 1 : 2,
      type: line.dash ?? "solid",
    },
  };
}

function marksOf(spec: Lines): LineSeriesOption[] {
  const style = { color: WARNING, type: "dashed" as const, width: 1.5 };
  const marks = [
    ...(spec.limit ? [{ yAxis: spec.limit.at }] : []),
    ...(spec.crossing ? [{ xAxis: spec.crossing.at }] : []),
  ];
  if (marks.length === 0) return [];
  return [
    {
      type: "line",
      data: [],
      markLine: { symbol: "none", silent: true, label: { show: false }, lineStyle: style, data: marks },
    },
  ];
}

/** From the least to the largest: 1, 2 and 5 of every decade, with one step beyond either end. */
function decadeSteps(values: number[]): number[] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const decades = Array.from(
    { length: Math.ceil(Math.log10(most)) - Math.floor(Math.log10(least)) + 1 },
    (_, i) => 10 ** (Math.floor(Math.log10(least)) + i),
  );
  const steps = decades.flatMap((decade) => [decade, 2 * decade, 5 * decade]);
  const first = steps.filter((step) => step <= least).length - 1;
  const last = steps.findIndex((step) => step >= most);
  return steps.slice(Math.max(first, 0), last + 1);
}

/** An axis that has its marks at these values, from the first to the last. */
function atValues<Axis extends ReturnType<typeof yAxis | typeof xAxis>>(axis: Axis, values: number[]) {
  return {
    ...axis,
    min: Math.min(...values),
    max: Math.max(...values),
    axisLabel: { ...axis.axisLabel, customValues: values },
    axisTick: { ...axis.axisTick, customValues: values },
    splitLine: { ...axis.splitLine, customValues: values },
  };
}

function ysOf({ lines: all, limit }: Lines): number[] {
  const ys = all.flatMap((line) => line.points.flatMap(([, y]) => y ?? []));
  return limit ? [...ys, limit.at] : ys;
}

/** All x of all lines, ascending. */
function xsOf(lines: Line[]): number[] {
  const xs = lines.flatMap((line) => line.points.map(([x]) => x));
  return [...new Set(xs)].sort((a, b) => a - b);
}

export function lines(spec: Lines): Chart {
  const data = spec.lines.filter((line) => !line.guide);
  const at = (line: Line, x: number) => line.points.find((point) => point[0] === x)?.[1];
  const items: LegendItem[] = spec.lines.map((line) =>
    line.guide
      ? { name: line.name, colour: MUTED, dash: line.dash ?? "solid" }
      : lineItem(line.name, line.look, line.dash),
  );
  for (const mark of [spec.limit, spec.crossing]) {
    if (mark) items.push({ name: mark.name, colour: WARNING, dash: "dashed" });
  }
  return {
    id: spec.id,
    title: spec.title,
    ...(spec.lead !== undefined && { lead: spec.lead }),
    ...(spec.wide && { wide: true }),
    legend: items,
    height: 320,
    option: () => {
      const common = base(spec.y);
      const across = xAxis(spec.x);
      return {
        ...common,
        tooltip: {
          ...common.tooltip,
          trigger: "item",
          formatter: (item) => {
            const one = Array.isArray(item) ? item[0]! : item;
            const [x, y] = one.value as [number, number];
            return tip(one.seriesName ?? "", [
              [spec.x.name, `${plain(x)}\u00a0${spec.x.unit}`],
              [spec.y.name, quantity(y, spec.y.unit)],
            ]);
          },
        },
        xAxis: spec.logX
          ? { type: "log", ...atValues(across, xsOf(spec.lines)) }
          : { type: "value", scale: true, ...across },
        yAxis: spec.logY
          ? { type: "log", ...atValues(yAxis(), decadeSteps(ysOf(spec))) }
          : { type: "value", min: 0, ...yAxis() },
        series: [...spec.lines.map(seriesOf), ...marksOf(spec)],
      };
    },
    numbers: spec.numbers ?? {
      head: [axisName(spec.x), ...data.map((line) => `${line.name}, ${spec.y.unit}`)],
      rows: xsOf(data).map((x) => [
        plain(x),
        ...data.map((line) => {
          const y = at(line, x);
          return y === null || y === undefined ? "–" : number(y);
        }),
      ]),
    },
  };
}
