// What the report shows: the JSON of `fabricast compare` or `fabricast advise` as the program embeds
// it into the page, with what the page needs beside it. Units are in the names; money is in
// `currency` of the object that holds it. What does not apply is absent.

/** Text in both languages of the reports. */
export interface Text {
  en: string;
  zh: string;
}

/** A value between the ends of its band. */
export interface Interval {
  value: number;
  lo: number;
  hi: number;
}

export interface Percentiles {
  mean: number;
  p50: number;
  p90: number;
  p95: number;
  p99: number;
}

export interface Page {
  lang: "en" | "zh";
  kind: "compare" | "advise";
  /** The command that writes this report again. */
  command: string;
  /** What was asked, one line: "32 x NVIDIA H100 80 GB SXM, 8 nodes with 4 x 200 Gb/s". */
  subject: Text;
  /** The workload, one line: "Llama 2 70B, fp8, tp 1 x pp 1 x dp 32". */
  workload: Text;
  /** For the picture of the network; without it the picture shows no nodes. */
  cluster?: Cluster;
  result: Result;
  /** Sentences of the verdict that the JSON has in English only, in its order. */
  words: Words;
  /** Every assumed or quoted value that the numbers rest on, with its provenance. */
  assumptions: Assumption[];
}

export interface Cluster {
  gpus: number;
  nodes: number;
  /** Adapters of a node, and the rate of each. */
  nics_per_node: number;
  nic_gbps: number;
  /** "leaf-spine", as in the scenario. */
  topology: string;
}

export interface Words {
  headline: Text;
  reasons: Text[];
  flips: Text[];
  house: HouseWords[];
  next: Text;
  notes: Text[];
}

export interface HouseWords {
  id: string;
  place: string;
  text: Text;
  choice: string;
  challenge?: Text;
  challenge_source?: string;
}

export interface Assumption {
  id: string;
  name: string;
  value: number;
  lo?: number;
  hi?: number;
  unit: string;
  kind: "measured" | "datasheet" | "published" | "calibrated" | "assumed";
  source: string;
  date?: string;
}

export interface Result {
  fabricast: string;
  scenario: string;
  seed: number;
  /** In the order of the scenario; of `advise` the designs that were looked at closely. */
  fabrics: Record<string, FabricResult>;
  verdict: Verdict;
  claims?: Claim[];
  // `advise` alone from here on.
  designs?: Design[];
  objective?: string;
  assessment_method?: AssessmentAxis[];
  scaling?: Scaling;
  sensitivity?: Sensitivity[];
  tuning?: TuningStep[];
  break_even?: BreakEven[];
}

export type FabricKind = "infiniband" | "roce-v2" | "tcp" | "roce-v1";

export interface FabricResult {
  kind: FabricKind;
  sizing: Sizing;
  network?: Network;
  training?: Training;
  serving?: Serving;
  cost: Cost;
}

/** Switches by tier, and cables by what they join. No tier: direct cables. */
export interface Sizing {
  tiers: number;
  leaves: number;
  spines: number;
  cores: number;
  endpoint_cables: number;
  leaf_spine_cables: number;
  spine_core_cables: number;
}

export interface Network {
  latency_us: number;
  latency_loaded_p50_us?: number;
  latency_loaded_p99_us?: number;
  bandwidth_gbps: number;
  pfc_pause_pct?: number;
  ecn_marked_pct?: number;
  dropped_packets?: number;
  retransmitted_pct?: number;
  host_cpu_pct?: number;
}

export interface Training {
  step_time_s: number;
  breakdown_s: {
    compute: number;
    exposed_tp: number;
    exposed_pp: number;
    exposed_dp: number;
    exposed_ep: number;
    exposed_cp: number;
    bubble: number;
  };
  gpu_utilisation_pct: number;
  mfu_pct: number;
  jitter_pct: number;
  tokens_per_s: number;
  days: number;
  goodput_pct: number;
  memory_gb_per_gpu: number;
}

export interface Serving {
  ttft_ms: Percentiles;
  tpot_ms: Percentiles;
  latency_ms: Percentiles;
  offered_qps: number;
  simulated_qps: number;
  capacity_qps: number;
  capacity_qps_interval?: Interval;
  slo_qps: number;
  slo_qps_interval?: Interval;
  goodput_qps: number;
  slo: { metric: "ttft" | "tpot" | "latency"; percentile: number; ms: number };
  gpu_utilisation_pct: number;
  jitter_pct: number;
  overloaded: boolean;
  rate_latency: RatePoint[];
}

