#include "work.h"

#include <atomic>
#include <cstring>
#include <future>

#include "base/error.h"

namespace fabricast::apps {
namespace {

/// Texts one after the other, each behind its length.
std::string packed(const std::vector<std::string>& parts) {
  std::string bytes;
  for (const std::string& part : parts) {
    const std::uint64_t length = part.size();
    char prefix[sizeof length];
    std::memcpy(prefix, &length, sizeof length);
    bytes.append(prefix, sizeof length);
    bytes += part;
  }
  return bytes;
}

/// PRECONDITION: `packed` made the bytes; the ranks of a job run one program.
std::vector<std::string> unpacked(const std::string& bytes) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data() + at, sizeof length);
    at += sizeof length;
    parts.push_back(bytes.substr(at, length));
    at += length;
  }
  return parts;
}

std::string message_of(std::size_t i, const PointResult& result) {
  if (!result.run) return packed({std::to_string(i), result.error});
  const store::Run& run = *result.run;
  return packed({std::to_string(i), "", run.key, run.program, run.scenario,
                 std::to_string(run.seed), run.resolution, run.document, run.result, run.outcomes});
}

PointResult result_in(const std::vector<std::string>& parts) {
  if (!parts.at(1).empty()) return {std::nullopt, parts.at(1)};
  store::Run run;
  run.key = parts.at(2);
  run.program = parts.at(3);
  run.scenario = parts.at(4);
  run.seed = std::stoull(parts.at(5));
  run.resolution = parts.at(6);
  run.document = parts.at(7);
  run.result = parts.at(8);
  run.outcomes = parts.at(9);
  return {std::move(run), {}};
}

}  // namespace

PointResult point_result(Points& points, std::size_t i) {
  try {
    return {points.simulate(i), {}};
  } catch (const base::Error& error) {
    return {std::nullopt, error.what()};
  }
}

// A worker's first message is empty: it asks. Every later one brings a result and asks again. An
// empty answer sends it home.
void hand_out(Ranks& ranks, Points& points, const std::vector<std::size_t>& numbers,
              const std::function<void(std::size_t, const PointResult&)>& finish) {
  std::atomic<std::size_t> next = 0;
  auto own = std::async(std::launch::async, [&] {
    for (std::size_t k = next++; k < numbers.size(); k = next++) {
      finish(numbers[k], point_result(points, numbers[k]));
    }
  });
  for (int working = ranks.size() - 1; working > 0;) {
    const auto [worker, bytes] = ranks.receive();
    const std::size_t k = next++;
    const bool more = k < numbers.size();
    ranks.send(worker, more ? std::to_string(numbers[k]) : "");
    if (!more) --working;
    if (bytes.empty()) continue;
    const std::vector<std::string> parts = unpacked(bytes);
    finish(std::stoull(parts.at(0)), result_in(parts));
  }
  own.get();
}

void follow(Ranks& ranks, const std::function<std::unique_ptr<Points>()>& open) {
  std::unique_ptr<Points> points;
  std::string message;
  for (;;) {
    ranks.send(0, message);
    const std::string number = ranks.receive().second;
    if (number.empty()) return;
    if (!points) points = open();
    const std::size_t i = std::stoull(number);
    message = message_of(i, point_result(*points, i));
  }
}

}  // namespace fabricast::apps
