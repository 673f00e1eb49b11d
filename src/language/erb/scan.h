// The outer syntax of ERB: which text is output and which is Ruby.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::erb {

/// What Ruby's ERB makes of a template with trim mode "-": a program in which output is marked
/// instead of spelled. Lines of the program are lines of the template.
struct Script {
    /// Ruby code. "\x01N\x01" stands for a statement that outputs texts[N]; "\x02 code \x03" for
    /// one that outputs the value of the code.
    std::string code;
    std::vector<std::string> texts;
};

inline constexpr char kText = '\x01';
inline constexpr char kOutput = '\x02';
inline constexpr char kOutputEnd = '\x03';

/// Scans as ERB::Compiler of Ruby 3.1 does (ExplicitScanner): every text is good ERB; a tag that
/// is not closed is output. nullopt where the template asks for an encoding in a comment, or holds
/// one of the three marks itself.
std::optional<Script> scan(std::string_view source);

}  // namespace bunraku::erb
