// What a training step is spent on.

import { say, same, text } from "../i18n";
import type { Report } from "../report";
import type { Text, Training } from "../result";
import { PARTS } from "../theme";
import { bars } from "./bars";
import type { Chart } from "./figure";

const waiting = (kind: string): Text => text(`waiting for ${kind}`, `等待 ${kind}`);

const STEP_PARTS: [keyof Training["breakdown_s"], Text, number][] = [
  ["compute", text("computing", "计算"), 0],
  ["exposed_tp", waiting("tp"), 1],
  ["exposed_pp", waiting("pp"), 5],
  ["exposed_dp", waiting("dp"), 2],
  ["exposed_ep", waiting("ep"), 6],
  ["exposed_cp", waiting("cp"), 4],
  ["bubble", text("bubble, imbalance", "气泡与阶段不均"), 3],
];

export function breakdown({ fabrics }: Report): Chart | undefined {
  const trained = fabrics.flatMap(({ name, result }) =>
    result.training ? [{ name, parts: result.training.breakdown_s }] : [],
  );
  if (trained.length === 0) return undefined;
  return bars({
    id: "chart-breakdown",
    title: say(text("What a training step is spent on", "训练单步的时间构成")),
    lead: say(
      text(
        "Communication that hides behind computing costs nothing; shown is what the GPUs wait for.",
        "与计算重叠的通信不占时间；图中只显示 GPU 真正等待的部分。",
      ),
    ),
    rows: trained.map(({ name }) => name),
    axis: { name: say(text("Time of a step", "单步时间")), unit: say(same("s")) },
    parts: STEP_PARTS.map(([key, name, colour]) => ({
      name: say(name),
      colour: PARTS[colour] ?? "",
      values: trained.map(({ parts }) => parts[key]),
    })),
  });
}
