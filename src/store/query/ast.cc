// SPDX-License-Identifier: Apache-2.0
#include "store/query/ast.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <numeric>

#include "core/base/assert.h"
#include "core/codec/escapes.h"
#include "core/codec/json_text.h"

namespace bunraku::query {

Ast Ast::boolean(bool b) {
    Ast a;
    a.kind_ = Kind::Bool;
    a.number_.i = b;
    return a;
}

Ast Ast::integer(std::int64_t i) {
    Ast a;
    a.kind_ = Kind::Int;
    a.number_.i = i;
    return a;
}

Ast Ast::real(double d) {
    Ast a;
    a.kind_ = Kind::Real;
    a.number_.d = d;
    return a;
}

Ast Ast::big(std::string digits, double d) {
    Ast a = real(d);
    a.text_ = std::move(digits);
    return a;
}

Ast Ast::text(std::string s) {
    Ast a;
    a.kind_ = Kind::Text;
    a.text_ = std::move(s);
    return a;
}

Ast Ast::array(std::vector<Ast> items) {
    Ast a;
    a.kind_ = Kind::Array;
    a.items_ = std::move(items);
    return a;
}

Ast Ast::map() {
    Ast a;
    a.kind_ = Kind::Map;
    return a;
}

const Ast* Ast::find(std::string_view key) const {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        if (keys_[i] == key) return &items_[i];
    }
    return nullptr;
}

void Ast::put(std::string key, Ast value) {
    BUNRAKU_ASSERT(kind_ == Kind::Map && keys_.size() == items_.size());
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        if (keys_[i] == key) {
            items_[i] = std::move(value);
            return;
        }
    }
    keys_.push_back(std::move(key));
    items_.push_back(std::move(value));
}

std::string_view Ast::op() const {
    if (kind_ != Kind::Array || items_.empty() || !items_[0].is_text()) return {};
    return items_[0].text_;
}

bool Ast::operator==(const Ast& other) const {
    if (kind_ != other.kind_) return false;
    switch (kind_) {
        case Kind::Null: return true;
        case Kind::Bool:
        case Kind::Int: return number_.i == other.number_.i;
        case Kind::Real: return number_.d == other.number_.d;
        case Kind::Text: return text_ == other.text_;
        case Kind::Array: return items_ == other.items_;
        case Kind::Map: return keys_ == other.keys_ && items_ == other.items_;
    }
    return false;
}

namespace {

/// A hand-written reader, because PuppetDB's messages are those of Jackson, including its column
/// numbers.
class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    Ast document() {
        skip_blanks();
        if (at_end()) fail("No content to map due to end-of-input");
        Ast result = value(0);
        BUNRAKU_ASSERT(open_.empty() && at_ <= text_.size());
        skip_blanks();
        if (!at_end()) {
            Ast other = value(0);
            throw QueryError{
                400, fmt::format("Only one query may be sent in a request. Found JSON {} after the "
                                 "query {}",
                                 other.is_array() ? to_clojure(other) : to_json(other),
                                 to_clojure(result))};
        }
        return result;
    }

private:
    bool at_end() const { return at_ >= text_.size(); }

