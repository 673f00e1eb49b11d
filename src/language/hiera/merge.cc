// SPDX-License-Identifier: Apache-2.0
#include "language/hiera/merge.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <vector>

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "core/value/build.h"
#include "core/value/text.h"
#include "language/hiera/errors.h"
#include "language/types/mismatch.h"

namespace bunraku::hiera {
namespace {

using Kind = MergeStrategy::Kind;

struct Row {
    Kind kind;
    std::string_view name;
    std::string_view value_type;
};
constexpr std::array<Row, 7> kStrategies = {{
    {Kind::Default, "default", "Any"},
    {Kind::First, "first", "Any"},
    {Kind::Unique, "unique", "Variant[Scalar,Array[Data]]"},
    {Kind::Hash, "hash", "Hash[String,Data]"},
    {Kind::Deep, "deep", "Any"},
    {Kind::UnconstrainedDeep, "unconstrained_deep", "Any"},
    {Kind::ReverseDeep, "reverse_deep", "Any"},
}};

const Row& row(Kind kind) {
    BUNRAKU_ASSERT(static_cast<std::size_t>(kind) < kStrategies.size());
    const Row& found = kStrategies[static_cast<std::size_t>(kind)];
    BUNRAKU_ASSERT(found.kind == kind);
    return found;
}

std::vector<Value> as_list(const Value& v) {
    std::vector<Value> out;
    if (v.is_array()) {
        value::flatten_into(out, v.as_array());
    } else {
        out.push_back(v);
    }
    return out;
}

std::vector<Value> unique(base::Arena& arena, const std::vector<Value>& items) {
    std::vector<Value> out;
    value::HashBuilder seen(arena);
    for (const Value& v : items) {
        if (seen.find(v)) continue;
        seen.set(v, Value::boolean(true));
        out.push_back(v);
    }
    BUNRAKU_ASSERT(out.size() <= items.size() && out.empty() == items.empty());
    return out;
}

bool option_set(const Value& options, std::string_view name) {
    if (!options.is_hash()) return false;
    const Value* v = options.as_hash().find(name);
    return v && v->truthy();
}

std::string option_text(const Value& options, std::string_view name) {
    const Value* v = options.is_hash() ? options.as_hash().find(name) : nullptr;
    return v && !v->is_undef() ? value::to_text(*v) : std::string();
}

/// The parsed options of one merge.
struct DeepOptions {
    std::string knockout_prefix;
    std::string unpack_arrays;
    bool sort_arrays = false;
    bool merge_hash_arrays = false;
    bool extend_existing_arrays = false;
    bool keep_array_duplicates = false;
};

class DeepMerger {
public:
    DeepMerger(base::Arena& arena, DeepOptions options)
        : arena_(arena), options_(std::move(options)) {}

    Value merge(const Value& source, const Value& destination) {
        base::step();
        if (source.is_undef()) return destination;
        if (destination.is_undef()) return source;
        if (source.is_hash()) return merge_hash(source, destination);
        if (source.is_array()) return merge_array(source, destination);
        return overwrite(source, destination);
    }

private:
    Value merge_hash(const Value& source, const Value& destination) {
        BUNRAKU_ASSERT(source.is_hash());
        if (!destination.is_hash()) {
            if (options_.extend_existing_arrays && destination.is_array()) {
                std::vector<Value> items(destination.as_array().begin(),
                                         destination.as_array().end());
                items.push_back(source);
                return value::make_array(arena_, items);
            }
            return source;
        }
        value::HashBuilder out(arena_);
        out.merge(destination.as_hash());
        for (const auto& [key, v] : source.as_hash()) {
            const Value* existing = out.find(key);
            if (existing && existing->truthy()) {
                out.set(key, merge(v, *existing));
            } else {
                out.set(key, v);
            }
        }
        return out.build();
    }

