#include "scenario/grid.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/yaml_text.h"

namespace fabricast::scenario {
namespace {

namespace fs = std::filesystem;

class Grids : public testing::Test {
 protected:
  Grids() {
    std::string pattern = (fs::temp_directory_path() / "fabricast-grid-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) folder_ = pattern;
    write("base.yaml",
          "cluster: {gpus: 8, topology: {kind: leaf-spine}}\n"
          "fabrics: [infiniband, roce-v2]\n"
          "workload: {parallelism: auto}\n");
  }
  ~Grids() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::string write(const std::string& name, const std::string& text) const {
    const fs::path path = folder_ / name;
    std::ofstream(path) << text;
    return path.string();
  }
  Grid load(const std::string& text) const { return Grid::load(write("grid.yaml", text)); }

  /// What the grid, or its first point, is refused with.
  std::string refusal_of(const std::string& text) const {
    try {
      static_cast<void>(load(text).document(0));
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), base::ErrorKind::kInput);
      return error.what();
    }
    return "none";
  }

 private:
  fs::path folder_;
};

std::string text_of(const Grid& grid, std::size_t i, std::string_view key) {
  const base::yaml::Node document = grid.document(i);
  const base::yaml::Node* node = document.find(key);
  return node == nullptr ? "absent" : base::yaml::flow_text(*node);
}

TEST_F(Grids, are_the_product_of_their_axes_in_the_order_written_the_last_one_fastest) {
  const Grid grid = load("base: base.yaml\naxes: {seed: [1, 2], cluster.gpus: [8, 16, 32]}\n");
  ASSERT_EQ(grid.size(), 6U);
  EXPECT_EQ(grid.keys(), (std::vector<std::string>{"seed", "cluster.gpus"}));
  std::vector<std::string> order;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    order.push_back(text_of(grid, i, "seed") + text_of(grid, i, "cluster"));
  }
  EXPECT_EQ(order[0], "1{gpus: 8, topology: {kind: leaf-spine}}");
  EXPECT_EQ(order[1], "1{gpus: 16, topology: {kind: leaf-spine}}");
  EXPECT_EQ(order[3], "2{gpus: 8, topology: {kind: leaf-spine}}");
  EXPECT_EQ(std::set<std::string>(order.begin(), order.end()).size(), 6U);
}

TEST_F(Grids, have_points_as_one_axis_that_sets_several_keys_at_once) {
  const Grid grid = load(
      "base: base.yaml\naxes: {seed: [1, 2]}\n"
      "points: [{cluster.gpus: 8, name: a}, {cluster.gpus: 16}]\n");
  ASSERT_EQ(grid.size(), 4U);
  EXPECT_EQ(text_of(grid, 0, "name"), "a");
  EXPECT_EQ(text_of(grid, 1, "name"), "absent");
  EXPECT_EQ(text_of(grid, 3, "seed"), "2");
  EXPECT_EQ(grid.settings(2).size(), 3U);
}

TEST_F(Grids, reach_into_lists_and_make_what_the_base_leaves_out) {
  const Grid grid = load(
      "base: base.yaml\n"
      "axes:\n"
      "  fabrics[1].ecn.kmin_kb: [100]\n"
      "  cluster.topology.cable_m: [20]\n"
      "  background: [[{kind: storage, load: 0.05}]]\n");
  EXPECT_EQ(text_of(grid, 0, "fabrics"), "[infiniband, {ecn: {kmin_kb: 100}, profile: roce-v2}]");
  EXPECT_EQ(text_of(grid, 0, "cluster"), "{gpus: 8, topology: {cable_m: 20, kind: leaf-spine}}");
  EXPECT_EQ(text_of(grid, 0, "background"), "[{kind: storage, load: 0.05}]");
}

TEST_F(Grids, give_each_value_its_place_in_the_grid_under_its_key_in_the_scenario) {
  const Grid grid = load("base: base.yaml\naxes:\n  cluster.topology: [{kind: fat-tree}]\n");
  const base::yaml::Node document = grid.document(0);
  const base::Location where = document.find("cluster")->find("topology")->find("kind")->where;
  EXPECT_EQ(where.key, "cluster.topology.kind");
  EXPECT_EQ(where.line, 3);
  EXPECT_TRUE(where.file.ends_with("grid.yaml"));
}

TEST_F(Grids, can_hold_their_base) {
  const Grid grid = load("base: {cluster: {gpus: 8}}\naxes: {seed: [1]}\n");
  EXPECT_TRUE(grid.base_file().ends_with("grid.yaml"));
  EXPECT_EQ(grid.document(0).find("cluster")->find("gpus")->where.key, "cluster.gpus");
}

TEST_F(Grids, refuse_what_is_wrong_with_its_place) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"axes: {seed: [1]}\n", "base: found nothing"},
      {"base: none.yaml\naxes: {seed: [1]}\n", "grid.yaml:1:7: base: found the path `none.yaml`"},
      {"base: base.yaml\n", "axes: found nothing"},
      {"base: base.yaml\naxis: {seed: [1]}\n", "did you mean `axes`?"},
      {"base: base.yaml\naxes: [1]\n", "grid.yaml:2:7: axes: found a list; allowed a mapping"},
      {"base: base.yaml\naxes: {seed: 1}\n", "grid.yaml:2:14: axes.seed: found the number 1"},
      {"base: base.yaml\naxes: {seed: []}\n", "at least one value of `seed`"},
      {"base: base.yaml\npoints: []\n", "grid.yaml:2:9: points: found an empty list"},
      {"base: base.yaml\npoints: [8]\n", "points[0]: found the number 8; allowed a mapping"},
      {"base: base.yaml\naxes: {'a..b': [1]}\n", "found the key `a..b`"},
      {"base: base.yaml\naxes: {'a[x]': [1]}\n", "found the key `a[x]`"},
      {"base: base.yaml\naxes: {'a[1': [1]}\n", "found the key `a[1`"},
      {"base: base.yaml\naxes: {cluster: [{}], cluster.gpus: [8]}\n",
       "`cluster.gpus`, which overlaps `cluster`"},
      {"base: base.yaml\naxes: {seed: [1]}\npoints: [{seed: 2}]\n", "overlaps `seed`"},
      {"base: base.yaml\naxes:\n  fabrics[2].name: [x]\n",
       "grid.yaml:3:21: fabrics[2].name: found item 2 of a list of 2 (`fabrics` of the base)"},
      {"base: base.yaml\naxes: {workload.parallelism.tp: [2]}\n",
       "workload.parallelism.tp: found the text `auto` in the base under `workload.parallelism`"}};
  for (const auto& [text, message] : wrong) {
    EXPECT_NE(refusal_of(text).find(message), std::string::npos)
        << text << "gives " << refusal_of(text);
  }
}

TEST_F(Grids, have_a_million_points_at_most) {
  std::string axis = "[0";
  for (int i = 1; i < 101; ++i) axis += ", " + std::to_string(i);
  EXPECT_NE(
      refusal_of("base: base.yaml\naxes: {a: " + axis + "], b: " + axis + "], c: " + axis + "]}\n")
          .find("more than 1000000 points"),
      std::string::npos);
}

}  // namespace
}  // namespace fabricast::scenario
