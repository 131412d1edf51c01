// Latency of a service over the rate of requests: where it bends, and where it passes the SLO.

import { number } from "../format";
import { say, same, text } from "../i18n";
import type { Report } from "../report";
import type { Percentiles, RatePoint, Text } from "../result";
import type { Chart } from "./figure";
import { type Line, lines } from "./lines";

type Metric = "ttft" | "tpot" | "latency";

export const METRIC_NAMES: Record<Metric, Text> = {
  ttft: text("Time to the first token", "首 token 时间"),
  tpot: text("Time per token", "每 token 时间"),
  latency: text("Time to the whole answer", "完整回答时间"),
};

function percentilesOf(point: RatePoint, metric: Metric): Percentiles {
  return { ttft: point.ttft_ms, tpot: point.tpot_ms, latency: point.latency_ms }[metric];
}

export function load({ fabrics }: Report): Chart | undefined {
  const serving = fabrics.flatMap(({ name, look, result }) =>
    result.serving && result.serving.rate_latency.length > 0
      ? [{ name, look, ...result.serving }]
      : [],
  );
  const slo = serving[0]?.slo;
  if (!slo) return undefined;
  const curves = serving.flatMap(({ name, look, rate_latency }): Line[] => {
    const points = (percentile: "p50" | "p99") =>
      rate_latency.map((point): [number, number] => [
        point.qps,
        percentilesOf(point, slo.metric)[percentile],
      ]);
    return [
      { name: `${name}, p50`, look, dash: "solid", points: points("p50") },
      { name: `${name}, p99`, look, dash: "dashed", points: points("p99") },
    ];
  });
  return lines({
    id: "chart-load",
    title: say(text("Latency as the load grows", "负载增长时的延迟")),
    lead: say(
      text(
        "Each line ends where the service no longer keeps up; shown is the time that the SLO bounds.",
        "每条线止于服务跟不上的速率；纵轴为 SLO 所约束的时间。",
      ),
    ),
    lines: curves,
    x: { name: say(text("Requests", "请求速率")), unit: say(text("requests/s", "请求/秒")) },
    y: { name: say(METRIC_NAMES[slo.metric]), unit: say(same("ms")) },
    logY: true,
    wide: true,
    limit: { at: slo.ms, name: `SLO p${slo.percentile}: ${number(slo.ms)} ms` },
  });
}
