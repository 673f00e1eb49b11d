// JSON to values and back; the output is byte for byte that of Ruby's JSON.generate.
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <vector>

#include "base/diagnostic.h"
#include "codec/escapes.h"
#include "codec/json_text.h"
#include "value/build.h"
#include "value/internal.h"
#include "value/rich_data.h"

namespace bunraku::value {

namespace {

void escaped(std::string& out, std::string_view text) {
    codec::append_json_string(out, text, codec::BadBytes::Keep);
}

void newline(std::string& out, unsigned level) {
    out += '\n';
    out.append(std::size_t{level} * 2, ' ');
}

void write_at(std::string& out, const Value& v, unsigned depth, bool pretty) {
    switch (v.kind()) {
        case Kind::Undef: out += "null"; break;
        case Kind::Boolean: out += v.as_boolean() ? "true" : "false"; break;
        case Kind::Integer: {
            char buffer[24];
            const auto end = std::to_chars(buffer, buffer + sizeof buffer, v.as_integer()).ptr;
            out.append(buffer, end);
            break;
        }
        case Kind::Float: out += format_float(v.as_float()); break;
        case Kind::String: escaped(out, v.as_string()); break;
        case Kind::Array: {
            out += '[';
            if (pretty && v.as_array().empty()) out += '\n';  // as json 2.6 does
            bool first = true;
            for (const Value& item : v.as_array()) {
                if (!first) out += ',';
                first = false;
                if (pretty) newline(out, depth + 1);
                write_at(out, item, depth + 1, pretty);
            }
            if (pretty) newline(out, depth);
            out += ']';
            break;
        }
        case Kind::Hash: {
            out += '{';
            bool first = true;
            for (const Entry& e : v.as_hash()) {
                if (!first) out += ',';
                first = false;
                if (pretty) newline(out, depth + 1);
                escaped(out,
                        e.key.is_string() ? e.key.as_string() : std::string_view(to_text(e.key)));
                out += pretty ? ": " : ":";
                write_at(out, e.value, depth + 1, pretty);
            }
            if (pretty) newline(out, depth);
            out += '}';
            break;
        }
        default: escaped(out, to_text(v));
    }
}

/// A recursive-descent parser (RFC 8259). Strings without escapes are copied once.
class Parser {
public:
    Parser(base::Arena& arena, std::string_view text) : arena_(arena), text_(text) {}

    base::Result<Value> document() {
        if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
        blank();
        if (at_ == text_.size()) return fail("unexpected end of input");
        Value v;
        if (!element(v, 0)) return std::move(error_);
        blank();
        if (at_ != text_.size()) return fail("unexpected text behind the document");
        return v;
    }

private:
    base::Result<Value> fail(std::string_view what) {
        set_error(what);
        return std::move(error_);
    }

    bool set_error(std::string_view what) {
        std::size_t line = 1, start = 0;
        for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) {
            if (text_[i] == '\n') ++line, start = i + 1;
        }
        error_ =
            base::failure(fmt::format("{} (line: {}, column: {})", what, line, at_ - start + 1));
        return false;
    }

