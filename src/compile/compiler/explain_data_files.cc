// SPDX-License-Identifier: Apache-2.0
// Explanations of files of Hiera that cannot be read as YAML or JSON.
#include <algorithm>
#include <fmt/format.h>

#include "compile/compiler/explain.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/value/rich_data.h"

namespace bunraku::compiler::explaining {

namespace {

/// Adds the place of the last [ or { of a YAML file that is never closed, unless it is in the line
/// of the error.
void flow_bracket(const Case& mistake, const std::string& file, std::string_view text,
                  int line_of_error) {
    std::vector<std::pair<char, base::Location>> open;
    int line = 1, column = 0;
    char quote = 0;
    for (const char c : text) {
        ++column;
        if (c == '\n') {
            ++line;
            column = 0;
        } else if (quote != 0) {
            if (c == quote) quote = 0;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '[' || c == '{') {
            open.push_back({c, {file, line, column}});
        } else if ((c == ']' || c == '}') && !open.empty()) {
            open.pop_back();
        }
    }
    if (open.empty() || open.back().second.line == line_of_error) return;
    mistake.place(open.back().second, fmt::format("this {} is never closed", open.back().first));
}

/// "Unable to parse (/x/common.yaml): ... at line 2 column 12"; for hiera.yaml the message begins
/// with "(/x/hiera.yaml): ".
bool broken_file(const Case& mistake) {
    auto file = between(mistake.text, "Unable to parse (", ")");
    if (!file) file = between(mistake.text, "' failed: (/", "): ");
    if (!file) return false;
    if (!file->starts_with("/")) file->insert(0, "/");
    const auto text = mistake.environment().files().read(*file);
    std::string message = mistake.text;
    // Ruby's JSON parser reports no place.
    if (text && file->ends_with(".json")) {
        base::Arena arena;
        if (const auto parsed = value::parse_json(arena, *text); !parsed)
            message = parsed.error().message;
    }
    base::Location where{*file, 0, 0};
    const auto number = [&](std::string_view behind) {
        const auto at = message.find(behind);
        if (at == std::string::npos) return 0;
        auto digits = std::string_view(message).substr(at + behind.size());
        digits = digits.substr(0, digits.find_first_not_of("0123456789"));
        return base::parse_integer<int>(digits).value_or(0);
    };
    where.line = number(" at line ");
    where.column = number(" column ");
    if (where.line > 0) {
        mistake.place(mistake.where, "the lookup that read the file");
        mistake.out.where = where;
    }
    if (!text) return true;
    if (mistake.text.find(" a flow ") != std::string::npos)
        flow_bracket(mistake, *file, *text, where.line);
    int line = 0;
    for (const auto one : base::split(*text, '\n')) {
        if (++line != where.line && line != where.line - 1) continue;
        if (one.find('\t') != std::string_view::npos)
            mistake.hint("YAML must be indented with spaces, but this line has a tab");
        if (one.find(": @") != std::string_view::npos ||
            one.find(": %") != std::string_view::npos ||
            one.find(": *") != std::string_view::npos || one.find(": `") != std::string_view::npos)
            mistake.hint("Put a text that begins with @, %, * or ` in quotes");
    }
    if (mistake.text.find("flow sequence") != std::string::npos)
        mistake.hint("A list that begins with [ must end with ]");
    if (mistake.text.find("flow mapping") != std::string::npos)
        mistake.hint("A hash that begins with { must end with }");
    if (mistake.text.find("mapping values are not allowed") != std::string::npos)
        mistake.hint(
            "Put a text that contains \": \" in quotes, or indent a line above "
            "like this one");
    return true;
}

/// Explains a data file whose content is not a hash.
bool no_hash(const Case& mistake) {
    const auto at = mistake.text.find(": file does not contain a valid yaml hash");
    if (at == std::string::npos) return false;
    const auto start = mistake.text.rfind(" ", at - 1);
    const auto first = start == std::string::npos ? 0 : start + 1;
    const std::string file = mistake.text.substr(first, at - first);
    const auto text = mistake.environment().files().read(file);
    if (!text) return false;
    int line = 0;
    for (const auto one : base::split(*text, '\n')) {
        ++line;
        const auto words = base::trim(one);
        if (words.empty() || words.starts_with("#") || words == "---") continue;
        mistake.place(mistake.where, "the lookup that read the file");
        mistake.out.where = {file, line, 0};
        break;
    }
    mistake.hint(
        "A data file consists of lines of the form `key: value`, with a space after the colon");
    return true;
}

}  // namespace

bool explain_data_files(const Case& mistake) { return broken_file(mistake) || no_hash(mistake); }

}  // namespace bunraku::compiler::explaining
