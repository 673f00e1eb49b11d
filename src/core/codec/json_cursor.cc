// SPDX-License-Identifier: Apache-2.0
#include "core/codec/json_cursor.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctype.h>
#include <fmt/format.h>
#include <string.h>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/base/uninitialized.h"
#include "core/codec/escapes.h"
#include "core/codec/json_text.h"

namespace bunraku::codec {

namespace {

/// Returns the first quote, backslash or control character.
const char* string_stop(const char* p, const char* end) {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'),
                  control = _mm_set1_epi8(0x1f);
    while (end - p >= 16) {
        __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash));
        hit = _mm_or_si128(hit, _mm_cmpeq_epi8(_mm_min_epu8(v, control), v));
        int mask = _mm_movemask_epi8(hit);
        if (mask) return p + __builtin_ctz(static_cast<unsigned>(mask));
        p += 16;
    }
#endif
    while (p < end && *p != '"' && *p != '\\' && static_cast<unsigned char>(*p) >= 0x20) ++p;
    return p;
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// Returns -1 if the text does not begin with four hexadecimal digits.
std::int32_t hex4(std::string_view s) {
    if (s.size() < 4) return -1;
    std::int32_t out = 0;
    for (int i = 0; i < 4; ++i) {
        int d = hex_digit(s[static_cast<std::size_t>(i)]);
        if (d < 0) return -1;
        out = out * 16 + d;
    }
    return out;
}

}  // namespace

std::string check_utf8(std::string_view text) {
    const std::size_t bad = first_invalid_utf8(text);
    if (bad == std::string_view::npos) return {};
    return fmt::format("Invalid UTF-8 at byte {}", bad);
}

JsonCursor::Kind kind_of_json(std::string_view canonical) {
    switch (canonical.empty() ? 'n' : canonical.front()) {
        case '{': return JsonCursor::Kind::Object;
        case '[': return JsonCursor::Kind::Array;
        case '"': return JsonCursor::Kind::String;
        case 't':
        case 'f': return JsonCursor::Kind::Boolean;
        case 'n': return JsonCursor::Kind::Null;
        default: return JsonCursor::Kind::Number;
    }
}

void JsonCursor::fail(std::string_view what) const {
    BUNRAKU_ASSERT(begin_ <= at_ && at_ <= end_);
    std::size_t line = 1 + static_cast<std::size_t>(std::count(begin_, at_, '\n'));
    const char* start = at_;
    while (start > begin_ && start[-1] != '\n') --start;
    const auto column = static_cast<std::size_t>(at_ - start) + 1;
    throw JsonError{fmt::format("Json parse error at line {}, column {}: {}", line, column, what),
                    std::string(what), line, column};
}

void JsonCursor::fail_at(std::size_t offset, std::string_view what) {
    BUNRAKU_ASSERT(offset <= static_cast<std::size_t>(end_ - begin_));
    at_ = begin_ + offset;
    fail(what);
}

/// Throws an error about text that begins no value, and quotes the word or character.
void JsonCursor::unexpected() const {
    if (at_ == end_) fail("Unexpected end-of-input");
    const char* to = at_;
    while (to < end_ && to - at_ < 40 && (isalnum(static_cast<unsigned char>(*to)) || *to == '_'))
        ++to;
    if (to > at_) fail(fmt::format("Unrecognized token '{}'", std::string_view(at_, to)));
    const auto c = static_cast<unsigned char>(*at_);
    fail(c < 0x20 || c >= 0x7f ? "Unexpected character"
                               : fmt::format("Unexpected character '{}'", *at_));
}

void JsonCursor::blanks() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
}

char JsonCursor::peek() {
    blanks();
    if (at_ == end_) fail("Unexpected end-of-input");
    return *at_;
}

void JsonCursor::expect(char c) {
    if (peek() != c) fail(fmt::format("expected '{}'", c));
    ++at_;
}

