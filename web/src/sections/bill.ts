// Bills of material, one per fabric.

import { sumBand, sumOf, whatOf } from "../bom";
import { h } from "../dom";
import { band, number, quantity, whole } from "../format";
import { list, say, text } from "../i18n";
import type { Fabric, Report } from "../report";
import type { Cost, Interval, Text } from "../result";
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

function bill(names: string[], cost: Cost): HTMLElement {
  const name = list(names);
  const { currency } = cost;
  const columns = [
    { name: say(text("What", "用途")) },
    { name: say(text("Model", "型号")) },
    { name: say(text("Count", "数量")), numeric: true },
    { name: say(text("Each", "单价")) + ` (${currency})`, numeric: true },
    { name: say(text("Sum", "小计")) + ` (${currency})`, numeric: true },
    { name: say(text("Power each", "单件功率")) + " (W)", numeric: true },
  ];
  const sum = (label: Text, amount: HTMLElement, power: string) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", colspan: 4 }, say(label)),
      h("td", { class: "number" }, amount),
      h("td", { class: "number" }, power),
    );
  const foot = h(
    "tfoot",
    {},
    sum(
      text("The network alone", "其中网络"),
      money(cost.network_capex, cost.network_capex_interval),
      "",
    ),
    sum(
      text("The whole cluster", "整个集群"),
      money(cost.capex, cost.capex_interval),
      quantity(cost.power_kw, "kW"),
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
  // Fabrics that are billed alike share a table.
  const alike = new Map<string, Fabric[]>();
  for (const fabric of billed) {
    const key = JSON.stringify(fabric.result.cost.bom);
    alike.set(key, [...(alike.get(key) ?? []), fabric]);
  }
  const tables = [...alike.values()].flatMap((fabrics) => {
    const first = fabrics[0];
    return first ? [bill(fabrics.map(({ name }) => name), first.result.cost)] : [];
  });
  return section("bills", text("Bills of material", "物料清单"), ...tables);
}
