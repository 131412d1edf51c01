#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "catalog/fabric_parameters.h"
#include "catalog/value_reader.h"

namespace fabricast::catalog {

namespace {

/// The value that `node` states for a parameter, null when it states none.
const base::yaml::Node* stated(const base::yaml::Node& node, std::string_view key) {
  const std::size_t dot = key.find('.');
  const base::yaml::Node* group = node.find(key.substr(0, dot));
  return group == nullptr ? nullptr : group->find(key.substr(dot + 1));
}

/// The place of a parameter that `node` states; where it does not, that of `node`, with the key.
base::Location place_of(const base::yaml::Node& node, std::string_view key) {
  if (const base::yaml::Node* value = stated(node, key)) return value->where;
  base::Location place = node.where;
  if (!place.key.empty()) place.key += '.';
  place.key += key;
  return place;
}

/// The path MTUs of the InfiniBand Architecture, Volume 1, section 9.4 (MTU field of the QP).
void check_path_mtu(const FabricProfile& profile, const base::yaml::Node& node) {
  static constexpr std::array<std::int64_t, 5> kPathMtus = {256, 512, 1024, 2048, 4096};
  const std::int64_t mtu = profile.link.mtu.count();
  if (std::find(kPathMtus.begin(), kPathMtus.end(), mtu) == kPathMtus.end()) {
    throw base::input_error(place_of(node, "link.mtu_b"), fmt::format("the number {}", mtu),
                            "256, 512, 1024, 2048 or 4096");
  }
}

/// A value without its kind and source.
const base::yaml::Node& bare(const base::yaml::Node& node) {
  const base::yaml::Node* value = node.find("value");
  return value == nullptr ? node : *value;
}

/// `flag` and `congestion.control` say the same thing; side by side they have to agree.
void check_agreement(const base::yaml::Node& node, std::string_view flag, std::string_view name) {
  const base::yaml::Node* on = stated(node, flag);
  const base::yaml::Node* choice = stated(node, "congestion.control");
  if (on == nullptr || choice == nullptr) return;
  const std::string chosen = base::yaml::text(bare(*choice));
  if (base::yaml::boolean(bare(*on)) != (chosen == name)) {
    throw base::input_error(
        on->where,
        fmt::format("{} beside `congestion.control: {}`", bare(*on).description(), chosen),
        "`congestion.control` alone, or two that agree");
  }
}

void check_congestion_control(const FabricProfile& profile, const base::yaml::Node& node) {
  check_agreement(node, "dcqcn.enabled", "dcqcn");
  check_agreement(node, "ibcc.enabled", "infiniband");
  const RdmaCongestionControl control = profile.congestion.control;
  const bool infiniband = profile.kind == FabricKind::kInfiniBand;
  if (control != RdmaCongestionControl::kNone &&
      (control == RdmaCongestionControl::kInfiniBand) != infiniband) {
    throw base::input_error(
        place_of(node, "congestion.control"),
        fmt::format("a control that `{}` fabrics do not have", name_of(profile.kind)),
        infiniband ? "`none` or `infiniband`" : "`none`, `dcqcn` or `hpcc`");
  }
  if (control == RdmaCongestionControl::kInfiniBand &&
      profile.ibcc.ccti_minimum > profile.ibcc.ccti_limit) {
    throw base::input_error(
        place_of(node, "ibcc.ccti_minimum"),
        fmt::format("{} above the limit {}", profile.ibcc.ccti_minimum, profile.ibcc.ccti_limit),
        "at most `ibcc.ccti_limit`");
  }
}

/// A subnet manager fills tables; RoCE v1 is one layer-2 domain, where nothing else routes.
void check_routing(const FabricProfile& profile, const base::yaml::Node& node) {
  const bool tree = profile.paths.routing == Routing::kSpanningTree;
  if (profile.kind == FabricKind::kInfiniBand && tree) {
    throw base::input_error(place_of(node, "paths.routing"), "`spanning-tree` on `infiniband`",
                            "`static` or `adaptive`");
  }
  if (profile.kind == FabricKind::kRoceV1 && !tree) {
    throw base::input_error(
        place_of(node, "paths.routing"),
        "a routing that `roce-v1` fabrics do not have: their packets carry no IP header",
        "`spanning-tree`");
  }
}

void check_ecn(const FabricProfile& profile, const base::yaml::Node& node) {
  if (profile.ecn.kmin <= profile.ecn.kmax) return;
  throw base::input_error(
      place_of(node, "ecn.kmin_kb"),
      fmt::format("kmin {} kB above kmax {} kB", parameter(profile, "ecn.kmin_kb"),
                  parameter(profile, "ecn.kmax_kb")),
      "`ecn.kmin_kb` at most `ecn.kmax_kb`");
}

void check_credits(const FabricProfile& profile, const base::yaml::Node& node) {
  const std::int64_t buffer = profile.credits.vl_buffer.count();
  const std::int64_t packet = (profile.link.mtu + profile.link.header).count();
  const std::int64_t least = 2 * ((packet + 63) / 64 * 64);
  constexpr std::int64_t kMost = 2048 * 64;  // what the 12-bit credit counters can express
  if (buffer % 64 != 0 || buffer < least || buffer > kMost) {
    throw base::input_error(place_of(node, "credits.vl_buffer_kb"), fmt::format("{} bytes", buffer),
                            fmt::format("a multiple of 64 bytes (a credit), from two packets "
                                        "({} bytes) to {} bytes",
                                        least, kMost));
  }
}

void check_tcp(const FabricProfile& profile, const base::yaml::Node& node) {
  const std::int64_t window = profile.tcp.receive_window.count();
  const std::int64_t least = profile.transport.ack_every * profile.link.mtu.count();
  if (window < least) {
    throw base::input_error(place_of(node, "tcp.receive_window_kb"),
                            fmt::format("{} bytes", window),
                            fmt::format("at least `transport.ack_every` segments of `link.mtu_b`, "
                                        "{} bytes, so that a full window draws an acknowledgement",
                                        least));
  }
  if (profile.tcp.congestion_control == TcpCongestionControl::kDctcp && !profile.ecn.enabled) {
    throw base::input_error(place_of(node, "tcp.congestion_control"),
                            "`dctcp` on a fabric that marks nothing",
                            "`ecn.enabled: true` with it, or `reno` or `cubic`");
  }
  constexpr std::int64_t kMostSegments = 32767;  // what an acknowledgement's report can count
  if (window / profile.link.mtu.count() > kMostSegments) {
    throw base::input_error(place_of(node, "tcp.receive_window_kb"),
                            fmt::format("{} bytes", window),
                            fmt::format("at most {} segments of `link.mtu_b`, {} bytes",
                                        kMostSegments, kMostSegments * profile.link.mtu.count()));
  }
}

}  // namespace

void check(const FabricProfile& profile, const base::yaml::Node& node) {
  check_routing(profile, node);
  if (profile.kind != FabricKind::kTcp) {
    check_path_mtu(profile, node);
    check_congestion_control(profile, node);
  }
  if (profile.kind == FabricKind::kInfiniBand) {
    check_credits(profile, node);
  } else {
    check_ecn(profile, node);
  }
  if (profile.kind == FabricKind::kTcp) check_tcp(profile, node);
}

}  // namespace fabricast::catalog