void JsonCursor::word(std::string_view text) {
    if (static_cast<std::size_t>(end_ - at_) < text.size() ||
        memcmp(at_, text.data(), text.size()) != 0) {
        unexpected();
    }
    at_ += text.size();
}

JsonCursor::Kind JsonCursor::kind() {
    switch (peek()) {
        case '{': return Kind::Object;
        case '[': return Kind::Array;
        case '"': return Kind::String;
        case 't':
        case 'f': return Kind::Boolean;
        case 'n': return Kind::Null;
        default: return Kind::Number;
    }
}

void JsonCursor::enter_object() {
    expect('{');
    if (++depth_ > max_depth_) fail("nested too deeply");
    first_ = true;
}

bool JsonCursor::ended(char close) {
    BUNRAKU_ASSERT(depth_ > 0);
    if (peek() == close) {
        ++at_;
        --depth_;
        first_ = false;
        return true;
    }
    if (!first_) expect(',');
    first_ = false;
    return false;
}

bool JsonCursor::next_key(std::string_view* key) {
    if (ended('}')) return false;
    if (peek() != '"') fail("expected a field name");
    *key = string();
    expect(':');
    return true;
}

void JsonCursor::enter_array() {
    expect('[');
    if (++depth_ > max_depth_) fail("nested too deeply");
    first_ = true;
}

bool JsonCursor::next_element() {
    if (ended(']')) return false;
    peek();
    return true;
}

std::string_view JsonCursor::raw_string(bool* escaped) {
    expect('"');
    const char* start = at_;
    *escaped = false;
    for (;;) {
        at_ = string_stop(at_, end_);
        if (at_ == end_) fail("Unexpected end-of-input in a string");
        if (*at_ == '"') break;
        if (*at_ != '\\') fail("a control character must be escaped in a string");
        *escaped = true;
        at_ += 2;
        if (at_ > end_) {
            at_ = end_;
            fail("Unexpected end-of-input in a string");
        }
    }
    std::string_view out(start, static_cast<std::size_t>(at_ - start));
    ++at_;
    return out;
}

void JsonCursor::unescape(std::string_view raw, std::string& out) const {
    for (std::size_t i = 0; i < raw.size();) {
        std::size_t slash = raw.find('\\', i);
        out += raw.substr(i, slash - i);
        if (slash == std::string_view::npos) return;
        BUNRAKU_ASSERT(slash + 1 < raw.size());
        char c = raw[slash + 1];
        i = slash + 2;
        if (const char plain = codec::json_escape(c)) {
            out += plain;
            continue;
        }
        if (c != 'u') fail("Unrecognized character escape");
        std::int32_t unit = hex4(raw.substr(i));
        if (unit < 0) fail("expected a hex-digit for character escape sequence");
        i += 4;
        auto code = static_cast<std::uint32_t>(unit);
        if (codec::is_high_surrogate(code) && raw.substr(i).starts_with("\\u")) {
            // Without four digits the result is -1, which is not a surrogate.
            auto low = static_cast<std::uint32_t>(hex4(raw.substr(i + 2)));
            if (codec::is_low_surrogate(low)) {
                code = codec::join_surrogates(code, low);
                i += 6;
            }
        }
        const bool lone = codec::is_high_surrogate(code) || codec::is_low_surrogate(code);
        if (lone && texts_ == Texts::Exact) fail("incomplete surrogate pair");
        if (lone || (code == 0 && texts_ == Texts::Readable)) code = 0xfffd;
        codec::append_utf8(out, code);
    }
}

std::string_view JsonCursor::string() {
    bool escaped;
    if (peek() != '"') fail("expected a string");
    std::string_view raw = raw_string(&escaped);
    if (!escaped) return raw;
    std::string& out = scratch_[slot_++ % 3];
    out.clear();
    unescape(raw, out);
    return out;
}

