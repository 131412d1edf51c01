// All feasible designs, cost against speed, and the front of those that no other beats in both.

import { moneyScale, number, quantity, runUnit } from "../format";
import { say, text } from "../i18n";
import { displayName, type Report } from "../report";
import type { Design, Interval } from "../result";
import { INK, kindLook, KINDS, MUTED } from "../theme";
import { axisName, base, type Quantity, tip, xAxis, yAxis } from "./axes";
import type { CustomSeriesOption, LineSeriesOption, ScatterSeriesOption } from "./echarts";
import type { Chart } from "./figure";

/** What the designs are compared in: how far right is worse, how far up is dearer. */
interface Plane {
  x: Quantity;
  y: Quantity;
  xOf: (design: Design) => number | undefined;
  yOf: (design: Design) => number | undefined;
  band: (design: Design) => Interval | undefined;
}

const runCost = (design: Design) => design.per_run;
const tokenCost = (design: Design) => design.per_million_tokens;

function planeOf(designs: Design[], currency: string): Plane | undefined {
  const days = designs.flatMap((design) => design.days ?? []);
  if (days.length > 0 && designs.some((design) => design.per_run !== undefined)) {
    const { name, days: unit } = runUnit(days);
    const money = moneyScale(Math.max(...designs.map((each) => runCost(each) ?? 0)), currency);
    const scaled = (value?: number) => (value === undefined ? undefined : value / money.divisor);
    return {
      x: { name: say(text("Length of the run", "训练用时")), unit: say(name) },
      y: { name: say(text("Cost of the run", "每次训练成本")), unit: money.unit },
      xOf: (design) => (design.days === undefined ? undefined : design.days / unit),
      yOf: (design) => scaled(design.per_run),
      band: ({ per_run_interval: band }) =>
        band && {
          value: band.value / money.divisor,
          lo: band.lo / money.divisor,
          hi: band.hi / money.divisor,
        },
    };
  }
  const y = { name: say(text("Cost of a million tokens", "每百万 token 成本")), unit: currency };
  const rest = { y, yOf: tokenCost, band: (each: Design) => each.per_million_tokens_interval };
  if (designs.some((design) => design.slo_ms !== undefined)) {
    return {
      ...rest,
      x: { name: say(text("Latency that the SLO bounds", "SLO 约束的延迟")), unit: "ms" },
      xOf: (design) => design.slo_ms,
    };
  }
  if (designs.some((design) => design.slo_qps !== undefined)) {
    return {
      ...rest,
      x: {
        name: say(text("Rate within the SLO", "满足 SLO 的速率")),
        unit: say(text("requests/s", "请求/秒")),
      },
      xOf: (design) => design.slo_qps,
    };
  }
  return undefined;
}

interface Point {
  design: Design;
  x: number;
  y: number;
  band: Interval | undefined;
  /** Of the designs on the front, from 1. */
  number?: number;
}

function pointsOf(designs: Design[], plane: Plane): Point[] {
  const points = designs.flatMap((design): Point[] => {
    const [x, y] = [plane.xOf(design), plane.yOf(design)];
    return x === undefined || y === undefined ? [] : [{ design, x, y, band: plane.band(design) }];
  });
  const front = points.filter(({ design }) => design.pareto).sort((a, b) => a.x - b.x);
  front.forEach((point, i) => (point.number = i + 1));
  return points;
}

/** How far beyond the front a design is still drawn; farther ones would squeeze all others. */
const FRAME = 1.6;

/** Those near the front, and all where there is none. */
function framed(points: Point[]): Point[] {
  const front = points.filter((point) => point.number !== undefined || point.design.chosen);
  if (front.length === 0) return points;
  const x = FRAME * Math.max(...front.map((point) => point.x));
  const y = FRAME * Math.max(...front.map((point) => point.y));
  return points.filter((point) => point.x <= x && point.y <= y);
}

function scatter(points: Point[], plane: Plane): ScatterSeriesOption {
  return {
    type: "scatter",
    z: 4,
    data: points.map(({ design, x, y, number: label }) => {
      const look = kindLook(design.fabric);
      return {
        value: [x, y],
        symbol: look.symbol,
        symbolSize: design.chosen ? 16 : 10,
        itemStyle: {
          color: look.colour,
          opacity: design.pareto || design.chosen ? 1 : 0.5,
          borderColor: design.chosen ? INK : "#ffffff",
          borderWidth: design.chosen ? 2.5 : 1,
        },
        label: {
          show: label !== undefined,
          formatter: String(label),
          position: "left" as const,
          fontWeight: "bold" as const,
          color: INK,
          fontSize: 13,
          textBorderColor: "#ffffff",
          textBorderWidth: 3,
        },
      };
    }),
    tooltip: {
      formatter: (item) => {
        const { dataIndex } = Array.isArray(item) ? item[0]! : item;
        const point = points[dataIndex];
        return point ? tipOf(point, plane) : "";
      },
    },
  };
}

