// Three bills against docs/models/bills-by-hand.md, where every number below is worked out from the
// rules and from the catalogue's prices. They are written here once more, not read from there.

#include <cmath>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cost/bounds.h"
#include "cost/cost.h"
#include "scenario/scenario.h"

namespace fabricast::cost {
namespace {

/// A line as the document has it.
struct Line {
  Part part;
  const char* item;
  std::int64_t count;
  double each;   ///< CNY
  double total;  ///< CNY
  double watts;  ///< of all of them
};

bool operator==(const Line& a, const Line& b) {
  const auto near = [](double x, double y) { return std::abs(x - y) < 1e-6; };
  return a.part == b.part && std::string(a.item) == b.item && a.count == b.count &&
         near(a.each, b.each) && near(a.total, b.total) && near(a.watts, b.watts);
}

void PrintTo(const Line& line, std::ostream* out) {  // NOLINT: GoogleTest's own name
  *out << name_of(line.part) << ' ' << line.item << ' ' << line.count << " x " << line.each << " = "
       << line.total << ", " << line.watts << " W";
}

class HandBills : public testing::Test {
 protected:
  static const catalog::Catalog& known() {
    static const auto catalog = catalog::Catalog::load(FABRICAST_SOURCE_DIR "/catalog");
    return catalog;
  }

  /// Of the first fabric of a scenario.
  void read(const char* example) {
    scenario_ = scenario::load(std::string(FABRICAST_SOURCE_DIR "/examples/") + example, known());
    const scenario::FabricChoice& choice = scenario_.fabrics.front();
    fabric_ = fabric::build(choice.topology);
    inputs_ = {.fabric = &fabric_,
               .gpu = scenario_.cluster.gpu,
               .adapter = choice.adapter,
               .network_switch = choice.network_switch,
               .currency = "CNY",
               .racks = scenario_.cluster.racks,
               .owned = choice.owned};
    bill_ = bill_of_materials(known(), inputs_);
    bounds_ = bounds_of(known(), bill_);
  }

  std::vector<Line> lines() const {
    std::vector<Line> lines;
    for (const BomLine& line : bill_.lines) {
      const auto count = static_cast<double>(line.count);
      lines.push_back({line.part, line.item.c_str(), line.count, line.unit_price,
                       count * line.unit_price, count * line.unit_power_w});
    }
    return lines;
  }

  double per_hour() const { return cost_of(known(), bill_, 0, 0).per_hour; }

