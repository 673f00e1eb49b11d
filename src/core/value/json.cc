// SPDX-License-Identifier: Apache-2.0
// Converts JSON to values and back. The output is identical to that of Ruby's JSON.generate.
#include <charconv>
#include <fmt/format.h>
#include <vector>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "core/base/work_limit.h"
#include "core/codec/json_cursor.h"
#include "core/codec/json_text.h"
#include "core/value/build.h"
#include "core/value/exact_json.h"
#include "core/value/internal.h"
#include "core/value/rich_data.h"

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
    base::step();
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
            if (pretty && v.as_array().empty()) out += '\n';  // like json 2.6
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

/// Makes values from the cursor's input.
class Builder {
public:
    /// `large` makes the values of integers beyond 64 bits. If it is null, they become floats.
    Builder(base::Arena& arena, codec::JsonCursor& cursor, const LargeInteger* large)
        : arena_(arena), cursor_(cursor), large_(large) {}

    Value element() {
        using Kind = codec::JsonCursor::Kind;
        switch (cursor_.kind()) {
            case Kind::Null: cursor_.null(); return Value::undef();
            case Kind::Boolean: return Value::boolean(cursor_.boolean());
            case Kind::Number: return number();
            case Kind::String: return Value::string(arena_.copy(cursor_.string()));
            case Kind::Array: return array();
            case Kind::Object: return object();
        }
        return Value::undef();
    }

private:
    Value array() {
        cursor_.enter_array();
        const std::size_t base = items_.size();
        while (cursor_.next_element()) items_.push_back(element());
        BUNRAKU_ASSERT(items_.size() >= base);
        const Value out = make_array(arena_, std::span<const Value>(items_).subspan(base));
        items_.resize(base);
        return out;
    }

    Value object() {
        cursor_.enter_object();
        const std::size_t base = entries_.size();
        for (std::string_view name; cursor_.next_key(&name);) {
            const auto key = Value::string(arena_.copy(name));
            entries_.push_back({key, element()});
        }
        BUNRAKU_ASSERT(entries_.size() >= base);
        const Value out = finish_object(std::span<const Entry>(entries_).subspan(base));
        entries_.resize(base);
        return out;
    }

    /// A repeated key stays at its first position and takes the last value, as in Ruby.
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

    Value number() {
        const std::string_view text = cursor_.number();
        const char *from = text.data(), *to = from + text.size();
        const auto exponent = text.find_first_of("eE");
        if (exponent == std::string_view::npos && text.find('.') == std::string_view::npos) {
            std::int64_t i = 0;
            if (std::from_chars(from, to, i).ec == std::errc()) return Value::integer(i);
            if (large_) return (*large_)(text);
        }
        double d = 0;
        // A number too small for a double becomes 0.0. A number too large is an error, because JSON
        // has no value for it.
        if (std::from_chars(from, to, d).ec == std::errc::result_out_of_range && d == 0 &&
            (exponent == std::string_view::npos || text[exponent + 1] != '-'))
            cursor_.fail("the number is out of range");
        return Value::floating(d);
    }

    base::Arena& arena_;
    codec::JsonCursor& cursor_;
    const LargeInteger* large_;
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

namespace {

base::Result<Value> parse(base::Arena& arena, std::string_view text, codec::BadBytes bytes,
                          const LargeInteger* large, codec::Texts texts = codec::Texts::Exact) {
    if (text.size() > 0xFFFFFFFFU) return base::failure("the document is too large");
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    codec::JsonCursor cursor(text, texts, static_cast<int>(kMaxDepth));
    try {
        if (const auto bad = codec::first_invalid_utf8(text);
            bytes != codec::BadBytes::Keep && bad != std::string_view::npos)
            cursor.fail_at(bad, "invalid UTF-8");
        const Value out = Builder(arena, cursor, large).element();
        cursor.finish();
        return out;
    } catch (const codec::JsonError& e) {
        return base::failure(fmt::format("{} (line: {}, column: {})", e.what, e.line, e.column));
    }
}

}  // namespace

base::Result<Value> parse_json(base::Arena& arena, std::string_view text) {
    return parse(arena, text, codec::BadBytes::Replace, nullptr);
}

base::Result<Value> parse_exact_json(base::Arena& arena, std::string_view text,
                                     const LargeInteger& large) {
    return parse(arena, text, codec::BadBytes::Keep, &large);
}

base::Result<Value> parse_editor_json(base::Arena& arena, std::string_view text) {
    return parse(arena, text, codec::BadBytes::Keep, nullptr, codec::Texts::Readable);
}

}  // namespace bunraku::value
