// SPDX-License-Identifier: Apache-2.0
#include "core/sys/wording.h"

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
    // A prefix of the text, such as "Could not load: ", remains.
    const std::size_t text = message.rfind(": ", at);
    const std::size_t begin = text == std::string_view::npos ? 0 : text + 2;
    return fmt::format("{}{}: {}", message.substr(0, begin), rest.substr(3),
                       message.substr(begin, at - begin));
}

std::string seconds_text(double seconds) { return fmt::format("{:.2f}", seconds); }

}  // namespace bunraku::sys
