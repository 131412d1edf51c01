#pragma once
// The faces of the article's validation: every row with what was fitted, foretold and missed.

#include <string>

#include "report/report.h"
#include "report/validation.h"
#include "validation/article_check.h"
#include "validation/article_serving.h"

namespace fabricast::report {

/// At most 80 cells wide.
std::string article_text(const validation::ArticleCheck& check, const TerminalOptions& options);

/// Its figures as rows of a validation, of kind `article`, and what it claims as claims.
ValidationResult article_result(const validation::ArticleCheck& check);

/// The same of its services.
std::string article_serving_text(const validation::ArticleServingCheck& check,
                                 const TerminalOptions& options);
void add_article_serving(const validation::ArticleServingCheck& check, ValidationResult& result);

}  // namespace fabricast::report
