// The values that the numbers rest on, with where they come from.

import { h } from "../dom";
import { band, number, unitName } from "../format";
import { say, text } from "../i18n";
import type { Report } from "../report";
import type { Assumption, Text } from "../result";
import { headRow, row, scrolling } from "../table";
import { section } from "./section";

const KINDS: Record<Assumption["kind"], Text> = {
  measured: text("measured", "实测"),
  datasheet: text("datasheet", "规格书"),
  published: text("published", "公开发表"),
  calibrated: text("calibrated", "校准"),
  assumed: text("assumed", "假设"),
};

export function assumptions(report: Report): HTMLElement | undefined {
  const all = report.page.assumptions;
  if (all.length === 0) return undefined;
  const columns = [
    { name: say(text("Value of", "项目")) },
    { name: say(text("Value and unit", "数值与单位")), numeric: true },
    { name: say(text("Kind", "性质")) },
    { name: say(text("Source", "来源")) },
    { name: say(text("Date", "日期")) },
  ];
  const rows = all.map(({ name, id, value, lo, hi, unit, kind, source, date }) =>
    row(columns, [
      h("span", {}, name, h("span", { class: "band" }, h("code", {}, id))),
      h(
        "span",
        {},
        `${number(value)} ${unitName(unit)}`,
        lo !== undefined && hi !== undefined
          ? h("span", { class: "band" }, band({ lo, hi }))
          : null,
      ),
      h("span", { class: `badge kind-${kind}` }, say(KINDS[kind])),
      source,
      date ? h("time", { datetime: date }, date) : "–",
    ]),
  );
  return section(
    "assumptions",
    text("What the numbers rest on", "数据来源与假设"),
    scrolling(
      h("table", { class: "assumptions" }, headRow(columns), h("tbody", {}, ...rows)),
      say(text("What the numbers rest on", "数据来源与假设")),
    ),
  );
}
