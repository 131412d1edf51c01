#include <nlohmann/json.hpp>

#include "report/catalog_query.h"

namespace fabricast::report {

std::string catalog_json(const catalog::Catalog& catalog, const CatalogQuery& query) {
  using Json = nlohmann::ordered_json;
  Json result = Json::object();
  result["fabricast"] = FABRICAST_VERSION;
  Json& entries = result["entries"] = Json::array();
  for (const catalog::Entry* entry : select(catalog, query)) {
    Json values = Json::array();
    for (const catalog::Value& value : entry->values) {
      values.push_back({{"key", value.key},
                        {"value", value.text},
                        {"kind", catalog::name_of(value.kind)},
                        {"source", value.source}});
    }
    entries.push_back({{"category", entry->category},
                       {"id", entry->id},
                       {"name", entry->name},
                       {"values", std::move(values)}});
  }
  return result.dump(2) + "\n";
}

}  // namespace fabricast::report
