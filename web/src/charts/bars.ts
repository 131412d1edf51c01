// Horizontal bars, made of parts that sum up.

import { number, quantity } from "../format";
import { say, text } from "../i18n";
import { INK, PARTS } from "../theme";
import { axisName, barRoom, base, GRID, type Quantity, rowAxis, tip, xAxis } from "./axes";
import type { BarSeriesOption } from "./echarts";
import type { Chart } from "./figure";

export interface Part {
  name: string;
  /** One per row, in the unit of the axis. */
  values: number[];
  colour?: string;
}

export interface Bars {
  id: string;
  title: string;
  lead?: string;
  rows: string[];
  /** Parts that are zero everywhere are left out. */
  parts: Part[];
  axis: Quantity;
}

const ROW_HEIGHT = 46;

/** Room for the sums. */
const RIGHT = 64;

/** Light parts get dark numbers. */
function ink(colour: string): string {
  const channel = (at: number) => parseInt(colour.slice(at, at + 2), 16);
  return 0.3 * channel(1) + 0.59 * channel(3) + 0.11 * channel(5) > 150 ? INK : "#ffffff";
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

export function bars(spec: Bars): Chart {
  const parts = spec.parts
    .filter((part) => part.values.some((value) => value > 0))
    .map((part, i) => ({ ...part, colour: part.colour ?? PARTS[i % PARTS.length] ?? INK }));
  const totals = spec.rows.map((_, i) => sum(parts.map((part) => part.values[i] ?? 0)));
  const longest = Math.max(...totals);
  const total = say(text("in all", "合计"));
  return {
    id: spec.id,
    title: spec.title,
    ...(spec.lead !== undefined && { lead: spec.lead }),
    legend: parts.map(({ name, colour }) => ({ name, colour })),
    height: spec.rows.length * ROW_HEIGHT + 66,
    option: (width) => ({
      ...base(),
      grid: { ...GRID, right: RIGHT },
      xAxis: { type: "value", ...xAxis(spec.axis) },
      yAxis: rowAxis(spec.rows, width),
      series: [...parts.map((part): BarSeriesOption => ({
        type: "bar",
        stack: "all",
        barWidth: 26,
        name: part.name,
        itemStyle: { color: part.colour, borderColor: "#ffffff", borderWidth: 1 },
        tooltip: {
          formatter: (item) => {
            const { dataIndex: i } = Array.isArray(item) ? item[0]! : item;
            return tip(spec.rows[i] ?? "", [
              ...parts.map((each): [string, string] => [
                each.name,
                quantity(each.values[i] ?? 0, spec.axis.unit),
              ]),
              [total, quantity(totals[i] ?? 0, spec.axis.unit)],
            ]);
          },
        },
        data: part.values.map((value, i) => ({
          value,
          label: {
            // A number only where it fits into its part.
            show: (value / longest) * barRoom(spec.rows, width, RIGHT) > 40,
            color: ink(part.colour),
            fontSize: 11,
            formatter: () => number(part.values[i] ?? 0),
          },
        })),
      })),
      {
        // No length: carries the sum at the end of the bar.
        type: "bar",
        stack: "all",
        silent: true,
        data: totals.map(() => 0),
        label: {
          show: true,
          position: "right",
          color: INK,
          fontWeight: "bold",
          formatter: ({ dataIndex }) => number(totals[dataIndex] ?? 0),
        },
      }],
    }),
    numbers: {
      head: [axisName(spec.axis), ...parts.map((part) => part.name), total],
      rows: spec.rows.map((name, i) => [
        name,
        ...parts.map((part) => number(part.values[i] ?? 0)),
        number(totals[i] ?? 0),
      ]),
    },
  };
}
