// What is known, with sources: `catalog`, `catalog KIND`, `catalog KIND ID`.

#include "catalog/catalog.h"

#include <memory>

#include <CLI/CLI.hpp>

#include "commands.h"
#include "report/report.h"

namespace fabricast::apps {
namespace {

struct CatalogFlags {
  std::string category;
  std::string id;
  CommonFlags common;
};

void show_catalog(const CatalogFlags& flags) {
  const auto known = catalog::Catalog::load(catalog::Catalog::default_directory());
  const report::CatalogQuery query{flags.category, flags.id, flags.common.chinese};
  publish(flags.common, report::catalog_table(known.spelt_out(), query),
          report::catalog_json(known, query));
}

}  // namespace

void add_catalog(CLI::App& program, Chosen& chosen) {
  auto flags = std::make_shared<CatalogFlags>();
  auto* command =
      program.add_subcommand("catalog", "What is known of GPUs, switches, prices …, with sources");
  command->add_option("KIND", flags->category, "gpus, adapters, switches, cables, models, …");
  command->add_option("ID", flags->id, "One entry in full; an unambiguous beginning is enough");
  add_common_flags(*command, flags->common);
  hide_flags(*command,
             {"--html", "--seed", "--threads", "--resolution", "--stats", "--quiet", "--no-cache"});
  command->footer(
      "Examples:\n"
      "  fabricast catalog\n"
      "  fabricast catalog gpus\n"
      "  fabricast catalog gpus h100-sxm\n"
      "  fabricast catalog fabrics roce-v2 --json -\n"
      "The other flags of `compare` are taken and change nothing here.");
  command->callback([flags, &chosen] { chosen = [flags] { show_catalog(*flags); }; });
}

}  // namespace fabricast::apps
