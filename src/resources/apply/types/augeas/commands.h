// The commands of the type augeas, as `changes` and `onlyif` hold them (augeas_core 2.0.1).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::apply {

/// The name of a command, then its arguments.
using AugeasCommand = std::vector<std::string>;

/// One command a line, blank ones left out; paths that are relative stand under `context`. Throws
/// base::PuppetError.
std::vector<AugeasCommand> parse_augeas_commands(std::span<const std::string> lines,
                                                 std::string_view context);

/// "['a', "b\n"]"; throws base::PuppetError where it is none.
std::vector<std::string> parse_augeas_array(std::string_view text);

/// As Ruby shows an array of texts: ["a", "b"].
std::string inspect_texts(std::span<const std::string> texts);

}  // namespace bunraku::apply
