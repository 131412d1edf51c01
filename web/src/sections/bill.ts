// Bills of material, one per fabric.

import { sumBand, sumOf, whatOf } from "../bom";
import { h } from "../dom";
import { band, number, quantity, whole } from "../format";
import { say, text } from "../i18n";
import type { Fabric, Report } from "../report";
import type { Interval } from "../result";
import { headRow, row, scrolling } from "../table";
import { section } from "./section";

function money(value: number, interval: Interval | undefined): HTMLElement {
  return h(
    "span",
    {},
    number(value),
    interval ? h("span", { class: "band" }, band(interval)) : null,
  );
}

function bill({ name, result: { cost } }: Fabric): HTMLElement {
  const { currency } = cost;
  const columns = [
    { name: say(text("What", "用途")) },
    { name: say(text("Model", "型号")) },
    { name: say(text("Count", "数量")), numeric: true },
    { name: say(text("Each", "单价")) + ` (${currency})`, numeric: true },
    { name: say(text("Sum", "小计")) + ` (${currency})`, numeric: true },
    { name: say(text("Power each", "单件功率")) + " (W)", numeric: true },
  ];
  const power = cost.bom.reduce((total, line) => total + line.count * line.unit_power_w, 0);
  const foot = h(
    "tfoot",
    {},
    h(
      "tr",
      {},
      h("th", { scope: "row", colspan: 4 }, say(text("The whole cluster", "整个集群"))),
      h("td", { class: "number" }, money(cost.capex, cost.capex_interval)),
      h("td", { class: "number" }, quantity(power / 1000, "kW")),
    ),
  );
  const lines = cost.bom.map((line) =>
    row(columns, [
      whatOf(line),
      h("code", {}, line.item),
      whole(line.count),
      money(line.unit_price, line.unit_price_interval),
      money(sumOf(line), sumBand(line)),
      number(line.unit_power_w),
    ]),
  );
  return h(
    "div",
    { class: "bill" },
    h("h3", {}, name),
    scrolling(h("table", {}, headRow(columns), h("tbody", {}, ...lines), foot), name),
  );
}

export function bills(report: Report): HTMLElement | undefined {
  const billed = report.fabrics.filter(({ result }) => result.cost.bom.length > 0);
  if (billed.length === 0) return undefined;
  return section("bills", text("Bills of material", "物料清单"), ...billed.map(bill));
}
