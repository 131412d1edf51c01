#include "report/hardware.h"

#include <algorithm>
#include <string_view>

#include "report/text.h"

namespace fabricast::report {

std::int64_t count_of(const cost::Bill& bill, cost::Part part) {
  std::int64_t count = 0;
  for (const cost::BomLine& line : bill.lines) {
    if (line.part == part) count += line.count;
  }
  return count;
}

std::string item_of(const cost::Bill& bill, cost::Part part) {
  const auto line = std::ranges::find(bill.lines, part, &cost::BomLine::part);
  return line == bill.lines.end() ? std::string() : line->item;
}

std::string model_of(const cost::Bill& bill, cost::Part part, int width) {
  constexpr std::string_view kArticle = "article-";
  const auto fits = [width](std::string_view text) {
    return static_cast<int>(text.size()) <= width;  // ids are ASCII
  };
  const std::string item = item_of(bill, part);
  std::string_view name = item;
  if (!fits(name) && name.starts_with(kArticle)) name.remove_prefix(kArticle.size());
  while (!fits(name) && name.rfind('-') != std::string_view::npos) {
    name = name.substr(0, name.rfind('-'));
  }
  return shortened(name, width);
}

}  // namespace fabricast::report
