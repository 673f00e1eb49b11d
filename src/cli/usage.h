// SPDX-License-Identifier: Apache-2.0
// Error messages about the wrong use of a command.
#pragma once

#include <fmt/format.h>
#include <string>
#include <string_view>

#include "core/base/plain_error.h"

namespace bunraku::cli {

/// Returns the last line of an error, which names the command that shows the usage.
inline std::string usage_hint(std::string_view command, std::string_view program = "bunraku") {
    return fmt::format("Try '{} help {}' for usage", program, command);
}

/// Returns the text of an error about the use of `command`, followed by a hint about the help.
inline std::string usage_text(std::string_view command, std::string_view text) {
    return fmt::format("{}\n{}", text, usage_hint(command));
}
inline base::PuppetError usage_error(std::string_view command, std::string_view text) {
    return base::plain_error(usage_text(command, text));
}

}  // namespace bunraku::cli
