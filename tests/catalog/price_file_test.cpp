// A user's own prices above those of the catalogue (`Catalog::with_prices`).

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "shipped.h"

namespace fabricast::catalog {
namespace {

using testing::contains;
using testing::Copy;
using testing::input_error_of;
using testing::shipped;

/// A file of prices that lives as long as the test.
class PriceFile : public ::testing::Test {
 protected:
  PriceFile() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ =
        std::filesystem::temp_directory_path() / (std::string("fabricast-prices-") + test->name() +
                                                  "-" + std::to_string(getpid()) + ".yaml");
  }
  ~PriceFile() override { std::filesystem::remove(path_); }

  Catalog with(const std::string& text, const Catalog& catalog = shipped()) {
    std::ofstream(path_) << text;
    return catalog.with_prices(path_.string());
  }
  base::Error refusal(const std::string& text) {
    return input_error_of([&] { with(text); });
  }

  /// `key` of the row `id` as `fabricast catalog prices` shows it.
  static Value value(const Catalog& catalog, const std::string& id, const std::string& key) {
    for (const Entry& entry : catalog.entries()) {
      if (entry.category != "prices" || entry.id != id) continue;
      const auto found = std::ranges::find(entry.values, key, &Value::key);
      if (found != entry.values.end()) return *found;
    }
    ADD_FAILURE() << "no " << id << "." << key;
    return {};
  }

  static void expect_band(const Price& price, double low, double likely, double high) {
    EXPECT_EQ(price.low, low);
    EXPECT_EQ(price.likely, likely);
    EXPECT_EQ(price.high, high);
  }

