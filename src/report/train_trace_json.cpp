// The Trace Event Format (docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU):
// "X" complete events, "s" and "f" flow events, "M" metadata.

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/train.h"

namespace fabricast::report {

namespace {

using Json = nlohmann::ordered_json;
using training::ChunkWork;
using training::CommKind;
using training::Pass;
using training::PassParts;
using training::Timeline;

enum Thread { kPasses, kCompute, kTp, kCp, kEp, kPpForward, kPpBackward, kDp };
constexpr const char* kThreads[] = {"passes",
                                    "compute",
                                    "comm tp",
                                    "comm cp",
                                    "comm ep",
                                    "comm pp, activations",
                                    "comm pp, gradients",
                                    "comm dp"};
/// Beyond as many layers in all passes a pass is one slice instead of one per layer.
constexpr double kMostSlices = 20'000;

std::string name_of(const Pass& pass, bool chunks) {
  const std::string name = fmt::format("{}{}", pass.forward ? 'F' : 'B', pass.micro_batch);
  return chunks ? fmt::format("{} chunk{}", name, pass.chunk) : name;
}

/// Times are rounded to nanoseconds once, so that what follows does not overlap.
std::int64_t ns(double seconds) {
  return std::llround(seconds * 1e9);
}
double us(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-3;
}

class Trace {
 public:
  explicit Trace(const TrainReport& report)
      : report_(report),
        detail_(report.detail),
        work_(detail_.work),
        shape_(detail_.traced.shape),
        chunks_(shape_.chunks > 1) {
    double layers = 0;
    for (const auto& stage : work_.stages) {
      for (const ChunkWork& chunk : stage.chunks) layers += chunk.layers;
    }
    whole_ = 2 * layers * shape_.micro_batches > kMostSlices;
  }

  std::string text() {
    name_processes();
    passes();
    for (const Timeline::Piece& piece : detail_.traced.timeline.pieces) this->piece(piece);
    transfers();
    buckets();
    optimizer();
    Json trace = Json::object();
    trace["displayTimeUnit"] = "ms";
    trace["otherData"] = {{"fabricast", FABRICAST_VERSION},
                          {"scenario", report_.scenario->name},
                          {"fabric", report_.choice->profile.name},
                          {"step_time_us", detail_.traced.step.seconds * 1e6}};
    trace["traceEvents"] = std::move(events_);
    return trace.dump() + "\n";
  }

 private:
  using Key = std::tuple<int, bool, int, int>;  ///< stage, forward, chunk, micro-batch
  static Key key(int stage, const Pass& pass) {
    return {stage, pass.forward, pass.chunk, pass.micro_batch};
  }

  void event(const std::string& name, int stage, Thread thread, double start, double end,
             Json args = Json::object()) {
    const std::int64_t from = ns(start);
    const std::int64_t to = ns(end);
    if (to <= from) return;
    Json e = {{"name", name}, {"ph", "X"}, {"pid", stage}, {"tid", static_cast<int>(thread)}};
    e["ts"] = us(from);
    e["dur"] = us(to - from);
    if (!args.empty()) e["args"] = std::move(args);
    events_.push_back(std::move(e));
  }

  void name_processes() {
    const int group = work_.group;
    for (int s = 0; s < shape_.stages; ++s) {
      const int first = group * work_.replicas * s;
      const std::string name =
          group == 1 ? fmt::format("stage {}, rank {}", s, first)
                     : fmt::format("stage {}, ranks {} to {}", s, first, first + group - 1);
      events_.push_back(
          {{"name", "process_name"}, {"ph", "M"}, {"pid", s}, {"args", {{"name", name}}}});
      for (int t = kPasses; t <= kDp; ++t) {
        events_.push_back({{"name", "thread_name"},
                           {"ph", "M"},
                           {"pid", s},
                           {"tid", t},
                           {"args", {{"name", kThreads[t]}}}});
      }
    }
  }

  const ChunkWork& chunk(int stage, const Pass& pass) const {
    return work_.stages[static_cast<std::size_t>(stage)]
        .chunks[static_cast<std::size_t>(pass.chunk)];
  }
  const PassParts& parts(int stage, const Pass& pass) const {
    const auto& all = pass.forward ? detail_.traced.forward : detail_.traced.backward;
    return all[shape_.at(stage, pass.chunk, pass.micro_batch)];
  }
  /// What one GPU hands to the collectives of a kind in a pass.
  double bytes(int stage, const Pass& pass, CommKind kind) const {
    const ChunkWork& c = chunk(stage, pass);
    double sum = 0;
    for (const auto& term : pass.forward ? c.forward : c.backward) {
      if (term.kind != kind) continue;
      sum += term.count * static_cast<double>(detail_.phases[term.phase].size.count());
    }
    return sum;
  }

  /// From the start of a pass to its end, pauses included.
  void passes() {
    for (const Timeline::Piece& piece : detail_.traced.timeline.pieces) {
      auto [place, fresh] =
          spans_.try_emplace(key(piece.stage, piece.pass), piece.start, piece.end);
      if (!fresh) place->second.second = piece.end;
    }
    for (const auto& [key, span] : spans_) {
      const auto& [stage, forward, chunk, micro_batch] = key;
      const Pass pass{forward, chunk, micro_batch};
      const PassParts& p = parts(stage, pass);
      event(name_of(pass, chunks_), stage, kPasses, span.first, span.second,
            {{"compute_us", p.compute * 1e6}});
    }
  }

