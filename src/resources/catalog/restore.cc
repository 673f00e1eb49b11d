// SPDX-License-Identifier: Apache-2.0
#include "resources/catalog/restore.h"

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "core/value/build.h"
#include "core/value/value.h"
#include "resources/catalog/document.h"

namespace bunraku::catalog {

namespace {

/// Reports whether the data contains no rich data. This is the common case, which needs no copy.
bool is_plain(const Value& v) {
    base::step();
    if (v.is_array()) {
        for (const Value& item : v.as_array()) {
            if (!is_plain(item)) return false;
        }
    } else if (v.is_hash()) {
        for (const value::Entry& e : v.as_hash()) {
            if (e.key.is_string() && e.key.as_string() == "__ptype") return false;
            if (!is_plain(e.value)) return false;
        }
    }
    return true;
}

std::string capitalised_segments(std::string_view name) {
    std::string out(name);
    for (std::size_t i = 0; i < out.size(); ++i) {
        if ((i == 0 || out[i - 1] == ':') && out[i] >= 'a' && out[i] <= 'z') {
            out[i] = static_cast<char>(out[i] - 32);
        }
    }
    return out;
}

/// A type or an object that this process cannot build. It keeps the original data, so that it is
/// written unchanged.
class OpaqueValue final : public value::Extension {
public:
    explicit OpaqueValue(const Value& hash) : hash_(hash) {
        BUNRAKU_ASSERT(hash.is_hash());
        hold(hash.depth());
    }
    bool equal(const value::Extension& other) const override {
        auto* o = dynamic_cast<const OpaqueValue*>(&other);
        return o && value::equal(hash_, o->hash_);
    }
    std::uint64_t hash() const override { return value::hash_of(hash_); }
    void print(std::string& out) const override { value::print(out, hash_); }
    Value to_rich_data(base::Arena& arena) const override {
        value::HashBuilder out(arena, hash_.as_hash().size());
        for (const value::Entry& e : hash_.as_hash()) {
            value::RichDataOptions options;
            options.references_as_strings = false;
            out.set(e.key, value::to_rich_data(arena, e.value, options));
        }
        return out.build();
    }

private:
    Value hash_;
};

Value without_types(base::Arena& arena, std::string_view ptype, const Value& data) {
    if (!data.is_hash()) return data;
    auto text = [&](std::string_view key) {
        const Value* v = data.as_hash().find(key);
        return v && v->is_string() ? v->as_string() : std::string_view();
    };
    std::string out;
    if (ptype == "Pcore::ResourceType" && !text("type_name").empty() && !text("title").empty()) {
        out = capitalised_segments(text("type_name")) + "[" + std::string(text("title")) + "]";
    } else if (ptype == "Pcore::ClassType" && !text("class_name").empty()) {
        out = "Class[" + capitalised_segments(text("class_name")) + "]";
    } else {
        return Value::extension(value::Kind::Object, arena.make<OpaqueValue>(data));
    }
    BUNRAKU_ASSERT(out.ends_with(']'));
    return value::make_string(arena, out);
}

}  // namespace

Value restore_value(base::Arena& arena, const Value& data, const value::TypedFactory& make_typed) {
    if (is_plain(data)) return data;
    if (make_typed) return value::from_rich_data(arena, data, make_typed);
    return value::from_rich_data(arena, data, [&](std::string_view ptype, const Value& hash) {
        return without_types(arena, ptype, hash);
    });
}

}  // namespace bunraku::catalog