    void blank() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c != ' ' && c != '\n' && c != '\t' && c != '\r') break;
            ++at_;
        }
    }

    bool word(std::string_view expected) {
        if (text_.substr(at_, expected.size()) != expected) return unexpected();
        at_ += expected.size();
        return true;
    }

    bool unexpected() {
        if (at_ >= text_.size()) return set_error("unexpected end of input");
        const auto c = static_cast<unsigned char>(text_[at_]);
        if (c < 0x20 || c >= 0x7f) return set_error("unexpected character");
        return set_error(fmt::format("unexpected character '{}'", text_[at_]));
    }

    /// `depth`: of the arrays and objects around it.
    bool element(Value& out, unsigned depth) {
        if (at_ >= text_.size()) return unexpected();
        switch (text_[at_]) {
            case '{': return object(out, depth);
            case '[': return array(out, depth);
            case '"': {
                std::string_view text;
                if (!string(text)) return false;
                out = Value::string(text);
                return true;
            }
            case 't': out = Value::boolean(true); return word("true");
            case 'f': out = Value::boolean(false); return word("false");
            case 'n': out = Value::undef(); return word("null");
            default: return number(out);
        }
    }

    bool array(Value& out, unsigned depth) {
        if (depth >= kMaxDepth) return set_error("nesting is too deep");
        ++at_;
        const std::size_t base = items_.size();
        blank();
        if (at_ < text_.size() && text_[at_] == ']') {
            ++at_;
            out = Value::array({});
            return true;
        }
        for (;;) {
            blank();
            Value item;
            if (!element(item, depth + 1)) return false;
            items_.push_back(item);
            blank();
            if (at_ < text_.size() && text_[at_] == ',') {
                ++at_;
                continue;
            }
            if (at_ < text_.size() && text_[at_] == ']') break;
            return unexpected();
        }
        ++at_;
        out = make_array(arena_, std::span<const Value>(items_).subspan(base));
        items_.resize(base);
        return true;
    }

    bool object(Value& out, unsigned depth) {
        if (depth >= kMaxDepth) return set_error("nesting is too deep");
        ++at_;
        const std::size_t base = entries_.size();
        blank();
        if (at_ < text_.size() && text_[at_] == '}') {
            ++at_;
            out = hash_over(arena_, {});
            return true;
        }
        for (;;) {
            blank();
            if (at_ >= text_.size() || text_[at_] != '"') return unexpected();
            std::string_view key;
            if (!string(key)) return false;
            blank();
            if (at_ >= text_.size() || text_[at_] != ':') return unexpected();
            ++at_;
            blank();
            Value v;
            if (!element(v, depth + 1)) return false;
            entries_.push_back({Value::string(key), v});
            blank();
            if (at_ < text_.size() && text_[at_] == ',') {
                ++at_;
                continue;
            }
            if (at_ < text_.size() && text_[at_] == '}') break;
            return unexpected();
        }
        ++at_;
        out = finish_object(std::span<const Entry>(entries_).subspan(base));
        entries_.resize(base);
        return true;
    }

    /// A key that comes again keeps its first place and takes the last value, as in Ruby.
    Value finish_object(std::span<const Entry> entries) {
        bool distinct = true;
        if (entries.size() <= kLinearEntries) {
            for (std::size_t i = 1; i < entries.size() && distinct; ++i) {
                for (std::size_t k = 0; k < i; ++k) {
                    if (entries[k].key.as_string() == entries[i].key.as_string()) distinct = false;
                }
            }
            if (distinct) return hash_over(arena_, arena_.copy(entries));
        }
        HashBuilder builder(arena_, entries.size());
        for (const Entry& e : entries) builder.set(e.key, e.value);
        return builder.build();
    }

    /// Length of the valid UTF-8 sequence at `p`, 0 where there is none.
    static std::size_t utf8_length(const unsigned char* p, std::size_t left) {
        const auto tail = [&](std::size_t i) { return i < left && (p[i] & 0xC0) == 0x80; };
        if (p[0] < 0x80) return 1;
        if (p[0] >= 0xC2 && p[0] <= 0xDF) return tail(1) ? 2 : 0;
        if (p[0] >= 0xE0 && p[0] <= 0xEF) {
            if (!tail(1) || !tail(2)) return 0;
            if (p[0] == 0xE0 && p[1] < 0xA0) return 0;
            if (p[0] == 0xED && p[1] > 0x9F) return 0;  // surrogates
            return 3;
        }
        if (p[0] >= 0xF0 && p[0] <= 0xF4) {
            if (!tail(1) || !tail(2) || !tail(3)) return 0;
            if (p[0] == 0xF0 && p[1] < 0x90) return 0;
            if (p[0] == 0xF4 && p[1] > 0x8F) return 0;
            return 4;
        }
        return 0;
    }

    bool string(std::string_view& out) {
        const std::size_t start = ++at_;
        bool escaped = false;
        while (at_ < text_.size()) {
            const auto c = static_cast<unsigned char>(text_[at_]);
            if (c == '"') {
                const std::string_view raw = text_.substr(start, at_ - start);
                ++at_;
                out = escaped ? arena_.copy(scratch_) : arena_.copy(raw);
                return true;
            }
            if (c == '\\') {
                if (!escaped) scratch_.assign(text_, start, at_ - start);
                escaped = true;
                if (!escape()) return false;
                continue;
            }
            if (c < 0x20) return set_error("control character in a string");
            std::size_t n = 1;
            if (c >= 0x80) {
                n = utf8_length(reinterpret_cast<const unsigned char*>(text_.data()) + at_,
                                text_.size() - at_);
                if (n == 0) return set_error("invalid UTF-8 in a string");
            }
            if (escaped) scratch_.append(text_, at_, n);
            at_ += n;
        }
        return set_error("unexpected end of input in a string");
    }

    bool hex4(std::uint32_t& code) {
        code = 0;
        if (text_.size() - at_ < 4) return set_error("incomplete \\u escape");
        const char* p = text_.data() + at_;
        const auto [end, ec] = std::from_chars(p, p + 4, code, 16);
        if (ec != std::errc() || end != p + 4) return set_error("bad \\u escape");
        at_ += 4;
        return true;
    }

    bool escape() {
        ++at_;
        if (at_ >= text_.size()) return set_error("unexpected end of input in a string");
        const char c = text_[at_++];
        if (const char plain = codec::json_escape(c)) {
            scratch_ += plain;
            return true;
        }
        if (c != 'u') {
            --at_;
            return set_error("bad escape in a string");
        }
        std::uint32_t code = 0;
        if (!hex4(code)) return false;
        if (codec::is_high_surrogate(code)) {
            std::uint32_t low = 0;
            if (text_.substr(at_, 2) == "\\u") {
                at_ += 2;
                if (!hex4(low)) return false;
            }
            if (!codec::is_low_surrogate(low)) return set_error("incomplete surrogate pair");
            code = codec::join_surrogates(code, low);
        } else if (codec::is_low_surrogate(code)) {
            return set_error("incomplete surrogate pair");
        }
        codec::append_utf8(scratch_, code);
        return true;
    }

    bool digits() {
        const std::size_t from = at_;
        while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
        return at_ > from;
    }

    /// Integers beyond 64 bits become floats.
    bool number(Value& out) {
        const std::size_t start = at_;
        bool floating = false;
        if (text_[at_] == '-') ++at_;
        if (at_ < text_.size() && text_[at_] == '0') {
            ++at_;
        } else if (!digits()) {
            at_ = text_[start] == '-' ? at_ : start;
            return unexpected();
        }
        if (at_ < text_.size() && text_[at_] == '.') {
            ++at_;
            floating = true;
            if (!digits()) return unexpected();
        }
        if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
            ++at_;
            floating = true;
            if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
            if (!digits()) return unexpected();
        }
        const char *from = text_.data() + start, *to = text_.data() + at_;
        if (!floating) {
            std::int64_t i = 0;
            if (std::from_chars(from, to, i).ec == std::errc()) {
                out = Value::integer(i);
                return true;
            }
        }
        double d = 0;
        if (std::from_chars(from, to, d).ec == std::errc::result_out_of_range && d == 0) {
            at_ = start;
            // A tiny number is 0.0; a huge one has no value in JSON.
            const std::string_view text(from, static_cast<std::size_t>(to - from));
            const auto e = text.find_first_of("eE");
            if (e == std::string_view::npos || text.substr(e + 1, 1) != "-") {
                return set_error("number is out of range");
            }
            at_ = static_cast<std::size_t>(to - text_.data());
        }
        out = Value::floating(d);
        return true;
    }

    base::Arena& arena_;
    std::string_view text_;
    std::size_t at_ = 0;
    base::Result<Value> error_;
    std::string scratch_;
    std::vector<Value> items_;
    std::vector<Entry> entries_;
};

}  // namespace

void write_json(std::string& out, const Value& data) { write_at(out, data, 0, false); }

std::string to_json(const Value& data) {
    std::string out;
    write_json(out, data);
    return out;
}

std::string to_pretty_json(const Value& data) {
    std::string out;
    write_at(out, data, 0, true);
    return out;
}

base::Result<Value> parse_json(base::Arena& arena, std::string_view text) {
    if (text.size() > 0xFFFFFFFFU) return base::failure("the document is too large");
    return Parser(arena, text).document();
}

}  // namespace bunraku::value
