// What NCCL_DEBUG=INFO says that tells how a job communicates: NCCL src/init.cc, src/transport.cc,
// src/transport/net_ib.cc, src/transport/nvls.cc. RCCL prints the same.

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/error.h"
#include "calibrate/readers.h"

namespace fabricast::calibrate {
namespace {

constexpr std::size_t kMostVias = 64;
constexpr std::size_t kMostWarnings = 8;
constexpr std::size_t kLongestFact = 160;

std::string fact(std::string_view text) {
  return base::printable(trim(text).substr(0, kLongestFact));
}

void raise(std::optional<int>& most, std::optional<int> value) {
  if (value && (!most || *most < *value)) most = value;
}

/// "NET/IB/1(2)/GDRDMA/Shared" is "NET/IB/GDRDMA/Shared": which adapter it was does not matter.
std::string kind_of(std::string_view via) {
  std::string kind;
  while (!via.empty()) {
    const std::size_t slash = std::min(via.find('/'), via.size());
    const std::string_view part = trim(via.substr(0, slash));
    if (!part.empty() && std::isdigit(static_cast<unsigned char>(part[0])) == 0) {
      if (!kind.empty()) kind += '/';
      kind += part;
    }
    via.remove_prefix(std::min(slash + 1, via.size()));
  }
  return fact(kind);
}

bool channel(std::string_view text, NcclFacts& facts) {
  const auto via = after(text, " via ");
  if (!via || !has(text, "->")) return false;
  const std::string kind = kind_of(*via);
  if (kind.empty()) return false;
  const auto found = facts.channels_via.find(kind);
  if (found != facts.channels_via.end()) {
    ++found->second;
  } else if (facts.channels_via.size() < kMostVias) {
    facts.channels_via.emplace(kind, 1);
  }
  return true;
}

bool version(std::string_view text, NcclFacts& facts) {
  for (const std::string_view key : {"RCCL version", "NCCL version"}) {
    auto found = after(text, key);
    if (!found || found->empty()) continue;
    if (found->starts_with(':')) found = trim(found->substr(1));
    std::string_view word = first_word(*found);
    while (word.ends_with('.') || word.ends_with('+')) word.remove_suffix(1);
    if (word.empty() || std::isdigit(static_cast<unsigned char>(word[0])) == 0) continue;
    facts.version = fact(word);
    return true;
  }
  return false;
}

/// "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eno1:<ip>".
bool adapters(std::string_view text, NcclFacts& facts) {
  auto list = after(text, "NET/IB : Using");
  if (!list) return false;
  list = list->substr(0, list->find(';'));
  for (std::string_view word : words_of(*list)) {
    const std::size_t close = word.find(']');
    if (!word.starts_with('[') || close == std::string_view::npos) continue;
    add_new(facts.adapters, fact(word.substr(close + 1)));
  }
  return true;
}

/// The number after `key`, whose spelling in upper or lower case differs between versions.
std::optional<int> counted(std::string_view text, std::string_view key) {
  const auto found = after(text, key);
  return found ? count_of(*found) : std::nullopt;
}

bool communicator(std::string_view text, NcclFacts& facts) {
  bool told = false;
  for (const std::string_view key : {" nranks ", " nRanks "}) {
    const auto ranks = counted(text, key);
    if (!ranks) continue;
    told = true;
    const bool larger = !facts.ranks || *ranks > *facts.ranks;
    const auto nodes = counted(text, " nNodes ");
    if (larger) facts.nodes.reset();
    if (nodes && (larger || *ranks == *facts.ranks)) facts.nodes = nodes;
    raise(facts.ranks, ranks);
  }
  return told;
}

/// "2 coll channels, 2 collnet channels, 0 nvls channels, 2 p2p channels, ...".
bool channel_counts(std::string_view text, NcclFacts& facts) {
  if (!has(text, " coll channels")) return false;
  raise(facts.coll_channels, count_of(first_word(text)));
  const std::size_t nvls = text.find(" nvls channels");
  if (nvls != std::string_view::npos) {
    const std::string_view before = text.substr(0, nvls);
    const std::size_t blank = before.rfind(' ');
    raise(facts.nvls_channels,
          count_of(before.substr(blank == std::string_view::npos ? 0 : blank + 1)));
  }
  return true;
}

bool environment(std::string_view text, NcclFacts& facts) {
  constexpr std::string_view kSet = " set by environment to ";
  auto value = after(text, kSet);
  std::string_view name = first_word(text);
  if (!value) {
    value = after(text, "NCCL_IB_HCA set to ");
    name = "NCCL_IB_HCA";
  }
  if (!value || !name.starts_with("NCCL_")) return false;
  if (value->ends_with('.')) value->remove_suffix(1);
  add_new(facts.environment, fact(fmt::format("{}={}", name, *value)));
  return true;
}

bool paths(std::string_view text, NcclFacts& facts) {
  if (const auto network = after(text, "Using network ")) {
    add_new(facts.networks, fact(*network));
    return true;
  }
  if (has(text, "Connected all") && has(text, " GDR ")) {
    const bool direct = after(text, " GDR ")->starts_with('1');
    facts.gpudirect = direct && facts.gpudirect.value_or(true);
    return true;
  }
  if (has(text, "NVLS multicast support is")) {
    facts.nvls = !has(text, "not available");
    return true;
  }
  return false;
}

void warning(std::string_view text, NcclFacts& facts) {
  ++facts.warning_count;
  if (facts.warnings.size() < kMostWarnings) add_new(facts.warnings, fact(text));
}

}  // namespace

Taken take_nccl_message(std::string_view text, NcclFacts& facts) {
  if (const auto warned = after(text, "NCCL WARN ")) {
    warning(*warned, facts);
    return Taken::kRead;
  }
  if (const auto informed = after(text, "NCCL INFO ")) text = *informed;
  for (const auto read : {version, channel, adapters, channel_counts, environment, paths}) {
    if (read(text, facts)) return Taken::kRead;
  }
  return communicator(text, facts) ? Taken::kRead : Taken::kNoise;
}

bool any(const NcclFacts& facts) {
  return !facts.version.empty() || !facts.networks.empty() || !facts.channels_via.empty() ||
         facts.ranks.has_value() || !facts.warnings.empty();
}

std::string nccl_version(int code) {
  // src/nccl.h.in: X * 1000 + Y * 100 + Z up to 2.8, then X * 10000 + Y * 100 + Z.
  if (code <= 0) return "";
  const int major = code < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", code / major, code % major / 100, code % 100);
}

}  // namespace fabricast::calibrate
