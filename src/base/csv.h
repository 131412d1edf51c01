#pragma once
// Comma-separated values without quotes, as flows and traces of requests are written.

#include <string_view>
#include <vector>

namespace fabricast::base::csv {

/// Without spaces, tabs and carriage returns at its ends.
std::string_view trimmed(std::string_view text);

/// Trimmed cells; at least one.
std::vector<std::string_view> split(std::string_view line);

/// Calls `each(number, content)` for every line that is not empty and no comment (`#`), trimmed; a
/// byte-order mark is passed over.
template <class Each>
void for_each_line(std::string_view text, Each each) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view content = trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!content.empty() && content.front() != '#') each(number, content);
  }
}

}  // namespace fabricast::base::csv