bool JsonCursor::boolean() {
    if (peek() == 't') {
        word("true");
        return true;
    }
    word("false");
    return false;
}

void JsonCursor::null() {
    peek();
    word("null");
}

std::string_view JsonCursor::number() {
    peek();
    const char* start = at_;
    auto digits = [&] {
        const char* from = at_;
        while (at_ < end_ && *at_ >= '0' && *at_ <= '9') ++at_;
        return at_ - from;
    };
    if (*at_ == '-') ++at_;
    if (at_ < end_ && *at_ == '0') {
        ++at_;
    } else if (digits() == 0) {
        unexpected();
    }
    if (at_ < end_ && *at_ == '.') {
        ++at_;
        if (digits() == 0) fail("Decimal point not followed by a digit");
    }
    if (at_ < end_ && (*at_ == 'e' || *at_ == 'E')) {
        ++at_;
        if (at_ < end_ && (*at_ == '+' || *at_ == '-')) ++at_;
        auto n = digits();
        if (n == 0) fail("Exponent indicator not followed by a digit");
        if (n > 3 && texts_ == Texts::Readable) fail("the number's exponent is too large");
    }
    if (at_ - start > 1000 && texts_ == Texts::Readable) fail("the number is too long");
    return {start, static_cast<std::size_t>(at_ - start)};
}

std::int64_t JsonCursor::integer() {
    std::string_view text = number();
    const auto out = base::parse_integer<std::int64_t>(text);
    if (!out) fail("expected an integer");
    return *out;
}

std::string_view JsonCursor::skip() {
    char c = peek();
    const char* start = at_;
    if (c == '"') {
        bool escaped;
        raw_string(&escaped);
    } else if (c == '{' || c == '[') {
        int depth = 0;
        do {
            if (at_ == end_) fail("Unexpected end-of-input");
            switch (*at_) {
                case '"': {
                    bool escaped;
                    raw_string(&escaped);
                    continue;
                }
                case '{':
                case '[': ++depth; break;
                case '}':
                case ']': --depth; break;
                default: break;
            }
            ++at_;
        } while (depth > 0);
    } else if (c == 't' || c == 'f') {
        boolean();
    } else if (c == 'n') {
        null();
    } else {
        number();
    }
    return {start, static_cast<std::size_t>(at_ - start)};
}

namespace {

/// Appends the shortest digits that identify the double, followed by zeros. The number has no
/// fraction.
void append_large(std::string& out, double d) {
    std::array<char, 40> buffer;
    auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), d,
                                 std::chars_format::scientific);
    std::string_view text(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
    std::size_t e = text.find('e');
    std::size_t exponent = 0;
    std::from_chars(text.data() + e + 2, text.data() + text.size(), exponent);  // after "e+"
    std::size_t wanted = exponent + 1;
    for (char c : text.substr(0, e)) {
        if (c == '.') continue;
        out += c;
        if (c != '-') --wanted;
    }
    out.append(wanted, '0');
}

/// Writes a number as PuppetDB returns it. PuppetDB reads a number with a fraction or an exponent
/// as a double. Java writes it (as "1.2E7" from ten million on) into a jsonb, which writes all
/// digits.
void append_number(std::string& out, std::string_view text) {
    std::size_t point = text.find_first_of(".eE");
    if (point == std::string_view::npos ||
        (text[point] == '.' && point < 8 && text.size() < 17 &&
         text.find_first_of("eE", point) == std::string_view::npos)) {
        out += text;
        return;
    }
    double d = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), d);
    if (error == std::errc() && std::fabs(d) >= 9007199254740992.0) return append_large(out, d);
    std::array<char, 1100> digits BUNRAKU_UNINITIALIZED;
    auto written = error == std::errc()
                       ? std::to_chars(digits.data(), digits.data() + digits.size(), d,
                                       std::chars_format::fixed)
                       : std::to_chars_result{nullptr, std::errc::invalid_argument};
    if (written.ec != std::errc()) {
        out += text;
        return;
    }
    std::string_view plain(digits.data(), static_cast<std::size_t>(written.ptr - digits.data()));
    out += plain;
    if (std::fabs(d) < 1e7 && plain.find('.') == std::string_view::npos) out += ".0";
}

