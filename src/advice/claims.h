#pragma once
// What the source article claims, judged: by public evidence that catalog/claims.yaml cites, and,
// where a claim is about money, by a bill (docs/models/advice.md, section 5).

#include <string>
#include <vector>

#include "advice/advice.h"

namespace fabricast::advice {

struct Claim {
  std::string id;
  std::string place;    ///< section of the article: "3.3(4)"
  Text text;            ///< a paraphrase
  std::string verdict;  ///< "holds", "partly", "contradicted" or "unverifiable"
  Text evidence;
};

/// Those of the file. Throws base::Error (input) on a bad one.
std::vector<Claim> read_claims(const std::string& file);

/// Those about money, from bills of the article's own clusters at the prices of `catalog`, which
/// may be the user's. Unverifiable where it lacks a device or a price that a claim is about.
std::vector<Claim> cost_claims(const catalog::Catalog& catalog);

}  // namespace fabricast::advice
