#pragma once
// Requests of a service as a file has them: CSV with a line of names, or one JSON object per line.
// Known are the columns of this project (arrival_s, input_tokens, output_tokens), of Azure's LLM
// inference traces (TIMESTAMP, ContextTokens, GeneratedTokens), of BurstGPT (Timestamp, Request
// tokens, Response tokens) and of Mooncake (timestamp in ms, input_length, output_length,
// hash_ids); other columns are passed over.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fabricast::scenario {

struct TracedRequest {
  double arrival_s = 0;  ///< after the first
  int input_tokens = 0;
  int output_tokens = 0;
  /// One name per 512 tokens of the prompt, equal where the prompt is the same from its beginning
  /// (Mooncake, arXiv 2407.00079, section 4); empty: nothing is known.
  std::vector<std::uint64_t> blocks;
};
inline constexpr int kTracedBlock = 512;

struct RequestTrace {
  std::vector<TracedRequest> requests;  ///< in order of arrival
  std::int64_t without_answer = 0;      ///< left out: no token was generated
  /// Requests per second between the first and the last; 0 of a single one.
  double qps() const;
};

/// Throws base::Error (input) at the line that is wrong.
RequestTrace read_request_trace(const std::string& path);
/// The same from text; `file_name` is for messages.
RequestTrace parse_request_trace(const std::string& text, const std::string& file_name);

}  // namespace fabricast::scenario