    Value merge_array(const Value& source_in, const Value& destination_in) {
        BUNRAKU_ASSERT(source_in.is_array());
        Value source = source_in, destination = destination_in;
        const std::string& ko = options_.knockout_prefix;
        if (!options_.unpack_arrays.empty()) {
            source = unpack(source);
            if (destination.is_array()) destination = unpack(destination);
        }
        if (!destination.is_array()) {
            if (options_.extend_existing_arrays) {
                std::vector<Value> items{destination};
                items.insert(items.end(), source.as_array().begin(), source.as_array().end());
                return value::make_array(arena_, unique(arena_, items));
            }
            return source;
        }
        std::vector<Value> from(source.as_array().begin(), source.as_array().end());
        std::vector<Value> to(destination.as_array().begin(), destination.as_array().end());
        if (!ko.empty()) {
            bool all = false;
            std::vector<Value> kept;
            for (const Value& v : from) {
                if (!v.is_string() || !v.as_string().starts_with(ko)) {
                    kept.push_back(v);
                    continue;
                }
                const std::string_view removed = v.as_string().substr(ko.size());
                if (removed.empty()) all = true;
                std::erase_if(to, [&](const Value& t) {
                    return value::equal(t, Value::string(removed));  // Never equal to an integer.
                });
                std::erase_if(to, [&](const Value& t) { return value::equal(t, v); });
            }
            if (all) to.clear();
            from = kept;
        }
        if (options_.merge_hash_arrays &&
            std::all_of(from.begin(), from.end(), [](auto& v) { return v.is_hash(); }) &&
            std::all_of(to.begin(), to.end(), [](auto& v) { return v.is_hash(); })) {
            std::vector<Value> merged;
            for (std::size_t i = 0; i < std::max(from.size(), to.size()); ++i) {
                if (i >= from.size())
                    merged.push_back(to[i]);
                else if (i >= to.size())
                    merged.push_back(from[i]);
                else
                    merged.push_back(merge(from[i], to[i]));
            }
            return finish(merged);
        }
        to.insert(to.end(), from.begin(), from.end());
        return finish(options_.keep_array_duplicates ? to : unique(arena_, to));
    }

    Value finish(std::vector<Value> items) {
        if (options_.sort_arrays && items.size() > 1) {
            // Compares all items before the sort, so that an error cannot interrupt the sort.
            for (std::size_t i = 1; i < items.size(); ++i) compare(items[0], items[i]);
            std::stable_sort(items.begin(), items.end(),
                             [](const Value& a, const Value& b) { return compare(a, b) < 0; });
        }
        return value::make_array(arena_, items);
    }

    /// Ruby's <=>. Throws if Ruby returns nil.
    static int compare(const Value& a, const Value& b) {
        base::step();
        if (a.is_numeric() && b.is_numeric())
            return a.as_number() < b.as_number() ? -1 : a.as_number() > b.as_number();
        if (a.is_string() && b.is_string()) {
            const int order = a.as_string().compare(b.as_string());
            return order < 0 ? -1 : order > 0;
        }
        if (a.is_array() && b.is_array()) {
            const auto x = a.as_array(), y = b.as_array();
            for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
                if (const int order = compare(x[i], y[i])) return order;
            }
            return x.size() < y.size() ? -1 : x.size() > y.size();
        }
        if (!a.is_hash() && value::equal(a, b)) return 0;
        auto named = [](const Value& v, bool shown) -> std::string {
            std::string out;
            switch (v.kind()) {
                case value::Kind::String: return "String";
                case value::Kind::Array: return "Array";
                case value::Kind::Hash: return "Hash";
                case value::Kind::Integer:
                    if (!shown) return "Integer";
                    break;
                case value::Kind::Float:
                    if (!shown) return "Float";
                    break;
                case value::Kind::Undef:
                    if (!shown) return "NilClass";
                    break;
                case value::Kind::Boolean:
                    if (!shown) return v.truthy() ? "TrueClass" : "FalseClass";
                    break;
                default: return "Object";
            }
            value::print_inspect(out, v);
            return out;
        };
        throw ArgumentError(
            fmt::format("comparison of {} with {} failed", named(a, false), named(b, true)));
    }

    Value unpack(const Value& array) {
        BUNRAKU_ASSERT(array.is_array() && !options_.unpack_arrays.empty());
        base::step();
        std::string joined;
        for (const Value& v : array.as_array()) {
            if (!joined.empty()) joined += options_.unpack_arrays;
            joined += value::to_text(v);
        }
        std::vector<Value> out;
        std::size_t start = 0;
        while (start <= joined.size() && !joined.empty()) {
            std::size_t end = joined.find(options_.unpack_arrays, start);
            if (end == std::string::npos) end = joined.size();
            out.push_back(
                value::make_string(arena_, std::string_view(joined).substr(start, end - start)));
            start = end + options_.unpack_arrays.size();
        }
        return value::make_array(arena_, out);
    }

    Value overwrite(const Value& source, const Value& destination) {
        base::step();
        if (options_.extend_existing_arrays && destination.is_array()) {
            std::vector<Value> items(destination.as_array().begin(), destination.as_array().end());
            items.push_back(source);
            return value::make_array(arena_, items);
        }
        const std::string& ko = options_.knockout_prefix;
        if (!ko.empty() && source.is_string() && source.as_string().starts_with(ko)) {
            const std::string_view rest = source.as_string().substr(ko.size());
            if (rest.empty() || (destination.is_string() && destination.as_string() == rest))
                return Value::string("");
            return Value::string(rest);
        }
        return source;
    }

