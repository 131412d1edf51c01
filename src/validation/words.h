#pragma once
// Names in published tables and logs: what people write for what the catalogue has.

#include <string>
#include <string_view>

#include "catalog/catalog.h"

namespace fabricast::validation {

std::string lower(std::string text);
/// True when the text holds `part`, which is in lower case, in any case.
bool has(const std::string& text, std::string_view part);

/// "H100-SXM-80GB" is the catalogue's GPU that starts with "h100" and has most of the other words;
/// null where there is none. The first word that begins a GPU decides.
const catalog::Gpu* gpu_named(const std::string& text, const catalog::Catalog& catalog);

/// "Qwen3_30B_a3B", "Llama-3.1-8B": the model of the catalogue with these letters and digits; null
/// where there is none.
const catalog::LanguageModel* model_named(const std::string& text, const catalog::Catalog& catalog);

/// The profile nearest to a fabric in words.
std::string profile_named(const std::string& fabric);

}  // namespace fabricast::validation
