#include "catalog/records.h"

#include <algorithm>

#include <fmt/format.h>

namespace fabricast::catalog {

namespace {

using base::yaml::Node;

template <class Record>
RecordParameter<Record> number(std::string key, double Record::* member, double min, double max) {
  return {std::move(key), true, [=](Record& record, const Node& node) {
            record.*member = base::yaml::number(node, min, max);
          }};
}

template <class Record>
RecordParameter<Record> count(std::string key, int Record::* member, int min, int max) {
  return {std::move(key), true, [=](Record& record, const Node& node) {
            record.*member = static_cast<int>(base::yaml::integer(node, min, max));
          }};
}

template <class Record>
RecordParameter<Record> flag(std::string key, bool Record::* member) {
  return {std::move(key), true,
          [=](Record& record, const Node& node) { record.*member = base::yaml::boolean(node); }};
}

template <class Record>
RecordParameter<Record> text(std::string key, std::string Record::* member) {
  return {std::move(key), true,
          [=](Record& record, const Node& node) { record.*member = base::yaml::text(node); }};
}

/// `names` in the order of the enumeration.
template <class Record, class Enum>
RecordParameter<Record> choice(std::string key, Enum Record::* member,
                               std::vector<std::string> names) {
  return {std::move(key), true,
          [member, names = std::move(names)](Record& record, const Node& node) {
            record.*member = static_cast<Enum>(choose(node, names));
          }};
}

template <class Record>
RecordParameter<Record> optional(RecordParameter<Record> parameter) {
  parameter.required = false;
  return parameter;
}

/// A mapping whose members belong together and have one origin.
template <class Record, class Group>
RecordParameter<Record> group(std::string key, Group Record::* member,
                              std::vector<RecordParameter<Group>> members) {
  return {std::move(key), true,
          [member, members = std::move(members)](Record& record, const Node& node) {
            base::yaml::Fields fields(node);
            for (const auto& part : members) {
              part.read(record.*member, fields.required(part.key));
            }
            fields.finish();
          }};
}

std::vector<RecordParameter<GemmCurve>> gemm_members() {
  return {number("fixed_us", &GemmCurve::fixed_us, 0, 1e3),
          number("efficiency", &GemmCurve::efficiency, 0.01, 1),
          number("edge", &GemmCurve::edge, 0, 1e4),
          number("depth", &GemmCurve::depth, 0, 1e5),
          number("waves", &GemmCurve::waves, 0, 1),
          number("memory_share", &GemmCurve::memory_share, 0.01, 1),
          number("split_us", &GemmCurve::split_us, 0, 1e6),
          number("step_ns", &GemmCurve::step_ns, 0, 1e6)};
}

std::vector<RecordParameter<AttentionCurve>> attention_members() {
  return {number("fixed_us", &AttentionCurve::fixed_us, 0, 1e3),
          number("efficiency", &AttentionCurve::efficiency, 0.01, 1),
          number("depth", &AttentionCurve::depth, 0, 1e5),
          number("passes", &AttentionCurve::passes, 0, 100)};
}

std::vector<RecordParameter<DecodeCurve>> decode_members() {
  return {number("fixed_us", &DecodeCurve::fixed_us, 0, 1e3),
          number("unit_us", &DecodeCurve::unit_us, 0, 1e3),
          number("memory_share", &DecodeCurve::memory_share, 0.01, 1),
          number("stream_gb_per_s", &DecodeCurve::stream_gb_per_s, 0.1, 1e5)};
}

const std::vector<std::string>& link_layer_names() {
  static const std::vector<std::string> names = {"infiniband", "ethernet"};
  return names;
}

/// ISO 8601 calendar date, as far as digits and hyphens go.
bool is_date(const std::string& text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
}

bool is_currency(const std::string& text) {
  return text.size() == 3 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

std::string_view name_of(LinkLayer layer) {
  return link_layer_names()[static_cast<std::size_t>(layer)];
}

const std::vector<RecordParameter<Gpu>>& parameters_of(const Gpu*) {
  static const std::vector<RecordParameter<Gpu>> table = {
      number("compute_capability", &Gpu::compute_capability, 1, 100),
      text("architecture", &Gpu::architecture),
      number("fp32_tflops", &Gpu::fp32_tflops, 0, 1e6),
      number("bf16_tflops", &Gpu::bf16_tflops, 0, 1e6),
      number("int8_tops", &Gpu::int8_tops, 0, 1e6),
      number("fp8_tflops", &Gpu::fp8_tflops, 0, 1e6),
      number("fp4_tflops", &Gpu::fp4_tflops, 0, 1e6),
      number("memory_gb", &Gpu::memory_gb, 1, 1e5),
      number("memory_gb_per_s", &Gpu::memory_gb_per_s, 1, 1e6),
      number("nvlink_gb_per_s", &Gpu::nvlink_gb_per_s, 0, 1e5),
      number("nvlink_usable_gb_per_s", &Gpu::nvlink_usable_gb_per_s, 0, 1e5),
      number("nvlink_latency_us", &Gpu::nvlink_latency_us, 0, 1e3),
      number("nvls_share", &Gpu::nvls_share, 0, 1),
      number("pcie_gb_per_s", &Gpu::pcie_gb_per_s, 1, 1e4),
      count("sms", &Gpu::sms, 1, 10'000),
      group("gemm_bf16", &Gpu::gemm_bf16, gemm_members()),
      optional(group("gemm_fp8", &Gpu::gemm_fp8, gemm_members())),
      group("attention", &Gpu::attention, attention_members()),
      group("decode", &Gpu::decode, decode_members()),
      number("sustained_share", &Gpu::sustained_share, 0.1, 1),
      number("kernel_launch_us", &Gpu::kernel_launch_us, 0, 1e3),
      number("kernel_variation_pct", &Gpu::kernel_variation_pct, 0, 50),
      number("power_w", &Gpu::power_w, 1, 1e5),
  };
  return table;
}

const std::vector<RecordParameter<Adapter>>& parameters_of(const Adapter*) {
  static const std::vector<RecordParameter<Adapter>> table = {
      {"link_layers", true,
       [](Adapter& adapter, const Node& node) {
         if (node.kind != Node::Kind::kSequence || node.items.empty()) {
           throw base::input_error(node.where, node.description(),
                                   "a list of " + base::one_of(link_layer_names()));
         }
         for (const Node& item : node.items) {
           adapter.link_layers.push_back(static_cast<LinkLayer>(choose(item, link_layer_names())));
         }
       }},
      number("port_gbps", &Adapter::port_gbps, 1, 1e5),
      optional(number("receive_buffer_kb", &Adapter::receive_buffer_kb, 1, 1e6)),
      number("power_w", &Adapter::power_w, 0, 1e4),
  };
  return table;
}

const std::vector<RecordParameter<Reliability>>& parameters_of(const Reliability*) {
  static const std::vector<RecordParameter<Reliability>> table = {
      number("gpu_mtbf_h", &Reliability::gpu_mtbf_h, 0, 1e12),
      number("host_mtbf_h", &Reliability::host_mtbf_h, 0, 1e12),
      number("adapter_mtbf_h", &Reliability::adapter_mtbf_h, 0, 1e12),
      number("link_mtbf_h", &Reliability::link_mtbf_h, 0, 1e12),
      number("switch_mtbf_h", &Reliability::switch_mtbf_h, 0, 1e12),
      number("software_mtbf_gpu_h", &Reliability::software_mtbf_gpu_h, 0, 1e12),
      number("detect_min", &Reliability::detect_min, 0, 1e5),
      number("restart_min", &Reliability::restart_min, 0, 1e5),
      number("storage_gb_per_s_per_gpu", &Reliability::storage_gb_per_s_per_gpu, 1e-6, 1e4),
  };
  return table;
}

const std::vector<RecordParameter<Slot>>& parameters_of(const Slot*) {
  static const std::vector<RecordParameter<Slot>> table = {
      number("rate_gt_per_s", &Slot::rate_gt_per_s, 1, 1e3),
      count("lanes", &Slot::lanes, 1, 64),
      number("coding_share", &Slot::coding_share, 0.5, 1),
      number("data_link_share", &Slot::data_link_share, 0.5, 1),
      count("write_overhead_b", &Slot::write_overhead_b, 1, 100),
      count("completion_overhead_b", &Slot::completion_overhead_b, 1, 100),
      count("request_b", &Slot::request_b, 1, 100),
  };
  return table;
}

const std::vector<RecordParameter<Host>>& parameters_of(const Host*) {
  static const std::vector<RecordParameter<Host>> table = {
      count("sockets", &Host::sockets, 1, 2),
      flag("amd", &Host::amd),
      count("gpus_per_switch", &Host::gpus_per_switch, 1, 1024),
      count("uplink_lanes", &Host::uplink_lanes, 1, 64),
      count("max_payload_b", &Host::max_payload_b, 64, 4096),
      count("max_read_request_b", &Host::max_read_request_b, 64, 4096),
      count("peer_payload_b", &Host::peer_payload_b, 0, 4096),
      number("switch_latency_ns", &Host::switch_latency_ns, 0, 1e5),
      number("root_latency_ns", &Host::root_latency_ns, 0, 1e5),
      number("bridge_latency_ns", &Host::bridge_latency_ns, 0, 1e5),
      number("socket_latency_ns", &Host::socket_latency_ns, 0, 1e5),
      number("socket_gb_per_s", &Host::socket_gb_per_s, 0.1, 1e5),
      number("memory_gb_per_s", &Host::memory_gb_per_s, 0.1, 1e5),
      number("memory_share", &Host::memory_share, 0.01, 1),
      number("copy_chunk_kb", &Host::copy_chunk_kb, 0.001, 1e6),
      number("copy_latency_us", &Host::copy_latency_us, 0, 1e4),
  };
  return table;
}

const std::vector<RecordParameter<ServingEngine>>& parameters_of(const ServingEngine*) {
  using E = ServingEngine;
  static const std::vector<RecordParameter<E>> table = {
      count("max_num_seqs", &E::max_num_seqs, 1, 1 << 20),
      count("max_num_batched_tokens", &E::max_num_batched_tokens, 1, 1 << 20),
      count("block_size", &E::block_size, 1, 4096),
      flag("chunked_prefill", &E::chunked_prefill),
      flag("mixed_batches", &E::mixed_batches),
      flag("prefix_caching", &E::prefix_caching),
      number("gpu_memory_utilization", &E::gpu_memory_utilization, 0.01, 1),
      number("step_us", &E::step_us, 0, 1e6),
      number("sequence_us", &E::sequence_us, 0, 1e6),
      number("request_us", &E::request_us, 0, 1e6),
      number("custom_all_reduce_kb", &E::custom_all_reduce_kb, 0, 1e6),
  };
  return table;
}

const std::vector<RecordParameter<Switch>>& parameters_of(const Switch*) {
  static const std::vector<RecordParameter<Switch>> table = {
      choice("link_layer", &Switch::link_layer, link_layer_names()),
      count("ports", &Switch::ports, 2, 100000),
      number("port_gbps", &Switch::port_gbps, 1, 1e5),
      number("latency_ns", &Switch::latency_ns, 1, 1e6),
      number("buffer_mb", &Switch::buffer_mb, 0, 1e5),
      number("power_w", &Switch::power_w, 1, 1e5),
      flag("adaptive_routing", &Switch::adaptive_routing),
  };
  return table;
}

const std::vector<RecordParameter<Cable>>& parameters_of(const Cable*) {
  static const std::vector<RecordParameter<Cable>> table = {
      choice("medium", &Cable::medium,
             {"direct-attach-copper", "active-optical", "transceiver-fibre"}),
      choice("link_layer", &Cable::link_layer, link_layer_names()),
      number("gbps", &Cable::gbps, 1, 1e5),
      number("max_m", &Cable::max_m, 0.1, 1e5),
      number("delay_ns_per_m", &Cable::delay_ns_per_m, 3.3, 10),
      number("power_w_per_end", &Cable::power_w_per_end, 0, 100),
  };
  return table;
}

const std::vector<RecordParameter<LanguageModel>>& parameters_of(const LanguageModel*) {
  using M = LanguageModel;
  static const std::vector<RecordParameter<M>> table = {
      count("layers", &M::layers, 1, kMostLayers),
      count("hidden", &M::hidden, 1, kMostHidden),
      count("feed_forward", &M::feed_forward, 1, kMostFeedForward),
      count("heads", &M::heads, 1, kMostHeads),
      count("kv_heads", &M::kv_heads, 1, kMostHeads),
      count("head_dim", &M::head_dim, 1, kMostHeadDim),
      count("vocabulary", &M::vocabulary, 1, kMostVocabulary),
      flag("tied_embeddings", &M::tied_embeddings),
      optional(flag("gated_mlp", &M::gated_mlp)),
      optional(flag("attention_bias", &M::attention_bias)),
      optional(flag("output_bias", &M::output_bias)),
      optional(flag("linear_bias", &M::linear_bias)),
      optional(count("norms_per_layer", &M::norms_per_layer, 1, 4)),
      optional(flag("norm_bias", &M::norm_bias)),
      optional(flag("qk_norm", &M::qk_norm)),
      optional(flag("attention_sinks", &M::attention_sinks)),
      optional(count("learned_positions", &M::learned_positions, 0, kMostContext)),
      optional(count("sliding_window", &M::sliding_window, 0, kMostContext)),
      optional(count("full_attention_every", &M::full_attention_every, 0, kMostLayers)),
      optional(count("experts", &M::experts, 0, kMostExperts)),
      optional(count("experts_per_token", &M::experts_per_token, 0, kMostExperts)),
      optional(count("shared_experts", &M::shared_experts, 0, kMostExperts)),
      optional(count("expert_feed_forward", &M::expert_feed_forward, 0, kMostFeedForward)),
      optional(count("shared_feed_forward", &M::shared_feed_forward, 0, kMostFeedForward)),
      optional(flag("shared_gate", &M::shared_gate)),
      optional(flag("routing_bias", &M::routing_bias)),
      optional(count("dense_layers", &M::dense_layers, 0, kMostLayers)),
      optional(count("q_lora_rank", &M::q_lora_rank, 0, kMostHidden)),
      optional(count("kv_lora_rank", &M::kv_lora_rank, 0, kMostHidden)),
      optional(count("qk_rope_head_dim", &M::qk_rope_head_dim, 0, kMostHeadDim)),
      optional(count("qk_nope_head_dim", &M::qk_nope_head_dim, 0, kMostHeadDim)),
      optional(count("v_head_dim", &M::v_head_dim, 0, kMostHeadDim)),
      count("context", &M::context, 1, kMostContext),
      number("published_parameters_b", &M::published_parameters_b, 0, 1e6),
  };
  return table;
}

const std::vector<RecordParameter<Price>>& parameters_of(const Price*) {
  static const std::vector<RecordParameter<Price>> table = {
      number("low", &Price::low, 0, 1e12),
      number("likely", &Price::likely, 0, 1e12),
      number("high", &Price::high, 0, 1e12),
      text("currency", &Price::currency),
      text("date", &Price::date),
      text("unit", &Price::unit),
  };
  return table;
}

void check(const Gpu& gpu, const base::Location& where) {
  if (gpu.bf16_tflops <= 0) {
    throw base::input_error(where, "a GPU without `bf16_tflops`", "a peak above 0");
  }
  if (gpu.fp8_tflops > 0 && gpu.gemm_fp8.efficiency <= 0) {
    throw base::input_error(where, "a GPU with `fp8_tflops` and without `gemm_fp8`",
                            "the coefficients of its FP8 GEMMs");
  }
}

void check(const Adapter& adapter, const base::Location& where) {
  const auto& layers = adapter.link_layers;
  const bool ethernet = std::ranges::find(layers, LinkLayer::kEthernet) != layers.end();
  if (ethernet && adapter.receive_buffer_kb <= 0) {
    throw base::input_error(where, "an Ethernet adapter without `receive_buffer_kb`",
                            "a buffer above 0");
  }
}

void check(const Slot&, const base::Location&) {}

void check(const Reliability&, const base::Location&) {}

void check(const Host&, const base::Location&) {}

void check(const ServingEngine&, const base::Location&) {}

void check(const Switch& network_switch, const base::Location& where) {
  if (network_switch.link_layer == LinkLayer::kEthernet && network_switch.buffer_mb <= 0) {
    throw base::input_error(where, "an Ethernet switch without `buffer_mb`", "a buffer above 0");
  }
}

void check(const Cable&, const base::Location&) {}

void check(const LanguageModel& model, const base::Location& where) {
  if (model.heads % model.kv_heads != 0) {
    throw base::input_error(
        where, fmt::format("{} heads over {} key/value heads", model.heads, model.kv_heads),
        "`kv_heads` that divides `heads`");
  }
  const bool moe = model.experts > 0;
  if (moe && (model.experts_per_token < 1 || model.experts_per_token > model.experts ||
              model.expert_feed_forward < 1 || model.dense_layers > model.layers)) {
    throw base::input_error(where,
                            fmt::format("{} experts of which a token visits {}", model.experts,
                                        model.experts_per_token),
                            "`experts_per_token` from 1 to `experts`, `expert_feed_forward` above "
                            "0 and `dense_layers` at most `layers`");
  }
  if (model.kv_lora_rank > 0 &&
      (model.qk_rope_head_dim < 1 || model.qk_nope_head_dim < 1 || model.v_head_dim < 1)) {
    throw base::input_error(where, "latent attention without its head dimensions",
                            "`qk_rope_head_dim`, `qk_nope_head_dim` and `v_head_dim` above 0");
  }
}

void check(const Price& price, const base::Location& where) {
  if (!(price.low <= price.likely && price.likely <= price.high)) {
    throw base::input_error(
        where, fmt::format("a band of {}, {}, {}", price.low, price.likely, price.high),
        "`low` <= `likely` <= `high`");
  }
  if (!is_currency(price.currency)) {
    throw base::input_error(where, "the currency " + base::quote(price.currency),
                            "an ISO 4217 code such as `CNY`");
  }
  if (!is_date(price.date)) {
    throw base::input_error(where, "the date " + base::quote(price.date),
                            "an ISO 8601 date such as `2026-03-19`");
  }
}

double Slot::packets_gbps(int width) const {
  return rate_gt_per_s * width * coding_share * data_link_share;
}

double Gpu::peak_tflops(Precision precision) const {
  switch (precision) {
    case Precision::kFp32:
      return fp32_tflops;
    case Precision::kInt8:
      return int8_tops;
    case Precision::kFp8:
      return fp8_tflops;
    case Precision::kFp4:
      return fp4_tflops;
    case Precision::kBf16:
      break;
  }
  return bf16_tflops;
}

const GemmCurve& Gpu::gemm_curve(Precision precision) const {
  const bool narrow = precision != Precision::kFp32 && precision != Precision::kBf16;
  return narrow && gemm_fp8.efficiency > 0 ? gemm_fp8 : gemm_bf16;
}

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return "fp32";
    case Precision::kInt8:
      return "int8";
    case Precision::kFp8:
      return "fp8";
    case Precision::kFp4:
      return "fp4";
    case Precision::kBf16:
      break;
  }
  return "bf16";
}

}  // namespace fabricast::catalog
