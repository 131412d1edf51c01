// What each step of tuning a RoCE network brings.

import { difference, number, quantity, runUnit } from "../format";
import { say, text } from "../i18n";
import type { Report } from "../report";
import type { TuningStep } from "../result";
import { INK, kindLook } from "../theme";
import { base, GRID, type Quantity, rowAxis, tip, xAxis } from "./axes";
import type { Chart } from "./figure";

interface Measure {
  axis: Quantity;
  of: (step: TuningStep) => number;
}

function measureOf(steps: TuningStep[]): Measure {
  const days = steps.flatMap((step) => step.days ?? []);
  if (days.length === steps.length) {
    const unit = runUnit(days);
    return {
      axis: { name: say(text("Length of the run", "训练用时")), unit: say(unit.name) },
      of: (step) => (step.days ?? 0) / unit.days,
    };
  }
  if (steps.every((step) => step.slo_ms !== undefined)) {
    return {
      axis: { name: say(text("Latency that the SLO bounds", "SLO 约束的延迟")), unit: "ms" },
      of: (step) => step.slo_ms ?? 0,
    };
  }
  return {
    axis: { name: say(text("Change against the step before", "相对上一步的变化")), unit: "%" },
    of: (step) => step.gain_pct,
  };
}

export function tuning(report: Report): Chart | undefined {
  const { tuning: steps } = report.result;
  if (!steps || steps.length === 0) return undefined;
  const { axis, of } = measureOf(steps);
  const { colour } = kindLook("roce-v2");
  const names = steps.map((step) => step.name);
  const label = (step: TuningStep, first: boolean) =>
    first || axis.unit === "%" ? number(of(step)) : `${number(of(step))}  (${difference(step.gain_pct)})`;
  return {
    id: "chart-tuning",
    title: say(text("What tuning brings", "调优带来什么")),
    lead: say(
      text(
        "Each step adds to those above it; in brackets the change against the step before.",
        "每一步都叠加在上一步之上；括号内为相对上一步的变化。",
      ),
    ),
    height: steps.length * 40 + 66,
    option: (width) => ({
      ...base(),
      grid: { ...GRID, right: 116 },
      xAxis: { type: "value", ...xAxis(axis) },
      yAxis: rowAxis(names, width),
      series: [
        {
          type: "bar",
          barWidth: 20,
          itemStyle: { color: colour },
          data: steps.map((step, i) => ({
            value: of(step),
            label: {
              show: true,
              position: "right" as const,
              color: INK,
              formatter: label(step, i === 0),
            },
          })),
          tooltip: {
            formatter: (item) => {
              const { dataIndex } = Array.isArray(item) ? item[0]! : item;
              const step = steps[dataIndex];
              if (!step) return "";
              return tip(step.name, [
                [axis.name, quantity(of(step), axis.unit)],
                [say(text("against the step before", "相对上一步")), difference(step.gain_pct)],
              ]);
            },
          },
        },
      ],
    }),
    numbers: {
      head: [
        say(text("Step", "步骤")),
        `${axis.name} (${axis.unit})`,
        say(text("Change", "变化")),
        ...(steps.some((step) => step.per_million_tokens !== undefined)
          ? [say(text("Per million tokens", "每百万 token")) + ` (${report.currency})`]
          : []),
        ...(steps.some((step) => step.jitter_pct !== undefined)
          ? [say(text("Jitter", "抖动")) + " (%)"]
          : []),
      ],
      rows: steps.map((step, i) => [
        step.name,
        number(of(step)),
        i === 0 ? "–" : difference(step.gain_pct),
        ...(step.per_million_tokens !== undefined ? [number(step.per_million_tokens)] : []),
        ...(step.jitter_pct !== undefined ? [number(step.jitter_pct)] : []),
      ]),
    },
  };
}
