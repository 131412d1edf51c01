// The charts, in the order in which a reader asks: what is spent where, what it costs, how it
// grows, how sure it is.

import { assessment } from "../charts/assessment";
import { breakEven } from "../charts/break_even";
import { breakdown } from "../charts/breakdown";
import { clusterPrice, hourlyCost, networkPrice } from "../charts/costs";
import { type Chart, figure } from "../charts/figure";
import { load } from "../charts/load";
import { pareto } from "../charts/pareto";
import { scaling } from "../charts/scaling";
import { sensitivity } from "../charts/sensitivity";
import { tuning } from "../charts/tuning";
import { h } from "../dom";
import { colon, say, text } from "../i18n";
import type { Report } from "../report";
import type { Text } from "../result";
import { section } from "./section";

function drawn(
  id: string,
  title: Text,
  charts: (Chart | undefined)[],
  ...below: (HTMLElement | null)[]
): HTMLElement | undefined {
  const present = charts.flatMap((chart) => chart ?? []);
  const narrow = present.filter((chart) => !chart.wide);
  const last = narrow.at(-1);
  if (last && narrow.length % 2 === 1) last.wide = true; // nothing would stand beside it
  if (present.length === 0) return undefined;
  return section(
    id,
    title,
    h("div", { class: present.length > 1 ? "charts" : "charts single" }, ...present.map(figure)),
    ...below,
  );
}

export const front = (report: Report) =>
  drawn("designs-chart", text("All designs at a glance", "全部设计一览"), [pareto(report)]);

export const performance = (report: Report) =>
  drawn("performance", text("Performance", "性能"), [
    breakdown(report),
    load(report),
    scaling(report),
  ]);

export const money = (report: Report) =>
  drawn("money", text("Where the money goes", "钱花在哪里"), [
    networkPrice(report),
    clusterPrice(report),
    hourlyCost(report),
  ]);

export const robustness = (report: Report) =>
  drawn("robustness", text("What if the inputs are off", "输入有偏差时"), [
    sensitivity(report),
    ...(report.result.break_even ?? []).map(breakEven),
  ]);

export function tuned(report: Report): HTMLElement | undefined {
  const steps = report.result.tuning ?? [];
  return drawn(
    "tuning",
    text("Tuning the RoCE network", "RoCE 网络调优"),
    [tuning(report)],
    h(
      "ol",
      { class: "steps" },
      ...steps.map((step) => h("li", {}, h("strong", {}, step.name), colon("", say(step.text)))),
    ),
  );
}

export function assessed(report: Report): HTMLElement | undefined {
  const axes = report.result.assessment_method ?? [];
  return drawn(
    "assessment",
    text("Assessment", "评估"),
    [assessment(report, axes)],
    h(
      "div",
      { class: "method" },
      h("h3", {}, say(text("How the axes are read", "各轴的算法"))),
      h(
        "dl",
        {},
        ...axes.flatMap(({ name, formula }) => [h("dt", {}, say(name)), h("dd", {}, say(formula))]),
      ),
      h(
        "p",
        { class: "note" },
        say(
          text(
            "The article names the axes and gives no formulas: this reading of them is ours.",
            "原文只列出各维度而未给公式：以上读法由我们给出。",
          ),
        ),
      ),
    ),
  );
}
