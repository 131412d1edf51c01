// The two languages of the report. Words stand in the code beside what they name, as pairs; `say`
// picks the one that is shown.

import type { Text } from "./result";

export type Lang = "en" | "zh";

let shown: Lang = "en";

export function setLanguage(lang: Lang): void {
  shown = lang;
}

export function language(): Lang {
  return shown;
}

export function text(en: string, zh: string): Text {
  return { en, zh };
}

/** What is written alike in both languages: symbols, names. */
export function same(word: string): Text {
  return { en: word, zh: word };
}

export function say(words: Text): string {
  return words[shown];
}

/** "a, b and c". */
export function list(items: string[]): string {
  if (shown === "zh") return items.join("、");
  const last = items.at(-1) ?? "";
  return items.length < 2 ? last : `${items.slice(0, -1).join(", ")} and ${last}`;
}

/** A label and what follows it: "Cost: 3" and "成本：3". */
export function colon(label: string, value: string): string {
  return shown === "zh" ? `${label}：${value}` : `${label}: ${value}`;
}

/** Words in brackets behind others, with the spacing of the language. */
export function brackets(words: string): string {
  return shown === "zh" ? `（${words}）` : ` (${words})`;
}