  scenario::ValidScenario scenario_;
  fabric::Fabric fabric_;
  BuildInputs inputs_;
  Bill bill_;
  Bounds bounds_;
};

constexpr double kFen = 0.005;  // half of the smallest coin, in yuan

// Section 1.
TEST_F(HandBills, TheArticles32GpusOnInfiniBand) {
  read("article/train-32-70b.yaml");
  ASSERT_EQ(scenario_.fabrics.front().profile.name, "infiniband");
  EXPECT_EQ(lines(), (std::vector<Line>{
                         {Part::kSwitch, "article-ib-36x200g", 5, 80'000, 400'000, 2'000},
                         {Part::kAdapter, "article-hca-200g", 32, 12'000, 384'000, 704},
                         {Part::kCable, "ib-aoc-200g", 32, 3'550, 113'600, 288},
                         {Part::kCable, "ib-aoc-200g", 32, 3'550, 113'600, 288},
                         {Part::kSpare, "article-hca-200g", 1, 12'000, 12'000, 0},
                         {Part::kSpare, "ib-aoc-200g", 2, 3'550, 7'100, 0},
                         {Part::kManagement, "management-switch", 1, 8'520, 8'520, 50},
                         {Part::kManagement, "management-cable", 21, 42.6, 894.6, 0},
                         {Part::kGpu, "h100-sxm-80gb", 32, 266'250, 8'520'000, 39'648},
                     }));
  EXPECT_NEAR(bill_.network_capex, 1'030'300, kFen);
  EXPECT_NEAR(bill_.other_capex, 9'414.6, kFen);
  EXPECT_NEAR(bill_.gpu_capex, 8'520'000, kFen);
  EXPECT_NEAR(bill_.capex, 9'559'714.6, kFen);
  EXPECT_NEAR(bill_.power_kw, 42.978, 1e-9);
  EXPECT_EQ(bill_.racks, 0);
}

TEST_F(HandBills, TheBandOfTheArticles32Gpus) {
  read("article/train-32-70b.yaml");
  EXPECT_NEAR(bounds_.network_capex.low, 932'620, kFen);
  EXPECT_NEAR(bounds_.network_capex.high, 1'229'620, kFen);
  EXPECT_NEAR(bounds_.capex.low, 8'002'794.7, kFen);
  EXPECT_NEAR(bounds_.capex.high, 11'531'759.6, kFen);
}

TEST_F(HandBills, AnHourOfTheArticles32Gpus) {
  read("article/train-32-70b.yaml");
  EXPECT_NEAR(per_hour(), 311.93, kFen);
  EXPECT_NEAR(bounds_.per_hour.low, 201.91, kFen);
  EXPECT_NEAR(bounds_.per_hour.high, 639.21, kFen);
}

// Section 2.
TEST_F(HandBills, TwoServersJoinedByCopper) {
  read("bom/direct-16.yaml");
  EXPECT_EQ(lines(), (std::vector<Line>{
                         {Part::kAdapter, "connectx-7-400g", 16, 12'070, 193'120, 400},
                         {Part::kCable, "eth-dac-400g", 8, 1'136, 9'088, 1.6},
                         {Part::kManagement, "management-switch", 1, 8'520, 8'520, 50},
                         {Part::kManagement, "management-cable", 4, 42.6, 170.4, 0},
                         {Part::kGpu, "h100-sxm-80gb", 16, 266'250, 4'260'000, 19'824},
                     }));
  EXPECT_NEAR(bill_.network_capex, 202'208, kFen);
  EXPECT_NEAR(bill_.capex, 4'470'898.4, kFen);
  EXPECT_NEAR(bill_.power_kw, 20.2756, 1e-9);
}

TEST_F(HandBills, TheBandOfTwoServersJoinedByCopper) {
  read("bom/direct-16.yaml");
  EXPECT_NEAR(bounds_.network_capex.low, 148'819.2, kFen);
  EXPECT_NEAR(bounds_.network_capex.high, 284'992, kFen);
  EXPECT_NEAR(bounds_.capex.low, 3'685'842, kFen);
  EXPECT_NEAR(bounds_.capex.high, 5'446'442.4, kFen);
}

// Section 3.
TEST_F(HandBills, AHallOf1016Gpus) {
  read("bom/hall-1016.yaml");
  EXPECT_EQ(fabric_.sizing().leaves, 32);
  EXPECT_EQ(fabric_.sizing().spines, 16);
  EXPECT_EQ(lines(), (std::vector<Line>{
                         {Part::kSwitch, "qm9700", 48, 255'600, 12'268'800, 36'000},
                         {Part::kAdapter, "connectx-7-400g", 1016, 12'070, 12'263'120, 25'400},
                         {Part::kCable, "ib-aoc-400g", 1020, 7'100, 7'242'000, 16'320},
                         {Part::kCable, "ib-aoc-400g", 1024, 7'100, 7'270'400, 16'384},
                         {Part::kSpare, "qm9700", 1, 255'600, 255'600, 0},
                         {Part::kSpare, "connectx-7-400g", 20, 12'070, 241'400, 0},
                         {Part::kSpare, "ib-aoc-400g", 61, 7'100, 433'100, 0},
                         {Part::kManagement, "management-switch", 7, 8'520, 59'640, 350},
                         {Part::kManagement, "management-cable", 302, 42.6, 12'865.2, 0},
                         {Part::kRack, "rack", 35, 28'400, 994'000, 0},
                         {Part::kGpu, "h100-sxm-80gb", 1016, 266'250, 270'510'000, 1'258'824},
                     }));
  EXPECT_NEAR(bill_.network_capex, 39'974'420, kFen);
  EXPECT_NEAR(bill_.other_capex, 1'066'505.2, kFen);
  EXPECT_NEAR(bill_.capex, 311'550'925.2, kFen);
  EXPECT_NEAR(bill_.power_kw, 1'353.278, 1e-6);
  EXPECT_EQ(bill_.racks, 35);
  EXPECT_NEAR(bill_.lines[2].longest_m, 15.0, 1e-9);
  EXPECT_NEAR(bill_.lines[3].longest_m, 4.2, 1e-9);
}

TEST_F(HandBills, TheBandOfAHallOf1016Gpus) {
  read("bom/hall-1016.yaml");
  EXPECT_NEAR(bounds_.network_capex.low, 31'293'570, kFen);
  EXPECT_NEAR(bounds_.network_capex.high, 58'329'190, kFen);
  EXPECT_NEAR(bounds_.capex.low, 256'144'601.4, kFen);
  EXPECT_NEAR(bounds_.capex.high, 386'892'145.2, kFen);
}

// Section 3, racks and lengths: cables by their length in decimetres.
TEST_F(HandBills, TheLengthsInAHallOf1016Gpus) {
  read("bom/hall-1016.yaml");
  std::map<long, int> to_leaves;
  std::map<long, int> to_spines;
  for (const CableRun& run : cable_map(known(), inputs_)) {
    const bool spine = run.peer.starts_with("spine");
    ++(spine ? to_spines : to_leaves)[std::lround(run.length_m * 10)];
  }
  std::map<long, int> expected;
  for (int column = 0; column <= 15; ++column) expected[60 + 6 * column] += 32;
  for (int column = 2; column <= 14; ++column) expected[30 + 6 * column] += 32;
  expected[66] += 32 + 24;
  expected[60] += 32;
  EXPECT_EQ(to_leaves, expected);
  EXPECT_EQ(to_spines, (std::map<long, int>{{42, 512}, {36, 512}}));
}

}  // namespace
}  // namespace fabricast::cost
