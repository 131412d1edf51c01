// The verdict: the choice, why, and the two voices beside each other.

import { METRIC_NAMES } from "../charts/load";
import { h } from "../dom";
import { number, quantity, runUnit } from "../format";
import { colon, list, say, text } from "../i18n";
import { chosen, displayName, type Fabric, type Report, runnerUp } from "../report";
import type { FabricResult, HouseWords, Text } from "../result";
import { section } from "./section";

interface KeyNumber {
  name: Text;
  unit: string;
  of: (result: FabricResult) => number | undefined;
}

function keyNumbers(report: Report): KeyNumber[] {
  const { currency } = report;
  const perSecond = say(text("requests/s", "请求/秒"));
  const days = report.fabrics.flatMap(({ result }) => result.training?.days ?? []);
  const unit = runUnit(days);
  const slo = report.fabrics.find(({ result }) => result.serving)?.result.serving?.slo;
  const training: KeyNumber[] = [
    {
      name: text("length of the run", "训练用时"),
      unit: say(unit.name),
      of: ({ training: run }) => run && run.days / unit.days,
    },
    { name: text("cost of the run", "每次训练成本"), unit: currency, of: ({ cost }) => cost.per_run },
  ];
  const serving: KeyNumber[] = [
    {
      name: text("rate within the SLO", "满足 SLO 的速率"),
      unit: perSecond,
      of: ({ serving: run }) => run?.slo_qps,
    },
    {
      name: text("rate sustained", "可持续速率"),
      unit: perSecond,
      of: ({ serving: run }) => run?.capacity_qps,
    },
    ...(slo
      ? [
          {
            name: text(
              `${METRIC_NAMES[slo.metric].en.toLowerCase()}, p99`,
              `${METRIC_NAMES[slo.metric].zh}，p99`,
            ),
            unit: "ms",
            of: ({ serving: run }: FabricResult) =>
              run && { ttft: run.ttft_ms, tpot: run.tpot_ms, latency: run.latency_ms }[slo.metric].p99,
          },
        ]
      : []),
  ];
  return [
    ...(report.training ? training : serving),
    {
      name: text("cost of a million tokens", "每百万 token 成本"),
      unit: currency,
      of: ({ cost }) => cost.per_million_tokens,
    },
    {
      name: text("GPU utilisation", "GPU 利用率"),
      unit: "%",
      of: ({ training: run, serving: service }) => (run ?? service)?.gpu_utilisation_pct,
    },
    {
      name: text("price of the network", "网络造价"),
      unit: currency,
      of: ({ cost }) => cost.network_capex,
    },
  ];
}

function numbers(report: Report, choice: Fabric): HTMLElement {
  const other = runnerUp(report);
  const tiles = keyNumbers(report).flatMap((key) => {
    const value = key.of(choice.result);
    if (value === undefined) return [];
    const against = other && key.of(other.result);
    return [
      h(
        "div",
        { class: "tile" },
        h("dt", {}, say(key.name)),
        h(
          "dd",
          {},
          h("strong", {}, number(value)),
          ` ${key.unit}`,
          other && against !== undefined
            ? h("span", { class: "against" }, colon(other.name, quantity(against, key.unit)))
            : null,
        ),
      ),
    ];
  });
  return h("dl", { class: "tiles" }, ...tiles);
}

const nameOrNone = (id: string) => (id === "" ? say(text("none", "无")) : displayName(id));

function challenge(rule: HouseWords): HTMLElement | null {
  if (!rule.challenge) return null;
  return h(
    "p",
    { class: "challenge" },
    h("strong", {}, say(text("Public evidence disagrees: ", "公开证据不同意："))),
    say(rule.challenge),
    rule.challenge_source ? h("cite", {}, ` [${rule.challenge_source}]`) : null,
  );
}

function ruleText(rule: HouseWords): HTMLElement {
  const place = say(text(`article ${rule.place}`, `文中 ${rule.place}`));
  return h(
    "p",
    {},
    say(rule.text),
    h("span", { class: "source" }, ` ${rule.id}, ${place}`),
  );
}

function house(report: Report): HTMLElement {
  const { house: verdict } = report.result.verdict;
  const [first, ...others] = report.page.words.house;
  return h(
    "article",
    { class: "voice" },
    h("h3", {}, say(text("House rules", "选型规则"))),
    h("p", { class: "says" }, displayName(verdict.choice)),
    first ? ruleText(first) : null,
    first ? challenge(first) : null,
    others.length > 0
      ? h(
          "details",
          {},
          h("summary", {}, say(text(`Other rules that apply (${others.length})`, `同样适用的规则（${others.length} 条）`))),
          ...others.map((rule) =>
            h(
              "div",
              { class: "rule" },
              h("p", { class: "rule-choice" }, displayName(rule.choice)),
              ruleText(rule),
              challenge(rule),
            ),
          ),
        )
      : null,
  );
}

