// Pictures of the networks, from the counts of their parts.

import { h, type Child } from "../dom";
import { networkPicture } from "../charts/topology";
import { say, text } from "../i18n";
import type { Report } from "../report";
import { section } from "./section";

export function topology(report: Report): HTMLElement | undefined {
  if (report.fabrics.length === 0) return undefined;
  // Fabrics that are built alike share a picture.
  const groups = new Map<string, typeof report.fabrics>();
  for (const fabric of report.fabrics) {
    const key = JSON.stringify(fabric.result.sizing);
    groups.set(key, [...(groups.get(key) ?? []), fabric]);
  }
  const pictures: Child[] = [...groups.values()].flatMap((alike) => {
    const first = alike[0];
    if (!first) return [];
    return [networkPicture(alike.map(({ name }) => name), first.result.sizing, report.page.cluster)];
  });
  return section(
    "topology",
    text("How the networks are wired", "网络拓扑"),
    h("div", { class: groups.size > 1 ? "charts" : "charts single" }, ...pictures),
    h(
      "p",
      { class: "note" },
      say(
        text(
          "Counts are exact; of many equal parts a few are drawn.",
          "数量准确；同类部件较多时只画出几个。",
        ),
      ),
    ),
  );
}
