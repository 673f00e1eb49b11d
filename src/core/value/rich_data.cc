// SPDX-License-Identifier: Apache-2.0
// Converts typed values to Puppet's rich data, {"__ptype" => ..} hashes of plain data, and back.
#include "core/value/rich_data.h"

#include <vector>

#include "core/base/assert.h"
#include "core/base/civil_time.h"
#include "core/base/diagnostic.h"
#include "core/base/semver.h"
#include "core/base/text.h"
#include "core/base/work_limit.h"
#include "core/codec/base64.h"
#include "core/value/build.h"
#include "core/value/internal.h"
#include "core/value/time.h"

namespace bunraku::value {

namespace {

constexpr std::string_view kType = "__ptype";
constexpr std::string_view kValue = "__pvalue";

class Encoder {
public:
    Encoder(base::Arena& arena, const RichDataOptions& options)
        : arena_(arena), options_(options) {}

    Value encode(const Value& v) {
        base::step();
        switch (v.kind()) {
            case Kind::Undef:
            case Kind::Boolean:
            case Kind::Integer:
            case Kind::Float: return v;
            case Kind::String:
                return v.is_bytes() && options_.rich_data ? rich(Value::binary(v.as_string())) : v;
            case Kind::Default:
                return options_.rich_data ? typed("Default") : Value::string("default");
            case Kind::Array: return array(v);
            case Kind::Hash: return hash(v);
            case Kind::Sensitive: {
                if (options_.unwrap_sensitive) return encode(v.unwrap());
                return typed("Sensitive", encode(v.unwrap()));
            }
            default: return options_.rich_data ? rich(v) : as_text(v);
        }
    }

private:
    Value typed(std::string_view type) {
        Entry* e = static_cast<Entry*>(arena_.allocate(sizeof(Entry), alignof(Entry)));
        *e = {Value::string(kType), Value::string(type)};
        return hash_over(arena_, {e, 1});
    }

    Value typed(std::string_view type, const Value& content) {
        const auto e = arena_.array<Entry>(2);
        e[0] = {Value::string(kType), Value::string(type)};
        e[1] = {Value::string(kValue), content};
        return hash_over(arena_, e);
    }

    Value as_text(const Value& v) {
        if (options_.references_as_strings && v.is_type()) {
            if (const Value reference = as_reference(v.as_extension()->to_rich_data(arena_));
                reference.is_string()) {
                return reference;
            }
        }
        return make_string(arena_, to_text(v));
    }

    /// Returns "File[/x]" for the Pcore form of a reference to one resource or class, otherwise
    /// undef.
    Value as_reference(const Value& pcore) {
        if (!pcore.is_hash()) return {};
        const Value* type = pcore.as_hash().find(kType);
        if (type == nullptr || !type->is_string()) return {};
        const bool is_class = type->as_string() == "Pcore::ClassType";
        if (!is_class && type->as_string() != "Pcore::ResourceType") return {};
        const Value* title = pcore.as_hash().find(is_class ? "class_name" : "title");
        if (title == nullptr || !title->is_string()) return {};
        const Value* name = pcore.as_hash().find("type_name");
        if (!is_class && (name == nullptr || !name->is_string())) return {};
        std::string text = is_class ? "Class" : base::capitalized_segments(name->as_string());
        text += '[';
        text += is_class || text == "Class[" ? base::capitalized_segments(title->as_string())
                                             : std::string(title->as_string());
        text += ']';
        return make_string(arena_, text);
    }

    Value rich(const Value& v) {
        switch (v.kind()) {
            case Kind::Regexp: {
                // The string form does not contain the slashes.
                std::string text = to_text(v);
                if (v.as_regexp().options == 0) {
                    text = std::string(v.as_regexp().source);
                } else {
                    text = text.substr(1, text.size() - 2);
                }
                return typed("Regexp", make_string(arena_, text));
            }
            case Kind::Timestamp: return typed("Timestamp", make_string(arena_, to_text(v)));
            case Kind::Timespan: return typed("Timespan", make_string(arena_, to_text(v)));
            case Kind::SemVer: return typed("SemVer", make_string(arena_, to_text(v)));
            case Kind::SemVerRange: return typed("SemVerRange", make_string(arena_, to_text(v)));
            case Kind::Binary: return typed("Binary", make_string(arena_, to_text(v)));
            case Kind::Uri: return typed("URI", Value::string(v.as_string()));
            default: break;
        }
        const Value pcore = v.as_extension()->to_rich_data(arena_);
        if (pcore.is_undef()) return make_string(arena_, to_text(v));
        if (options_.references_as_strings && v.is_type()) {
            if (const Value reference = as_reference(pcore); reference.is_string()) {
                return reference;
            }
        }
        return pcore;
    }

