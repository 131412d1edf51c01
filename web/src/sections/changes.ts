// What would change the verdict, and what to try next.

import { h } from "../dom";
import { say, text } from "../i18n";
import type { Report } from "../report";
import { section } from "./section";

export function changes(report: Report): HTMLElement | undefined {
  const { flips, next } = report.page.words;
  const { next_yaml } = report.result.verdict;
  const nextStep = say(next);
  if (flips.length === 0 && nextStep === "") return undefined;
  return section(
    "changes",
    text("What would change the verdict", "什么会改变结论"),
    flips.length > 0
      ? h("ul", { class: "flips" }, ...flips.map((flip) => h("li", {}, say(flip))))
      : h("p", {}, say(text("Nothing within the bands that were tried.", "在所试区间内没有。"))),
    nextStep === ""
      ? null
      : h(
          "div",
          { class: "next" },
          h("h3", {}, say(text("Next", "下一步"))),
          h("p", {}, nextStep),
          next_yaml ? h("pre", {}, next_yaml.trimEnd()) : null,
        ),
  );
}
