// SPDX-License-Identifier: Apache-2.0
// A parsed help page (cmd_*.md), from which manual pages, completion and `help COMMAND ACTION` are
// made. Two styles are supported: Markdown with tables, and plain text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::reference {

struct HelpBlock {
    enum class Kind { Heading, Text, Code, Term } kind = Kind::Text;
    std::string term;  ///< of a Term: "-b, --bucket DIR", or a word with an explanation
    std::string text;  ///< Code keeps its line breaks; other text is one line
};

struct HelpPage {
    std::string summary;  ///< text after "bunraku NAME - "; may be empty
    std::vector<HelpBlock> blocks;
};

HelpPage parse_help(std::string_view markdown);

/// Returns the trimmed cells of "| a | b |". "\|" is a literal bar in a cell.
std::vector<std::string> table_cells(std::string_view line);

struct HelpOption {
    std::vector<std::string> names;  ///< "--bucket", "-b"
    std::string argument;            ///< "DIR"; empty for a flag
    std::string text;
};
/// Returns the options that a page explains, in the same order.
std::vector<HelpOption> help_options(const HelpPage& page);
/// The actions of a command in its usage, with their descriptions.
struct HelpAction {
    std::string name, text;
};
std::vector<HelpAction> help_actions(const HelpPage& page, std::string_view command);

/// Returns the page's text about one of its actions. Empty if there is no such action.
std::string action_help(std::string_view markdown, std::string_view command,
                        std::string_view action);

/// The version and date in a manual page (section 1), and the function that writes the page.
struct ManualTexts {
    std::string_view version, date;
};
std::string manual_page(std::string_view command, std::string_view summary,
                        std::string_view markdown, const ManualTexts& texts);
/// Escapes text for roff.
std::string roff(std::string_view text);

}  // namespace bunraku::reference
