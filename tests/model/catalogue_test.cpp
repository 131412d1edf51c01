#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "model/model.h"

namespace fabricast::model {
namespace {

/// Authors round to two or three digits ("671B", "46.7B").
TEST(CatalogueModels, have_the_parameters_that_their_authors_publish) {
  const auto catalog = catalog::Catalog::load(std::string(FABRICAST_SOURCE_DIR) + "/catalog");
  ASSERT_FALSE(catalog.models().empty());
  for (const catalog::LanguageModel& m : catalog.models()) {
    EXPECT_NEAR(parameters(m) * 1e-9, m.published_parameters_b, 0.005 * m.published_parameters_b)
        << m.id;
  }
}

}  // namespace
}  // namespace fabricast::model
