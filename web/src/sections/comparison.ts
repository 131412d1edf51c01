// The fabrics side by side: the rows of the terminal's table.

import { kindOf } from "../bom";
import { type Child, h } from "../dom";
import { band, number, runUnit, whole } from "../format";
import { say, same, text } from "../i18n";
import type { Fabric, Report } from "../report";
import type { BomLine, FabricResult, Interval, Serving, Text, Training } from "../result";
import { scrolling } from "../table";
import { section } from "./section";

interface Row {
  label: Text;
  unit?: Text;
  of: (result: FabricResult) => number | undefined;
  interval?: (result: FabricResult) => Interval | undefined;
  /** Which end is better; absent where neither is. */
  better?: "less" | "more";
  count?: boolean;
  /** A part of the row above. */
  part?: boolean;
  /** Left out where it is zero everywhere. */
  ifAny?: boolean;
}

interface Group {
  title: Text;
  rows: Row[];
}

const percent = same("%");
const ms = same("ms");
const us = same("us");
const perSecond = text("requests/s", "请求/秒");

const counted = (kind: ReturnType<typeof kindOf>) => (result: FabricResult) =>
  result.cost.bom
    .filter((line: BomLine) => kindOf(line) === kind)
    .reduce((total, line) => total + line.count, 0);

const NETWORK: Row[] = [
  {
    label: text("switches", "交换机"),
    of: counted("switch"),
    count: true,
    better: "less",
    ifAny: true,
  },
  { label: text("adapters", "网卡"), of: counted("adapter"), count: true, ifAny: true },
  { label: text("cables", "线缆"), of: counted("cable"), count: true, better: "less", ifAny: true },
  {
    label: text("latency, idle", "延迟（空闲）"),
    unit: us,
    of: (r) => r.network?.latency_us,
    better: "less",
  },
  {
    label: text("latency, loaded p50", "延迟（负载）p50"),
    unit: us,
    of: (r) => r.network?.latency_loaded_p50_us,
    better: "less",
  },
  {
    label: text("latency, loaded p99", "延迟（负载）p99"),
    unit: us,
    of: (r) => r.network?.latency_loaded_p99_us,
    better: "less",
  },
  {
    label: text("bandwidth", "带宽"),
    unit: same("Gb/s"),
    of: (r) => r.network?.bandwidth_gbps,
    better: "more",
  },
  { label: text("paused by PFC", "PFC 暂停"), unit: percent, of: (r) => r.network?.pfc_pause_pct },
  { label: text("ECN-marked", "ECN 标记"), unit: percent, of: (r) => r.network?.ecn_marked_pct },
  {
    label: text("dropped packets", "丢包数"),
    of: (r) => r.network?.dropped_packets,
    count: true,
    better: "less",
  },
  {
    label: text("retransmitted", "重传"),
    unit: percent,
    of: (r) => r.network?.retransmitted_pct,
    better: "less",
  },
  {
    label: text("host CPU", "主机 CPU"),
    unit: percent,
    of: (r) => r.network?.host_cpu_pct,
    better: "less",
  },
];