    void skip_blanks() {
        while (!at_end() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' ||
                             text_[at_] == '\r')) {
            ++at_;
        }
    }

    /// Like Jackson, reports the position after the offending character.
    [[noreturn]] void fail(std::string_view what) {
        std::size_t end = std::min(at_, text_.size());
        std::size_t line = 1, begin = 0;
        for (std::size_t i = 0; i < end; ++i) {
            if (text_[i] == '\n' && i + 1 < text_.size()) {
                ++line;
                begin = i + 1;
            }
        }
        std::size_t column = end - begin + 1;
        std::size_t stop = text_.find('\n', begin);
        std::string_view source = text_.substr(
            begin, stop == std::string_view::npos ? std::string_view::npos : stop - begin);
        throw QueryError{
            400,
            fmt::format("Json parse error at line {}, column {}:\n\n{}\n{}^\n\n{}", line, column,
                        source.substr(0, 4096),
                        std::string(column > 1 ? std::min<std::size_t>(column - 2, 4096) : 0, ' '),
                        what)};
    }

    [[noreturn]] void unexpected(std::string_view expecting) {
        BUNRAKU_ASSERT(!at_end());
        char c = text_[at_];
        ++at_;
        if (static_cast<unsigned char>(c) < 0x20) {
            fail(
                fmt::format("Illegal character ((CTRL-CHAR, code {})): only regular white space "
                            "(\\r, \\n, \\t) is allowed between tokens",
                            static_cast<int>(c)));
        }
        fail(fmt::format("Unexpected character ('{}' (code {})): {}", c,
                         static_cast<int>(static_cast<unsigned char>(c)), expecting));
    }

    [[noreturn]] void not_plain_json(std::string_view token) {
        fail(
            fmt::format("Non-standard token '{}': enable "
                        "`JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS` to allow",
                        token));
    }

    /// Returns "line: 1, column: 3" for the position where a value began.
    std::string place(std::size_t start) const {
        std::size_t line = 1 + static_cast<std::size_t>(std::count(
                                   text_.begin(), text_.begin() + static_cast<long>(start), '\n'));
        std::size_t begin = text_.rfind('\n', start);
        begin = begin == std::string_view::npos ? 0 : begin + 1;
        return fmt::format("line: {}, column: {}", line, start - begin + 1);
    }

    /// Fails because of a ']' or '}' in a wrong position.
    [[noreturn]] void close_marker(char c) {
        ++at_;
        bool inside = !open_.empty();
        std::size_t start = inside ? open_.back() : 0;
        bool array = inside && text_[start] == '[';
        fail(
            fmt::format("Unexpected close marker '{}': expected '{}' (for {} starting at "
                        "[Source: (StringReader); {}])",
                        c, array ? ']' : '}',
                        array    ? "Array"
                        : inside ? "Object"
                                 : "root",
                        inside ? place(start) : "line: 1, column: 0"));
    }

    [[noreturn]] void end_in(std::string_view what, std::size_t start) {
        BUNRAKU_ASSERT(start < text_.size());
        at_ = text_.size();
        fail(
            fmt::format("Unexpected end-of-input: expected close marker for {} (start marker at "
                        "[Source: (StringReader); {}])",
                        what, place(start)));
    }

    [[noreturn]] void end_between(std::string_view what) {
        fail(fmt::format("Unexpected end-of-input within/between {} entries", what));
    }

    Ast value(int depth) {
        BUNRAKU_ASSERT(depth >= 0 && !at_end());
        if (depth > kMaxQueryDepth) {
            throw QueryError{
                400, fmt::format("The query is nested more than {} levels deep", kMaxQueryDepth)};
        }
        char c = text_[at_];
        if (c == '[') return list(depth);
        if (c == '{') return object(depth);
        if (c == '"') return Ast::text(string());
        if (c == '-' || (c >= '0' && c <= '9')) return number();
        std::size_t start = at_;
        while (!at_end() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                             text_[at_] == '_' || text_[at_] == '$')) {
            ++at_;
        }
        std::string_view word = text_.substr(start, at_ - start);
        if (word == "true") return Ast::boolean(true);
        if (word == "false") return Ast::boolean(false);
        if (word == "null") return {};
        if (word.empty()) {
            if (c == ']' || c == '}') close_marker(c);
            if (c == '/') {
                unexpected(
                    "maybe a (non-standard) comment? (not recognized as one since Feature "
                    "'ALLOW_COMMENTS' not enabled for parser)");
            }
            unexpected(
                "expected a valid value (JSON String, Number, Array, Object or token "
                "'null', 'true' or 'false')");
        }
        if (word == "NaN") not_plain_json(word);
        if (word == "Infinity" || word == "INF") not_plain_json(word);
        fail(
            fmt::format("Unrecognized token '{}': was expecting (JSON String, Number, Array, "
                        "Object or token 'null', 'true' or 'false')",
                        word.substr(0, 256)));
    }

    Ast list(int depth) {
        BUNRAKU_ASSERT(text_[at_] == '[');
        std::size_t start = at_++;
        open_.push_back(start);
        std::vector<Ast> items;
        skip_blanks();
        if (!at_end() && text_[at_] == ']') {
            ++at_;
            BUNRAKU_ASSERT(open_.back() == start);
            open_.pop_back();
            return Ast::array();
        }
        for (;;) {
            skip_blanks();
            if (at_end()) items.empty() ? end_in("Array", start) : end_between("Array");
            items.push_back(value(depth + 1));
            skip_blanks();
            if (at_end()) end_in("Array", start);
            if (text_[at_] == ']') break;
            if (text_[at_] == '}') close_marker('}');
            if (text_[at_] != ',') unexpected("was expecting comma to separate Array entries");
            ++at_;
        }
        ++at_;
        open_.pop_back();
        return Ast::array(std::move(items));
    }

    Ast object(int depth) {
        BUNRAKU_ASSERT(text_[at_] == '{');
        std::size_t start = at_++;
        open_.push_back(start);
        Ast map = Ast::map();
        skip_blanks();
        if (!at_end() && text_[at_] == '}') {
            ++at_;
            BUNRAKU_ASSERT(open_.back() == start);
            open_.pop_back();
            return map;
        }
        for (;;) {
            skip_blanks();
            if (at_end()) map.size() == 0 ? end_in("Object", start) : end_between("Object");
            if (text_[at_] != '"') unexpected("was expecting double-quote to start field name");
            std::string key = string();
            skip_blanks();
            if (at_end()) end_between("Object");
            if (text_[at_] != ':')
                unexpected(
                    "was expecting a colon to separate field name and "
                    "value");
            ++at_;
            skip_blanks();
            if (at_end()) end_between("Object");
            map.put(std::move(key), value(depth + 1));
            skip_blanks();
            if (at_end()) end_in("Object", start);
            if (text_[at_] == '}') break;
            if (text_[at_] == ']') close_marker(']');
            if (text_[at_] != ',') unexpected("was expecting comma to separate Object entries");
            ++at_;
        }
        ++at_;
        open_.pop_back();
        return map;
    }

    std::uint32_t hex4() {
        std::uint32_t code = 0;
        for (int i = 0; i < 4; ++i) {
            if (at_end()) fail("Unexpected end-of-input in character escape sequence");
            char c = text_[at_++];
            int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
            if (digit < 0) {
                fail(
                    fmt::format("Unexpected character ('{}' (code {})): expected a hex-digit for "
                                "character escape sequence",
                                c, static_cast<int>(static_cast<unsigned char>(c))));
            }
            code = code * 16 + static_cast<std::uint32_t>(digit);
        }
        return code;
    }

    std::string string() {
        BUNRAKU_ASSERT(!at_end() && text_[at_] == '"');
        ++at_;
        std::string out;
        for (;;) {
            std::size_t plain = at_;
            // Control characters are accepted, as in PuppetDB's reader.
            while (!at_end() && text_[at_] != '"' && text_[at_] != '\\') ++at_;
            out.append(text_.substr(plain, at_ - plain));
            if (at_end())
                fail(
                    "Unexpected end-of-input: was expecting closing quote for a string "
                    "value");
            char c = text_[at_++];
            if (c == '"') return out;
            if (at_end()) fail("Unexpected end-of-input in character escape sequence");
            c = text_[at_++];
            if (const char escaped = codec::json_escape(c)) {
                out += escaped;
                continue;
            }
            if (c != 'u')
                fail(fmt::format("Unrecognized character escape '{}' (code {})", c,
                                 static_cast<int>(static_cast<unsigned char>(c))));
            std::uint32_t code = hex4();
            if (codec::is_high_surrogate(code) && text_.substr(at_, 2) == "\\u") {
                std::size_t back = at_;
                at_ += 2;
                std::uint32_t low = hex4();
                if (codec::is_low_surrogate(low)) {
                    code = codec::join_surrogates(code, low);
                } else {
                    at_ = back;
                }
            }
            // A lone surrogate cannot be encoded in UTF-8.
            if (codec::is_high_surrogate(code) || codec::is_low_surrogate(code)) code = 0xfffd;
            codec::append_utf8(out, code);
        }
    }

    Ast number() {
        std::size_t start = at_;
        if (text_[at_] == '-') ++at_;
        std::size_t digits = at_;
        while (!at_end() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
        if (at_ == digits) {
            if (at_end()) fail("Unexpected end-of-input");
            unexpected("Expected digit (0-9) to follow minus sign, for valid numeric value");
        }
        if (at_ - digits > 1 && text_[digits] == '0') {
            at_ = digits + 1;
            fail("Invalid numeric value: Leading zeroes not allowed");
        }
        bool real = false;
        if (!at_end() && text_[at_] == '.') {
            real = true;
            ++at_;
            std::size_t fraction = at_;
            while (!at_end() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
            if (at_ == fraction) {
                if (at_end()) fail("Unexpected end-of-input");
                unexpected("Decimal point not followed by a digit");
            }
        }
        if (!at_end() && (text_[at_] == 'e' || text_[at_] == 'E')) {
            real = true;
            ++at_;
            if (!at_end() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
            std::size_t exponent = at_;
            while (!at_end() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
            if (at_ == exponent) {
                if (at_end()) fail("Unexpected end-of-input");
                unexpected("Exponent indicator not followed by a digit");
            }
        }
        if (!at_end() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                          text_[at_] == '.' || text_[at_] == '_')) {
            unexpected("Expected space separating root-level values");
        }
        std::string_view digits_text = text_.substr(start, at_ - start);
        if (!real) {
            std::int64_t i = 0;
            auto [end, error] =
                std::from_chars(digits_text.data(), digits_text.data() + digits_text.size(), i);
            if (error == std::errc{}) return Ast::integer(i);
        }
        double d = std::strtod(std::string(digits_text).c_str(), nullptr);
        if (!std::isfinite(d)) fail("Numeric value out of range");
        return real ? Ast::real(d) : Ast::big(std::string(digits_text), d);
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::vector<std::size_t> open_;  ///< start positions of the enclosing arrays and objects
};

void append_real(std::string& out, double d) {
    if (d == std::floor(d) && std::fabs(d) < 1e16) {
        fmt::format_to(std::back_inserter(out), "{:.1f}", d);
    } else {
        fmt::format_to(std::back_inserter(out), "{}", d);
    }
}

void print_clojure(const Ast& ast, std::string& out) {
    switch (ast.kind()) {
        case Ast::Kind::Null: out += "nil"; return;
        case Ast::Kind::Array: {
            out += '[';
            bool first = true;
            for (const Ast& item : ast.items()) {
                if (!first) out += ' ';
                first = false;
                print_clojure(item, out);
            }
            out += ']';
            return;
        }
        case Ast::Kind::Map:
            out += '{';
            for (std::size_t i = 0; i < ast.size(); ++i) {
                if (i) out += ", ";
                out += ':';
                out += ast.keys()[i];
                out += ' ';
                print_clojure(ast[i], out);
            }
            out += '}';
            return;
        default: write_json(ast, out);
    }
}

}  // namespace

void write_json(const Ast& ast, std::string& out, bool sorted) {
    switch (ast.kind()) {
        case Ast::Kind::Null: out += "null"; break;
        case Ast::Kind::Bool: out += ast.as_bool() ? "true" : "false"; break;
        case Ast::Kind::Int: fmt::format_to(std::back_inserter(out), "{}", ast.as_int()); break;
        case Ast::Kind::Real:
            ast.digits().empty() ? append_real(out, ast.as_real()) : void(out += ast.digits());
            break;
        case Ast::Kind::Text:
            codec::append_json_string(out, ast.as_text(), codec::BadBytes::Keep);
            break;
        case Ast::Kind::Array: {
            out += '[';
            bool first = true;
            for (const Ast& item : ast.items()) {
                if (!first) out += ',';
                first = false;
                write_json(item, out, sorted);
            }
            out += ']';
            break;
        }
        case Ast::Kind::Map: {
            BUNRAKU_ASSERT(ast.keys().size() == ast.size());
            std::vector<std::size_t> order(ast.size());
            std::iota(order.begin(), order.end(), 0);
            if (sorted) {
                std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
                    return ast.keys()[a] < ast.keys()[b];
                });
            }
            out += '{';
            bool first = true;
            for (std::size_t i : order) {
                if (!first) out += ',';
                first = false;
                codec::append_json_string(out, ast.keys()[i], codec::BadBytes::Keep);
                out += ':';
                write_json(ast[i], out, sorted);
            }
            out += '}';
            break;
        }
    }
}

std::string to_json(const Ast& ast, bool sorted) {
    std::string out;
    write_json(ast, out, sorted);
    return out;
}

std::string to_clojure(const Ast& ast) {
    std::string out;
    print_clojure(ast, out);
    return out;
}

Ast read_query_json(std::string_view text, std::size_t most) {
    if (text.size() > most) {
        throw QueryError{400, fmt::format("The query is longer than {} bytes", most)};
    }
    return Reader(text).document();
}

}  // namespace bunraku::query
