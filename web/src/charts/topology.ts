// A network as tiers of boxes and the cables between them. Of many equal boxes the first and the
// last are drawn, with an ellipsis between.

import { h, svg } from "../dom";
import { number, whole } from "../format";
import { list, say, text } from "../i18n";
import type { Cluster, Sizing, Text } from "../result";
import { FONT, INK, MUTED, PARTS } from "../theme";

const WIDTH = 440;
const LEFT = 104;
const BOX = { width: 70, height: 28 };
const TIER_GAP = 92;
const MOST = 4;

interface Tier {
  name: Text;
  count: number;
  colour: string;
  label: Text;
  /** Cables down to the tier below. */
  cables: number;
}

function tiersOf(sizing: Sizing, cluster: Cluster | undefined): Tier[] {
  const ends = { colour: PARTS[2], cables: 0 };
  const tiers: Tier[] = [
    {
      name: text("core switches", "核心交换机"),
      count: sizing.cores,
      colour: PARTS[6],
      label: text("core", "核心"),
      cables: sizing.spine_core_cables,
    },
    {
      name: text("spine switches", "脊交换机"),
      count: sizing.spines,
      colour: PARTS[4],
      label: text("spine", "脊"),
      cables: sizing.leaf_spine_cables,
    },
    {
      name: sizing.spines > 0 ? text("leaf switches", "叶交换机") : text("switches", "交换机"),
      count: sizing.leaves,
      colour: PARTS[0],
      label: sizing.spines > 0 ? text("leaf", "叶") : text("switch", "交换机"),
      cables: sizing.endpoint_cables,
    },
    cluster
      ? { ...ends, name: text("nodes", "节点"), label: text("node", "节点"), count: cluster.nodes }
      : {
          ...ends,
          name: text("adapters", "网卡"),
          label: text("adapter", "网卡"),
          count: sizing.endpoint_cables,
        },
  ];
  return tiers.filter((tier) => tier.count > 0);
}

interface Slot {
  x: number;
  /** From 1; absent: the ellipsis. */
  number?: number;
}

/** Where the boxes of a tier stand. */
function slots(count: number): Slot[] {
  const room = WIDTH - LEFT;
  const numbers: (number | undefined)[] =
    count <= MOST
      ? Array.from({ length: count }, (_, i) => i + 1)
      : [1, 2, undefined, count];
  const pitch = room / numbers.length;
  return numbers.map((value, i) => ({
    x: LEFT + pitch * (i + 0.5),
    ...(value !== undefined && { number: value }),
  }));
}

const words = (x: number, y: number, content: string, attributes: Record<string, string | number>) =>
  svg("text", { x, y, "font-family": FONT, "font-size": 13, fill: INK, ...attributes }, content);

function box(tier: Tier, { x, number: index }: Slot, y: number): SVGElement {
  if (index === undefined) return words(x, y + 19, "…", { "text-anchor": "middle", "font-size": 20 });
  return svg(
    "g",
    {},
    svg("rect", {
      x: x - BOX.width / 2,
      y,
      width: BOX.width,
      height: BOX.height,
      rx: 4,
      fill: tier.colour,
    }),
    words(x, y + 18, `${say(tier.label)} ${whole(index)}`, {
      "text-anchor": "middle",
      fill: "#ffffff",
      "font-size": 12.5,
    }),
  );
}

function cables(upper: Slot[], lower: Slot[], top: number, bottom: number): SVGElement {
  const drawn = (slot: Slot) => slot.number !== undefined;
  const path = upper
    .filter(drawn)
    .flatMap((up) => lower.filter(drawn).map((down) => `M${up.x} ${top}L${down.x} ${bottom}`))
    .join("");
  return svg("path", { d: path, stroke: MUTED, "stroke-width": 1, opacity: 0.45, fill: "none" });
}

/** Adapters of a node, as teeth on its upper edge. */
function adapters({ x }: Slot, y: number, count: number): SVGElement {
  const shown = Math.min(count, 8);
  const pitch = BOX.width / shown;
  const teeth = Array.from({ length: shown }, (_, i) => {
    const at = x - BOX.width / 2 + pitch * (i + 0.5) - 2.5;
    return `M${at} ${y}h5v-5h-5Z`;
  });
  return svg("path", { d: teeth.join(""), fill: INK });
}

const node = (x: number, y: number, width: number, height: number, name: string) => [
  svg("rect", { x, y, width, height, rx: 4, fill: PARTS[2] }),
  words(x + width / 2, y + height / 2 + 4, name, { "text-anchor": "middle", fill: "#ffffff" }),
];

