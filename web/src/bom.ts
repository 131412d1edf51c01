// What the lines of a bill are: kinds, and their words in both languages.

import { say, text } from "./i18n";
import type { BomLine, Cost, Interval, Text } from "./result";

export type PartKind = NonNullable<BomLine["part"]>;

/** Words of the bill where no kind is given. */
const KINDS: [RegExp, PartKind][] = [
  [/GPU/, "gpu"],
  [/spare/i, "spare"],
  [/subnet/i, "subnet-manager"],
  [/management/i, "management"],
  [/rack/i, "rack"],
  [/^cables|cable/i, "cable"],
  [/switch/i, "switch"],
  [/adapter/i, "adapter"],
];

export function kindOf(line: BomLine): PartKind {
  return line.part ?? KINDS.find(([words]) => words.test(line.what))?.[1] ?? "management";
}

const WHAT: Record<string, string> = {
  switches: "交换机",
  "leaf and spine switches": "叶、脊交换机",
  "leaf, spine and core switches": "叶、脊、核心交换机",
  "network adapters": "网卡",
  "cables between adapters": "网卡之间的线缆",
  "cables from adapters to leaves": "网卡到叶交换机的线缆",
  "cables from leaves to spines": "叶到脊的线缆",
  "cables from spines to cores": "脊到核心的线缆",
  "GPUs, each with its share of a server": "GPU（各含服务器分摊）",
};

export function whatOf(line: BomLine): string {
  return say(text(line.what, WHAT[line.what] ?? KIND_NAMES[kindOf(line)].zh));
}

export const KIND_NAMES: Record<PartKind, Text> = {
  switch: text("switches", "交换机"),
  adapter: text("adapters", "网卡"),
  cable: text("cables", "线缆"),
  gpu: text("GPUs with servers", "GPU（含服务器）"),
  spare: text("spares", "备件"),
  management: text("management", "管理网络"),
  "subnet-manager": text("subnet managers", "子网管理器"),
  rack: text("racks", "机柜"),
};

export function sumOf(line: BomLine): number {
  return line.count * line.unit_price;
}

/** The band of a line's sum; none where its price has none. */
export function sumBand(line: BomLine): Interval | undefined {
  const price = line.unit_price_interval;
  return price && { value: sumOf(line), lo: line.count * price.lo, hi: line.count * price.hi };
}

/** Price of all lines of these kinds. */
export function priceOf(cost: Cost, kinds: PartKind[]): number {
  return cost.bom
    .filter((line) => kinds.includes(kindOf(line)))
    .reduce((total, line) => total + sumOf(line), 0);
}
