// SPDX-License-Identifier: Apache-2.0
#include "compile/diagnostics/source_error.h"

#include <algorithm>
#include <cctype>
#include <exception>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>

#include "compile/diagnostics/source_attributes.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/value/rich_data.h"
#include "language/syntax/parser.h"
#include "language/syntax/visit.h"

namespace bunraku::diagnostics {

namespace {

constexpr long kLargestSource = 16L << 20;

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Returns the byte offset of a column. Columns count characters from 1.
std::size_t byte_of_column(std::string_view line, int column) {
    std::size_t at = 0;
    for (int i = 1; i < column && at < line.size(); ++i) {
        ++at;
        while (at < line.size() && continues(line[at])) ++at;
    }
    return at;
}

int column_of_byte(std::string_view line, std::size_t byte) {
    int column = 1;
    for (std::size_t i = 0; i < byte && i < line.size(); ++i)
        if (!continues(line[i])) ++column;
    return column;
}

bool word_char(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
}

/// Returns the length of the word, number, string or operator at `at`.
std::size_t token_length(std::string_view line, std::size_t at) {
    if (at >= line.size()) return 0;
    std::size_t end = at;
    const char c = line[at];
    if (c == '$') ++end;
    if (c == '\'' || c == '"') {
        const auto close = line.find(c, at + 1);
        return (close == std::string_view::npos ? line.size() : close + 1) - at;
    }
    while (end < line.size() && word_char(line[end])) ++end;
    // "title:" is a word and a colon.
    while (end > at + 1 && line[end - 1] == ':') --end;
    if (end > at + (c == '$' ? 1U : 0U)) return end - at;
    for (std::string_view op : {"<<|", "|>>", "=>", "+>", "==", "!=", "=~", "!~", "<=", ">=",
                                "->",  "~>",  "<-", "<~", "<|", "|>", "+=", "-=", "<<", ">>"}) {
        if (line.substr(at).starts_with(op)) return op.size();
    }
    ++end;
    while (end < line.size() && continues(line[end])) ++end;
    return end - at;
}

/// Returns the length of the shortest node that begins at an offset; with `call`, that of the
/// longest call.
std::size_t node_length(const syntax::Tree& tree, std::uint32_t offset, bool call) {
    std::size_t shortest = 0, longest_call = 0;
    const auto walk = [&](const auto& self, const syntax::Node* node) -> void {
        if (node->offset == offset && node->length > 0 && node->kind != syntax::NodeKind::Program &&
            node->kind != syntax::NodeKind::BlockExpression) {
            if (shortest == 0 || node->length < shortest) shortest = node->length;
            if (node->kind == syntax::NodeKind::CallNamedFunctionExpression ||
                node->kind == syntax::NodeKind::CallMethodExpression ||
                node->kind == syntax::NodeKind::AccessExpression)
                longest_call = std::max<std::size_t>(longest_call, node->length);
        }
        syntax::for_each_child(node, [&](const syntax::Node* child) { self(self, child); });
    };
    walk(walk, tree.program);
    return call && longest_call > 0 ? longest_call : shortest;
}

std::shared_ptr<const syntax::Tree> parsed(const std::string& file, std::string_view text) {
    if (!file.empty() && !file.ends_with(".pp") && !file.ends_with(".epp")) return nullptr;
    try {
        return syntax::parse(file, std::string(text), {.epp = file.ends_with(".epp")});
    } catch (const std::exception&) {
        return nullptr;
    }
}

/// Finds a location in the messages of ERB templates ("Filepath: /x.erb\n  Line: 2") and of Ruby
/// ("/x/f.rb:3:in `f'").
base::Location location_in_message(std::string_view text) {
    base::Location out;
    const auto number_at = [&](std::size_t at) {
        auto digits = text.substr(at);
        digits = digits.substr(0, digits.find_first_not_of("0123456789"));
        return base::parse_integer<int>(digits).value_or(0);
    };
    if (const auto at = text.find("Filepath: "); at != std::string_view::npos) {
        const auto rest = text.substr(at + 10);
        out.file = std::string(rest.substr(0, rest.find('\n')));
        if (const auto line = text.find("Line: ", at); line != std::string_view::npos)
            out.line = number_at(line + 6);
        if (out.line > 0) return out;
    }
    for (std::string_view extension : {".rb:", ".erb:", ".epp:", ".yaml:", ".conf:"}) {
        const auto at = text.find(extension);
        if (at == std::string_view::npos) continue;
        const auto start = text.find_last_of(" ('\"\n", at);
        const auto first = start == std::string_view::npos ? 0 : start + 1;
        out.file = std::string(text.substr(first, at + extension.size() - 1 - first));
        out.line = number_at(at + extension.size());
        if (out.line > 0 && out.file.starts_with("/")) return out;
    }
    return {};
}

/// Adds hints for common errors that the message alone identifies.
void classic_hints(std::string_view message, std::vector<std::string>& hints) {
    static constexpr std::pair<std::string_view, std::string_view> kClassics[] = {
        {"No title provided and", "A resource is TYPE { TITLE: ATTRIBUTE => VALUE, ... }"},
        {"resource without a title", "A resource is TYPE { TITLE: ATTRIBUTE => VALUE, ... }"},
        {"is not qualified and no path was specified",
         "Use the full path of the command, or set path => ['/usr/bin', '/bin']"},
        {"must be fully qualified", "A path begins with /"},
        {"The file mode specification must be a string",
         "A mode is a string of four octal digits: put it in quotes ('0644')"},
        {"The file mode specification is invalid",
         "A mode is four octal digits in quotes ('0644'), or symbolic ('u=rw,go=r')"},
        {"You cannot specify more than one of content, source, target",
         "Use only one of content (text), source (a file to copy) and target (of a link)"},
        {"Use of reserved word",
         "A reserved word is not a valid name; put it in quotes to use it as text"},
        {"Illegal variable name", "The name of a variable begins with a small letter or _"},
        {"Assignment not allowed here", "To compare, write =="},
        {"Unacceptable location",
         "A file in a module defines the name that matches its path: a::b::c is in "
         "a/manifests/b/c.pp, and a itself in a/manifests/init.pp"},
        {"is unacceptable as a top level construct in this location",
         "Manifests of modules may contain only definitions"},
        {"This runtime does not support hiera.yaml version", "hiera.yaml begins with `version: 5`"},
        {"Could not find a directory environment named",
         "An environment is a folder in the environmentpath"},
        {"This Name has no effect", "Put text in quotes; a variable begins with $"},
        {"Could not match line", "Lines of puppet.conf are `[section]`, `name = value` or `# ...`"},
        {"premature end of char-class", "A [ is never closed; \\[ means the character itself"},
        {"end pattern with unmatched parenthesis",
         "A ( is never closed; \\( means the character itself"},
        {"unmatched close parenthesis",
         "There is no opening bracket for the ); \\) means the character itself"},
        {"target of repeat operator is not specified",
         "*, + and ? repeat the preceding item; \\* means the character itself"},
        {"undefined method ",
         "The value is not what the code expects; it is often nil because a key or "
         "a fact is missing"},
    };
    for (const auto& [text, hint] : kClassics) {
        if (message.find(text) == std::string_view::npos) continue;
        if (std::ranges::find(hints, hint) == hints.end()) hints.emplace_back(hint);
    }
}

/// Finds the location of an error whose message has at most a file name: the end of unfinished
/// code, or the version line of hiera.yaml.
base::Location location_in_file(const base::Diagnostic& record, const SourceTexts& sources) {
    const std::string_view message = record.message;
    base::Location out;
    out.file = record.where.file;
    if (constexpr std::string_view kFile = "(file: "; out.file.empty()) {
        if (const auto at = message.find(kFile); at != std::string_view::npos) {
            const auto rest = message.substr(at + kFile.size());
            out.file = std::string(rest.substr(0, rest.find(')')));
        }
    }
    const auto text = sources.read(out.file);
    if (!text) return {};
    if (message.find("Syntax error at end of ") != std::string_view::npos) {
        const auto end = end_of_code(*text);
        out.line = end.line;
        out.column = end.column;
    } else if (message.find("hiera.yaml version") != std::string_view::npos) {
        const auto lines = base::lines(*text);
        const auto line = std::ranges::find_if(
            lines, [](std::string_view l) { return l.starts_with("version"); });
        if (line != lines.end()) out.line = static_cast<int>(line - lines.begin()) + 1;
    }
    return out;
}

/// Limits the line to the last one of the template. Ruby counts lines of generated code, which may
/// have more.
void within(std::string_view text, base::Location& where) {
    const auto used = text.find_last_not_of(" \t\r\n");
    if (used == std::string_view::npos) return;
    const auto before = text.substr(0, used);
    const int last = 1 + static_cast<int>(std::ranges::count(before, '\n'));
    if (where.line <= last) return;
    where.line = last;
    where.column = 0;
}

}  // namespace

std::optional<std::string> SourceTexts::read(const std::string& file) const {
    if (file.empty()) return code_.empty() ? std::nullopt : std::optional(code_);
    struct stat status{};
    if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size > kLargestSource)
        return std::nullopt;
    std::ifstream in(file, std::ios::binary);
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    in.read(text.data(), status.st_size);
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
    return text;
}

