// How to get this report again, and what made it.

import { h } from "../dom";
import { say, text } from "../i18n";
import type { Report } from "../report";
import { section } from "./section";

/** Copies where the browser lets it; otherwise selects, so that the keys for copying do. */
async function copy(code: HTMLElement, said: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(code.textContent ?? "");
    said.textContent = say(text("copied", "已复制"));
  } catch {
    getSelection()?.selectAllChildren(code);
    said.textContent = say(text("selected: copy it with your keyboard", "已选中，请用键盘复制"));
  }
}

export function reproduce(report: Report): HTMLElement {
  const { result, page } = report;
  const code = h("code", {}, page.command);
  const said = h("span", { role: "status", class: "said" });
  const button = h("button", { type: "button", class: "copy" }, say(text("Copy", "复制")));
  button.addEventListener("click", () => void copy(code, said));
  return section(
    "reproduce",
    text("Make this report again", "重新生成本报告"),
    h("div", { class: "command" }, h("pre", {}, code), button, said),
    h(
      "p",
      { class: "note" },
      say(
        text(
          `Made by Fabricast ${result.fabricast}, scenario ${result.scenario}, seed ${result.seed}. The same scenario and seed give the same numbers.`,
          `由 Fabricast ${result.fabricast} 生成，场景 ${result.scenario}，种子 ${result.seed}。相同的场景与种子得到相同的数字。`,
        ),
      ),
    ),
  );
}
