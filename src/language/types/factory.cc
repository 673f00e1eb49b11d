// SPDX-License-Identifier: Apache-2.0
#include "language/types/factory.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/base/semver.h"
#include "core/base/text.h"
#include "core/regex/regex.h"
#include "core/value/build.h"
#include "language/types/internal.h"

namespace bunraku::types {

namespace {

Size clip(Size size) {
    if (!size || size->min >= 0) return size;
    return Range{0, size->max < 0 ? 0 : size->max};
}

const Type* any_if_null(const Type* t) { return t ? t : defaults().any; }

bool is_zero(const Size& size) { return size && size->min == 0 && size->max == 0; }

std::string range_text(std::int64_t min, std::int64_t max) {
    const auto end = [](std::int64_t i) {
        return i == kMin ? std::string("-Infinity")
                         : (i == kMax ? std::string("Infinity") : std::to_string(i));
    };
    return fmt::format("'from' must be less or equal to 'to'. Got ({}, {}", end(min), end(max));
}

}  // namespace

const IntegerType* make_integer(Context& ctx, Range range) {
    if (range.open()) return defaults().integer;
    if (range.min > range.max) throw base::PuppetError(range_text(range.min, range.max));
    return ctx.arena.make<IntegerType>(range);
}
const IntegerType* make_integer(Context& ctx, std::int64_t min, std::int64_t max) {
    return make_integer(ctx, Range{min, max});
}

const FloatType* make_float(Context& ctx, double min, double max) {
    if (std::isinf(min) && min < 0 && std::isinf(max) && max > 0) return defaults().floating;
    if (min > max)
        throw base::PuppetError(fmt::format("'from' must be less or equal to 'to'. Got ({}, {}",
                                            value::format_float(min), value::format_float(max)));
    return ctx.arena.make<FloatType>(min, max);
}

const BooleanType* make_boolean(std::optional<bool> value) {
    if (!value) return defaults().boolean;
    return *value ? defaults().true_type : defaults().false_type;
}

const StringType* make_string(Context& ctx, Range size) {
    if (size.open()) size = kAnySize;
    if (size.min > size.max) throw base::PuppetError(range_text(size.min, size.max));
    return ctx.arena.make<StringType>(*clip(size));
}
const StringType* make_string(Context& ctx, std::string_view value) {
    return ctx.arena.make<StringType>(ctx.arena.copy(value));
}

const EnumType* make_enum(Context& ctx, std::vector<std::string_view> values,
                          bool case_insensitive) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (std::string_view& v : values) v = ctx.arena.copy(v);
    return ctx.arena.make<EnumType>(ctx.arena.copy(values), case_insensitive);
}

const RegexpType* make_regexp_type(Context& ctx, const value::RegexpRep& rep) {
    const std::string text = regexp_with_options(rep);
    const std::string_view pattern = text == rep.source ? rep.source : ctx.arena.copy(text);
    return ctx.arena.make<RegexpType>(&rep, pattern);
}
const RegexpType* make_regexp_type(Context& ctx, std::string_view pattern) {
    const Value v = value::make_regexp(ctx.arena, pattern);
    return ctx.arena.make<RegexpType>(&v.as_regexp(), v.as_regexp().source);
}

const PatternType* make_pattern(Context& ctx, std::span<const RegexpType* const> patterns) {
    std::vector<const RegexpType*> unique;
    for (const RegexpType* p : patterns) {
        const bool seen = std::any_of(unique.begin(), unique.end(), [&](const RegexpType* u) {
            return equal(static_cast<const Type*>(u), p);
        });
        if (!seen) unique.push_back(p);
    }
    return ctx.arena.make<PatternType>(ctx.arena.copy(unique));
}

const CollectionType* make_collection(Context& ctx, Size size) {
    if (!size) return defaults().collection;
    return ctx.arena.make<CollectionType>(clip(size));
}

const ArrayType* make_array_type(Context& ctx, const Type* element, Size size) {
    element = is_zero(size) ? defaults().unit : any_if_null(element);
    if (!size && element == defaults().any) return defaults().array;
    return ctx.arena.make<ArrayType>(element, clip(size));
}

const TupleType* make_tuple_type(Context& ctx, Types types, Size size) {
    return ctx.arena.make<TupleType>(ctx.arena.copy(types), clip(size));
}