Span span_at(std::string_view text, base::Location where, std::string label, bool whole_call) {
    Span out{std::move(where), 0, std::move(label), {}};
    std::size_t start = 0;
    for (int i = 1; i < out.from.line; ++i) {
        start = text.find('\n', start);
        if (start == std::string_view::npos) return out;
        ++start;
    }
    auto line = text.substr(start, text.find('\n', start) - start);
    if (line.ends_with('\r')) line.remove_suffix(1);
    out.line = std::string(line);
    const auto used = line.find_last_not_of(" \t");
    const std::size_t line_end = used == std::string_view::npos ? 0 : used + 1;
    if (out.from.column <= 0) {
        // Only the line is known, so the span covers its text.
        const auto first = line.find_first_not_of(" \t");
        out.from.column = first == std::string_view::npos ? 0 : column_of_byte(line, first);
        if (out.from.column > 0) out.end_column = column_of_byte(line, line_end);
        return out;
    }
    const auto at = byte_of_column(line, out.from.column);
    std::size_t length = 0;
    if (const auto tree = parsed(out.from.file, text))
        length = node_length(*tree, static_cast<std::uint32_t>(start + at), whole_call);
    const bool puppet =
        out.from.file.empty() || out.from.file.ends_with(".pp") || out.from.file.ends_with(".epp");
    if (length == 0) length = puppet || at >= line_end ? token_length(line, at) : line_end - at;
    // A span over several lines ends with its first line.
    const auto end = std::min(at + std::max<std::size_t>(length, 1), std::max(line_end, at + 1));
    out.end_column = at >= line.size() ? out.from.column + 1 : column_of_byte(line, end);
    return out;
}

