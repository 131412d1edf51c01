#pragma once
// The article's jobs and services and their controls, run for `validate --kind article`.

#include <string>

#include "commands.h"
#include "validation/article_check.h"
#include "validation/article_serving.h"

namespace fabricast::apps {

/// `data`: the folder of the article's tables; empty: `validation/article` beside the catalogue.
/// What is run is `examples/article` beside the catalogue.
validation::ArticleCheck run_article(const std::string& data, const CommonFlags& flags);
/// The same of its inference rows.
validation::ArticleServingCheck run_article_serving(const std::string& data,
                                                    const CommonFlags& flags);

}  // namespace fabricast::apps