  /// Layer by layer: computing, then what it waits for. What traffic adds is in every part of it.
  void piece(const Timeline::Piece& piece) {
    const PassParts& p = parts(piece.stage, piece.pass);
    double pass = p.compute;
    for (const double t : p.exposed) pass += t;
    if (pass <= 0 || piece.work <= 0) return;
    const double share = piece.work / pass;
    const double stretch = (piece.end - piece.start) / piece.work;
    const int slices = whole_ ? 1
                              : std::max(1, static_cast<int>(std::lround(
                                                chunk(piece.stage, piece.pass).layers * share)));
    const std::string name = name_of(piece.pass, chunks_);
    const double part = share / slices * stretch;
    double now = piece.start;
    for (int i = 0; i < slices; ++i) {
      const double computed = now + p.compute * part;
      Json args = Json::object();
      if (stretch > 1) args["slowed_us"] = p.compute * part * (1 - 1 / stretch) * 1e6;
      event(name, piece.stage, kCompute, now, computed, std::move(args));
      now = computed;
      // Keys and values travel under attention; what does not fit is waited for.
      for (const CommKind kind : {CommKind::kCp, CommKind::kTp, CommKind::kEp}) {
        const auto k = static_cast<std::size_t>(kind);
        const double hidden =
            kind == CommKind::kCp ? std::max(0.0, p.wire[k] - p.exposed[k]) * part : 0;
        const double end = now + p.exposed[k] * part;
        if (end + hidden > now) {
          event(name, piece.stage, thread_of(kind), now - std::min(hidden, p.compute * part), end,
                {{"bytes", bytes(piece.stage, piece.pass, kind) * share / slices}});
        }
        now = end;
      }
    }
  }

  static Thread thread_of(CommKind kind) {
    switch (kind) {
      case CommKind::kCp:
        return kCp;
      case CommKind::kEp:
        return kEp;
      case CommKind::kTp:
        break;
    }
    return kTp;
  }

  void transfers() {
    int id = 0;
    for (const Timeline::Transfer& t : detail_.traced.timeline.transfers) {
      const Thread thread = t.pass.forward ? kPpForward : kPpBackward;
      const auto phase = t.pass.forward ? work_.activations : work_.activation_gradients;
      event(fmt::format("{} to stage {}", name_of(t.pass, chunks_), t.to), t.stage, thread, t.start,
            t.end, {{"bytes", detail_.phases[*phase].size.count()}});
      Pass next = t.pass;
      if (t.pass.forward && t.to == 0) ++next.chunk;
      if (!t.pass.forward && t.to == shape_.stages - 1) --next.chunk;
      const auto span = spans_.find(key(t.to, next));
      if (span == spans_.end() || ns(t.end) <= ns(t.start)) continue;
      ++id;
      const char* name = t.pass.forward ? "activations" : "gradients";
      events_.push_back({{"name", name},
                         {"cat", "pp"},
                         {"ph", "s"},
                         {"id", id},
                         {"pid", t.stage},
                         {"tid", static_cast<int>(thread)},
                         {"ts", us(ns(t.start))}});
      events_.push_back({{"name", name},
                         {"cat", "pp"},
                         {"ph", "f"},
                         {"bp", "e"},
                         {"id", id},
                         {"pid", t.to},
                         {"tid", static_cast<int>(kPasses)},
                         {"ts", us(ns(span->second.first))}});
    }
  }

  void buckets() {
    for (const Timeline::Bucket& b : detail_.traced.timeline.buckets) {
      const auto phase = b.gather ? work_.parameters : work_.gradients;
      const double share = work_.stages[static_cast<std::size_t>(b.stage)]
                               .chunks[static_cast<std::size_t>(b.chunk)]
                               .bucket_share;
      std::string name = fmt::format("{} {}", b.gather ? "parameters" : "gradients", b.bucket);
      if (chunks_) name += fmt::format(" chunk{}", b.chunk);
      event(name, b.stage, kDp, b.start, b.end,
            {{"bytes", static_cast<double>(detail_.phases[*phase].size.count()) * share}});
    }
  }

  /// All ranks step together, and the step ends with the slowest.
  void optimizer() {
    const auto& traced = detail_.traced;
    for (int s = 0; s < shape_.stages; ++s) {
      event("optimizer", s, kPasses, traced.gradients_done, traced.step.seconds);
      event("optimizer", s, kCompute, traced.gradients_done,
            traced.gradients_done + traced.optimizer[static_cast<std::size_t>(s)]);
    }
  }

  const TrainReport& report_;
  const training::Detail& detail_;
  const training::StepWork& work_;
  training::PipelineShape shape_;
  bool chunks_;
  bool whole_ = false;
  std::map<Key, std::pair<double, double>> spans_;
  Json events_ = Json::array();
};

}  // namespace

std::string train_trace(const TrainReport& report) {
  return Trace(report).text();
}

}  // namespace fabricast::report