const HashType* make_hash_type(Context& ctx, const Type* key, const Type* value, Size size) {
    if (is_zero(size)) {
        key = value = defaults().unit;
    } else {
        key = any_if_null(key);
        value = any_if_null(value);
    }
    if (!size && key == defaults().any && value == defaults().any) return defaults().hash;
    return ctx.arena.make<HashType>(key, value, clip(size));
}

const StructType* make_struct(Context& ctx, std::span<const StructElement> elements) {
    return ctx.arena.make<StructType>(ctx.arena.copy(elements));
}

StructElement make_struct_element(Context& ctx, const Type* key, const Type* value) {
    const Type* inner = key;
    if (const auto* n = as<NotUndefType>(key)) {
        key = inner = n->type;
    } else if (const auto* o = as<OptionalType>(key)) {
        inner = o->type;
    } else if (const auto* e = as<EnumType>(key)) {
        inner = e->values.size() == 1 ? make_string(ctx, e->values[0]) : nullptr;
        if (inner) key = inner;
    } else if (!is(key, TypeKind::String)) {
        throw base::PuppetError(fmt::format(
            "Illegal Struct member key type. Expected NotUndef, Optional, String, or Enum. Got: {}",
            ruby_class_name(Value::type(key))));
    }
    const auto* s = as<StringType>(inner);
    if (!s || !s->value)
        throw base::PuppetError(fmt::format(
            "Unable to extract a non-empty literal string from Struct member key type {}",
            key ? key->to_string() : "undef"));
    return {*s->value, key, value};
}

StructElement make_struct_element(Context& ctx, std::string_view name, const Type* value) {
    if (name.empty()) throw base::PuppetError("Struct element key cannot be an empty String");
    const StringType* key = make_string(ctx, name);
    if (is_assignable(ctx, value, defaults().undef))
        return {*key->value, make_optional(ctx, key), value};
    return {*key->value, key, value};
}

const Type* make_variant(Context& ctx, Types types) {
    std::vector<const Type*> unique;
    const auto add = [&](const Type* t) {
        for (const Type* u : unique)
            if (equal(u, t)) return;
        unique.push_back(t);
    };
    for (const Type* t : types) {
        if (const auto* v = as<VariantType>(t)) {
            for (const Type* inner : v->types) add(inner);
        } else {
            add(t);
        }
    }
    if (unique.size() == 1) return unique[0];
    if (unique.empty()) return defaults().variant;
    return ctx.arena.make<VariantType>(ctx.arena.copy(unique));
}

const OptionalType* make_optional(Context& ctx, const Type* type) {
    return type ? ctx.arena.make<OptionalType>(type) : defaults().optional;
}
const NotUndefType* make_not_undef(Context& ctx, const Type* type) {
    if (!type || is(type, TypeKind::Any)) return defaults().not_undef;
    return ctx.arena.make<NotUndefType>(type);
}
const TypeType* make_type_type(Context& ctx, const Type* type) {
    return type ? ctx.arena.make<TypeType>(type) : defaults().type_type;
}
const IterableType* make_iterable(Context& ctx, const Type* element) {
    return element ? ctx.arena.make<IterableType>(element) : defaults().iterable;
}
const IteratorType* make_iterator(Context& ctx, const Type* element) {
    return element ? ctx.arena.make<IteratorType>(element) : defaults().iterator;
}
const SensitiveType* make_sensitive_type(Context& ctx, const Type* type) {
    return type ? ctx.arena.make<SensitiveType>(generalize(ctx, type)) : defaults().sensitive;
}

const CallableType* make_callable(Context& ctx, const TupleType* params, const Type* block,
                                  const Type* returns) {
    if (is(returns, TypeKind::Any)) returns = nullptr;
    if (!params && !block && !returns) return defaults().callable;
    return ctx.arena.make<CallableType>(params, block, returns);
}