/** Nodes with cables from one to the other, or one node by itself. */
function direct(sizing: Sizing, cluster: Cluster | undefined): SVGElement {
  const count = sizing.endpoint_cables;
  if (count === 0) {
    return svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} 80`, class: "picture", "aria-hidden": "true" },
      ...node(WIDTH / 2 - 60, 8, 120, 60, say(text("one node", "单节点"))),
    );
  }
  const shown = Math.min(count, 8);
  const pitch = 12;
  const height = shown * pitch + 26;
  const first = 34 + (height - (shown - 1) * pitch) / 2;
  const lines = Array.from({ length: shown }, (_, i) => `M120 ${first + i * pitch}H320`).join("");
  const rate = cluster ? `, ${number(cluster.nic_gbps)} Gb/s` : "";
  const name = say(text("node", "节点"));
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${height + 44}`, class: "picture", "aria-hidden": "true" },
    words(WIDTH / 2, 18, `${whole(count)} ${say(text("direct cables", "根直连线缆"))}${rate}`, {
      "text-anchor": "middle",
    }),
    ...node(20, 34, 100, height, `${name} 1`),
    ...node(320, 34, 100, height, `${name} 2`),
    svg("path", { d: lines, stroke: MUTED, "stroke-width": 1.5, fill: "none" }),
  );
}

function tiered(sizing: Sizing, cluster: Cluster | undefined): SVGElement {
  const tiers = tiersOf(sizing, cluster);
  const placed = tiers.map((tier, i) => ({ tier, slots: slots(tier.count), y: 12 + i * TIER_GAP }));
  const height = 12 + (tiers.length - 1) * TIER_GAP + BOX.height + 14;
  const picture = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${height}`,
    class: "picture",
    "aria-hidden": "true",
  });
  placed.forEach(({ slots: upper, y }, i) => {
    const below = placed[i + 1];
    if (below) picture.append(cables(upper, below.slots, y + BOX.height, below.y - 4));
  });
  placed.forEach(({ tier, slots: boxes, y }) => {
    picture.append(
      words(0, y + 8, whole(tier.count), { "font-weight": 700, "font-size": 14 }),
      words(0, y + 29, say(tier.name), { fill: MUTED }),
    );
    if (tier.cables > 0) {
      picture.append(
        words(0, y + 30 + TIER_GAP / 2 - 4, `${whole(tier.cables)} ${say(text("cables", "根线缆"))}`, {
          fill: MUTED,
        }),
      );
    }
    for (const slot of boxes) {
      if (cluster && tier === tiers.at(-1) && slot.number !== undefined) {
        picture.append(adapters(slot, y, cluster.nics_per_node));
      }
      picture.append(box(tier, slot, y));
    }
  });
  return picture;
}

/** The picture in words. */
function described(sizing: Sizing, cluster: Cluster | undefined): string {
  if (sizing.tiers === 0) {
    return sizing.endpoint_cables > 0
      ? say(text("two nodes joined by cables, without a switch", "两个节点用线缆直连，不用交换机"))
      : say(text("one node, no network", "单节点，无网络"));
  }
  const count = (value: number, [one, many, zh]: [string, string, string]) =>
    value > 0 ? [say(text(`${whole(value)} ${value === 1 ? one : many}`, `${whole(value)} ${zh}`))] : [];
  return list([
    ...count(sizing.cores, ["core switch", "core switches", "台核心交换机"]),
    ...count(sizing.spines, ["spine switch", "spine switches", "台脊交换机"]),
    ...(sizing.spines > 0
      ? count(sizing.leaves, ["leaf switch", "leaf switches", "台叶交换机"])
      : count(sizing.leaves, ["switch", "switches", "台交换机"])),
    ...(cluster
      ? [
          say(
            text(
              `${whole(cluster.nodes)} ${cluster.nodes === 1 ? "node" : "nodes"} with ${cluster.nics_per_node} x ${number(cluster.nic_gbps)} Gb/s`,
              `${whole(cluster.nodes)} 个节点，每节点 ${cluster.nics_per_node} × ${number(cluster.nic_gbps)} Gb/s`,
            ),
          ),
        ]
      : []),
  ]);
}

export function networkPicture(
  names: string[],
  sizing: Sizing,
  cluster: Cluster | undefined,
): HTMLElement {
  const title = list(names);
  const summary = described(sizing, cluster);
  return h(
    "figure",
    { class: "chart topology" },
    h("figcaption", {}, h("h3", {}, title), h("p", {}, summary)),
    h(
      "div",
      { role: "img", "aria-label": `${title}: ${summary}` },
      sizing.tiers === 0 ? direct(sizing, cluster) : tiered(sizing, cluster),
    ),
  );
}
