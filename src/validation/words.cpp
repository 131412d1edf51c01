#include "validation/words.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

namespace fabricast::validation {
namespace {

bool alphanumeric(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

/// Letters and digits in lower case, cut at everything else.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : lower(text)) {
    if (alphanumeric(c)) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// Boards of another form than the catalogue's, with other peaks.
bool another_form(const std::vector<std::string>& words, const catalog::Gpu& gpu) {
  return std::ranges::any_of(words, [&](const std::string& word) {
    return (word == "nvl" || word == "pcie") && !has(gpu.id, word);
  });
}

std::string bare(const std::string& text) {
  std::string result;
  for (const char c : lower(text)) {
    if (alphanumeric(c)) result += c;
  }
  return result;
}

}  // namespace

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool has(const std::string& text, std::string_view part) {
  return lower(text).find(part) != std::string::npos;
}

const catalog::Gpu* gpu_named(const std::string& text, const catalog::Catalog& catalog) {
  std::string spaced = lower(text);
  if (const std::size_t at = spaced.find("rtx6000"); at != std::string::npos) {
    spaced = spaced.substr(0, at + 3) + " " + spaced.substr(at + 3);
  }
  const std::vector<std::string> words = words_of(spaced);
  for (const std::string& first : words) {
    // "a10" to "mi300x": shorter or plainer words name no GPU.
    if (first.size() < 3 || first.find_first_of("0123456789") == std::string::npos) continue;
    const catalog::Gpu* best = nullptr;
    std::ptrdiff_t most = -1;
    for (const catalog::Gpu& gpu : catalog.gpus()) {
      const bool named = gpu.id.starts_with(first) || has(gpu.id, "-" + first);
      if (!named || another_form(words, gpu)) continue;
      const auto common =
          std::ranges::count_if(words, [&](const std::string& word) { return has(gpu.id, word); });
      if (common > most) {
        best = &gpu;
        most = common;
      }
    }
    if (best != nullptr) return best;
  }
  return nullptr;
}

const catalog::LanguageModel* model_named(const std::string& text,
                                          const catalog::Catalog& catalog) {
  // "nvidia/Llama-3.1-8B-Instruct-FP8": whose, tuned and quantised; the shape is the same.
  std::string wanted = bare(text.substr(text.rfind('/') + 1));
  for (const std::string_view said : {"like", "fp8", "instruct"}) {
    if (const std::size_t at = wanted.find(said); at != std::string::npos) {
      wanted.erase(at, said.size());
    }
  }
  // Of one shape with another: the catalogue's Llama 3 405B is that of 3.1, the only one there is.
  static const std::map<std::string, std::string> kSameShape = {
      {"llama31405b", "llama3405b"}, {"llama3370b", "llama3170b"}, {"deepseekr1", "deepseekv3"}};
  if (const auto same = kSameShape.find(wanted); same != kSameShape.end()) wanted = same->second;
  const auto found = std::ranges::find_if(
      catalog.models(), [&](const catalog::LanguageModel& m) { return bare(m.id) == wanted; });
  return found == catalog.models().end() ? nullptr : &*found;
}

// EFA's SRD and Slingshot spread packets over all ways and place them as they come, which is what
// `roce-v2-adaptive` does.
std::string profile_named(const std::string& fabric) {
  if (has(fabric, "tcpxo") || has(fabric, "fastrak")) return "roce-v2";
  if (has(fabric, "tcp") || has(fabric, "socket")) return "tcp";
  if (has(fabric, "efa") || has(fabric, "slingshot") || has(fabric, "spectrum-x") ||
      has(fabric, "cxi")) {
    return "roce-v2-adaptive";
  }
  if (has(fabric, "roce") || has(fabric, "eth")) return "roce-v2";
  return "infiniband";
}

}  // namespace fabricast::validation
