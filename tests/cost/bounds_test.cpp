// What a cost may be while prices stay within their bands. Bands are those of catalog/prices.yaml:
// a dollar is 6.9 to 7.3 yuan, equipment lives 3 to 6 years, operation takes 3 to 10 % a year, PUE
// is 1.15 to 1.6, a kWh costs 0.45 to 1.0 yuan.

#include "cost/bounds.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "clusters.h"

namespace fabricast::cost {
namespace {

using testing::inputs_of;
using testing::shipped;
using testing::spec_of;

constexpr double kFen = 0.005;

Bill bill_of(const std::vector<BomLine>& lines, const std::string& currency = "CNY") {
  Bill bill;
  bill.currency = currency;
  bill.lines = lines;
  return repriced(shipped(), bill);
}

BomLine line(const std::string& item, std::int64_t count, Part part = Part::kSwitch,
             double watts = 0) {
  BomLine result;
  result.item = item;
  result.count = count;
  result.part = part;
  result.unit_power_w = watts;
  return result;
}

std::vector<std::string> ids(const std::vector<const catalog::Price*>& prices) {
  std::vector<std::string> result;
  for (const catalog::Price* price : prices) result.push_back(price->id);
  return result;
}

void expect_within(const Band& band, double value) {
  EXPECT_LE(band.low, value);
  EXPECT_GE(band.high, value);
}

TEST(Bounds, ContainTheLikelyValueOfEveryFabricOfTheCatalogue) {
  const catalog::Catalog known = shipped();
  for (const catalog::FabricProfile& profile : known.fabrics()) {
    SCOPED_TRACE(profile.id);
    const catalog::Switch& box = known.network_switch(profile.switch_model);
    fabric::TopologySpec spec =
        spec_of(fabric::TopologyKind::kLeafSpine, 32, 8, box.ports, box.port_gbps);
    spec.nic_rate = std::min(spec.nic_rate, spec.switch_rate);
    const fabric::Fabric fabric = fabric::build(spec);
    for (const char* currency : {"CNY", "USD"}) {
      BuildInputs inputs = inputs_of(known, fabric, box.id.c_str());
      inputs.currency = currency;
      const Bill bill = bill_of_materials(known, inputs);
      const Bounds bounds = bounds_of(known, bill);
      expect_within(bounds.network_capex, bill.network_capex);
      expect_within(bounds.capex, bill.capex);
      expect_within(bounds.per_hour, cost_of(known, bill, 0, 0).per_hour);
      EXPECT_LT(bounds.capex.low, bounds.capex.high);
    }
  }
}

// qm9700: 35,000 to 50,000 USD.
TEST(Bounds, OfAPriceInDollarsAreThoseOfThePriceAndOfTheDollar) {
  const Bounds bounds = bounds_of(shipped(), bill_of({line("qm9700", 2)}));
  EXPECT_NEAR(bounds.network_capex.low, 2 * 35'000 * 6.9, kFen);
  EXPECT_NEAR(bounds.network_capex.high, 2 * 50'000 * 7.3, kFen);
}

// 80,000 CNY without a band: the dearer the dollar, the fewer of them.
TEST(Bounds, OfABillInDollarsFallWhereTheDollarRises) {
  const Bounds bounds = bounds_of(shipped(), bill_of({line("article-ib-36x200g", 1)}, "USD"));
  EXPECT_NEAR(bounds.network_capex.low, 80'000 / 7.3, kFen);
  EXPECT_NEAR(bounds.network_capex.high, 80'000 / 6.9, kFen);
}

TEST(Bounds, OfAPriceWithoutABandCoincide) {
  const Bounds bounds = bounds_of(shipped(), bill_of({line("article-ib-36x200g", 3)}));
  EXPECT_DOUBLE_EQ(bounds.network_capex.low, 240'000);
  EXPECT_DOUBLE_EQ(bounds.network_capex.high, 240'000);
}

// 11 x 80,000 CNY: the low end has the longest life, 6 years, and the least operation.
TEST(Bounds, OfAnHourTakeALongerLifeForTheCheaperEnd) {
  const Bounds bounds = bounds_of(shipped(), bill_of({line("article-ib-36x200g", 11)}));
  EXPECT_NEAR(bounds.per_hour.low, 880'000 / 6.0 / 8760 + 880'000 * 0.03 / 8760, 1e-9);
  EXPECT_NEAR(bounds.per_hour.high, 880'000 / 3.0 / 8760 + 880'000 * 0.10 / 8760, 1e-9);
}

// 10 kW of boxes that are there already: only energy is paid for.
TEST(Bounds, OfAnHourHoldEnergyAtBothEnds) {
  BomLine there = line("article-ib-36x200g", 10, Part::kSwitch, 1000);
  there.owned = true;
  const Bounds bounds = bounds_of(shipped(), bill_of({there}));
  EXPECT_NEAR(bounds.per_hour.low, 10 * 1.15 * 0.45, 1e-9);
  EXPECT_NEAR(bounds.per_hour.high, 10 * 1.6 * 1.0, 1e-9);
}

TEST(Bounds, OfTheNetworkLeaveOutGpusRacksAndManagement) {
  const Bounds bounds = bounds_of(
      shipped(),
      bill_of({line("qm9700", 1), line("h100-sxm-80gb", 8, Part::kGpu),
               line("rack", 1, Part::kRack), line("management-switch", 1, Part::kManagement)}));
  EXPECT_NEAR(bounds.network_capex.low, 35'000 * 6.9, kFen);
  EXPECT_NEAR(bounds.network_capex.high, 50'000 * 7.3, kFen);
  EXPECT_NEAR(bounds.capex.low, (35'000 + 8 * 32'000 + 2'000 + 600) * 6.9, kFen);
  EXPECT_NEAR(bounds.capex.high, (50'000 + 8 * 44'000 + 8'000 + 3'000) * 7.3, kFen);
}

TEST(Bounds, OfWhatIsOwnedAreNothing) {
  BomLine there = line("qm9700", 4);
  there.owned = true;
  const Bill bill = bill_of({there});
  const Bounds bounds = bounds_of(shipped(), bill);
  EXPECT_EQ(bill.capex, 0);
  EXPECT_EQ(bounds.capex.low, 0);
  EXPECT_EQ(bounds.capex.high, 0);
}

// Switches and cables are there; adapters and GPUs are bought, and no spares of what is there.
TEST(Bounds, OfAnOwnedNetworkAreThoseOfItsAdapters) {
  const catalog::Catalog known = shipped();
  const fabric::Fabric fabric =
      fabric::build(spec_of(fabric::TopologyKind::kLeafSpine, 32, 8, 64, 800));
  BuildInputs inputs = inputs_of(known, fabric, "sn5600");
  inputs.owned = true;
  const Bill bill = bill_of_materials(known, inputs);
  for (const BomLine& each : bill.lines) {
    const bool there = each.part == Part::kSwitch || each.part == Part::kCable;
    EXPECT_EQ(each.owned, there) << each.item;
    EXPECT_EQ(each.unit_price == 0, there) << each.item;
  }
  // 256 adapters and 2 % of spares, 5.12, rounded.
  EXPECT_NEAR(bill.network_capex, 261 * 1'700 * 7.1, kFen);
  EXPECT_NEAR(bounds_of(known, bill).network_capex.low, 261 * 1'300 * 6.9, kFen);
  EXPECT_NEAR(bounds_of(known, bill).network_capex.high, 261 * 2'300 * 7.3, kFen);
}

TEST(Bounds, ScaleWithWhatTheHourIsPartOf) {
  Bounds bounds;
  bounds.per_hour = {10, 30};
  const Band run = bounds.scaled(2000, 20);  // a run of 100 hours at the likely 20
  EXPECT_DOUBLE_EQ(run.low, 1000);
  EXPECT_DOUBLE_EQ(run.high, 3000);
  EXPECT_EQ(bounds.scaled(2000, 0).high, 0);
}

TEST(PricesOf, ABillAreItsItemsRatesAndGeneralOnesInTheOrderOfTheCatalogue) {
  const catalog::Catalog known = shipped();
  EXPECT_EQ(ids(prices_of(known, bill_of({line("ib-dac-400g", 1), line("qm9700", 1)}))),
            (std::vector<std::string>{"qm9700", "ib-dac-400g", "electricity-kwh", "usd-cny", "pue",
                                      "operation-pct-per-year", "depreciation-years"}));
}

TEST(PricesOf, ABillLeaveOutWhatIsOwned) {
  const catalog::Catalog known = shipped();
  BomLine there = line("qm9700", 1);
  there.owned = true;
  const auto prices = ids(prices_of(known, bill_of({there, line("ib-dac-400g", 1)})));
  EXPECT_EQ(std::ranges::count(prices, "qm9700"), 0);
  EXPECT_EQ(std::ranges::count(prices, "ib-dac-400g"), 1);
}

TEST(PricesOf, ABillAskForAnItemOfSeveralLinesOnce) {
  const catalog::Catalog known = shipped();
  const auto prices =
      ids(prices_of(known, bill_of({line("qm9700", 1), line("qm9700", 1, Part::kSpare)})));
  EXPECT_EQ(std::ranges::count(prices, "qm9700"), 1);
}

}  // namespace
}  // namespace fabricast::cost
