#include "catalog/catalog.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "base/random.h"
#include "catalog/fabric_reader.h"
#include "catalog/records.h"
#include "catalog/value_reader.h"

namespace fabricast::catalog {

namespace {

namespace fs = std::filesystem;
using base::yaml::Fields;
using base::yaml::Node;

/// Reads one entry of a table-driven kind; the values in file order go to `entry`.
template <class Record>
Record read_record(const CatalogFile& file, const std::string& id, const Node& node, Entry& entry) {
  Fields fields(node);
  Record record;
  record.id = id;
  entry.id = id;
  entry.name = fields.text("name");
  if constexpr (requires { record.name; }) record.name = entry.name;
  const ValueReader values(file, fields);
  for (const auto& parameter : parameters_of(static_cast<const Record*>(nullptr))) {
    const Node* value =
        parameter.required ? &fields.required(parameter.key) : fields.optional(parameter.key);
    if (value == nullptr) continue;
    const ReadValue read = values.read(parameter.key, *value);
    parameter.read(record, *read.node);
    entry.values.push_back(read.value);
  }
  fields.finish();
  check(record, node.where);
  return record;
}

template <class Record>
void read_records(const std::string& directory, const std::string& category,
                  std::vector<Record>& records, std::vector<Entry>& entries) {
  const CatalogFile file(directory + "/" + category + ".yaml");
  for (const auto& [id, node] : file.entries()) {
    Entry entry;
    entry.category = category;
    records.push_back(read_record<Record>(file, id, node, entry));
    entries.push_back(std::move(entry));
  }
}

/// Ids of what can be bought are prices' ids too, so they are unique across kinds.
void require_unique_ids(const std::vector<Entry>& entries, const std::string& directory) {
  std::set<std::string> seen;
  for (const Entry& entry : entries) {
    if (entry.category == "prices" || entry.category == "fabrics") continue;
    if (!seen.insert(entry.id).second) {
      throw base::input_error(
          {directory + "/" + entry.category + ".yaml", 0, 0, "entries." + entry.id},
          "an id that another file of the catalogue has too", "a new id");
    }
  }
}

template <class Record>
const Record& find(const std::vector<Record>& records, std::string_view what, std::string_view id,
                   const base::Location& where) {
  std::vector<std::string> ids;
  std::vector<std::string> starting;
  std::vector<const Record*> matches;
  for (const Record& record : records) {
    if (record.id == id) return record;
    ids.push_back(record.id);
    if (!id.empty() && record.id.starts_with(id)) {
      starting.push_back(record.id);
      matches.push_back(&record);
    }
  }
  if (matches.size() == 1) return *matches.front();
  if (!starting.empty()) {
    throw base::input_error(
        where, fmt::format("{}, the beginning of {} ids", base::quote(id), starting.size()),
        base::one_of(starting));
  }
  throw base::input_error(where, fmt::format("unknown {} {}", what, base::quote(id)),
                          base::one_of(ids), base::near_miss(id, ids));
}

std::uint64_t digest_of(const std::vector<Entry>& entries) {
  std::uint64_t h = 0;
  const auto mix = [&](std::string_view text) { h = base::mix64(h ^ base::hash_name(text)); };
  for (const Entry& entry : entries) {
    mix(entry.category);
    mix(entry.id);
    for (const Value& value : entry.values) {
      mix(value.key);
      mix(value.text);
    }
  }
  return h;
}

bool is_catalogue(const fs::path& directory) {
  std::error_code ignored;
  return fs::is_regular_file(directory / "gpus.yaml", ignored);
}

}  // namespace

Catalog Catalog::load(const std::string& directory) {
  Catalog c;
  read_records(directory, "gpus", c.gpus_, c.entries_);
  read_records(directory, "adapters", c.adapters_, c.entries_);
  read_records(directory, "slots", c.slots_, c.entries_);
  read_records(directory, "hosts", c.hosts_, c.entries_);
  read_records(directory, "switches", c.switches_, c.entries_);
  read_records(directory, "cables", c.cables_, c.entries_);
  read_records(directory, "models", c.models_, c.entries_);
  read_records(directory, "engines", c.engines_, c.entries_);
  read_records(directory, "prices", c.prices_, c.entries_);
  read_records(directory, "reliability", c.reliabilities_, c.entries_);
  const CatalogFile fabrics(directory + "/fabrics.yaml");
  ReadFabrics read = read_fabrics(fabrics, c, c.entries_);
  c.fabrics_ = std::move(read.profiles);
  for (Entry& entry : read.entries) c.entries_.push_back(std::move(entry));
  require_unique_ids(c.entries_, directory);
  c.digest_ = digest_of(c.entries_);
  return c;
}

std::string Catalog::default_directory() {
  if (const char* set = std::getenv("FABRICAST_CATALOG"); set != nullptr && *set != '\0') {
    if (is_catalogue(set)) return set;
    std::error_code ignored;
    const char* why =
        fs::is_directory(set, ignored) ? "a directory without gpus.yaml" : "no directory";
    throw base::input_error({{}, 0, 0, "FABRICAST_CATALOG"},
                            fmt::format("{}, {}", base::quote(set), why),
                            "a directory laid out like the catalogue that the program comes with, "
                            "or the variable unset");
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) throw base::failure("the program's own place is unknown: " + error.message());
  const fs::path beside = program.parent_path().parent_path();
  const fs::path installed = beside / "share" / "fabricast" / "catalog";
  if (is_catalogue(installed)) return installed.string();
  if (is_catalogue(beside / "catalog")) return (beside / "catalog").string();
  throw base::failure(fmt::format("no catalogue in `{}` or `{}`; set FABRICAST_CATALOG",
                                  installed.string(), (beside / "catalog").string()));
}

const Gpu& Catalog::gpu(std::string_view id, const base::Location& where) const {
  return find(gpus_, "GPU", id, where);
}
const Adapter& Catalog::adapter(std::string_view id, const base::Location& where) const {
  return find(adapters_, "adapter", id, where);
}
const Slot& Catalog::slot(std::string_view id, const base::Location& where) const {
  return find(slots_, "PCIe slot", id, where);
}
const Host& Catalog::host(std::string_view id, const base::Location& where) const {
  return find(hosts_, "host", id, where);
}
const ServingEngine& Catalog::engine(std::string_view id, const base::Location& where) const {
  return find(engines_, "serving engine", id, where);
}
const Switch& Catalog::network_switch(std::string_view id, const base::Location& where) const {
  return find(switches_, "switch", id, where);
}
const Cable& Catalog::cable(std::string_view id, const base::Location& where) const {
  return find(cables_, "cable", id, where);
}
const LanguageModel& Catalog::model(std::string_view id, const base::Location& where) const {
  return find(models_, "model", id, where);
}
const Price& Catalog::price(std::string_view id, const base::Location& where) const {
  return find(prices_, "price", id, where);
}
const Reliability& Catalog::reliability(std::string_view id, const base::Location& where) const {
  return find(reliabilities_, "record of reliability", id, where);
}
const FabricProfile& Catalog::fabric(std::string_view id, const base::Location& where) const {
  return find(fabrics_, "fabric", id, where);
}

}  // namespace fabricast::catalog