function trainingRows(report: Report): Row[] {
  const of = (key: keyof Omit<Training, "breakdown_s">) => (result: FabricResult) =>
    result.training?.[key];
  const step = (key: keyof Training["breakdown_s"], label: Text): Row => ({
    label,
    unit: same("s"),
    of: (result) => result.training?.breakdown_s[key],
    part: true,
    ifAny: true,
  });
  const unit = runUnit(report.fabrics.flatMap(({ result }) => result.training?.days ?? []));
  const waiting = (kind: string) => text(`waiting for ${kind}`, `等待 ${kind}`);
  return [
    { label: text("step", "单步"), unit: same("s"), of: of("step_time_s"), better: "less" },
    step("compute", text("computing", "计算")),
    step("exposed_tp", waiting("tp")),
    step("exposed_pp", waiting("pp")),
    step("exposed_dp", waiting("dp")),
    step("exposed_ep", waiting("ep")),
    step("exposed_cp", waiting("cp")),
    step("bubble", text("bubble, imbalance", "气泡与阶段不均")),
    {
      label: text("GPU utilisation", "GPU 利用率"),
      unit: percent,
      of: of("gpu_utilisation_pct"),
      better: "more",
    },
    { label: same("MFU"), unit: percent, of: of("mfu_pct"), better: "more" },
    {
      label: text("jitter of the step", "单步抖动"),
      unit: percent,
      of: of("jitter_pct"),
      better: "less",
    },
    {
      label: text("speed", "速度"),
      unit: text("tokens/s", "token/秒"),
      of: of("tokens_per_s"),
      better: "more",
    },
    {
      label: text("whole run", "全程"),
      unit: unit.name,
      of: ({ training }) => training && training.days / unit.days,
      better: "less",
    },
    { label: text("memory per GPU", "单卡显存"), unit: same("GB"), of: of("memory_gb_per_gpu") },
  ];
}

function servingRows(): Row[] {
  const of = (pick: (serving: Serving) => number | undefined) => (result: FabricResult) =>
    result.serving && pick(result.serving);
  return [
    { label: text("requests offered", "到达请求"), unit: perSecond, of: of((s) => s.offered_qps) },
    {
      label: text("sustained", "可持续"),
      unit: perSecond,
      of: of((s) => s.capacity_qps),
      interval: (r) => r.serving?.capacity_qps_interval,
      better: "more",
    },
    {
      label: text("within the SLO", "满足 SLO"),
      unit: perSecond,
      of: of((s) => s.slo_qps),
      interval: (r) => r.serving?.slo_qps_interval,
      better: "more",
    },
    {
      label: text("first token, p50", "首 token，p50"),
      unit: ms,
      of: of((s) => s.ttft_ms.p50),
      better: "less",
    },
    {
      label: text("first token, p99", "首 token，p99"),
      unit: ms,
      of: of((s) => s.ttft_ms.p99),
      better: "less",
    },
    {
      label: text("per token, p50", "每 token，p50"),
      unit: ms,
      of: of((s) => s.tpot_ms?.p50),
      better: "less",
    },
    {
      label: text("whole answer, mean", "完整回答，均值"),
      unit: ms,
      of: of((s) => s.latency_ms.mean),
      better: "less",
    },
    {
      label: text("whole answer, p99", "完整回答，p99"),
      unit: ms,
      of: of((s) => s.latency_ms.p99),
      better: "less",
    },
    {
      label: text("jitter of TPOT", "TPOT 抖动"),
      unit: percent,
      of: of((s) => s.jitter_pct),
      better: "less",
    },
    {
      label: text("GPU utilisation", "GPU 利用率"),
      unit: percent,
      of: of((s) => s.gpu_utilisation_pct),
      better: "more",
    },
    {
      label: text("goodput", "有效速率"),
      unit: perSecond,
      of: of((s) => s.goodput_qps),
      better: "more",
    },
  ];
}

function costRows(currency: string): Row[] {
  const money = same(currency);
  return [
    {
      label: text("network", "网络设备"),
      unit: money,
      of: (r) => r.cost.network_capex,
      interval: (r) => r.cost.network_capex_interval,
      better: "less",
    },
    {
      label: text("whole cluster", "整个集群"),
      unit: money,
      of: (r) => r.cost.capex,
      interval: (r) => r.cost.capex_interval,
      better: "less",
    },
    { label: text("power", "功率"), unit: same("kW"), of: (r) => r.cost.power_kw, better: "less" },
    { label: text("per hour", "每小时"), unit: money, of: (r) => r.cost.per_hour, better: "less" },
    {
      label: text("per run", "每次训练"),
      unit: money,
      of: (r) => r.cost.per_run,
      interval: (r) => r.cost.per_run_interval,
      better: "less",
      ifAny: true,
    },
    {
      label: text("per million tokens", "每百万 token"),
      unit: money,
      of: (r) => r.cost.per_million_tokens,
      interval: (r) => r.cost.per_million_tokens_interval,
      better: "less",
    },
  ];
}

