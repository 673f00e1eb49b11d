// SPDX-License-Identifier: Apache-2.0
// Converts literal arguments to types. Type expressions in text and the access operator share this
// code.
#include "language/types/type_args.h"

#include <fmt/format.h>

#include "core/base/semver.h"
#include "core/regex/regex.h"
#include "core/value/build.h"
#include "core/value/time.h"
#include "language/types/internal.h"

namespace bunraku::types {

namespace {

void pattern_from(Context& ctx, const Value& v, std::vector<const RegexpType*>& out) {
    if (v.is_string()) {
        out.push_back(make_regexp_type(ctx, v.as_string()));
        return;
    }
    if (v.is(value::Kind::Regexp)) {
        out.push_back(make_regexp_type(ctx, v.as_regexp()));
        return;
    }
    if (v.is_type()) {
        if (const auto* re = as<RegexpType>(v.as_type())) {
            out.push_back(re);
            return;
        }
        if (const auto* p = as<PatternType>(v.as_type())) {
            out.insert(out.end(), p->patterns.begin(), p->patterns.end());
            return;
        }
    }
    throw base::PuppetError(
        fmt::format("Only String, Regexp, Pattern-Type, and Regexp-Type are allowed: got '{}",
                    ruby_class_name(v)));
}

}  // namespace

const PatternType* pattern_of(Context& ctx, std::span<const Value> args) {
    std::vector<const RegexpType*> patterns;
    for (const Value& v : args) pattern_from(ctx, v, patterns);
    return make_pattern(ctx, patterns);
}

const RegexpType* regexp_of(Context& ctx, const Value& arg) {
    if (arg.is(value::Kind::Regexp)) return make_regexp_type(ctx, arg.as_regexp());
    return make_regexp_type(ctx, arg.as_string());
}

const StructType* struct_of(Context& ctx, const value::HashRep& hash) {
    std::vector<StructElement> elements;
    for (const value::Entry& e : hash) {
        const Type* value = type_of(ctx, e.value);
        if (e.key.is_string()) {
            elements.push_back(make_struct_element(ctx, e.key.as_string(), value));
        } else if (e.key.is_type()) {
            elements.push_back(make_struct_element(ctx, e.key.as_type(), value));
        } else {
            throw base::PuppetError(
                fmt::format("Illegal Struct member key type. Expected NotUndef, Optional, String, "
                            "or Enum. Got: {}",
                            ruby_class_name(e.key)));
        }
    }
    return make_struct(ctx, elements);
}

const SemVerType* sem_ver_of(Context& ctx, std::span<const Value> args) {
    std::vector<const base::SemVerRange*> ranges;
    for (const Value& v : args) {
        if (v.is(value::Kind::SemVerRange)) {
            ranges.push_back(&v.as_semver_range());
            continue;
        }
        auto range = v.is_string() ? base::SemVerRange::parse(v.as_string()) : std::nullopt;
        if (!range)
            throw base::PuppetError(
                fmt::format("Unparsable version range: \"{}\"",
                            v.is_string() ? std::string(v.as_string()) : value::to_source(v)));
        ranges.push_back(&value::make_semver_range(ctx.arena, *range).as_semver_range());
    }
    return make_sem_ver(ctx, ranges);
}

namespace {

/// Returns one end of a Timestamp or Timespan range from a value, a text, a hash of fields, or
/// seconds. `open` is the result for undef and default.
std::int64_t time_end(Context& ctx, const Type* type, const Value& v, std::int64_t open) {
    if (v.is_undef() || v.is_default() || (v.is_string() && v.as_string() == "default"))
        return open;
    const bool stamp = is(type, TypeKind::Timestamp);
    if (v.is(stamp ? value::Kind::Timestamp : value::Kind::Timespan))
        return value::clamped_nanoseconds(v);
    if (!v.is_numeric() && !v.is_string() && !v.is_hash())
        throw base::PuppetError(fmt::format("Unable to create a Puppet::Pops::Time::{} from a {}",
                                            simple_name(type), ruby_class_name(v)));
    return value::clamped_nanoseconds(new_instance(ctx, type, std::span(&v, 1)));
}

Range time_range(Context& ctx, const Type* type, std::span<const Value> args) {
    Range r;
    if (!args.empty()) r.min = time_end(ctx, type, args[0], kMin);
    if (args.size() > 1) r.max = time_end(ctx, type, args[1], kMax);
    return r;
}

}  // namespace

const TimestampType* timestamp_of(Context& ctx, std::span<const Value> args) {
    return make_timestamp(ctx, time_range(ctx, defaults().timestamp, args));
}
const TimespanType* timespan_of(Context& ctx, std::span<const Value> args) {
    return make_timespan(ctx, time_range(ctx, defaults().timespan, args));
}

const RuntimeType* runtime_of(Context& ctx, const Value& runtime, const Value& name) {
    if (!runtime.is_string() || runtime.as_string().empty())
        throw base::PuppetError(describe_mismatch(ctx, "Runtime 'runtime' has wrong type,",
                                                  defaults().string_not_empty, runtime));
    if (name.is_string() && !name.as_string().empty())
        return make_runtime(ctx, runtime.as_string(), name.as_string());
    if (name.is_array() && name.as_array().size() == 2 &&
        name.as_array()[0].is(value::Kind::Regexp) && name.as_array()[1].is_string()) {
        auto* t =
            ctx.arena.make<RuntimeType>(ctx.arena.copy(runtime.as_string()), std::string_view());
        t->pattern = &name.as_array()[0].as_regexp();
        t->replacement = ctx.arena.copy(name.as_array()[1].as_string());
        return t;
    }
    if (name.is_undef()) return make_runtime(ctx, runtime.as_string(), {});
    const std::array<const Type*, 2> pair{defaults().regexp, defaults().string_not_empty};
    const std::array<const Type*, 2> options{defaults().string_not_empty,
                                             make_tuple_type(ctx, pair)};
    throw base::PuppetError(describe_mismatch(ctx, "Runtime 'name_or_pattern' has wrong type,",
                                              make_variant(ctx, options), name));
}

const Type* uri_parameter_type() {
    static const Type* type = [] {
        static base::Arena* arena = immortal_arena(4096);
        Context ctx{*arena, nullptr};
        constexpr std::string_view kText =
            "Optional[Variant[String[1],Regexp,Type[Pattern],Type[Enum],Type[NotUndef],"
            "Type[Undef]]]";
        constexpr std::string_view kNumber =
            "Optional[Variant[Integer[0],Type[NotUndef],Type[Undef]]]";
        std::string fields;
        for (std::string_view part :
             {"scheme", "userinfo", "host", "port", "path", "query", "fragment", "opaque"})
            fields += fmt::format("{}Optional[{}]=>{}", fields.empty() ? "" : ",", part,
                                  part == "port" ? kNumber : kText);
        return parse_type(ctx, fmt::format("Variant[String[1],Struct[{{{}}}]]", fields));
    }();
    return type;
}

const EnumType* enum_of(Context& ctx, std::span<const Value> args) {
    bool case_insensitive = false;
    if (!args.empty() && args.back().is(value::Kind::Boolean)) {
        case_insensitive = args.back().as_boolean();
        args = args.first(args.size() - 1);
    }
    std::vector<std::string_view> values;
    for (const Value& v : args) values.push_back(v.as_string());
    return make_enum(ctx, std::move(values), case_insensitive);
}

Value flatten_keys(Context& ctx, std::span<const Value> keys) {
    bool nested = false;
    for (const Value& k : keys) nested = nested || k.is_array();
    if (!nested) return Value::array(keys);
    std::vector<Value> out;
    const auto add = [&](const auto& self, const Value& v) -> void {
        if (!v.is_array()) {
            out.push_back(v);
            return;
        }
        for (const Value& e : v.as_array()) self(self, e);
    };
    for (const Value& k : keys) add(add, k);
    return value::make_array(ctx.arena, out);
}

}  // namespace bunraku::types
