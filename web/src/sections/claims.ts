// The article's claims against what was found here.

import { h } from "../dom";
import { say, text } from "../i18n";
import type { Report } from "../report";
import type { Claim, Text } from "../result";
import { headRow, row, scrolling } from "../table";
import { section } from "./section";

const VERDICTS: Record<Claim["verdict"], Text> = {
  holds: text("holds", "成立"),
  partly: text("partly", "部分成立"),
  contradicted: text("contradicted", "不成立"),
  unverifiable: text("unverifiable", "无法验证"),
};

export function claims(report: Report): HTMLElement | undefined {
  const all = report.result.claims ?? [];
  if (all.length === 0) return undefined;
  const columns = [
    { name: say(text("Claim", "论断")) },
    { name: say(text("Verdict", "判定")) },
    { name: say(text("Evidence", "依据")) },
  ];
  const rows = all.map((claim) =>
    row(columns, [
      h(
        "span",
        {},
        say({ en: claim.text, zh: claim.text_zh }),
        h("span", { class: "band" }, say(text(`article ${claim.place}`, `文中 ${claim.place}`))),
      ),
      h("span", { class: `badge claim-${claim.verdict}` }, say(VERDICTS[claim.verdict])),
      say({ en: claim.evidence, zh: claim.evidence_zh }),
    ]),
  );
  return section(
    "claims",
    text("The article's claims", "原文的论断"),
    scrolling(
      h("table", { class: "claims" }, headRow(columns), h("tbody", {}, ...rows)),
      say(text("The article's claims", "原文的论断")),
    ),
  );
}
