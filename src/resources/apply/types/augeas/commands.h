// SPDX-License-Identifier: Apache-2.0
// Parses the commands in the parameters `changes` and `onlyif` of the type augeas (augeas_core
// 2.0.1).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::apply {

/// The name of a command, followed by its arguments.
using AugeasCommand = std::vector<std::string>;

/// Parses one command per line and skips blank lines. Relative paths are relative to `context`.
/// Throws base::PuppetError if a command is invalid.
std::vector<AugeasCommand> parse_augeas_commands(std::span<const std::string> lines,
                                                 std::string_view context);

/// Parses "['a', "b\n"]". Throws base::PuppetError if the text is not an array.
std::vector<std::string> parse_augeas_array(std::string_view text);

/// Formats an array of strings as Ruby does: ["a", "b"].
std::string inspect_texts(std::span<const std::string> texts);

}  // namespace bunraku::apply
