// SPDX-License-Identifier: Apache-2.0
#include "core/sys/wording.h"

#include <algorithm>
#include <fmt/format.h>

namespace bunraku::sys {

std::string plain_text(std::string_view message) {
    // The form is "TEXT @ CALL - PATH", where CALL is one word.
    const std::size_t at = message.find(" @ ");
    if (at == std::string_view::npos) return std::string(message);
    const std::size_t call = at + 3, blank = message.find(' ', call);
    const std::string_view rest =
        blank == std::string_view::npos ? std::string_view() : message.substr(blank);
    const std::string_view name = message.substr(call);
    const bool known =
        name.starts_with("rb_") || name.starts_with("dir_") || name.starts_with("io_");
    if (!known || !rest.starts_with(" - ")) return std::string(message);
    // A prefix of the text, such as "Could not load: " or "Skipped (", remains.
    const std::size_t colon = message.rfind(": ", at);
    std::size_t bracket = message.rfind(" (", at);
    if (bracket != std::string_view::npos && message.substr(bracket, at - bracket).contains(')'))
        bracket = std::string_view::npos;
    const auto after = [](std::size_t i) { return i == std::string_view::npos ? 0 : i + 2; };
    const std::size_t begin = std::max(after(colon), after(bracket));
    std::string_view path = rest.substr(3), end;
    if (bracket != std::string_view::npos && begin == after(bracket)) {
        const std::size_t close = path.find(')');
        if (close == std::string_view::npos) return std::string(message);
        end = path.substr(close);
        path = path.substr(0, close);
    } else if (path.contains(". ") || path.contains("; ")) {
        return std::string(message);  // other text follows the path
    }
    return fmt::format("{}{}: {}{}", message.substr(0, begin), path,
                       message.substr(begin, at - begin), end);
}

std::string seconds_text(double seconds) { return fmt::format("{:.2f}", seconds); }

}  // namespace bunraku::sys
