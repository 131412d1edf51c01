#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/table.h"
#include "report/catalog_query.h"
#include "report/text.h"

namespace fabricast::report {

namespace {

using catalog::Entry;

constexpr int kKeyWidth = 32;
constexpr int kValueWidth = 22;

std::string overview(const catalog::Catalog& catalog, bool chinese) {
  std::string text;
  for (const std::string& category : categories(catalog)) {
    std::string ids;
    std::size_t count = 0;
    for (const Entry& entry : catalog.entries()) {
      if (entry.category != category) continue;
      ids += (ids.empty() ? "" : ", ") + entry.id;
      ++count;
    }
    text += fmt::format("{} ({})\n", category, count) + paragraph(ids, 2);
  }
  return text + "\n" +
         paragraph(chinese ? "`fabricast catalog gpus` 列出一类；`fabricast catalog gpus h100-sxm` "
                             "逐值列出来源。"
                           : "`fabricast catalog gpus` lists one kind; `fabricast catalog gpus "
                             "h100-sxm` shows the source of every value.",
                   0);
}

/// How well a kind of thing is known: the values of an entry by the way they came to be known.
std::string provenance(const Entry& entry) {
  std::map<catalog::ValueKind, int> counts;
  for (const catalog::Value& value : entry.values) ++counts[value.kind];
  std::string text;
  for (const auto& [kind, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, catalog::name_of(kind));
  }
  return text;
}

/// "memory_gb 80, power_w 700, ...": the values of an entry without their sources.
std::string short_values(const Entry& entry) {
  std::string text;
  for (const catalog::Value& value : entry.values) {
    text += (text.empty() ? "" : ", ") + value.key + " " + value.text;
  }
  return text;
}

std::string list(const std::vector<const Entry*>& entries) {
  std::string text;
  for (const Entry* entry : entries) {
    text += paragraph(fmt::format("{}: {}", entry->id, entry->name), 0);
    text += paragraph(short_values(*entry), 4);
    text += paragraph(fmt::format("({})", provenance(*entry)), 4);
  }
  return text;
}

/// The parameters that a profile leaves unstated, with the value that holds until one is set.
std::string unstated(const catalog::FabricProfile& profile, const Entry& entry, bool chinese) {
  std::string text;
  for (const catalog::ParameterInfo& info : catalog::fabric_parameters()) {
    const bool stated = std::ranges::count(entry.values, info.key, &catalog::Value::key) > 0;
    if (stated || !catalog::applies(info, profile.kind)) continue;
    const bool bare = info.unit == "1" || info.unit == "flag" || info.unit == "choice";
    text += fmt::format("  {:<{}} {}{}\n", info.key, kKeyWidth,
                        catalog::parameter_text(profile, info), bare ? "" : " " + info.unit);
  }
  if (text.empty()) return text;
  return (chinese ? "\n未写明，取缺省值，可由方案设定\n"
                  : "\nNot stated: the default holds until a scenario sets it\n") +
         text;
}

/// Every value with the way it is known and the number of its source, then the sources.
std::string details(const Entry& entry, bool chinese) {
  std::vector<std::string> sources;
  std::string text = paragraph(fmt::format("{}: {}", entry.id, entry.name), 0) + "\n";
  for (const catalog::Value& value : entry.values) {
    auto known = std::ranges::find(sources, value.source);
    if (known == sources.end()) known = sources.insert(known, value.source);
    const auto number = known - sources.begin() + 1;
    const std::string origin = fmt::format("{} [{}]", catalog::name_of(value.kind), number);
    const std::string line =
        fmt::format("  {:<{}} {:<{}} {}", value.key, kKeyWidth, value.text, kValueWidth, origin);
    if (base::display_width(line) <= kTerminalWidth) {
      text += line + "\n";
    } else {
      text += fmt::format("  {:<{}} {}\n", value.key, kKeyWidth + kValueWidth + 1, origin);
      text += paragraph(value.text, 4);
    }
  }
  text += chinese ? "\n来源\n" : "\nSources\n";
  for (std::size_t i = 0; i < sources.size(); ++i) {
    text += paragraph(fmt::format("[{}] {}", i + 1, sources[i]), 2);
  }
  return text;
}

}  // namespace

std::vector<std::string> categories(const catalog::Catalog& catalog) {
  std::vector<std::string> names;
  for (const Entry& entry : catalog.entries()) {
    if (std::ranges::count(names, entry.category) == 0) names.push_back(entry.category);
  }
  return names;
}

std::vector<const Entry*> select(const catalog::Catalog& catalog, const CatalogQuery& query) {
  const std::vector<std::string> known = categories(catalog);
  base::Location where;
  where.key = "catalog";
  if (!query.category.empty() && std::ranges::count(known, query.category) == 0) {
    throw base::input_error(where, "the kind `" + query.category + "`", base::one_of(known),
                            base::near_miss(query.category, known));
  }
  std::vector<const Entry*> found;
  std::vector<std::string> ids;
  for (const Entry& entry : catalog.entries()) {
    if (!query.category.empty() && entry.category != query.category) continue;
    ids.push_back(entry.id);
    if (entry.id == query.id) return {&entry};
    if (entry.id.starts_with(query.id)) found.push_back(&entry);
  }
  where.key += " " + query.category;
  if (!query.id.empty() && found.size() != 1) {
    std::vector<std::string> several;
    for (const Entry* entry : found) several.push_back(entry->id);
    const std::string what = found.empty() ? "unknown" : "ambiguous";
    throw base::input_error(where, "the " + what + " id `" + query.id + "`",
                            base::one_of(found.empty() ? ids : several),
                            base::near_miss(query.id, ids));
  }
  return found;
}

std::string catalog_table(const catalog::Catalog& catalog, const CatalogQuery& query) {
  const std::vector<const Entry*> entries = select(catalog, query);
  if (query.category.empty()) return overview(catalog, query.chinese);
  if (query.id.empty()) return list(entries);
  const Entry& entry = *entries.front();
  std::string text = details(entry, query.chinese);
  if (entry.category == "fabrics") {
    text += unstated(catalog.fabric(entry.id), entry, query.chinese);
  }
  return text;
}

}  // namespace fabricast::report
