// Errors in how a command is called.
#pragma once

#include <fmt/format.h>
#include <string>
#include <string_view>

#include "core/base/plain_error.h"

namespace bunraku::cli {

/// Where the right usage of a command stands, as the last line of an error.
inline std::string usage_hint(std::string_view command, std::string_view program = "bunraku") {
    return fmt::format("Try '{} help {}' for usage", program, command);
}

/// The text of an error in the call of `command`, which ends with where to look.
inline std::string usage_text(std::string_view command, std::string_view text) {
    return fmt::format("{}\n{}", text, usage_hint(command));
}
inline base::PuppetError usage_error(std::string_view command, std::string_view text) {
    return base::plain_error(usage_text(command, text));
}

}  // namespace bunraku::cli
