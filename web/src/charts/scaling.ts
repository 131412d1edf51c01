// Speed with the number of GPUs.

import { say, text } from "../i18n";
import { displayName, type Report } from "../report";
import { kindLook, KINDS, type Look, MUTED } from "../theme";
import type { Chart } from "./figure";
import { type Line, lines } from "./lines";

/** Series are named after fabrics or designs; others get looks of their own. */
function lookOf(report: Report, name: string, index: number): Look {
  const fabric = report.fabrics.find(({ id }) => id === name);
  if (fabric) return fabric.look;
  const design = report.result.designs?.find((each) => each.name === name);
  return kindLook(design?.fabric ?? KINDS[index % KINDS.length] ?? "tcp", index);
}

/** In proportion to the GPUs, from the best of the smallest size. */
function proportional(gpus: number[], series: Line[]): Line | undefined {
  const first = gpus[0];
  const best = Math.max(...series.map((line) => line.points[0]?.[1] ?? 0));
  if (first === undefined || best <= 0) return undefined;
  return {
    name: say(text("in proportion to the GPUs", "与 GPU 数成正比")),
    look: { colour: MUTED, symbol: "circle" },
    dash: "dotted",
    guide: true,
    points: gpus.map((count) => [count, (best * count) / first]),
  };
}

export function scaling(report: Report): Chart | undefined {
  const { scaling: data } = report.result;
  if (!data || data.gpus.length === 0) return undefined;
  const tokens = data.quantity === "tokens_per_s";
  const series = data.series.map(
    ({ name, values }, index): Line => ({
      name: displayName(name),
      look: lookOf(report, name, index),
      points: data.gpus.map((gpus, i) => [gpus, values[i] ?? null]),
    }),
  );
  const guide = proportional(data.gpus, series);
  return lines({
    id: "chart-scaling",
    title: say(text("Growing the cluster", "集群扩展")),
    lead: say(
      text(
        "The closer a line stays to the dotted one, the less a further GPU loses to the network.",
        "曲线越贴近点线，新增 GPU 被网络损耗的就越少。",
      ),
    ),
    lines: guide ? [...series, guide] : series,
    x: { name: say(text("Size of the cluster", "集群规模")), unit: say(text("GPUs", "GPU 数")) },
    y: tokens
      ? { name: say(text("Training speed", "训练速度")), unit: say(text("tokens/s", "token/秒")) }
      : { name: say(text("Rate sustained", "可持续速率")), unit: say(text("requests/s", "请求/秒")) },
    logX: true,
    logY: true,
  });
}
