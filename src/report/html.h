#pragma once
// The report as one HTML file: the page built from web/ with the JSON of a result in it. The page
// asks for nothing over the network, and the same JSON gives the same bytes.

#include <string>
#include <string_view>

namespace fabricast::report {

/// The report's page with this JSON in it: a `Page` of web/src/result.ts. Throws a
/// base::Error (failure) when the page has not exactly one place for it.
std::string html(std::string_view page_json);

/// The same with a page of one's own.
std::string html(std::string_view page_template, std::string_view page_json);

/// The page without its JSON, built into the program by web/CMakeLists.txt.
std::string_view report_template();

}  // namespace fabricast::report