/** What the house says stands beside the evidence already. */
function repeatsTheHouse(reason: Text, rules: HouseWords[]): boolean {
  return rules.some(
    (rule) =>
      reason.en.includes(rule.text.en) ||
      (rule.challenge !== undefined && reason.en.includes(rule.challenge.en)),
  );
}

function evidence(report: Report): HTMLElement {
  const { verdict } = report.result;
  const { words } = report.page;
  const reasons = words.reasons.filter((_, i) => verdict.reasons[i]?.metric !== "house");
  const [first, second, third, ...others] = reasons;
  const item = (reason: Text | undefined) => (reason ? h("p", {}, say(reason)) : null);
  return h(
    "article",
    { class: "voice" },
    h("h3", {}, say(text("Evidence: simulation and cost", "证据：仿真与成本"))),
    h("p", { class: "says" }, nameOrNone(verdict.evidence.choice)),
    verdict.evidence.level.length > 1
      ? h(
          "p",
          { class: "level" },
          say(text("Level within the error: ", "误差之内不分高下：")) +
            list(verdict.evidence.level.map(displayName)),
        )
      : null,
    item(first),
    item(second),
    item(third),
    others.length > 0
      ? h(
          "details",
          { class: "repeats" }, // the rows of the table below
          h("summary", {}, say(text("All reasons", "全部理由"))),
          h("ul", {}, ...others.map((reason) => h("li", {}, say(reason)))),
        )
      : null,
  );
}

function stanceOf(agree: boolean, level: boolean, ruled: string, found: string) {
  if (found === "") {
    return {
      says: text("The evidence finds nothing feasible.", "证据认为没有可行方案。"),
      why: text(`The rules name ${ruled}.`, `规则选择 ${ruled}。`),
    };
  }
  if (agree) {
    return {
      says: text("The two voices agree.", "两种声音一致。"),
      why: text(`Both choose ${ruled}.`, `都选择 ${ruled}。`),
    };
  }
  if (level) {
    return {
      says: text("The two voices do not part.", "两种声音并不对立。"),
      why: text(
        `The rules name ${ruled}, which the evidence finds level with ${found}: the difference is within the error.`,
        `规则选择 ${ruled}；证据认为它与 ${found} 不分高下，差别在误差之内。`,
      ),
    };
  }
  return {
    says: text("The two voices differ.", "两种声音不一致。"),
    why: text(
      `The rules, distilled from the article, name ${ruled}; what was simulated and priced for this very case names ${found}. The report follows the evidence, within what the scenario demands.`,
      `规则（提炼自原文）选择 ${ruled}；针对本例的仿真与造价选择 ${found}。在场景的硬约束之内，本报告以证据为准。`,
    ),
  };
}

/** Whether the voices agree, and what the program says of it. */
function together(report: Report): HTMLElement {
  const { verdict } = report.result;
  const { words } = report.page;
  const kind = report.result.fabrics[verdict.evidence.choice]?.kind ?? verdict.evidence.choice;
  const agree = kind === verdict.house.choice;
  const level = verdict.evidence.level.some(
    (id) => report.result.fabrics[id]?.kind === verdict.house.choice,
  );
  const [ruled, found] = [displayName(verdict.house.choice), displayName(verdict.evidence.choice)];
  const stance = stanceOf(agree, level, ruled, found);
  const explained = words.reasons.filter(
    (reason, i) =>
      verdict.reasons[i]?.metric === "house" && !repeatsTheHouse(reason, words.house),
  );
  return h(
    "div",
    { class: agree || level ? "together agree" : "together differ" },
    h("p", {}, h("strong", {}, say(stance.says)), say(text(" ", "")), say(stance.why)),
    ...(level ? [] : explained.map((reason) => h("p", {}, say(reason)))),
  );
}

export function verdict(report: Report): HTMLElement {
  const { words } = report.page;
  const { verdict: result } = report.result;
  const choice = chosen(report);
  return section(
    "verdict",
    text("Verdict", "结论"),
    h(
      "div",
      { class: "choice" },
      h("p", { class: "choice-label" }, say(text("Recommended network", "推荐网络"))),
      h("p", { class: "choice-name" }, nameOrNone(result.choice)),
      h("p", { class: "headline" }, say(words.headline)),
      choice ? numbers(report, choice) : null,
    ),
    h("div", { class: "voices" }, house(report), evidence(report)),
    together(report),
  );
}
