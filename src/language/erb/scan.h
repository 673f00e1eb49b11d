// SPDX-License-Identifier: Apache-2.0
// The outer syntax of ERB: separates output text from Ruby code.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::erb {

/// The program that Ruby's ERB generates for a template with trim mode "-". Output statements are
/// marked instead of written out. Line numbers of the program equal those of the template.
struct Script {
    /// Ruby code. "\x01N\x01" represents a statement that outputs texts[N]; "\x02 code \x03" one
    /// that outputs the value of the code.
    std::string code;
    std::vector<std::string> texts;
};

inline constexpr char kText = '\x01';
inline constexpr char kOutput = '\x02';
inline constexpr char kOutputEnd = '\x03';

/// Scans like ERB::Compiler of Ruby 3.1 (ExplicitScanner). Every text is valid ERB; an unclosed tag
/// is output. Returns nullopt if a comment of the template sets an encoding, or if the template
/// contains one of the three marks itself.
std::optional<Script> scan(std::string_view source);

}  // namespace bunraku::erb