/** Values that look alike are equally good. */
function bestOf(row: Row, fabrics: Fabric[]): string | undefined {
  const values = fabrics.flatMap(({ result }) => row.of(result) ?? []);
  if (!row.better || values.length < 2) return undefined;
  const best = number(row.better === "less" ? Math.min(...values) : Math.max(...values));
  return values.every((value) => number(value) === best) ? undefined : best;
}

function cell(row: Row, result: FabricResult, best: string | undefined): HTMLElement {
  const value = row.of(result);
  if (value === undefined) return h("td", { class: "number" }, "–");
  const interval = row.interval?.(result);
  const isBest = number(value) === best;
  return h(
    "td",
    { class: isBest ? "number best" : "number" },
    isBest ? h("span", { class: "hidden" }, say(text("best: ", "最佳："))) : null,
    row.count && value < 1000 ? whole(value) : number(value),
    interval ? h("span", { class: "band" }, band(interval)) : null,
  );
}

function shown(row: Row, fabrics: Fabric[]): boolean {
  const values = fabrics.map(({ result }) => row.of(result));
  return values.some((value) => value !== undefined && (!row.ifAny || value !== 0));
}

function group({ title, rows }: Group, fabrics: Fabric[]): HTMLElement | null {
  const visible = rows.filter((row) => shown(row, fabrics));
  if (visible.length === 0) return null;
  return h(
    "tbody",
    {},
    h("tr", { class: "group" }, h("th", { colspan: fabrics.length + 1, scope: "rowgroup" }, say(title))),
    ...visible.map((row) => {
      const best = bestOf(row, fabrics);
      return h(
        "tr",
        {},
        h(
          "th",
          { scope: "row", class: row.part ? "part" : undefined },
          say(row.label),
          row.unit ? h("span", { class: "unit" }, ` ${say(row.unit)}`) : null,
        ),
        ...fabrics.map(({ result }) => cell(row, result, best)),
      );
    }),
  );
}

function head({ fabrics, result }: Report): HTMLElement {
  const name = (fabric: Fabric): Child[] => [
    h("span", { class: "swatch", style: `background:${fabric.look.colour}` }),
    fabric.name,
    fabric.id === result.verdict.choice
      ? h("span", { class: "chosen" }, say(text("recommended", "推荐")))
      : null,
  ];
  return h(
    "thead",
    {},
    h(
      "tr",
      {},
      h("th", { scope: "col" }, say(text("Quantity and unit", "项目与单位"))),
      ...fabrics.map((fabric) => h("th", { scope: "col", class: "number" }, ...name(fabric))),
    ),
  );
}

export function comparison(report: Report): HTMLElement | undefined {
  const { fabrics, page } = report;
  if (fabrics.length === 0) return undefined;
  const groups: Group[] = [
    { title: text("Network", "网络"), rows: NETWORK },
    ...(report.training
      ? [{ title: text("Training", "训练"), rows: trainingRows(report) }]
      : [{ title: text("Serving", "推理服务"), rows: servingRows() }]),
    { title: text("Cost", "成本"), rows: costRows(report.currency) },
  ];
  return section(
    "comparison",
    text("The networks side by side", "各网络对比"),
    scrolling(
      h("table", { class: "comparison" }, head(report), ...groups.map((each) => group(each, fabrics))),
      say(text("The networks side by side", "各网络对比")),
    ),
    h(
      "p",
      { class: "note" },
      say(
        text(
          "In bold on a tinted ground: the best of a row. Small below a value: its band.",
          "加粗且底色加深者为该行最佳；数值下方的小字为其区间。",
        ),
      ),
    ),
    ...page.words.notes.map((note) => h("p", { class: "note" }, say(note))),
  );
}
