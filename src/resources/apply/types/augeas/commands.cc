// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/types/augeas/commands.h"

#include <array>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/escapes.h"
#include "core/value/escapes.h"

namespace bunraku::apply {

namespace {

enum class Formal : std::uint8_t { None, Path, String, Comparator, Int, Rest };

struct Syntax {
    std::string_view name;
    std::array<Formal, 3> formals;
};
constexpr Syntax kCommands[] = {
    {"set", {Formal::Path, Formal::String}},
    {"setm", {Formal::Path, Formal::String, Formal::String}},
    {"rm", {Formal::Path}},
    {"remove", {Formal::Path}},
    {"clear", {Formal::Path}},
    {"clearm", {Formal::Path, Formal::String}},
    {"touch", {Formal::Path}},
    {"mv", {Formal::Path, Formal::Path}},
    {"move", {Formal::Path, Formal::Path}},
    {"rename", {Formal::Path, Formal::String}},
    {"insert", {Formal::String, Formal::String, Formal::Path}},
    {"ins", {Formal::String, Formal::String, Formal::Path}},
    {"get", {Formal::Path, Formal::Comparator, Formal::String}},
    {"values", {Formal::Path, Formal::Rest}},
    {"defvar", {Formal::String, Formal::Path}},
    {"defnode", {Formal::String, Formal::Path, Formal::String}},
    {"match", {Formal::Path, Formal::Rest}},
    {"size", {Formal::Comparator, Formal::Int}},
    {"include", {Formal::String}},
    {"not_include", {Formal::String}},
    {"==", {Formal::Rest}},
    {"!=", {Formal::Rest}},
};
constexpr std::string_view kComparators[] = {"==", "!=", "=~", "<=", ">=", "<", ">"};

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kWord =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

class AugeasReader {
public:
    explicit AugeasReader(std::string_view text) : rest_(text) {}

