// The top of the page: what was asked, and the languages.

import { h } from "../dom";
import { type Lang, language, say, text } from "../i18n";
import type { Report } from "../report";

const LANGUAGES: [Lang, string][] = [
  ["en", "English"],
  ["zh", "中文"],
];

export function title({ page, result }: Report): string {
  return page.kind === "advise"
    ? say(text(`Network advice: ${result.scenario}`, `网络选型建议：${result.scenario}`))
    : say(text(`Network comparison: ${result.scenario}`, `网络对比：${result.scenario}`));
}

export function header(report: Report, choose: (lang: Lang) => void): HTMLElement {
  const buttons = LANGUAGES.map(([lang, name]) => {
    const button = h(
      "button",
      { type: "button", lang, "aria-pressed": String(lang === language()) },
      name,
    );
    button.addEventListener("click", () => choose(lang));
    return button;
  });
  return h(
    "header",
    {},
    h(
      "div",
      { class: "top" },
      h("span", { class: "brand" }, "Fabricast"),
      h(
        "div",
        { class: "languages", role: "group", "aria-label": say(text("Language", "语言")) },
        ...buttons,
      ),
    ),
    h("h1", {}, title(report)),
    h("p", { class: "subject" }, say(report.page.subject)),
    h("p", { class: "subject" }, say(report.page.workload)),
  );
}
