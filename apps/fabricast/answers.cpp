#include "answers.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/read_file.h"
#include "base/yaml_text.h"
#include "report/outcomes.h"
#include "store/digest.h"
#include "store/program.h"

namespace fabricast::apps {
namespace {

constexpr std::size_t kMostBytes = 16U << 20;

const char* name_of(Resolution resolution) {
  switch (resolution) {
    case Resolution::kAuto:
      return "auto";
    case Resolution::kPacket:
      return "packet";
    case Resolution::kFlow:
      return "flow";
  }
  return "";
}

void note(const CommonFlags& flags, const std::string& text) {
  if (!flags.quiet) std::fprintf(stderr, "note: %s\n", text.c_str());
}

/// The document without what stands beside it: a flag may be above them.
std::string canonical(const base::yaml::Node& document) {
  base::yaml::Node rest = document;
  std::erase_if(rest.entries,
                [](const auto& entry) { return entry.first == "name" || entry.first == "seed"; });
  return base::yaml::block_text(rest);
}

}  // namespace

Question question_of(const std::string& path, const Knowledge& known, const CommonFlags& flags) {
  return question_of(base::yaml::parse_file(path), path, known, flags);
}

Question question_of(base::yaml::Node document, const std::string& file, const Knowledge& known,
                     const CommonFlags& flags) {
  Question question;
  question.document = std::move(document);
  scenario::ValidScenario& scenario = question.scenario;
  scenario = scenario::from_document(question.document, file, known.catalog,
                                     {.seed = flags.seed, .prices = flags.prices});
  scenario::require_simulated(scenario);
  // What a tenant's job refers to decides the answer, too.
  for (const scenario::BackgroundLoad& load : scenario.background) {
    if (load.job.empty()) continue;
    const scenario::ValidScenario job = scenario::load(load.job, known.catalog, {flags.seed});
    scenario.files.insert(scenario.files.end(), job.files.begin(), job.files.end());
  }
  return question;
}

std::string digest_of(const Knowledge& known) {
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(known.directory)) {
    if (file.path().extension() == ".yaml") files.push_back(file.path().string());
  }
  std::ranges::sort(files);
  store::Digest digest;
  for (const std::string& file : files) {
    digest.add(std::filesystem::path(file).filename().string())
        .add(base::read_file(file, kMostBytes));
  }
  return digest.text();
}

std::string address_of(const Question& question, const CommonFlags& flags,
                       const std::string& knowledge) {
  store::Digest digest;
  digest.add(FABRICAST_VERSION).add(store::build_id()).add(knowledge);
  digest.add(name_of(flags.resolution));
  digest.add(question.scenario.name).add(std::to_string(question.scenario.seed));
  digest.add(canonical(question.document));
  for (const std::string& file : question.scenario.files) {
    digest.add(file).add(base::read_file(file, kMostBytes));
  }
  return digest.text();
}

std::unique_ptr<store::Store> open_store(const CommonFlags& flags) {
  if (flags.no_cache) return nullptr;
  const std::string file = store::default_file();
  std::string obstacle = file.empty() ? "there is no home; FABRICAST_STORE names a file" : "";
  if (store::build_id().empty()) obstacle = "the program was linked without a build-id";
  try {
    if (obstacle.empty()) return std::make_unique<store::Store>(file);
  } catch (const base::Error& error) {
    obstacle = error.what();
  }
  note(flags, "results are not kept: " + obstacle);
  return nullptr;
}

std::optional<store::Run> recall(const store::Store* store, const std::string& address) {
  if (store == nullptr) return std::nullopt;
  try {
    auto run = store->find(address);
    if (run) report::unpacked(run->outcomes);  // a file can be damaged
    return run;
  } catch (const base::Error&) {
    return std::nullopt;
  }
}

void keep(store::Store* store, const store::Run& run, const CommonFlags& flags) {
  if (store == nullptr) return;
  try {
    store->add(run);
  } catch (const base::Error& error) {
    note(flags, std::string("the result is not kept: ") + error.what());
  }
}

store::Run run_of(const Question& question, const std::string& address, const CommonFlags& flags,
                  const report::Comparison& comparison) {
  store::Run run;
  run.key = address;
  run.program = FABRICAST_VERSION;
  run.scenario = question.scenario.name;
  run.seed = question.scenario.seed;
  run.resolution = name_of(flags.resolution);
  run.document = canonical(question.document);
  run.result = report::json(comparison);
  run.outcomes = report::packed(comparison.outcomes);
  return run;
}

}  // namespace fabricast::apps
