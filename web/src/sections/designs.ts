// Every design that was looked at: the feasible ones by cost, the others with what rules them out.

import { type Child, h } from "../dom";
import { band, number, plain, runUnit, whole } from "../format";
import { say, text } from "../i18n";
import { displayName, type Report } from "../report";
import type { Design, Interval } from "../result";
import { type Column, headRow, row, scrolling } from "../table";
import { section } from "./section";

interface Field {
  column: Column;
  of: (design: Design) => Child;
  present: (design: Design) => boolean;
}

function value(amount: number | undefined, interval?: Interval): Child {
  if (amount === undefined) return "–";
  if (!interval) return number(amount);
  return h("span", {}, number(amount), h("span", { class: "band" }, band(interval)));
}

function fields(designs: Design[], currency: string): Field[] {
  const unit = runUnit(designs.flatMap((design) => design.days ?? []));
  const numeric = (
    name: string,
    of: (design: Design) => number | undefined,
    interval?: (design: Design) => Interval | undefined,
  ): Field => ({
    column: { name, numeric: true },
    of: (design) => value(of(design), interval?.(design)),
    present: (design) => of(design) !== undefined,
  });
  const perSecond = say(text("requests/s", "请求/秒"));
  const all: Field[] = [
    {
      column: { name: say(text("Switches", "交换机")), numeric: true },
      of: (design) => whole(design.switches),
      present: () => true,
    },
    numeric(
      say(text("Network", "网络")) + ` (${currency})`,
      (design) => design.network_capex,
      (design) => design.network_capex_interval,
    ),
    numeric(
      say(text("Length of the run", "训练用时")) + ` (${say(unit.name)})`,
      ({ days }) => days && days / unit.days,
    ),
    numeric(say(text("Latency of the SLO", "SLO 延迟")) + " (ms)", (design) => design.slo_ms),
    numeric(say(text("Within the SLO", "满足 SLO")) + ` (${perSecond})`, (design) => design.slo_qps),
    numeric(say(text("GPUs busy", "GPU 利用率")) + " (%)", (design) => design.gpu_utilisation_pct),
    numeric(
      say(text("Per million tokens", "每百万 token")) + ` (${currency})`,
      (design) => design.per_million_tokens,
      (design) => design.per_million_tokens_interval,
    ),
  ];
  return all.filter((field) => designs.some(field.present));
}

function describe(design: Design): string {
  return [
    design.topology,
    `${plain(design.oversubscription)}:1`,
    `${plain(design.nic_gbps)} Gb/s`,
    design.profile,
  ].join(", ");
}

function nameCell(design: Design): HTMLElement {
  const marks = [
    ...(design.chosen ? [say(text("recommended", "推荐"))] : []),
    ...(design.pareto ? [say(text("on the front", "前沿"))] : []),
  ];
  return h(
    "span",
    {},
    `${displayName(design.name)} `,
    ...marks.map((mark) => h("span", { class: "chosen" }, mark)),
    h("span", { class: "band" }, describe(design)),
    design.reason
      ? h("span", { class: "band" }, say({ en: design.reason, zh: design.reason_zh }))
      : null,
  );
}

const cost = (design: Design) => design.per_million_tokens ?? design.per_run ?? design.capex ?? 0;

function feasible(designs: Design[], currency: string): HTMLElement {
  const shown = fields(designs, currency);
  const columns = [{ name: say(text("Design", "设计")) }, ...shown.map(({ column }) => column)];
  const sorted = [...designs].sort((a, b) => cost(a) - cost(b));
  return scrolling(
    h(
      "table",
      { class: "designs" },
      headRow(columns),
      h(
        "tbody",
        {},
        ...sorted.map((design) =>
          row(columns, [nameCell(design), ...shown.map((field) => field.of(design))]),
        ),
      ),
    ),
    say(text("Feasible designs", "可行设计")),
  );
}

function infeasible(designs: Design[]): HTMLElement {
  const columns = [
    { name: say(text("Design", "设计")) },
    { name: say(text("What rules it out", "排除原因")) },
  ];
  return h(
    "details",
    {},
    h(
      "summary",
      {},
      say(
        text(
          `Designs that are ruled out (${designs.length})`,
          `被排除的设计（${designs.length} 个）`,
        ),
      ),
    ),
    scrolling(
      h(
        "table",
        {},
        headRow(columns),
        h(
          "tbody",
          {},
          ...designs.map((design) =>
            row(columns, [
              displayName(design.name),
              say({ en: design.reason, zh: design.reason_zh }),
            ]),
          ),
        ),
      ),
      say(text("Designs that are ruled out", "被排除的设计")),
    ),
  );
}

export function designs(report: Report): HTMLElement | undefined {
  const all = report.result.designs ?? [];
  if (all.length === 0) return undefined;
  const able = all.filter((design) => design.feasible);
  const unable = all.filter((design) => !design.feasible);
  const { objective } = report.result;
  return section(
    "designs",
    text("Designs, cheapest first", "设计方案（按成本排序）"),
    objective ? h("p", { class: "note" }, say(text("Objective: ", "目标：")) + objective) : null,
    able.length > 0
      ? feasible(able, report.currency)
      : h("p", {}, say(text("No design is feasible.", "没有可行的设计。"))),
    unable.length > 0 ? infeasible(unable) : null,
  );
}
