// What the money goes into: the network, the whole cluster, an hour of it.

import { KIND_NAMES, priceOf, type PartKind } from "../bom";
import { moneyScale } from "../format";
import { say, text } from "../i18n";
import type { Report } from "../report";
import type { Cost, Text } from "../result";
import { bars, type Part } from "./bars";
import type { Chart } from "./figure";

const OTHERS: PartKind[] = ["spare", "management", "subnet-manager", "rack"];
const others = text("others", "其他");

const NETWORK: [Text, PartKind[]][] = [
  [KIND_NAMES.switch, ["switch"]],
  [KIND_NAMES.adapter, ["adapter"]],
  [KIND_NAMES.cable, ["cable"]],
  [others, OTHERS],
];

const CLUSTER: [Text, PartKind[]][] = [
  [KIND_NAMES.gpu, ["gpu"]],
  [KIND_NAMES.switch, ["switch"]],
  [KIND_NAMES.adapter, ["adapter"]],
  [KIND_NAMES.cable, ["cable"]],
  [others, OTHERS],
];

type HourKey = keyof NonNullable<Cost["per_hour_parts"]>;
const HOUR: [Text, HourKey][] = [
  [text("GPUs and servers", "GPU 与服务器"), "gpus"],
  [text("network", "网络"), "network"],
  [text("energy", "电费"), "energy"],
  [text("operation", "运维"), "operation"],
];

interface Shown {
  id: string;
  title: Text;
  axis: Text;
  lead?: Text;
}

/** Bars of money, in a unit that keeps the axis short. */
function money(report: Report, shown: Shown, parts: Part[], per: string): Chart {
  const totals = report.fabrics.map((_, i) =>
    parts.reduce((total, part) => total + (part.values[i] ?? 0), 0),
  );
  const { unit, divisor } = moneyScale(Math.max(...totals), report.currency);
  return bars({
    id: shown.id,
    title: say(shown.title),
    ...(shown.lead && { lead: say(shown.lead) }),
    rows: report.fabrics.map(({ name }) => name),
    axis: { name: say(shown.axis), unit: unit + per },
    parts: parts.map((part) => ({ ...part, values: part.values.map((value) => value / divisor) })),
  });
}

function bought(report: Report, kinds: [Text, PartKind[]][]): Part[] {
  return kinds.map(([name, of]) => ({
    name: say(name),
    values: report.fabrics.map(({ result }) => priceOf(result.cost, of)),
  }));
}

export function networkPrice(report: Report): Chart | undefined {
  if (!report.fabrics.some(({ result }) => result.cost.network_capex > 0)) return undefined;
  const shown = {
    id: "chart-network-price",
    title: text("What the network costs", "网络设备的价格"),
    axis: text("Price of the network", "网络造价"),
  };
  return money(report, shown, bought(report, NETWORK), "");
}

export function clusterPrice(report: Report): Chart | undefined {
  if (report.fabrics.length === 0) return undefined;
  const shown = {
    id: "chart-cluster-price",
    title: text("What the whole cluster costs", "整个集群的价格"),
    axis: text("Price of the cluster", "集群造价"),
  };
  return money(report, shown, bought(report, CLUSTER), "");
}

export function hourlyCost(report: Report): Chart | undefined {
  const parts = report.fabrics.map(({ result }) => result.cost.per_hour_parts);
  if (parts.length === 0 || parts.some((each) => each === undefined)) return undefined;
  const shown = {
    id: "chart-hour",
    title: text("What an hour of the cluster is made of", "集群每小时成本的构成"),
    axis: text("Cost of an hour", "每小时成本"),
    lead: text(
      "Purchases spread over their life, energy, and the people who run it.",
      "设备按使用年限折旧，加上电费与运维。",
    ),
  };
  const split = HOUR.map(([name, key]) => ({
    name: say(name),
    values: parts.map((each) => each?.[key] ?? 0),
  }));
  return money(report, shown, split, say(text("/h", "/小时")));
}
