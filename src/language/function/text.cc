// SPDX-License-Identifier: Apache-2.0
// Functions for strings: case, white space, joining.
#include <cstdlib>
#include <utf8proc.h>

#include "core/base/lifetime.h"
#include "core/base/work_limit.h"
#include "language/function/support.h"

namespace bunraku::function {
namespace {

/// Returns `s` with every character mapped. ASCII characters need no decoding. In binary strings
/// Ruby maps only ASCII.
template <class Ascii, class Unicode>
std::string map_characters(std::string_view s, bool bytes, Ascii ascii, Unicode unicode) {
    std::string out;
    out.reserve(s.size());
    for (std::size_t i = 0; i < s.size();) {
        const auto c = static_cast<unsigned char>(s[i]);
        if (c < 0x80 || bytes) {
            out.push_back(ascii(static_cast<char>(c)));
            ++i;
            continue;
        }
        utf8proc_int32_t point = 0;
        const auto n = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(s.data() + i),
                                        static_cast<utf8proc_ssize_t>(s.size() - i), &point);
        if (n <= 0) {  // not UTF-8: the byte does not change
            out.push_back(s[i++]);
            continue;
        }
        i += static_cast<std::size_t>(n);
        if (point == 0xDF && unicode(0xDF) != 0xDF) {  // sharp s has no single upper-case letter
            out += "SS";
            continue;
        }
        utf8proc_uint8_t buffer[4];
        const auto size = utf8proc_encode_char(unicode(point), buffer);
        out.append(reinterpret_cast<const char*>(buffer), static_cast<std::size_t>(size));
    }
    return out;
}

char ascii_up(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }
char ascii_down(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::string upcase(std::string_view s, bool bytes) {
    return map_characters(s, bytes, ascii_up,
                          [](utf8proc_int32_t p) { return p == 0xDF ? 0 : utf8proc_toupper(p); });
}
std::string downcase(std::string_view s, bool bytes) {
    return map_characters(s, bytes, ascii_down, [](utf8proc_int32_t p) {
        return p == 0xDF ? 0xDF : utf8proc_tolower(p);
    });
}
std::string capitalize(std::string_view s, bool bytes) {
    std::size_t first = s.empty() ? 0 : 1;
    while (first < s.size() && (static_cast<unsigned char>(s[first]) & 0xC0) == 0x80) ++first;
    return upcase(s.substr(0, first), bytes) + downcase(s.substr(first), bytes);
}
std::string camelcase(std::string_view s, bool bytes) {
    std::string out;
    std::size_t start = 0;
    while (start <= s.size()) {
        std::size_t end = s.find('_', start);
        if (end == std::string_view::npos) end = s.size();
        out += capitalize(s.substr(start, end - start), bytes);
        start = end + 1;
    }
    return out;
}

// Ruby strips these characters. It strips NUL on the right and, since 2.6, also on the left.
bool blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; }
std::string_view lstrip(std::string_view s BUNRAKU_LIFETIMEBOUND, bool = false) {
    while (!s.empty() && blank(s.front())) s.remove_prefix(1);
    return s;
}
std::string_view rstrip(std::string_view s BUNRAKU_LIFETIMEBOUND, bool = false) {
    while (!s.empty() && blank(s.back())) s.remove_suffix(1);
    return s;
}
std::string_view chomp(std::string_view s BUNRAKU_LIFETIMEBOUND, bool) {
    if (s.ends_with("\r\n")) return s.substr(0, s.size() - 2);
    if (s.ends_with('\n') || s.ends_with('\r')) return s.substr(0, s.size() - 1);
    return s;
}
std::string_view chop(std::string_view s BUNRAKU_LIFETIMEBOUND, bool bytes) {
    if (s.empty()) return s;
    if (s.ends_with("\r\n")) return s.substr(0, s.size() - 2);
    std::size_t n = s.size() - 1;
    while (!bytes && n > 0 && (static_cast<unsigned char>(s[n]) & 0xC0) == 0x80) --n;
    return s.substr(0, n);
}

using Mapper = std::string (*)(std::string_view, bool bytes);
template <std::string_view (*F)(std::string_view, bool)>
std::string as_text(std::string_view s, bool bytes) {
    return std::string(F(s, bytes));
}
std::string strip(std::string_view s, bool) { return std::string(lstrip(rstrip(s))); }

template <Mapper F>
Value mapped(const Call& call, const Value& v) {
    return text(call, F(v.as_string(), v.is_bytes()), v);
}

Value identity(const Call& call) { return call[0]; }
template <Mapper F>
Value on_string(const Call& call) {
    return mapped<F>(call, call[0]);
}
template <Mapper F>
Value on_iterable(const Call& call) {
    std::vector<Value> out = elements(call, call[0]);
    for (Value& v : out) {
        if (v.is_string()) v = mapped<F>(call, v);
    }
    return list(call, out);
}

template <Mapper F>
Value map_nested(const Call& call, const Value& v) {
    base::step();
    if (v.is_string()) return mapped<F>(call, v);
    if (v.is_array()) {
        std::vector<Value> out;
        for (const Value& item : v.as_array()) out.push_back(map_nested<F>(call, item));
        return list(call, out);
    }
    if (v.is_hash()) {
        value::HashBuilder out(call.arena());
        for (const auto& e : v.as_hash())
            out.set(map_nested<F>(call, e.key), map_nested<F>(call, e.value));
        return out.build();
    }
    return v;
}
template <Mapper F>
Value on_nested(const Call& call) {
    return map_nested<F>(call, call[0]);
}

constexpr std::string_view kIterable = "Iterable[Variant[String, Numeric]] arg";
constexpr std::string_view kStringData =
    "StringData = Variant[String, Numeric, Array[StringData], Hash[StringData, StringData]]";

// Ruby's Array#join joins nested arrays with the same separator and calls to_s on other elements.
// An empty nested array is an empty text between two separators.
void join_into(value::JoinedText& out, std::span<const Value> items, const Value& separator) {
    base::step();
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) out.append(separator.as_string(), separator.is_bytes());
        if (items[i].is_array()) {
            join_into(out, items[i].as_array(), separator);
        } else {
            append_to_s(out, items[i]);
        }
    }
}

