// The five axes of the assessment, of the choice and the designs that come closest.

import { number } from "../format";
import { say, text } from "../i18n";
import { displayName, type Report } from "../report";
import type { Assessment, AssessmentAxis, Design } from "../result";
import { FONT, INK, kindLook, LINES, RULE } from "../theme";
import { base, textWidth, tip } from "./axes";
import type { Chart } from "./figure";

const MOST_DESIGNS = 4;

type Assessed = Design & { assessment: Assessment };

/** The choice, then the cheapest of the front: more lines than this are not told apart. */
function shownDesigns(designs: Design[]): Assessed[] {
  const assessed = designs.filter(
    (design): design is Assessed => design.feasible && design.assessment !== undefined,
  );
  const rank = (design: Design) => (design.chosen ? 0 : design.pareto ? 1 : 2);
  return assessed
    .sort((a, b) => rank(a) - rank(b) || (a.per_million_tokens ?? 0) - (b.per_million_tokens ?? 0))
    .slice(0, MOST_DESIGNS);
}

export function assessment(report: Report, axes: AssessmentAxis[]): Chart | undefined {
  const designs = shownDesigns(report.result.designs ?? []);
  if (designs.length === 0 || axes.length === 0) return undefined;
  const looks = designs.map((design, i) => ({
    ...kindLook(design.fabric, i),
    dash: LINES[i % LINES.length]!,
  }));
  const widest = Math.max(...axes.map(({ name }) => textWidth(say(name))));
  return {
    id: "chart-assessment",
    title: say(text("Assessment on five axes", "五维评估")),
    lead: say(
      text(
        "0 to 100 points on each axis, further out is better. Each axis is read by a formula below.",
        "每轴 0 至 100 分，越靠外越好；各轴的公式见下。",
      ),
    ),
    legend: designs.map((design, i) => ({ name: displayName(design.name), ...looks[i]! })),
    height: 320,
    option: (width) => ({
      ...base(),
      radar: {
        center: ["50%", "53%"],
        radius: Math.min(width / 2 - widest - 28, 125),
        indicator: axes.map((axis) => ({ name: say(axis.name), max: 100, min: 0 })),
        axisName: { color: INK, fontFamily: FONT, fontSize: 12 },
        splitNumber: 4,
        splitArea: { show: false },
        splitLine: { lineStyle: { color: RULE } },
        axisLine: { lineStyle: { color: RULE } },
      },
      series: designs.map((design, i) => ({
        type: "radar" as const,
        symbol: looks[i]!.symbol,
        symbolSize: 7,
        lineStyle: { width: 2, color: looks[i]!.colour, type: looks[i]!.dash },
        itemStyle: { color: looks[i]!.colour },
        data: [{ value: axes.map(({ axis }) => design.assessment[axis]) }],
        tooltip: {
          formatter: () =>
            tip(
              displayName(design.name),
              axes.map(({ axis, name }) => [
                say(name),
                `${number(design.assessment[axis])} ${say(text("points", "分"))}`,
              ]),
            ),
        },
      })),
    }),
    numbers: {
      head: [say(text("Design (points)", "设计（分）")), ...axes.map(({ name }) => say(name))],
      rows: designs.map((design) => [
        displayName(design.name),
        ...axes.map(({ axis }) => number(design.assessment[axis])),
      ]),
    },
  };
}
