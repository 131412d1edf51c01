// What is left of a GPU's speed as the cluster grows. Drawn per GPU: of the totals, which span
// decades, all lines look alike.

import { number, whole } from "../format";
import { say, text } from "../i18n";
import { displayName, type Report } from "../report";
import type { Scaling } from "../result";
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

/** The most that a GPU does in the smallest cluster. */
function bestPerGpu({ gpus, series }: Scaling): number {
  const first = gpus[0] ?? 1;
  return Math.max(...series.map(({ values }) => (values[0] ?? 0) / first));
}

export function scaling(report: Report): Chart | undefined {
  const { scaling: data } = report.result;
  if (!data || data.gpus.length === 0 || bestPerGpu(data) <= 0) return undefined;
  const best = bestPerGpu(data);
  const share = (value: number | null | undefined, gpus: number) =>
    value === null || value === undefined ? null : (100 * value) / gpus / best;
  const series = data.series.map(
    ({ name, values }, index): Line => ({
      name: displayName(name),
      look: lookOf(report, name, index),
      points: data.gpus.map((gpus, i) => [gpus, share(values[i], gpus)]),
    }),
  );
  const guide: Line = {
    name: say(text("nothing lost to growth", "扩展无损耗")),
    look: { colour: MUTED, symbol: "circle" },
    dash: "dotted",
    guide: true,
    points: data.gpus.map((gpus) => [gpus, 100]),
  };
  const unit =
    data.quantity === "tokens_per_s"
      ? say(text("tokens/s", "token/秒"))
      : say(text("requests/s", "请求/秒"));
  const size = { name: say(text("Size of the cluster", "集群规模")), unit: say(text("GPUs", "GPU 数")) };
  return lines({
    id: "chart-scaling",
    title: say(text("Growing the cluster", "集群扩展")),
    lead: say(
      text(
        "What a GPU does in a larger cluster, against the best in the smallest. A line ends where the design cannot be built.",
        "更大集群中单卡的速度，以最小集群中的最佳者为 100%；曲线止于无法建成的规模。",
      ),
    ),
    lines: [...series, guide],
    x: size,
    y: { name: say(text("Speed of a GPU", "单卡速度")), unit: "%" },
    logX: true,
    numbers: {
      head: [
        `${size.name} (${size.unit})`,
        ...data.series.map(({ name }) => `${displayName(name)} (${unit})`),
      ],
      rows: data.gpus.map((gpus, i) => [
        whole(gpus),
        ...data.series.map(({ values }) => {
          const value = values[i];
          return value === null || value === undefined ? "–" : number(value);
        }),
      ]),
    },
  });
}