/// A member of an object in a text: positions of its start, of the end of its key and of its end.
struct Member {
    std::size_t start, key, end;
};

/// Sorts the members of the object that starts at `open` and has no closing brace yet. The last of
/// several members with one key wins.
void sort_members(std::string& out, std::size_t open, std::vector<Member>& members) {
    const std::string copy = out.substr(open);
    BUNRAKU_ASSERT(members.size() > 1 && copy.front() == '{');
    const auto key = [&](const Member& m) {
        return std::string_view(copy).substr(m.start + 1 - open, m.key - m.start - 2);
    };
    std::stable_sort(members.begin(), members.end(),
                     [&](const auto& a, const auto& b) { return key(a) < key(b); });
    out.resize(open + 1);
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (i + 1 < members.size() && key(members[i]) == key(members[i + 1])) continue;
        if (out.size() > open + 1) out += ',';
        out.append(copy, members[i].start - open, members[i].end - members[i].start);
    }
}

}  // namespace

void JsonCursor::canonical(std::string& out) { canonical_value(out, depth_); }

void JsonCursor::canonical_array(std::string& out, int depth) {
    ++at_;
    out += '[';
    if (peek() == ']') {
        ++at_;
        out += ']';
        return;
    }
    while (true) {
        canonical_value(out, depth + 1);
        if (!another(']')) break;
        out += ',';
    }
    out += ']';
}

void JsonCursor::canonical_object(std::string& out, int depth) {
    ++at_;
    std::vector<Member> members;
    const std::size_t open = out.size();
    out += '{';
    if (peek() == '}') {
        ++at_;
        out += '}';
        return;
    }
    bool sorted = true;
    while (true) {
        if (peek() != '"') fail("expected a field name");
        Member m{out.size(), 0, 0};
        canonical_value(out, depth + 1);
        m.key = out.size();
        if (sorted && !members.empty()) {
            const std::string_view all = out;
            const Member& last = members.back();
            sorted = all.substr(last.start + 1, last.key - last.start - 2) <
                     all.substr(m.start + 1, m.key - m.start - 2);
        }
        expect(':');
        out += ':';
        canonical_value(out, depth + 1);
        m.end = out.size();
        BUNRAKU_ASSERT(m.start < m.key && m.key < m.end);
        members.push_back(m);
        if (!another('}')) break;
        out += ',';
    }
    if (!sorted) sort_members(out, open, members);
    out += '}';
}

bool JsonCursor::another(char close) {
    const char c = peek();
    if (c != ',' && c != close) fail(close == ']' ? "expected ',' or ']'" : "expected ',' or '}'");
    ++at_;
    return c == ',';
}

void JsonCursor::canonical_value(std::string& out, int depth) {
    if (depth > max_depth_) fail("nested too deeply");
    switch (peek()) {
        case '"': {
            bool escaped;
            std::string_view raw = raw_string(&escaped);
            if (!escaped) {
                out += '"';
                out += raw;
                out += '"';
            } else {
                std::string text;
                unescape(raw, text);
                append_json_string(out, text);
            }
            return;
        }
        case '[': canonical_array(out, depth); return;
        case '{': canonical_object(out, depth); return;
        case 't':
            word("true");
            out += "true";
            return;
        case 'f':
            word("false");
            out += "false";
            return;
        case 'n':
            word("null");
            out += "null";
            return;
        default: append_number(out, number());
    }
}

void JsonCursor::finish() {
    blanks();
    BUNRAKU_ASSERT(at_ <= end_);
    if (at_ != end_) fail("unexpected text after the document");
}

}  // namespace bunraku::codec
