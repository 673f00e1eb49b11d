// SPDX-License-Identifier: Apache-2.0
#include "resources/catalog/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "core/base/work_limit.h"
#include "core/codec/json_text.h"
#include "core/value/rich_data.h"

namespace bunraku::catalog {

namespace {

void append_float(std::string& out, double d) {
    if (std::isfinite(d)) {
        out += value::format_float(d);
    } else {
        codec::append_json_string(out, value::format_float(d));
    }
}

class Writer {
public:
    Writer(std::string& out, ValueForm form, bool sorted)
        : out_(out), form_(form), sorted_(sorted) {}

    void write(const Value& v) {
        base::step();
        switch (v.kind()) {
            case value::Kind::Undef: out_ += form_ == ValueForm::Strings ? "\"\"" : "null"; return;
            case value::Kind::Boolean: out_ += v.as_boolean() ? "true" : "false"; return;
            case value::Kind::Integer: {
                char buffer[24];
                auto end = std::to_chars(buffer, buffer + sizeof buffer, v.as_integer()).ptr;
                if (form_ == ValueForm::Strings) out_ += '"';
                out_.append(buffer, end);
                if (form_ == ValueForm::Strings) out_ += '"';
                return;
            }
            case value::Kind::Float:
                if (form_ == ValueForm::Strings) {
                    codec::append_json_string(out_, value::format_float(v.as_float()));
                } else {
                    append_float(out_, v.as_float());
                }
                return;
            case value::Kind::String:
                if (v.is_bytes() && form_ != ValueForm::Exact)
                    return write(value::Value::binary(v.as_string()));
                codec::append_json_string(out_, v.as_string());
                return;
            case value::Kind::Array: {
                out_ += '[';
                bool first = true;
                for (const Value& item : v.as_array()) {
                    if (!first) out_ += ',';
                    first = false;
                    write(item);
                }
                out_ += ']';
                return;
            }
            case value::Kind::Hash: write_hash(v); return;
            default: write_rich(v);
        }
    }

private:
    struct Item {
        std::string key;
        const Value* value;
    };

    void write_rich(const Value& v) {
        if (form_ == ValueForm::Stringified || form_ == ValueForm::Strings) {
            codec::append_json_string(out_, plain_text(v));
            return;
        }
        base::Arena scratch(512);
        value::RichDataOptions options;
        options.references_as_strings = form_ == ValueForm::Rich;
        Value data = value::to_rich_data(scratch, v, options);
        bool was_plain = plain_;
        plain_ = true;
        write(data);
        BUNRAKU_ASSERT(plain_);
        plain_ = was_plain;
    }

    void write_hash(const Value& v) {
        const value::HashRep& hash = v.as_hash();
        bool simple = true;
        for (const value::Entry& e : hash) {
            if (!e.key.is_string() || (!plain_ && e.key.as_string().starts_with("__p"))) {
                simple = false;
                break;
            }
        }
        if (simple && !sorted_) {
            out_ += '{';
            bool first = true;
            for (const value::Entry& e : hash) {
                if (form_ == ValueForm::Strings && e.value.is_undef()) continue;
                if (!first) out_ += ',';
                first = false;
                codec::append_json_string(out_, e.key.as_string());
                out_ += ':';
                write(e.value);
            }
            out_ += '}';
            return;
        }
        BUNRAKU_ASSERT(!simple || sorted_);
        std::vector<Item> items;
        items.reserve(hash.size());
        bool stringify = form_ == ValueForm::Stringified || form_ == ValueForm::Strings;
        for (const value::Entry& e : hash) {
            std::string key;
            if (e.key.is_string()) {
                key = e.key.as_string();
                if (!plain_ && (key == "__ptype" || key == "__pvalue")) {
                    // A user's key must not be mistaken for a key of rich data.
                    if (!stringify) return write_rich(v);
                    key.insert(0, "reserved key: ");
                }
            } else if (stringify) {
                key = plain_text(e.key);
            } else {
                key = form_ == ValueForm::Rich ? reference_text(e.key) : std::string();
                if (key.empty()) return write_rich(v);
            }
            items.push_back({std::move(key), &e.value});
        }
        BUNRAKU_ASSERT(items.size() == hash.size());
        if (!simple) drop_repeated(items);
        if (sorted_) {
            std::stable_sort(items.begin(), items.end(),
                             [](const Item& a, const Item& b) { return a.key < b.key; });
        }
        out_ += '{';
        bool first = true;
        for (const Item& item : items) {
            if (form_ == ValueForm::Strings && item.value->is_undef()) continue;
            if (!first) out_ += ',';
            first = false;
            codec::append_json_string(out_, item.key);
            out_ += ':';
            write(*item.value);
        }
        out_ += '}';
    }