function tipOf({ design, x, y, band }: Point, plane: Plane): HTMLElement {
  const rows: [string, string][] = [
    [plane.x.name, quantity(x, plane.x.unit)],
    [plane.y.name, quantity(y, plane.y.unit)],
  ];
  if (band) {
    rows.push([
      say(text("between", "区间")),
      `${number(band.lo)} – ${quantity(band.hi, plane.y.unit)}`,
    ]);
  }
  return tip(displayName(design.name), rows);
}

function frontLine(points: Point[]): LineSeriesOption {
  const front = points.filter((point) => point.number !== undefined);
  return {
    type: "line",
    silent: true,
    symbol: "none",
    z: 2,
    lineStyle: { color: MUTED, width: 1.5, type: "dashed" },
    data: front.sort((a, b) => a.x - b.x).map(({ x, y }) => [x, y]),
  };
}

/** Bands of the cost, as bars upwards and downwards. */
function bands(points: Point[]): CustomSeriesOption {
  return {
    type: "custom",
    silent: true,
    z: 3,
    data: points.flatMap(({ x, band }) => (band ? [[x, band.lo, band.hi]] : [])),
    encode: { x: 0, y: [1, 2] },
    renderItem: (_, api) => {
      const [x, low] = api.coord([api.value(0), api.value(1)]) as [number, number];
      const [, high] = api.coord([api.value(0), api.value(2)]) as [number, number];
      const style = { stroke: MUTED, lineWidth: 1, opacity: 0.7 };
      const bar = (x1: number, y1: number, x2: number, y2: number) => ({
        type: "line" as const,
        shape: { x1, y1, x2, y2 },
        style,
      });
      return {
        type: "group",
        children: [
          bar(x, low, x, high),
          bar(x - 4, low, x + 4, low),
          bar(x - 4, high, x + 4, high),
        ],
      };
    },
  };
}

function leadOf(beyond: number): string {
  const lead = text(
    "The feasible designs; lower is cheaper. Numbered ones are on the front: no other is better in both. The large outlined one is the choice; bars are bands of the cost.",
    "可行的设计，越低越便宜。带编号者在前沿上：没有别的设计两方面都更好。大而描边者为所选；竖线为成本区间。",
  );
  if (beyond === 0) return say(lead);
  return say(
    text(
      `${lead.en} Far beyond the front and only in the numbers: ${beyond}.`,
      `${lead.zh}另有 ${beyond} 个设计远离前沿，仅列于数据表。`,
    ),
  );
}

export function pareto(report: Report): Chart | undefined {
  const designs = (report.result.designs ?? []).filter((design) => design.feasible);
  const plane = planeOf(designs, report.currency);
  if (!plane) return undefined;
  const all = pointsOf(designs, plane);
  if (all.length === 0) return undefined;
  const points = framed(all);
  const beyond = all.length - points.length;
  const kinds = KINDS.filter((kind) => points.some(({ design }) => design.fabric === kind));
  const common = base(plane.y);
  return {
    id: "chart-pareto",
    title: say(text("Cost against speed", "成本与速度")),
    lead: leadOf(beyond),
    legend: kinds.map((kind) => ({ name: displayName(kind), ...kindLook(kind) })),
    height: 400,
    wide: true,
    option: () => ({
      ...common,
      xAxis: { type: "value", scale: true, ...xAxis(plane.x) },
      yAxis: { type: "value", scale: true, ...yAxis() },
      series: [frontLine(points), bands(points), scatter(points, plane)],
    }),
    numbers: {
      head: [
        say(text("Design", "设计")),
        axisName(plane.x),
        axisName(plane.y),
        say(text("Band", "区间")) + ` (${plane.y.unit})`,
        say(text("Front", "前沿")),
      ],
      rows: [...all]
        .sort((a, b) => (a.number ?? Infinity) - (b.number ?? Infinity) || a.y - b.y)
        .map(({ design, x, y, band, number: label }) => [
          displayName(design.name),
          number(x),
          number(y),
          band ? `${number(band.lo)} – ${number(band.hi)}` : "–",
          label === undefined ? "–" : String(label),
        ]),
    },
  };
}
