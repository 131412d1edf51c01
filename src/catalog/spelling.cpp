// Values as people read them: with the unit that the end of a key stands for, a price in its
// currency, and in words where a number does not mean itself.

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "catalog/catalog.h"

namespace fabricast::catalog {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

/// By the end of a key; an end that contains another comes first.
constexpr std::array<Pair, 21> kUnits = {{
    {"parameters_b", "billion"},
    {"_gt_per_s", "GT/s"},
    {"_gb_per_s", "GB/s"},
    {"_ns_per_byte", "ns/B"},
    {"_ns_per_m", "ns/m"},
    {"_w_per_end", "W"},
    {"_tflops", "TFLOP/s"},
    {"_tops", "TOP/s"},
    {"_rate_mps", "messages/us"},
    {"_gbps", "Gb/s"},
    {"_mbps", "Mb/s"},
    {"_pct", "%"},
    {"_gb", "GB"},
    {"_mb", "MB"},
    {"_kb", "kB"},
    {"_b", "B"},
    {"_ms", "ms"},
    {"_us", "us"},
    {"_ns", "ns"},
    {"_w", "W"},
    {"_m", "m"},
}};

/// What 0 stands for where it is no amount.
constexpr std::array<Pair, 21> kZeros = {{
    {"fp32_tflops", "no such units"},
    {"bf16_tflops", "no such units"},
    {"int8_tops", "no such units"},
    {"fp8_tflops", "no such units"},
    {"fp4_tflops", "no such units"},
    {"nvlink_gb_per_s", "no NVLink"},
    {"buffer_mb", "no shared buffer"},
    {"peer_payload_b", "as max_payload_b"},
    {"learned_positions", "none"},
    {"sliding_window", "none"},
    {"full_attention_every", "none"},
    {"experts", "dense"},
    {"shared_experts", "none"},
    {"dense_layers", "none"},
    {"q_lora_rank", "none"},
    {"kv_lora_rank", "none"},
    {"transport.window_kb", "unlimited"},
    {"dcqcn.cnp_interval_us", "no limit"},
    {"dcqcn.byte_counter_kb", "none"},
    {"hpcc.base_rtt_us", "of each path"},
    {"ibcc.threshold", "never"},
}};

bool is_zero(std::string_view text) {
  double value = 1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value == 0;
}

std::string text_of(const Entry& entry, std::string_view key) {
  const auto found = std::ranges::find(entry.values, key, &Value::key);
  return found == entry.values.end() ? std::string() : found->text;
}

std::string unit_of(const Entry& entry, const Value& value) {
  if (entry.category == "prices") {
    constexpr std::array<std::string_view, 3> kAmounts = {"low", "likely", "high"};
    const std::string currency = text_of(entry, "currency");
    const bool amount = std::ranges::count(kAmounts, value.key) > 0;
    return amount && currency != kNoCurrency ? currency : "";
  }
  for (const auto& [end, unit] : kUnits) {
    if (value.key.ends_with(end)) return std::string(unit);
  }
  return {};
}

/// What a value of 0 means; empty when it is an amount like any other.
std::string_view zero_of(const Entry& entry, const Value& value) {
  if (value.key == "pfc.headroom_kb" && text_of(entry, "pfc.headroom_computed") == "true") {
    return "computed";
  }
  const auto* found = std::ranges::find(kZeros, std::string_view(value.key), &Pair::first);
  return found == kZeros.end() ? std::string_view() : found->second;
}

std::string spelt_out(const Entry& entry, const Value& value) {
  if (entry.category == "prices" && value.key == "currency" && value.text == kNoCurrency) {
    return "-";
  }
  if (is_zero(value.text)) {
    const std::string_view meaning = zero_of(entry, value);
    if (!meaning.empty()) return value.text + " (" + std::string(meaning) + ")";
  }
  const std::string unit = unit_of(entry, value);
  return unit.empty() ? value.text : value.text + " " + unit;
}

}  // namespace

Catalog Catalog::spelt_out() const {
  Catalog result = *this;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    for (std::size_t j = 0; j < entries_[i].values.size(); ++j) {
      result.entries_[i].values[j].text = catalog::spelt_out(entries_[i], entries_[i].values[j]);
    }
  }
  return result;
}

}  // namespace fabricast::catalog
