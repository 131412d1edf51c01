#include "report/html.h"

#include <regex>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace fabricast::report {
namespace {

constexpr std::string_view kPlaceholder = "@@FABRICAST_PAGE@@";
constexpr std::string_view kOpening = R"(<script type="application/json" id="page">)";

/// What a browser takes for the text of the element that holds the data.
std::string data_of(const std::string& page) {
  const std::size_t start = page.find(kOpening) + kOpening.size();
  return page.substr(start, page.find("</script", start) - start);
}

TEST(Html, carries_the_data_in_its_own_element) {
  const std::string json = R"({"lang":"zh","command":"fabricast compare 训练.yaml"})";
  EXPECT_EQ(data_of(html(json)), json);
}

TEST(Html, leaves_no_placeholder_and_takes_it_for_text_in_the_data) {
  const std::string json = R"({"command":"@@FABRICAST_PAGE@@"})";
  const std::string page = html(json);
  const std::size_t first = page.find(kPlaceholder);
  EXPECT_EQ(data_of(page), json);
  EXPECT_EQ(page.find(kPlaceholder, first + 1), std::string::npos);
}

// HTML, 4.12.1.3: "</script" and "<!--" end or change a script element wherever they stand.
TEST(Html, lets_no_text_end_the_element) {
  const nlohmann::json data = {{"name", "</script><script>alert(1)</script><!-- <SCRIPT"}};
  const std::string inside = data_of(html(data.dump()));
  EXPECT_EQ(inside.find('<'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(inside), data);
}

TEST(Html, escapes_the_separators_that_end_a_line_of_javascript) {
  const nlohmann::json data = {{"name", "a\u2028b\u2029c"}};
  const std::string inside = data_of(html(data.dump()));
  EXPECT_NE(inside.find(R"(a\u2028b\u2029c)"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(inside), data);
}

TEST(Html, is_the_same_for_the_same_data) {
  EXPECT_EQ(html("{}"), html("{}"));
}

TEST(Html, loads_nothing) {
  const std::string page = html("{}");
  EXPECT_EQ(page.find("@import"), std::string::npos);
  EXPECT_FALSE(std::regex_search(page, std::regex(R"(<(script|img|iframe)[^>]*\ssrc=)")));
  EXPECT_FALSE(std::regex_search(page, std::regex(R"(\s(href|src)="(https?:)?//)")));
  EXPECT_FALSE(std::regex_search(page, std::regex(R"(url\(\s*["']?(https?:)?//)")));
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST(Html, needs_one_place_for_the_data) {
  EXPECT_THROW(html("<p></p>", "{}"), base::Error);
  EXPECT_THROW(html("@@FABRICAST_PAGE@@ @@FABRICAST_PAGE@@", "{}"), base::Error);
  EXPECT_EQ(html("<p>@@FABRICAST_PAGE@@</p>", "{}"), "<p>{}</p>");
}

}  // namespace
}  // namespace fabricast::report