export interface RatePoint {
  qps: number;
  ttft_ms: Percentiles;
  tpot_ms: Percentiles;
  latency_ms: Percentiles;
  slo_violation_pct: number;
  gpu_utilisation_pct: number;
}

export interface Cost {
  currency: string;
  network_capex: number;
  network_capex_interval?: Interval;
  capex: number;
  capex_interval?: Interval;
  power_kw: number;
  per_hour: number;
  per_run?: number;
  per_run_interval?: Interval;
  per_million_tokens: number;
  per_million_tokens_interval?: Interval;
  /** What an hour of the whole cluster is made of. */
  per_hour_parts?: { network: number; gpus: number; energy: number; operation: number };
  bom: BomLine[];
}

export interface BomLine {
  item: string;
  what: string;
  part?: "switch" | "adapter" | "cable" | "gpu" | "spare" | "management" | "subnet-manager" | "rack";
  count: number;
  unit_price: number;
  unit_price_interval?: Interval;
  unit_power_w: number;
}

export interface Verdict {
  choice: string;
  house: { choice: string; rules: string[] };
  evidence: { choice: string; headline: string; level: string[]; score: Record<string, number> };
  reasons: { text: string; metric: string; values: Record<string, number> }[];
  flips: { input: string; at: number; to: string; unit: string }[];
  next: string;
  next_yaml?: string;
}

export interface Claim {
  id: string;
  place: string;
  text: string;
  text_zh: string;
  verdict: "holds" | "partly" | "contradicted" | "unverifiable";
  evidence: string;
  evidence_zh: string;
}

/** One network that could be built, priced and, where feasible, simulated. */
export interface Design {
  name: string;
  fabric: FabricKind;
  /** Profile of the catalogue: how the fabric is tuned. */
  profile: string;
  topology: string;
  oversubscription: number;
  nic_gbps: number;
  switch: string;
  adapter: string;
  switches: number;
  links: number;
  feasible: boolean;
  /** Why it is not feasible; of a feasible one what to know of it; may be empty. */
  reason: string;
  reason_zh: string;
  chosen: boolean;
  /** On the Pareto front of cost against time (or, of a service, against latency). */
  pareto: boolean;
  currency: string;
  network_capex?: number;
  network_capex_interval?: Interval;
  capex?: number;
  capex_interval?: Interval;
  power_kw?: number;
  per_hour?: number;
  per_run?: number;
  per_run_interval?: Interval;
  per_million_tokens?: number;
  per_million_tokens_interval?: Interval;
  latency_us?: number;
  gpu_utilisation_pct?: number;
  jitter_pct?: number;
  days?: number;
  tokens_per_s?: number;
  slo_ms?: number;
  slo_qps?: number;
  capacity_qps?: number;
  level?: "flow" | "packet";
  assessment?: Assessment;
}

/** 0 to 100 each. */
export interface Assessment {
  efficiency: number;
  economy: number;
  adaptability: number;
  availability: number;
  performance: number;
}

export interface AssessmentAxis {
  axis: keyof Assessment;
  name: Text;
  formula: Text;
}

/** Speed of the chosen kinds of design with the number of GPUs. */
export interface Scaling {
  /** "tokens_per_s" or "capacity_qps". */
  quantity: string;
  gpus: number[];
  /** Per design; null where it cannot be built. */
  series: { name: string; values: (number | null)[] }[];
}

/** One input moved between the ends of its band, all others at their likely values. */
export interface Sensitivity {
  input: string;
  name: Text;
  unit: string;
  low: number;
  likely: number;
  high: number;
  /** Advantage of the choice over the runner-up in percent of cost at the ends of the band; below 0 it is no longer the choice. */
  margin_low_pct: number;
  margin_likely_pct: number;
  margin_high_pct: number;
  /** Value at which the choice changes, where there is one, and to what. */
  flip_at?: number;
  flip_to?: string;
}

/** One step of tuning a RoCE network, from the one before. */
export interface TuningStep {
  name: string;
  text: Text;
  /** Time or latency against the step before: below 0 is faster, in percent. */
  gain_pct: number;
  days?: number;
  slo_ms?: number;
  per_million_tokens?: number;
  jitter_pct?: number;
}

/** Two ways to pay for the same work, along something that is not known. */
export interface BreakEven {
  id: string;
  title: Text;
  x_name: Text;
  x_unit: string;
  x: number[];
  y_name: Text;
  y_unit: string;
  series: { name: Text; values: number[] }[];
  /** Where the lines cross; absent where they do not. */
  crossing?: number;
}