  std::filesystem::path path_;
};

const std::string kTop = "currency: CNY\ndate: \"2026-03-19\"\n";

TEST_F(PriceFile, APlainNumberIsAPriceWithoutABand) {
  const Price price = with(kTop + "prices: {qm9700: 250000}").price("qm9700");
  expect_band(price, 250'000, 250'000, 250'000);
  EXPECT_EQ(price.currency, "CNY");
  EXPECT_EQ(price.date, "2026-03-19");
  EXPECT_EQ(price.unit, "each");
}

TEST_F(PriceFile, ARowHasABand) {
  expect_band(
      with(kTop + "prices: {qm9700: {low: 240000, likely: 250000, high: 280000}}").price("qm9700"),
      240'000, 250'000, 280'000);
}

TEST_F(PriceFile, ALikelyPriceAloneIsItsOwnBand) {
  expect_band(with(kTop + "prices: {qm9700: {likely: 250000}}").price("qm9700"), 250'000, 250'000,
              250'000);
}

TEST_F(PriceFile, OneEndOfABandLeavesTheOtherAtTheLikelyPrice) {
  const Catalog known = with(kTop +
                             "prices:\n  qm9700: {low: 240000, likely: 250000}\n"
                             "  sn5600: {likely: 400000, high: 450000}\n");
  expect_band(known.price("qm9700"), 240'000, 250'000, 250'000);
  expect_band(known.price("sn5600"), 400'000, 400'000, 450'000);
}

TEST_F(PriceFile, ARowSaysMoreThanTheTopOfTheFile) {
  const Catalog known = with(kTop +
                             "prices:\n  qm9700: {likely: 35000, currency: USD, date: "
                             "\"2026-04-01\", unit: per box}\n  sn5600: 400000\n");
  EXPECT_EQ(known.price("qm9700").currency, "USD");
  EXPECT_EQ(known.price("qm9700").date, "2026-04-01");
  EXPECT_EQ(known.price("qm9700").unit, "per box");
  EXPECT_EQ(known.price("sn5600").currency, "CNY");
  EXPECT_EQ(known.price("sn5600").date, "2026-03-19");
}

TEST_F(PriceFile, ARowMayStandWithoutATop) {
  const Catalog known =
      with("prices: {qm9700: {likely: 35000, currency: USD, date: \"2026-04-01\"}}");
  EXPECT_EQ(known.price("qm9700").likely, 35'000);
}

TEST_F(PriceFile, OtherPricesStayAsTheyAre) {
  const Catalog known = with(kTop + "prices: {qm9700: 250000}");
  EXPECT_EQ(known.prices().size(), shipped().prices().size());
  EXPECT_EQ(known.entries().size(), shipped().entries().size());
  EXPECT_EQ(known.price("sn5600").likely, shipped().price("sn5600").likely);
  EXPECT_NE(shipped().price("qm9700").likely, 250'000);
}

TEST_F(PriceFile, ARatioNeedsNoCurrency) {
  const Catalog known = with(kTop + "prices: {pue: 1.2, depreciation-years: 4}");
  EXPECT_EQ(known.price("pue").currency, kNoCurrency);
  EXPECT_EQ(known.price("pue").likely, 1.2);
  EXPECT_EQ(known.price("pue").unit, "ratio");
  EXPECT_EQ(with("date: \"2026-03-19\"\nprices: {pue: 1.2}").price("pue").likely, 1.2);
}

TEST_F(PriceFile, AnItemThatTheCatalogueHasNoPriceOfGetsOne) {
  Copy copy;
  copy.replace("prices.yaml",
               "  qm8700:\n    name: \"QM8700 switch\"\n    kind: assumed\n    source: assumed\n"
               "    low: 10000\n    likely: 16000\n    high: 25000\n    currency: USD\n"
               "    date: \"2024-08-01\"\n    unit: \"each\"\n",
               "");
  const Catalog bare = Catalog::load(copy.directory());
  const Catalog known = with(kTop + "prices: {qm8700: 90000}", bare);
  EXPECT_EQ(known.prices().size(), bare.prices().size() + 1);
  EXPECT_EQ(known.price("qm8700").likely, 90'000);
  EXPECT_EQ(value(known, "qm8700", "likely").text, "90000");
}

TEST_F(PriceFile, SourceAndKindAreKeptForThoseWhoAsk) {
  const Catalog known = with(kTop +
                             "source: offers of spring\nkind: published\nprices:\n"
                             "  qm9700: {likely: 250000, kind: assumed, source: a phone call}\n"
                             "  sn5600: 400000\n");
  EXPECT_EQ(value(known, "qm9700", "likely").text, "250000");
  EXPECT_EQ(value(known, "qm9700", "likely").kind, ValueKind::kAssumed);
  EXPECT_EQ(value(known, "qm9700", "likely").source, "a phone call");
  EXPECT_EQ(value(known, "qm9700", "currency").text, "CNY");
  EXPECT_EQ(value(known, "sn5600", "high").source, "offers of spring");
  EXPECT_EQ(value(known, "sn5600", "high").kind, ValueKind::kPublished);
}

TEST_F(PriceFile, WithoutASourceNamesItself) {
  const Value likely = value(with(kTop + "prices: {qm9700: 250000}"), "qm9700", "likely");
  EXPECT_NE(likely.source.find("fabricast-prices-"), std::string::npos) << likely.source;
  EXPECT_EQ(likely.kind, ValueKind::kPublished);
}

TEST_F(PriceFile, AnUnknownIdIsRefusedWithTheNearMiss) {
  const base::Error error = refusal(kTop + "prices:\n  qm9701: 250000\n");
  EXPECT_EQ(error.where().file, path_.string());
  EXPECT_EQ(error.where().line, 4);
  EXPECT_EQ(error.where().key, "prices.qm9701");
  EXPECT_TRUE(contains(error, "did you mean `qm9700`")) << error.what();
}

TEST_F(PriceFile, ANegativePriceIsRefusedAtItsPlace) {
  EXPECT_EQ(refusal(kTop + "prices:\n  sn5600: 1\n  qm9700: -1\n").where().line, 5);
  EXPECT_EQ(refusal(kTop + "prices: {qm9700: {low: -1, likely: 2}}").where().key,
            "prices.qm9700.low");
}

TEST_F(PriceFile, APriceThatIsNoNumberIsRefused) {
  EXPECT_TRUE(contains(refusal(kTop + "prices: {qm9700: dear}"), "dear"));
  EXPECT_EQ(refusal(kTop + "prices: {qm9700: {low: 1}}").where().key, "prices.qm9700.likely");
}

TEST_F(PriceFile, AMissingCurrencyIsRefusedWithBothPlacesForIt) {
  const base::Error error = refusal("date: \"2026-03-19\"\nprices: {qm9700: 250000}");
  EXPECT_EQ(error.where().key, "prices.qm9700.currency");
  EXPECT_EQ(error.where().line, 2);
  EXPECT_TRUE(contains(error, "at the top of the file")) << error.what();
}

TEST_F(PriceFile, AMissingDateIsRefusedWithBothPlacesForIt) {
  const base::Error error = refusal("currency: CNY\nprices: {qm9700: {likely: 250000}}");
  EXPECT_EQ(error.where().key, "prices.qm9700.date");
  EXPECT_TRUE(contains(error, "at the top of the file")) << error.what();
}

TEST_F(PriceFile, ABandInTheWrongOrderIsRefusedAtItsRow) {
  const base::Error error =
      refusal(kTop + "prices:\n  sn5600: 1\n  qm9700: {low: 300000, likely: 250000}\n");
  EXPECT_EQ(error.where().line, 5);
  EXPECT_EQ(error.where().key, "prices.qm9700");
  EXPECT_TRUE(contains(error, "`low` <= `likely` <= `high`")) << error.what();
  EXPECT_EQ(refusal(kTop + "prices: {qm9700: {likely: 2, high: 1}}").where().key, "prices.qm9700");
}

TEST_F(PriceFile, WhatIsNoCurrencyOrDateIsRefused) {
  EXPECT_TRUE(contains(refusal("currency: yuan\ndate: \"2026-03-19\"\nprices: {qm9700: 1}"),
                       "the currency `yuan`"));
  EXPECT_TRUE(
      contains(refusal("currency: CNY\ndate: spring\nprices: {qm9700: 1}"), "the date `spring`"));
}

TEST_F(PriceFile, AnUnknownKindIsRefusedWithTheNearMiss) {
  EXPECT_TRUE(contains(refusal(kTop + "prices: {qm9700: {likely: 1, kind: asumed}}"),
                       "did you mean `assumed`"));
}

TEST_F(PriceFile, AnUnknownKeyIsRefusedByName) {
  EXPECT_EQ(refusal(kTop + "prices: {qm9700: {likley: 1, likely: 1}}").where().key,
            "prices.qm9700.likley");
  EXPECT_EQ(refusal(kTop + "price: {}\nprices: {qm9700: 1}").where().key, "price");
}

TEST_F(PriceFile, WithoutAPriceIsRefused) {
  EXPECT_EQ(refusal(kTop).where().key, "prices");
  EXPECT_EQ(refusal(kTop + "prices: {}").where().key, "prices");
  EXPECT_EQ(refusal(kTop + "prices: [qm9700]").where().key, "prices");
}

TEST_F(PriceFile, ThatIsNotThereIsAnInputErrorOfItsName) {
  const base::Error error =
      input_error_of([] { shipped().with_prices("/nonexistent/quotes.yaml"); });
  EXPECT_TRUE(contains(error, "/nonexistent/quotes.yaml")) << error.what();
}

}  // namespace
}  // namespace fabricast::catalog
