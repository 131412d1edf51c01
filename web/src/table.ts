// Tables of text. The first column names its row.

import { type Child, h } from "./dom";

export interface TableText {
  head: string[];
  rows: string[][];
}

export interface Column {
  name: Child;
  /** Right-aligned. */
  numeric?: boolean;
}

/** A table that scrolls sideways by itself where the page is narrower than it. */
export function scrolling(content: HTMLTableElement, label: string): HTMLElement {
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, content);
}

export function headRow(columns: Column[]): HTMLTableSectionElement {
  return h(
    "thead",
    {},
    h(
      "tr",
      {},
      ...columns.map((column) =>
        h("th", { scope: "col", class: column.numeric ? "number" : undefined }, column.name),
      ),
    ),
  );
}

/** Cells of a row, the first of which is its header. */
export function row(columns: Column[], cells: Child[]): HTMLTableRowElement {
  return h(
    "tr",
    {},
    ...cells.map((cell, i) =>
      i === 0
        ? h("th", { scope: "row" }, cell)
        : h("td", { class: columns[i]?.numeric ? "number" : undefined }, cell),
    ),
  );
}

export function table(content: TableText): HTMLElement {
  const columns = content.head.map((name, i) => ({ name, numeric: i > 0 }));
  return scrolling(
    h(
      "table",
      {},
      headRow(columns),
      h("tbody", {}, ...content.rows.map((cells) => row(columns, cells))),
    ),
    content.head.join(", "),
  );
}
