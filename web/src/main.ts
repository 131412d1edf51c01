// Draws the page from the JSON in it.

import { drawForPrint, drawForScreen, forgetCharts } from "./charts/figure";
import { h } from "./dom";
import { type Lang, setLanguage } from "./i18n";
import { reportOf } from "./report";
import type { Page } from "./result";
import { assumptions } from "./sections/assumptions";
import { bills } from "./sections/bill";
import { changes } from "./sections/changes";
import { assessed, front, money, performance, robustness, tuned } from "./sections/charts";
import { claims } from "./sections/claims";
import { comparison } from "./sections/comparison";
import { designs } from "./sections/designs";
import { header, title } from "./sections/header";
import { reproduce } from "./sections/reproduce";
import type { Section } from "./sections/section";
import { topology } from "./sections/topology";
import { verdict } from "./sections/verdict";

const SECTIONS: Section[] = [
  verdict,
  comparison,
  front,
  performance,
  money,
  changes,
  robustness,
  tuned,
  assessed,
  designs,
  topology,
  bills,
  claims,
  assumptions,
  reproduce,
];

function draw(page: Page, lang: Lang): void {
  setLanguage(lang);
  forgetCharts();
  const report = reportOf(page);
  const main = h("main", {}, ...SECTIONS.map((section) => section(report)));
  document.documentElement.lang = lang === "zh" ? "zh-CN" : "en";
  document.title = title(report);
  document
    .getElementById("report")
    ?.replaceChildren(header(report, (chosen) => draw(page, chosen)), main);
}

/** Paper has no folds: all are open while it is printed, but for those that repeat a chart or a table. */
function printWhole(): void {
  let folded: HTMLDetailsElement[] = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open], .repeats)")];
    for (const details of folded) details.open = true;
    drawForPrint();
  });
  addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
    drawForScreen();
  });
}

const page = JSON.parse(document.getElementById("page")?.textContent ?? "") as Page;
draw(page, page.lang);
printWhole();