Value join(const Call& call) {
    value::JoinedText out;
    join_into(out, call[0].as_array(), call.size() > 1 ? call[1] : Value::string(""));
    return text(call, out);
}

bool safe_in_shell(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("@%_+=:,./-").find(c) != std::string_view::npos;
}

Value shellquote(const Call& call) {
    constexpr std::string_view kDangerous = "!\"`$\\";
    std::vector<Value> words;
    flatten_into(words, call.args);
    std::string out;
    for (const Value& w : words) {
        if (&w != &words.front()) out += ' ';
        const std::string word = value::to_text(w);
        bool safe = !word.empty();
        for (char c : word) safe = safe && safe_in_shell(c);
        if (safe) {
            out += word;
        } else if (word.find_first_of(kDangerous) == std::string::npos) {
            out += '"' + word + '"';
        } else if (word.find('\'') == std::string::npos) {
            out += '\'' + word + '\'';
        } else {
            out += '"';
            for (char c : word) {
                if (kDangerous.find(c) != std::string_view::npos) out += '\\';
                out += c;
            }
            out += '"';
        }
    }
    return text(call, out);
}

Value sprintf(const Call& call) {
    if (!call[0].is_string()) {
        argument_error("no implicit conversion of {} into String", ruby_class(call[0]));
    }
    return formatted(call);
}

const Builtin kFunctions[] = {
    {"upcase",
     "Converts letters to upper case, in strings and in the strings of nested arrays and hashes.",
     {{"Numeric arg", identity},
      {"String arg", on_string<upcase>},
      {"Array[StringData] arg", on_nested<upcase>},
      {"Hash[StringData, StringData] arg", on_nested<upcase>}},
     false,
     evaluator::kTyped,
     kStringData},
    {"downcase",
     "Converts letters to lower case, in strings and in the strings of nested arrays and hashes.",
     {{"Numeric arg", identity},
      {"String arg", on_string<downcase>},
      {"Array[StringData] arg", on_nested<downcase>},
      {"Hash[StringData, StringData] arg", on_nested<downcase>}},
     false,
     evaluator::kTyped,
     kStringData},
    {"capitalize",
     "Makes the first letter upper case and the rest lower case.",
     {{"Numeric arg", identity},
      {"String arg", on_string<capitalize>},
      {kIterable, on_iterable<capitalize>}}},
    {"camelcase",
     "Turns snake_case into CamelCase.",
     {{"Numeric arg", identity},
      {"String arg", on_string<camelcase>},
      {kIterable, on_iterable<camelcase>}}},
    {"chomp",
     "Removes one line ending from the end.",
     {{"Numeric arg", identity},
      {"String arg", on_string<as_text<chomp>>},
      {kIterable, on_iterable<as_text<chomp>>}}},
    {"chop",
     "Removes the last character; a final CR LF counts as one.",
     {{"Numeric arg", identity},
      {"String arg", on_string<as_text<chop>>},
      {kIterable, on_iterable<as_text<chop>>}}},
    {"lstrip",
     "Removes white space from the beginning.",
     {{"Numeric arg", identity},
      {"String arg", on_string<as_text<lstrip>>},
      {kIterable, on_iterable<as_text<lstrip>>}}},
    {"rstrip",
     "Removes white space from the end.",
     {{"Numeric arg", identity},
      {"String arg", on_string<as_text<rstrip>>},
      {kIterable, on_iterable<as_text<rstrip>>}}},
    {"strip",
     "Removes white space from both ends.",
     {{"Numeric arg", identity},
      {"String arg", on_string<strip>},
      {kIterable, on_iterable<strip>}}},
    {"join",
     "Joins the elements of an array (flattened) into a string with a delimiter.",
     {{"Array arg, String delimiter?", join}}},
    {"shellquote",
     "Quotes words for a Bourne shell and joins them with blanks.",
     {{"", shellquote}},
     false,
     -1},
    {"sprintf", "Formats values as Ruby's `sprintf` does.", {{"", sprintf}}, false, -2},
};

}  // namespace

std::span<const Builtin> text_functions() { return kFunctions; }

}  // namespace bunraku::function
