#pragma once
// The article's three training jobs and their controls, run for `validate --kind article`.

#include <string>

#include "commands.h"
#include "validation/article_check.h"

namespace fabricast::apps {

/// `data`: the folder of `training.csv`; empty: `validation/article` beside the catalogue. The jobs
/// are `examples/article` beside the catalogue.
validation::ArticleCheck run_article(const std::string& data, const CommonFlags& flags);

}  // namespace fabricast::apps
