#include "scenario/workload.h"

#include <utility>

#include <fmt/format.h>

namespace fabricast::scenario {

using base::yaml::Fields;

catalog::LanguageModel read_model(Fields& fields, const Context& context) {
  const std::string name = fields.text("model");
  const base::Location where = fields.where("model");
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".json");
  if (!is_path) return context.catalog.model(name, where);
  return catalog::read_hugging_face_config(context.existing_file(name, where));
}

namespace {

/// The first is meant where nothing is said.
catalog::Precision choose(Fields& fields, const std::vector<catalog::Precision>& precisions) {
  std::vector<std::string> names;
  for (const auto precision : precisions) names.emplace_back(catalog::name_of(precision));
  return precisions[fields.choice("precision", names, 0)];
}

}  // namespace

catalog::Precision read_precision(Fields& fields) {
  using P = catalog::Precision;
  return choose(fields, {P::kBf16, P::kFp8, P::kFp4, P::kFp32});
}

catalog::Precision read_serving_precision(Fields& fields) {
  using P = catalog::Precision;
  return choose(fields, {P::kBf16, P::kFp8, P::kFp4, P::kInt8, P::kFp32});
}

WorkloadRequest read_workload(Fields fields, const Context& context) {
  if (fields.choice("kind", {"training", "serving"}) == 0) return read_training(fields, context);
  return read_serving(fields, context);
}

std::variant<TrainingSpec, ServingSpec> check_workload(WorkloadRequest request,
                                                       const ClusterSpec& cluster,
                                                       const Context& context) {
  if (auto* training = std::get_if<TrainingRequest>(&request)) {
    return check_training(std::move(*training), cluster, context);
  }
  ServingSpec serving = std::get<ServingSpec>(std::move(request));
  check_serving(serving, cluster, context);
  return serving;
}

}  // namespace fabricast::scenario
