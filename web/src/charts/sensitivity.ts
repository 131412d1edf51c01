// How far the choice stays ahead of the runner-up while one input after another moves within its
// band.

import { difference, plain, unitName } from "../format";
import { say, text } from "../i18n";
import { displayName, type Report } from "../report";
import type { Sensitivity } from "../result";
import { INK, PARTS, WARNING } from "../theme";
import { base, rowAxis, tip, xAxis } from "./axes";
import type { CustomSeriesOption } from "./echarts";
import type { Chart } from "./figure";

const swing = (input: Sensitivity) => Math.abs(input.margin_high_pct - input.margin_low_pct);

const value = (number: number, input: Sensitivity) => {
  const unit = unitName(input.unit);
  return unit === "" ? plain(number) : `${plain(number)} ${unit}`;
};

function spans(inputs: Sensitivity[]): CustomSeriesOption {
  return {
    type: "custom",
    clip: false,
    data: inputs.map((input, i) => [
      i,
      Math.min(input.margin_low_pct, input.margin_high_pct),
      Math.max(input.margin_low_pct, input.margin_high_pct),
      input.margin_likely_pct,
    ]),
    encode: { x: [1, 2, 3], y: 0 },
    tooltip: {
      formatter: (item) => {
        const { dataIndex } = Array.isArray(item) ? item[0]! : item;
        const input = inputs[dataIndex];
        return input ? tipOf(input) : "";
      },
    },
    renderItem: (_, api) => {
      const row = api.value(0) as number;
      const input = inputs[row];
      const [left, y] = api.coord([api.value(1), row]) as [number, number];
      const [right] = api.coord([api.value(2), row]) as [number, number];
      const [likely] = api.coord([api.value(3), row]) as [number, number];
      if (!input) return { type: "group", children: [] };
      const lowIsLeft = input.margin_low_pct <= input.margin_high_pct;
      const bar = (from: number, to: number, low: boolean) => ({
        type: "rect" as const,
        shape: { x: Math.min(from, to), y: y - 8, width: Math.abs(to - from), height: 16 },
        style: { fill: PARTS[low ? 1 : 0] },
      });
      return {
        type: "group",
        children: [
          bar(left, likely, lowIsLeft),
          bar(likely, right, !lowIsLeft),
          {
            type: "line",
            shape: { x1: likely, y1: y - 12, x2: likely, y2: y + 12 },
            style: { stroke: INK, lineWidth: 1.5 },
          },
        ],
      };
    },
  };
}

function tipOf(input: Sensitivity): HTMLElement {
  const rows: [string, string][] = [
    [value(input.low, input), difference(input.margin_low_pct)],
    [value(input.likely, input), difference(input.margin_likely_pct)],
    [value(input.high, input), difference(input.margin_high_pct)],
  ];
  if (input.flip_at !== undefined) {
    const to = input.flip_to === undefined ? "" : displayName(input.flip_to);
    rows.push([
      say(text("choice changes at", "改选于")),
      `${value(input.flip_at, input)}${to && ` → ${to}`}`,
    ]);
  }
  return tip(say(input.name), rows);
}

export function sensitivity(report: Report): Chart | undefined {
  const inputs = [...(report.result.sensitivity ?? [])].sort((a, b) => swing(b) - swing(a));
  if (inputs.length === 0) return undefined;
  const axis = {
    name: say(text("Advantage over the runner-up in cost", "相对次优方案的成本优势")),
    unit: "%",
  };
  return {
    id: "chart-sensitivity",
    title: say(text("How sure the choice is", "结论有多稳")),
    lead: say(
      text(
        "Each bar moves one input between the ends of its band. Left of zero the runner-up wins.",
        "每一条只让一个输入在其区间内变动。越过零线向左，则次优方案胜出。",
      ),
    ),
    legend: [
      { name: say(text("towards the low end of the input", "输入取低端")), colour: PARTS[1] },
      { name: say(text("towards its high end", "输入取高端")), colour: PARTS[0] },
      { name: say(text("the choice changes", "改选")), colour: WARNING, dash: "dashed" },
    ],
    height: inputs.length * 44 + 66,
    wide: true,
    option: (width) => ({
      ...base(),
      xAxis: {
        type: "value",
        ...xAxis(axis),
        splitLine: { show: true, lineStyle: { color: "#e6eaee" } },
      },
      yAxis: {
        ...rowAxis(inputs.map((input) => say(input.name)), width),
        axisLine: { show: false },
      },
      series: [
        spans(inputs),
        {
          type: "line",
          data: [],
          markLine: {
            symbol: "none",
            silent: true,
            label: { show: false },
            lineStyle: { color: WARNING, type: "dashed", width: 1.5 },
            data: [{ xAxis: 0 }],
          },
        },
      ],
    }),
    numbers: {
      head: [
        say(text("Input", "输入")),
        say(text("Low", "低")),
        say(text("Likely", "可能值")),
        say(text("High", "高")),
        say(text("Advantage at low", "低端优势")),
        say(text("at likely", "可能值处")),
        say(text("at high", "高端")),
        say(text("Choice changes at", "改选于")),
      ],
      rows: inputs.map((input) => [
        say(input.name),
        value(input.low, input),
        value(input.likely, input),
        value(input.high, input),
        difference(input.margin_low_pct),
        difference(input.margin_likely_pct),
        difference(input.margin_high_pct),
        input.flip_at === undefined
          ? "–"
          : value(input.flip_at, input) + (input.flip_to ? ` → ${displayName(input.flip_to)}` : ""),
      ]),
    },
  };
}
