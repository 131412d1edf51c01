#include "report/html.h"

#include "base/error.h"

namespace fabricast::report {

namespace {

/// As in web/build.mjs.
constexpr std::string_view kPlaceholder = "@@FABRICAST_PAGE@@";

/// U+2028 and U+2029 in UTF-8: JSON may hold them, JavaScript before 2019 takes them for line ends.
constexpr std::string_view kLineSeparator = "\xe2\x80\xa8";
constexpr std::string_view kParagraphSeparator = "\xe2\x80\xa9";

/// `json` so that nothing in it ends or changes the script element around it: "</script>" and
/// "<!--" begin with '<', which in JSON appears inside strings alone.
std::string inside_script(std::string_view json) {
  std::string escaped;
  escaped.reserve(json.size() + json.size() / 64);
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '<') {
      escaped += "\\u003c";
    } else if (json.substr(i, 3) == kLineSeparator) {
      escaped += "\\u2028";
      i += 2;
    } else if (json.substr(i, 3) == kParagraphSeparator) {
      escaped += "\\u2029";
      i += 2;
    } else {
      escaped += json[i];
    }
  }
  return escaped;
}

}  // namespace

std::string html(std::string_view page_template, std::string_view page_json) {
  const std::size_t place = page_template.find(kPlaceholder);
  if (place == std::string_view::npos ||
      page_template.find(kPlaceholder, place + 1) != std::string_view::npos) {
    throw base::failure("the report's page has not one place for its data");
  }
  std::string page(page_template.substr(0, place));
  page += inside_script(page_json);
  page += page_template.substr(place + kPlaceholder.size());
  return page;
}

std::string html(std::string_view page_json) {
  return html(report_template(), page_json);
}

}  // namespace fabricast::report
