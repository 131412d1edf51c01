// Legends as text of the page: they wrap, print and read out as text does.

import { h, svg } from "../dom";
import type { Look, Symbol } from "../theme";

export interface LegendItem {
  name: string;
  colour: string;
  /** Absent: a filled square, as of bars. */
  symbol?: Symbol;
  dash?: "solid" | "dashed" | "dotted";
}

const DASHES = { solid: "none", dashed: "5 3", dotted: "1.5 2.5" };

export function lineItem(name: string, look: Look, dash: "solid" | "dashed" | "dotted" = "solid") {
  return { name, colour: look.colour, symbol: look.symbol, dash };
}

function marker(symbol: Symbol, colour: string): SVGElement {
  switch (symbol) {
    case "circle":
      return svg("circle", { cx: 12, cy: 6, r: 3.6, fill: colour });
    case "rect":
      return svg("rect", { x: 8.6, y: 2.6, width: 6.8, height: 6.8, fill: colour });
    case "triangle":
      return svg("path", { d: "M12 1.8 L16.4 9.6 L7.6 9.6 Z", fill: colour });
    case "diamond":
      return svg("path", { d: "M12 1.2 L16.6 6 L12 10.8 L7.4 6 Z", fill: colour });
  }
}

function key(item: LegendItem): SVGElement {
  const picture = svg("svg", { width: 24, height: 12, viewBox: "0 0 24 12", "aria-hidden": "true" });
  if (!item.symbol && !item.dash) {
    picture.setAttribute("width", "12");
    picture.setAttribute("viewBox", "0 0 12 12");
    picture.append(svg("rect", { width: 12, height: 12, rx: 2, fill: item.colour }));
    return picture;
  }
  if (item.dash) {
    picture.append(
      svg("path", {
        d: "M0 6 H24",
        stroke: item.colour,
        "stroke-width": 2,
        "stroke-dasharray": DASHES[item.dash],
      }),
    );
  }
  if (item.symbol) picture.append(marker(item.symbol, item.colour));
  return picture;
}

export function legend(items: LegendItem[]): HTMLElement {
  return h(
    "ul",
    { class: "legend" },
    ...items.map((item) => h("li", {}, key(item), h("span", {}, item.name))),
  );
}
