// Every struct that an outcome is made of is listed once, by a structured binding that must name
// all of its members: a new member does not compile until it is kept, too.

#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "report/outcomes.h"

namespace fabricast::report {

namespace {

using Json = nlohmann::json;

template <class S, class T>
concept Is = std::same_as<std::remove_const_t<S>, T>;

auto members(Is<fabric::Sizing> auto& s) {
  auto& [tiers, leaves, spines, cores, pods, leaves_per_pod, down_ports, up_ports, spine_up_ports,
         uplink_split, uplink_rate, endpoint_cables, leaf_spine_cables, spine_core_cables] = s;
  return std::tie(tiers, leaves, spines, cores, pods, leaves_per_pod, down_ports, up_ports,
                  spine_up_ports, uplink_split, uplink_rate, endpoint_cables, leaf_spine_cables,
                  spine_core_cables);
}

auto members(Is<fabric::HostLimit> auto& s) {
  auto& [rate, link] = s;
  return std::tie(rate, link);
}

auto members(Is<network::NetworkMetrics> auto& s) {
  auto& [idle, p50, p99, bandwidth, paused, marked, dropped, retransmitted, cpu] = s;
  return std::tie(idle, p50, p99, bandwidth, paused, marked, dropped, retransmitted, cpu);
}

auto members(Is<network::Counters> auto& s) {
  auto& [events, hops, data, retransmitted, dropped, marked, cnps, pauses, timeouts, retries, trips,
         discards, sent, delivered, paused, stalled, cpu, cores, queue] = s;
  return std::tie(events, hops, data, retransmitted, dropped, marked, cnps, pauses, timeouts,
                  retries, trips, discards, sent, delivered, paused, stalled, cpu, cores, queue);
}

auto members(Is<training::Breakdown> auto& s) {
  auto& [compute, tp, pp, dp, ep, cp, bubble] = s;
  return std::tie(compute, tp, pp, dp, ep, cp, bubble);
}

auto members(Is<training::OnTheWire> auto& s) {
  auto& [tp, pp, dp, ep, cp] = s;
  return std::tie(tp, pp, dp, ep, cp);
}

auto members(Is<training::FailureCause> auto& s) {
  auto& [component, count, mtbf, rate] = s;
  return std::tie(component, count, mtbf, rate);
}

auto members(Is<training::ReliabilityReport> auto& s) {
  auto& [causes, mtbf, size, write, interval, recovery, goodput, checkpoint, lost, recovering,
         interruptions] = s;
  return std::tie(causes, mtbf, size, write, interval, recovery, goodput, checkpoint, lost,
                  recovering, interruptions);
}

auto members(Is<collective::PhaseReport> auto& s) {
  auto& [name, op, size, ranks, mean, sigma, error, states, flow, p99, times, inside, link, used] =
      s;
  return std::tie(name, op, size, ranks, mean, sigma, error, states, flow, p99, times, inside, link,
                  used);
}

auto members(Is<model::Memory> auto& s) {
  auto& [weights, gradients, optimizer, activations, overhead, total] = s;
  return std::tie(weights, gradients, optimizer, activations, overhead, total);
}

auto members(Is<training::Result> auto& s) {
  auto& [step, breakdown, wire, late, utilisation, smi, mfu, jitter, tokens, days, reliability,
         error, memory, phases, steps, packets, network, counters] = s;
  return std::tie(step, breakdown, wire, late, utilisation, smi, mfu, jitter, tokens, days,
                  reliability, error, memory, phases, steps, packets, network, counters);
}

auto members(Is<serving::Estimate> auto& s) {
  auto& [value, lo, hi] = s;
  return std::tie(value, lo, hi);
}

auto members(Is<serving::Percentiles> auto& s) {
  auto& [mean, p50, p90, p95, p99] = s;
  return std::tie(mean, p50, p90, p95, p99);
}

auto members(Is<serving::RatePoint> auto& s) {
  auto& [qps, ttft, tpot, latency, violation, utilisation] = s;
  return std::tie(qps, ttft, tpot, latency, violation, utilisation);
}

auto members(Is<model::InferenceMemory> auto& s) {
  auto& [weights, activations, overhead, cache] = s;
  return std::tie(weights, activations, overhead, cache);
}

auto members(Is<serving::GpuMemory> auto& s) {
  auto& [held, tokens] = s;
  return std::tie(held, tokens);
}

auto members(Is<serving::Result> auto& s) {
  auto& [offered, simulated, overloaded, capacity, slo, goodput, met, ttft, tpot, latency, queue,
         has_tpot, utilisation, communicating, host, jitter, input, output, concurrency, batch,
         cached, in_use, requests, preemptions, timeouts, seconds, transfer, replicas,
         mean_replicas, out, in, cold, curve, memory, phases, network, counters, packets] = s;
  return std::tie(offered, simulated, overloaded, capacity, slo, goodput, met, ttft, tpot, latency,
                  queue, has_tpot, utilisation, communicating, host, jitter, input, output,
                  concurrency, batch, cached, in_use, requests, preemptions, timeouts, seconds,
                  transfer, replicas, mean_replicas, out, in, cold, curve, memory, phases, network,
                  counters, packets);
}

auto members(Is<cost::BomLine> auto& s) {
  auto& [item, what, count, price, power, part, longest, owned] = s;
  return std::tie(item, what, count, price, power, part, longest, owned);
}

auto members(Is<cost::Bill> auto& s) {
  auto& [currency, lines, network, gpu, other, capex, power, racks] = s;
  return std::tie(currency, lines, network, gpu, other, capex, power, racks);
}

auto members(Is<cost::Result> auto& s) {
  auto& [currency, network, capex, power, hour, run, tokens, parts] = s;
  return std::tie(currency, network, capex, power, hour, run, tokens, parts);
}

auto members(Is<cost::PerHour> auto& s) {
  auto& [network, gpus, energy, operation] = s;
  return std::tie(network, gpus, energy, operation);
}

auto members(Is<cost::Band> auto& s) {
  auto& [low, high] = s;
  return std::tie(low, high);
}

auto members(Is<cost::Bounds> auto& s) {
  auto& [network, capex, hour] = s;
  return std::tie(network, capex, hour);
}

auto members(Is<advice::Outcome> auto& s) {
  auto& [name, kind, sizing, host, network, training, serving, bill, cost, bounds, wall] = s;
  return std::tie(name, kind, sizing, host, network, training, serving, bill, cost, bounds, wall);
}

template <class T>
concept Plain = std::is_arithmetic_v<T> || std::same_as<T, std::string>;

template <Plain T>
void write(Json& json, const T& value) {
  json = value;
}
template <Plain T>
void read(const Json& json, T& value) {
  value = json.get<T>();
}

template <class T>
  requires std::is_enum_v<T>
void write(Json& json, const T& value) {
  json = static_cast<int>(value);
}
template <class T>
  requires std::is_enum_v<T>
void read(const Json& json, T& value) {
  value = static_cast<T>(json.get<int>());
}

void write(Json& json, const base::Time& value) {
  json = value.ps();
}
void read(const Json& json, base::Time& value) {
  value = base::Time::picoseconds(json.get<std::int64_t>());
}
void write(Json& json, const base::Bytes& value) {
  json = value.count();
}
void read(const Json& json, base::Bytes& value) {
  value = base::Bytes(json.get<std::int64_t>());
}
void write(Json& json, const base::Rate& value) {
  json = value.bps();
}
void read(const Json& json, base::Rate& value) {
  value = base::Rate::bits_per_second(json.get<std::int64_t>());
}

template <class T>
concept Struct = requires(T& value) { members(value); };

template <Struct T>
void write(Json& json, const T& value);
template <Struct T>
void read(const Json& json, T& value);

template <class T>
void write(Json& json, const std::vector<T>& values) {
  json = Json::array();
  for (const T& value : values) write(json.emplace_back(), value);
}
template <class T>
void read(const Json& json, std::vector<T>& values) {
  values.resize(json.size());
  for (std::size_t i = 0; i < values.size(); ++i) read(json.at(i), values[i]);
}

template <class T>
void write(Json& json, const std::optional<T>& value) {
  if (value) write(json, *value);
}
template <class T>
void read(const Json& json, std::optional<T>& value) {
  if (!json.is_null()) read(json, value.emplace());
}

template <Struct T>
void write(Json& json, const T& value) {
  json = Json::array();
  std::apply([&](const auto&... member) { (write(json.emplace_back(), member), ...); },
             members(value));
}
template <Struct T>
void read(const Json& json, T& value) {
  std::size_t i = 0;
  std::apply([&](auto&... member) { (read(json.at(i++), member), ...); }, members(value));
}

}  // namespace

std::string packed(const std::vector<advice::Outcome>& outcomes) {
  Json json;
  write(json, outcomes);
  std::string bytes;
  Json::to_cbor(json, bytes);
  return bytes;
}

std::vector<advice::Outcome> unpacked(std::string_view bytes) {
  try {
    std::vector<advice::Outcome> outcomes;
    read(Json::from_cbor(bytes), outcomes);
    return outcomes;
  } catch (const Json::exception& error) {
    throw base::failure(std::string("outcomes that cannot be read back (") + error.what() + ")");
  }
}

}  // namespace fabricast::report