    Value array(const Value& v) {
        const auto items = v.as_array();
        const auto out = arena_.array<Value>(items.size());
        for (std::size_t i = 0; i < items.size(); ++i) out[i] = encode(items[i]);
        return Value::array(out);
    }

    Value hash(const Value& v) {
        const HashRep& from = v.as_hash();
        bool plain = true;
        for (const Entry& e : from) {
            if (!e.key.is_string() || e.key.as_string() == kType) plain = false;
        }
        if (plain) {
            const auto out = arena_.array<Entry>(from.size());
            for (std::size_t i = 0; i < from.size(); ++i) {
                out[i] = {from.entries[i].key, encode(from.entries[i].value)};
            }
            BUNRAKU_ASSERT(out.size() == from.size());
            if (from.index == nullptr) return hash_over(arena_, out);
            BUNRAKU_ASSERT(from.index_mask >= from.size());
            HashRep* rep = arena_.make<HashRep>(from);
            rep->entries = out;
            rep->depth = HashRep::depth_of(out);
            return Value::hash(rep);
        }
        if (!options_.rich_data) {
            HashBuilder builder(arena_, from.size());
            for (const Entry& e : from) {
                const Value key = e.key.is_string() ? e.key : as_text(e.key);
                builder.set(key, encode(e.value));
            }
            return builder.build();
        }
        const auto pairs = arena_.array<Value>(from.size() * 2);
        for (std::size_t i = 0; i < from.size(); ++i) {
            pairs[2 * i] = encode(from.entries[i].key);
            pairs[2 * i + 1] = encode(from.entries[i].value);
        }
        return typed("Hash", Value::array(pairs));
    }

    base::Arena& arena_;
    const RichDataOptions& options_;
};

class Decoder {
public:
    Decoder(base::Arena& arena, const TypedFactory& factory) : arena_(arena), factory_(factory) {}

    Value decode(const Value& v) {
        base::step();
        if (v.is_array()) {
            const auto items = v.as_array();
            const auto out = arena_.array<Value>(items.size());
            for (std::size_t i = 0; i < items.size(); ++i) out[i] = decode(items[i]);
            return Value::array(out);
        }
        if (!v.is_hash()) return v;
        const HashRep& hash = v.as_hash();
        const Value* type = hash.find(kType);
        if (type != nullptr && type->is_string()) return typed(v, type->as_string());
        HashBuilder builder(arena_, hash.size());
        for (const Entry& e : hash) builder.set(e.key, decode(e.value));
        return builder.build();
    }

private:
    Value typed(const Value& whole, std::string_view type) {
        BUNRAKU_ASSERT(whole.is_hash());
        const HashRep& hash = whole.as_hash();
        const Value* content = hash.find(kValue);
        if (type == "Default") return Value::default_value();
        if (content != nullptr && content->is_array() && type == "Hash") {
            const auto pairs = content->as_array();
            HashBuilder builder(arena_, pairs.size() / 2);
            for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
                const Value key = decode(pairs[i]);
                builder.set(key, decode(pairs[i + 1]));
            }
            return builder.build();
        }
        if (content != nullptr && type == "Sensitive") {
            return make_sensitive(arena_, decode(*content));
        }
        if (content != nullptr && content->is_string()) {
            const std::string_view text = content->as_string();
            if (type == "Symbol" || type == "URI") {
                return type == "URI" ? Value::uri(text) : Value::string(text);
            }
            if (type == "Regexp") return make_regexp(arena_, text);
            if (type == "SemVer") {
                auto version = base::SemVer::parse(text);
                if (version) return make_semver(arena_, *std::move(version));
            }
            if (type == "SemVerRange") {
                auto range = base::SemVerRange::parse(text);
                if (range) return make_semver_range(arena_, *std::move(range));
            }
            if (type == "Binary") {
                // Ruby's unpack('m') skips characters that are not base64.
                return Value::binary(
                    arena_.copy(*codec::base64_decode(text, codec::Base64::Lines)));
            }
            Nanoseconds n = 0;
            if (type == "Timestamp" && parse_timestamp(text, n)) return make_timestamp(n);
            if (type == "Timespan" && parse_timespan(text, n)) return make_timespan(n);
        }
        // For a type or an object, the attributes are converted first.
        HashBuilder builder(arena_, hash.size());
        for (const Entry& e : hash) builder.set(e.key, decode(e.value));
        const Value decoded = builder.build();
        return factory_ ? factory_(type, decoded) : decoded;
    }