const CallableType* make_callable(Context& ctx, std::span<const Value> args) {
    const Type* returns = nullptr;
    if (args.size() == 2 && args[0].is_array()) {
        returns = type_of(ctx, args[1]);
        args = args[0].as_array();
    }
    const Type* block = nullptr;
    if (!args.empty() && args.back().is_type() && is_kind_of_callable(ctx, args.back().as_type())) {
        block = args.back().as_type();
        args = args.first(args.size() - 1);
    }
    Size size;
    const auto n = args.size();
    if (n >= 2 && is_range_parameter(args[n - 2]) && is_range_parameter(args[n - 1])) {
        size = range_of(args[n - 2], args[n - 1]);
        args = args.first(n - 2);
    } else if (n >= 1 && is_range_parameter(args[n - 1])) {
        size = range_of(args[n - 1], Value::default_value());
        args = args.first(n - 1);
    }
    std::vector<const Type*> types;
    for (const Value& v : args) types.push_back(type_of(ctx, v));
    // Without types but with a maximum above zero, the callable accepts arguments of any type.
    if (types.empty() && size && size->max > 0) types.push_back(defaults().unit);
    return make_callable(ctx, make_tuple_type(ctx, types, size), block, returns);
}

const TimestampType* make_timestamp(Context& ctx, Range range) {
    if (range.open()) return defaults().timestamp;
    if (range.min > range.max) throw base::PuppetError(time_range_text(range, true));
    return ctx.arena.make<TimestampType>(range);
}
const TimespanType* make_timespan(Context& ctx, Range range) {
    if (range.open()) return defaults().timespan;
    if (range.min > range.max) throw base::PuppetError(time_range_text(range, false));
    return ctx.arena.make<TimespanType>(range);
}

const InitType* make_init(Context& ctx, const Type* type, std::span<const Value> args) {
    if (!type) {
        if (!args.empty())
            throw base::PuppetError(
                "Init cannot be parameterized with an undefined type and additional arguments");
        return defaults().init;
    }
    return ctx.arena.make<InitType>(type, ctx.arena.copy(args));
}

const RuntimeType* make_runtime(Context& ctx, std::string_view runtime, std::string_view name) {
    if (runtime.empty() && name.empty()) return defaults().runtime;
    return ctx.arena.make<RuntimeType>(ctx.arena.copy(runtime), ctx.arena.copy(name));
}

const ResourceType* make_resource(Context& ctx, std::string_view type_name,
                                  std::optional<std::string_view> title) {
    if (type_name.empty()) return defaults().resource;
    const std::string name = capitalize_segments(type_name);
    if (!is_class_reference(name))
        throw base::PuppetError(fmt::format("Illegal type name '{}'", name));
    if (title) title = ctx.arena.copy(*title);
    return ctx.arena.make<ResourceType>(ctx.arena.copy(name), ctx.arena.copy(base::lower(name)),
                                        title);
}

const ClassType* make_class(Context& ctx, std::string_view class_name) {
    if (class_name.starts_with("::")) class_name.remove_prefix(2);
    return ctx.arena.make<ClassType>(ctx.arena.copy(class_name),
                                     ctx.arena.copy(capitalize_segments(class_name)));
}

const TypeReferenceType* make_type_reference(Context& ctx, std::string_view text) {
    return ctx.arena.make<TypeReferenceType>(ctx.arena.copy(text));
}

TypeAliasType* make_type_alias(Context& ctx, std::string_view name, const syntax::Node* expr,
                               Loader* loader) {
    auto* alias = ctx.arena.make<TypeAliasType>(ctx.arena.copy(name), expr);
    alias->loader = loader;
    return alias;
}

namespace {

std::string capitalize(std::string_view word) {
    std::string out = base::lower(word);
    if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 32);
    return out;
}

}  // namespace

std::string capitalize_segments(std::string_view name) {
    if (!name.empty() && name[0] >= 'A' && name[0] <= 'Z') return std::string(name);
    std::string out;
    while (true) {
        const std::size_t at = name.find("::");
        out += capitalize(name.substr(0, at));
        if (at == std::string_view::npos) return out;
        out += "::";
        name.remove_prefix(at + 2);
    }
}

std::string regexp_with_options(const value::RegexpRep& rep) {
    if (rep.options == 0) return std::string(rep.source);
    std::string on, off;
    const auto flag = [&](std::uint32_t bit, char letter) {
        ((rep.options & bit) != 0 ? on : off) += letter;
    };
    flag(regex::kIgnoreCase, 'i');
    flag(regex::kMultiline, 'm');
    flag(regex::kExtended, 'x');
    return fmt::format("(?{}{}{}:{})", on, off.empty() ? "" : "-", off, rep.source);
}

}  // namespace bunraku::types
