// A help page (cmd_*.md) taken apart: manual pages, completion and `help COMMAND ACTION` are made
// of its parts. Both ways of writing one are understood: Markdown with tables, and plain text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::cli {

struct HelpBlock {
    enum class Kind { Heading, Text, Code, Term } kind = Kind::Text;
    std::string term;  ///< of a Term: "-b, --bucket DIR", or a word that is explained
    std::string text;  ///< Code keeps its lines; the others are one line
};

struct HelpPage {
    std::string summary;  ///< behind "bunraku NAME - "; may be empty
    std::vector<HelpBlock> blocks;
};

HelpPage parse_help(std::string_view markdown);

/// The cells of "| a | b |", trimmed; "\|" is a bar within a cell.
std::vector<std::string> table_cells(std::string_view line);

struct HelpOption {
    std::vector<std::string> names;  ///< "--bucket", "-b"
    std::string argument;            ///< "DIR"; empty: a flag
    std::string text;
};
/// The options that a page explains, in its order.
std::vector<HelpOption> help_options(const HelpPage& page);
/// The actions of a command, as its usage names them, with what is said of them.
struct HelpAction {
    std::string name, text;
};
std::vector<HelpAction> help_actions(const HelpPage& page, std::string_view command);

/// What a page says of one of its actions, as text; empty: it knows none of that name.
std::string action_help(std::string_view markdown, std::string_view command,
                        std::string_view action);

/// A manual page (section 1) of a command.
struct ManualTexts {
    std::string_view version, date;
};
std::string manual_page(std::string_view command, std::string_view summary,
                        std::string_view markdown, const ManualTexts& texts);
/// Text as roff shows it as it is.
std::string roff(std::string_view text);

}  // namespace bunraku::cli