    static bool number(std::string_view& text, std::int64_t& n, std::size_t limit = 18) {
        BUNRAKU_ASSERT(limit <= 18);
        std::size_t i = 0;
        n = 0;
        while (i < text.size() && i < limit && text[i] >= '0' && text[i] <= '9') {
            n = n * 10 + (text[i++] - '0');
        }
        text.remove_prefix(i);
        return i > 0;
    }
    static bool skip(std::string_view& text, char c) {
        if (text.empty() || text[0] != c) return false;
        text.remove_prefix(1);
        return true;
    }
    static bool fraction(std::string_view& text, std::int64_t& nanoseconds) {
        const std::size_t before = text.size();
        if (!number(text, nanoseconds, 9)) return false;
        BUNRAKU_ASSERT(nanoseconds >= 0 && before - text.size() <= 9);
        for (std::size_t i = before - text.size(); i < 9; ++i) nanoseconds *= 10;
        return true;
    }

    /// Accepts only the forms that this program writes. The factory handles others.
    static bool parse_timestamp(std::string_view text, Nanoseconds& out) {
        const bool negative = skip(text, '-');
        std::int64_t y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0, ns = 0;
        if (!number(text, y, 4) || !skip(text, '-') || !number(text, mo, 2) || !skip(text, '-') ||
            !number(text, d, 2) || !skip(text, 'T') || !number(text, h, 2) || !skip(text, ':') ||
            !number(text, mi, 2) || !skip(text, ':') || !number(text, s, 2)) {
            return false;
        }
        if (skip(text, '.') && !fraction(text, ns)) return false;
        if (text != " UTC" || negative || mo < 1 || mo > 12 || d < 1 || h > 23 || mi > 59 || s > 59)
            return false;
        const std::int64_t days =
            base::days_from_civil(y, static_cast<int>(mo), static_cast<int>(d));
        if (base::civil_from_days(days).month != mo) return false;
        const std::int64_t seconds = ((days * 24 + h) * 60 + mi) * 60 + s;
        out = static_cast<Nanoseconds>(seconds) * 1'000'000'000 + ns;
        return true;
    }

    static bool parse_timespan(std::string_view text, Nanoseconds& out) {
        const bool negative = skip(text, '-');
        std::int64_t d = 0, h = 0, mi = 0, s = 0, ns = 0;
        if (!number(text, d, 9) || !skip(text, '-') || !number(text, h, 2) || !skip(text, ':') ||
            !number(text, mi, 2) || !skip(text, ':') || !number(text, s, 2) || !skip(text, '.') ||
            !fraction(text, ns) || !text.empty()) {
            return false;
        }
        out = static_cast<Nanoseconds>(((d * 24 + h) * 60 + mi) * 60 + s) * 1'000'000'000 + ns;
        if (negative) out = -out;
        return true;
    }

    base::Arena& arena_;
    const TypedFactory& factory_;
};

}  // namespace

Value to_rich_data(base::Arena& arena, const Value& v, const RichDataOptions& options) {
    return Encoder(arena, options).encode(v);
}

Value from_rich_data(base::Arena& arena, const Value& data, const TypedFactory& make_typed) {
    return Decoder(arena, make_typed).decode(data);
}

}  // namespace bunraku::value