    base::Arena& arena_;
    DeepOptions options_;
};

}  // namespace

Value deep_merge(base::Arena& arena, const Value& source, const Value& destination,
                 const Value& options) {
    DeepOptions o;
    o.knockout_prefix = option_text(options, "knockout_prefix");
    o.unpack_arrays = option_text(options, "unpack_arrays");
    o.sort_arrays = option_set(options, "sort_merged_arrays");
    o.merge_hash_arrays = option_set(options, "merge_hash_arrays");
    o.extend_existing_arrays = option_set(options, "extend_existing_arrays");
    o.keep_array_duplicates = option_set(options, "keep_array_duplicates");
    return DeepMerger(arena, std::move(o)).merge(source, destination);
}

std::string_view MergeStrategy::name() const { return row(kind).name; }

Value MergeStrategy::extra_options(base::Arena& arena) const {
    if (!options.is_hash()) return Value::undef();
    value::HashBuilder out(arena);
    for (const auto& e : options.as_hash()) {
        if (!(e.key.is_string() && e.key.as_string() == "strategy")) out.set(e.key, e.value);
    }
    return out.size() == 0 ? Value::undef() : out.build();
}

MergeStrategy MergeStrategy::from(types::Context& ctx, const Value& given) {
    MergeStrategy out;
    if (!given.truthy()) return out;
    std::string name;
    if (given.is_hash()) {
        const Value* strategy = given.as_hash().find("strategy");
        if (!strategy || strategy->is_undef()) {
            throw ArgumentError(
                "The hash given as 'merge' must contain the name of a strategy in string form for "
                "the key 'strategy'");
        }
        name = value::to_text(*strategy);
        if (given.as_hash().size() > 1) out.options = given;
    } else {
        name = value::to_text(given);
    }
    const auto* found = std::find_if(kStrategies.begin(), kStrategies.end(),
                                     [&](auto& r) { return r.name == name; });
    if (found == kStrategies.end())
        throw ArgumentError(fmt::format("Unknown merge strategy: '{}'", name));
    out.kind = found->kind;
    if (!out.options.is_undef()) {
        std::string text;
        switch (out.kind) {
            case Kind::UnconstrainedDeep:
            case Kind::ReverseDeep: text = "Hash[String[1],Any]"; break;
            case Kind::Deep:
                text =
                    "Struct[{strategy=>Optional[Pattern[/deep/]],knockout_prefix=>Optional[String],"
                    "merge_debug=>Optional[Boolean],merge_hash_arrays=>Optional[Boolean],"
                    "sort_merged_arrays=>Optional[Boolean]}]";
                break;
            default:
                text = fmt::format("Struct[{{strategy=>Optional[Pattern[/{}/]]}}]", found->name);
        }
        types::assert_instance(ctx, "The merge options has wrong type,",
                               types::parse_type(ctx, text), out.options);
    }
    return out;
}

Value MergeStrategy::merge(types::Context& ctx, const Value& high, const Value& low) const {
    const auto* type = types::parse_type(ctx, row(kind).value_type);
    types::assert_instance(ctx, "The first element of the merge has wrong type,", type, high);
    types::assert_instance(ctx, "The second element of the merge has wrong type,", type, low);
    switch (kind) {
        case Kind::Hash: {
            value::HashBuilder out(ctx.arena);
            out.merge(low.as_hash());
            out.merge(high.as_hash());
            return out.build();
        }
        case Kind::Unique: {
            std::vector<Value> items = as_list(high);
            const auto more = as_list(low);
            items.insert(items.end(), more.begin(), more.end());
            return value::make_array(ctx.arena, unique(ctx.arena, items));
        }
        case Kind::Deep:
        case Kind::UnconstrainedDeep: return deep_merge(ctx.arena, high, low, options);
        case Kind::ReverseDeep: return deep_merge(ctx.arena, low, high, options);
        default: return high;
    }
}

Value MergeStrategy::first_of_many(types::Context& ctx, const Value& v) const {
    return kind == Kind::Unique ? value::make_array(ctx.arena, as_list(v)) : v;
}

Value MergeStrategy::only_one(types::Context& ctx, const Value& v) const {
    if (kind != Kind::Unique || !v.is_array()) return v;
    return value::make_array(
        ctx.arena, unique(ctx.arena, std::vector<Value>(v.as_array().begin(), v.as_array().end())));
}

}  // namespace bunraku::hiera