    /// Merges items with equal keys. Puppet distinguishes the keys 1 and "1", but JSON does not:
    /// the last value wins, at the position of the first.
    static void drop_repeated(std::vector<Item>& items) {
        std::unordered_map<std::string, std::size_t> first;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < items.size(); ++i) {
            auto [at, is_new] = first.emplace(items[i].key, kept);
            if (!is_new) {
                BUNRAKU_ASSERT(at->second < kept);
                items[at->second].value = items[i].value;
            } else {
                BUNRAKU_ASSERT(kept <= i && at->second == kept);
                if (kept != i) items[kept] = std::move(items[i]);
                ++kept;
            }
        }
        BUNRAKU_ASSERT(kept == first.size() && kept <= items.size());
        items.resize(kept);
    }

    std::string& out_;
    ValueForm form_;
    bool sorted_;
    /// true inside converted rich data, where "__ptype" and "__pvalue" need no escaping
    bool plain_ = false;
};

bool is_relationship(std::string_view name) {
    return name == "before" || name == "require" || name == "notify" || name == "subscribe";
}

bool holds_reference(const Value& v) {
    base::step();
    if (v.is_array()) {
        for (const Value& item : v.as_array()) {
            if (holds_reference(item)) return true;
        }
        return false;
    }
    return v.is_type() && !reference_text(v).empty();
}

void append_flat(std::string& out, Writer& writer, const Value& v, bool drop_undef, bool& first) {
    base::step();
    if (v.is_array()) {
        for (const Value& item : v.as_array()) {
            append_flat(out, writer, item, drop_undef, first);
        }
        return;
    }
    if (drop_undef && v.is_undef()) return;
    if (!first) out += ',';
    first = false;
    writer.write(v);
}

}  // namespace

void append_json_value(std::string& out, const Value& v, ValueForm form, bool sorted) {
    Writer(out, form, sorted).write(v);
}

std::string reference_text(const Value& v) {
    if (!v.is_type()) return {};
    base::Arena scratch(512);
    Value data = value::to_rich_data(scratch, v);
    return data.is_string() ? std::string(data.as_string()) : std::string();
}

std::string plain_text(const Value& v) {
    if (v.is_string()) return std::string(v.as_string());
    if (v.is_type()) {
        std::string reference = reference_text(v);
        if (!reference.empty()) return reference;
    }
    return value::to_text(v);
}

bool needs_flattening(std::string_view parameter, const Value& v) {
    return v.is_array() && (is_relationship(parameter) || holds_reference(v));
}

void append_json_parameter(std::string& out, std::string_view parameter, const Value& v,
                           ValueForm form, bool sorted) {
    if (!needs_flattening(parameter, v)) {
        append_json_value(out, v, form, sorted);
        return;
    }
    BUNRAKU_ASSERT(v.is_array());
    Writer writer(out, form, sorted);
    out += '[';
    bool first = true;
    append_flat(out, writer, v, is_relationship(parameter), first);
    out += ']';
}

}  // namespace bunraku::catalog