// Extends the span over a regular expression, which the message repeats at its end ("..: /[a/").
void mark_expression(std::string_view message, Span& span) {
    const auto slash = message.find(": /");
    const auto at = byte_of_column(span.line, span.from.column);
    if (slash == std::string_view::npos || at >= span.line.size() || span.line[at] != '/') return;
    const std::string_view shown = message.substr(slash + 2),
                           there = std::string_view(span.line).substr(at);
    const auto same = std::ranges::mismatch(shown, there).in1 - shown.begin();
    const auto last = shown.substr(0, static_cast<std::size_t>(same)).rfind('/');
    if (last > 0) span.end_column = column_of_byte(span.line, at + last + 1);
}

namespace {

/// Reports whether the lexer or the parser raises errors with this issue code.
bool is_syntax_issue(std::string_view code) {
    static constexpr std::string_view kCodes[] = {"SYNTAX_ERROR",
                                                  "UNCLOSED_QUOTE",
                                                  "UNCLOSED_MLCOMMENT",
                                                  "ILLEGAL_BOM",
                                                  "ILLEGAL_NUMBER",
                                                  "ILLEGAL_UNICODE_ESCAPE",
                                                  "INVALID_HEX_NUMBER",
                                                  "INVALID_OCTAL_NUMBER",
                                                  "INVALID_DECIMAL_NUMBER",
                                                  "ILLEGAL_CLASS_REFERENCE",
                                                  "ILLEGAL_FULLY_QUALIFIED_NAME",
                                                  "ILLEGAL_FULLY_QUALIFIED_CLASS_REFERENCE"};
    return std::ranges::find(kCodes, code) != std::end(kCodes) || code.starts_with("HEREDOC_") ||
           code.starts_with("EPP_");
}

/// Returns the issue code of a syntax error, or an empty text for other errors. `epp()` reports the
/// syntax errors of a template as runtime errors that quote them.
std::string_view syntax_issue_of(const base::Diagnostic& record) {
    if (is_syntax_issue(record.issue_code)) return record.issue_code;
    if (record.message.find("epp(): Invalid EPP: ") == std::string::npos) return {};
    return record.message.find("Unclosed quote") == std::string::npos ? "SYNTAX_ERROR"
                                                                      : "UNCLOSED_QUOTE";
}

}  // namespace