    bool end() const { return rest_.empty(); }
    char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
    std::string_view rest() const { return rest_; }
    std::string_view take(std::size_t n) {
        const std::string_view out = rest_.substr(0, n);
        rest_.remove_prefix(out.size());
        return out;
    }
    /// Takes the longest prefix that consists of characters in `set`.
    std::string_view take_all(std::string_view set) { return take(rest_.find_first_not_of(set)); }
    void skip_blanks() { take_all(base::kBlanks); }
    bool skip(std::string_view word) {
        if (!rest_.starts_with(word)) return false;
        take(word.size());
        return true;
    }

private:
    std::string_view rest_;
};

std::string_view read_name(AugeasReader& in) {
    for (std::string_view word : {"==", "!="})
        if (in.rest().starts_with(word)) return in.take(word.size());
    return in.take_all(kWord);
}

// Reads a path up to whitespace outside brackets and quotes.
std::string_view read_path(AugeasReader& in) {
    const std::string_view from = in.rest();
    std::size_t at = 0;
    int brackets = 0;
    bool single_quotes = false, double_quotes = false;
    for (; at < from.size(); ++at) {
        const char c = from[at];
        if (c == '\\' && at + 1 < from.size() && from[at + 1] != '\n') {
            ++at;
            continue;
        }
        if (c == '[') ++brackets;
        if (c == ']') --brackets;
        if (c == '\'') single_quotes = !single_quotes;
        if (c == '"') double_quotes = !double_quotes;
        if (brackets < 0) throw base::plain_error("unmatched [");
        if (brackets == 0 && !single_quotes && !double_quotes &&
            base::kBlanks.find(c) != std::string_view::npos) {
            break;
        }
    }
    return in.take(at);
}

std::string complete_path(std::string_view path, std::string_view context,
                          const std::string& missing) {
    if (path.starts_with('\'') || path.starts_with('"')) {
        if (path.size() < 2) throw base::plain_error(missing);
        path = path.substr(1, path.size() - 2);
    }
    if (path.ends_with('/')) path.remove_suffix(1);
    if (path.starts_with('$') || path.starts_with('/')) return std::string(path);
    std::string out(context);
    if (!out.empty() && !out.ends_with('/')) out += '/';
    out += path;
    return out;
}

// Reads a string. In quotes, a backslash escapes only the quote itself; other escapes are passed to
// Augeas.
std::string read_string(AugeasReader& in, const std::string& missing) {
    const char quote = in.peek();
    std::string out;
    if (quote != '\'' && quote != '"') {
        out = in.take(in.rest().find_first_of(base::kBlanks));
        if (out.empty()) throw base::plain_error(missing);
        return out;
    }
    BUNRAKU_ASSERT(!in.end());
    in.take(1);
    while (!in.end() && in.peek() != quote) {
        if (in.peek() == '\\') {
            if (in.rest().size() < 2 || in.rest()[1] == '\n') break;
            if (in.rest()[1] == quote)
                in.take(1);
            else
                out += in.take(1);
        }
        out += in.take(1);
    }
    in.take(1);
    return out;
}

AugeasCommand read_command(std::string_view line, std::string_view context) {
    AugeasReader in(line);
    const std::string name(read_name(in));
    const Syntax* syntax = nullptr;
    for (const Syntax& s : kCommands)
        if (s.name == name) syntax = &s;
    if (!syntax) throw base::plain_error(fmt::format("Unknown command {}", name));
    BUNRAKU_ASSERT(syntax->formals.front() != Formal::None);
    AugeasCommand out{name};
    for (const Formal formal : syntax->formals) {
        if (formal == Formal::None) break;
        in.skip_blanks();
        const auto missing = [&](std::string_view what) {
            return fmt::format("missing {} argument {} for {}", what, out.size(), name);
        };
        if (formal == Formal::Path) {
            out.push_back(complete_path(read_path(in), context, missing("path")));
        } else if (formal == Formal::String) {
            out.push_back(read_string(in, missing("string")));
        } else if (formal == Formal::Comparator) {
            std::string found;
            for (std::string_view c : kComparators)
                if (found.empty() && in.skip(c)) found = c;
            if (found.empty()) {
                throw base::plain_error(fmt::format("invalid comparator for command {}", name));
            }
            out.push_back(std::move(found));
        } else if (formal == Formal::Int) {
            out.emplace_back(in.take_all(kDigits));
        } else {
            out.emplace_back(in.rest());
        }
    }
    return out;
}

// Reads an escape sequence of Ruby's double-quoted strings, except those for keys. Returns false if
// it is invalid.
bool read_escape(AugeasReader& in, std::string& out) {
    constexpr std::string_view kNames = "\\\"abtnvfres", kMeanings = "\\\"\a\b\t\n\v\f\r\x1b ";
    static_assert(kNames.size() == kMeanings.size());
    BUNRAKU_ASSERT(in.peek() == '\\');
    constexpr std::string_view kHex = "0123456789abcdefABCDEF";
    const auto code = [](std::string_view digits, int of) {
        return base::parse_integer<std::uint32_t>(digits, of).value_or(0);
    };
    const auto number = [&](std::string_view set, std::size_t most) {
        return in.take(std::min(in.rest().find_first_not_of(set), most));
    };
    in.take(1);
    if (const auto at = kNames.find(in.peek()); !in.end() && at != std::string_view::npos) {
        in.take(1);
        out += kMeanings[at];
        return true;
    }
    if (const auto octal = number("01234567", 3); !octal.empty()) {
        out += static_cast<char>(code(octal, 8));
        return true;
    }
    if (in.skip("x")) {
        const auto hex = number(kHex, 2);
        if (hex.empty()) return false;
        out += static_cast<char>(code(hex, 16));
        return true;
    }
    if (!in.skip("u")) return false;
    if (!in.skip("{")) {
        const auto hex = number(kHex, 4);
        if (hex.size() == 4) codec::append_utf8(out, code(hex, 16));
        return hex.size() == 4;
    }
    bool any = false;
    for (std::string_view hex; !(hex = number(kHex, 6)).empty();) {
        codec::append_utf8(out, code(hex, 16));
        any = true;
        if (base::kBlanks.find(in.peek()) == std::string_view::npos) break;
        in.take(1);
    }
    return in.skip("}") && any;
}

// Reads a quoted string. Returns false if the text is not one.
bool read_quoted(AugeasReader& in, std::string& out) {
    const char quote = in.peek();
    if (quote != '\'' && quote != '"') return false;
    in.take(1);
    while (!in.end() && in.peek() != quote) {
        if (in.peek() != '\\') {
            out += in.take(1);
        } else if (quote == '"') {
            if (!read_escape(in, out)) return false;
        } else {
            in.take(1);
            if (in.peek() != '\'' && in.peek() != '\\') return false;
            out += in.take(1);
        }
    }
    return in.skip(std::string_view(&quote, 1));
}

}  // namespace

std::vector<AugeasCommand> parse_augeas_commands(std::span<const std::string> lines,
                                                 std::string_view context) {
    std::vector<AugeasCommand> out;
    for (const std::string& line : lines) {
        const std::string_view text = base::trim(line);
        if (!text.empty()) out.push_back(read_command(text, context));
    }
    return out;
}

std::vector<std::string> parse_augeas_array(std::string_view text) {
    AugeasReader in(text);
    const auto wrong = [&] {
        return base::plain_error(fmt::format("Unexpected character in array at: {}", in.rest()));
    };
    std::vector<std::string> out;
    in.skip_blanks();
    if (!in.skip("[")) throw wrong();
    in.skip_blanks();
    for (std::string one; read_quoted(in, one); one.clear()) {
        out.push_back(one);
        in.skip_blanks();
        if (!in.skip(",")) break;
        in.skip_blanks();
    }
    in.skip_blanks();
    if (!in.skip("]")) throw wrong();
    in.skip_blanks();
    if (!in.end()) throw wrong();
    return out;
}

std::string inspect_texts(std::span<const std::string> texts) {
    std::string out = "[";
    for (const std::string& text : texts) {
        if (out.size() > 1) out += ", ";
        value::print_inspected_text(out, text);
    }
    return out + "]";
}

}  // namespace bunraku::apply