SourceError explain_record(const base::Diagnostic& record, const compiler::Explanation* known,
                           const SourceTexts& sources) {
    SourceError out;
    base::Location where = record.where;
    if (where.line <= 0) {
        const auto places = compiler::places_in(record.message);
        if (!places.empty()) where = places.back();
    }
    if (const auto location = location_in_message(record.message); location.known()) {
        if (where.line > 0) {
            if (const auto text = sources.read(where.file))
                out.places.push_back(span_at(*text, where, "reached from here", true));
        }
        where = location;
    }
    if (known && known->where.known()) where = known->where;
    if (where.line <= 0 && !record.authored) where = location_in_file(record, sources);
    const bool call = record.message.find("Function Call, ") != std::string::npos ||
                      record.issue_code == "RUNTIME_ERROR" ||
                      record.message.find("Operator '[]'") != std::string::npos;
    out.main.from = where;
    const auto text = where.line > 0 ? sources.read(where.file) : std::nullopt;
    if (text) {
        if (where.file.ends_with(".erb")) within(*text, where);
        out.main = span_at(*text, where, {}, call);
        mark_expression(record.message, out.main);
    }
    if (known) {
        for (const auto& place : known->places) {
            const auto other = sources.read(place.where.file);
            out.places.push_back(other ? span_at(*other, place.where, place.text, true)
                                       : Span{place.where, 0, place.text, {}});
        }
        out.suggestions = known->suggestions;
        out.hints = known->hints;
    }
    if (record.authored) return out;
    if (text && record.message.starts_with("Parameter ")) {
        if (const auto tree = parsed(where.file, *text))
            explain_attribute(*tree, *text, record.message, out);
    }
    const std::string_view code = syntax_issue_of(record);
    if (text && !code.empty()) {
        auto found = explain_syntax(*text, where, record.message, code);
        for (auto& place : found.places) {
            place.from.file = where.file;
            out.places.push_back(std::move(place));
        }
        for (auto& hint : found.hints) out.hints.push_back(std::move(hint));
        if (code == "SYNTAX_ERROR") out.more = further_syntax_errors(where.file, *text, where);
    }
    classic_hints(record.message, out.hints);
    return out;
}

}  // namespace bunraku::diagnostics
