// SPDX-License-Identifier: Apache-2.0
// The messages of mismatches.
#include <algorithm>
#include <fmt/format.h>

#include "language/types/factory.h"
#include "language/types/mismatch_internal.h"
#include "language/types/object.h"

namespace bunraku::types {

std::string PathElement::to_string() const {
    switch (kind) {
        case Kind::Plain: return text;
        case Kind::Entry: return fmt::format("entry '{}'", text);
        case Kind::Key: return fmt::format("key of entry '{}'", text);
        case Kind::Parameter: return fmt::format("parameter '{}'", text);
        case Kind::Index: return fmt::format("index {}", number);
        case Kind::Variant: return fmt::format("variant {}", number);
        case Kind::Signature: return fmt::format("{}.", number + 1);
    }
    return text;
}

std::vector<PathElement> Mismatch::canonical_path() const {
    std::vector<PathElement> out;
    for (const PathElement& e : path)
        if (!e.varies()) out.push_back(e);
    return out;
}

bool operator==(const Mismatch& a, const Mismatch& b) {
    if (a.kind != b.kind || a.canonical_path() != b.canonical_path() || a.key != b.key)
        return false;
    if (a.is_type()) return equal(a.expected, b.expected) && equal(a.actual, b.actual);
    return !a.is_size() || (a.expected_size == b.expected_size && a.actual_size == b.actual_size);
}

namespace {

std::string range_text(const Range& r, std::string_view zero) {
    const std::int64_t min = std::max<std::int64_t>(r.min, 0);
    if (min == r.max) return min == 0 ? std::string(zero) : std::to_string(min);
    if (min == 0) return r.max == kMax ? "unlimited" : fmt::format("at most {}", r.max);
    if (r.max == kMax) return fmt::format("at least {}", min);
    return fmt::format("between {} and {}", min, r.max);
}

std::string one_of(std::vector<std::string> names) {
    if (names.size() == 1) return names[0];
    if (names.size() == 2) return fmt::format("{} or {}", names[0], names[1]);
    const std::string last = std::move(names.back());
    names.pop_back();
    return fmt::format("{}, or {}", fmt::join(names, ", "), last);
}

const Type* alias_expanded(Context& ctx, const Type* t) { return resolve(ctx, t); }

/// Returns the default of the kind, which accepts any parameters of that kind.
const Type* default_of(const Type* t) {
    if (as_object_extension(t)) return defaults().any;  // 8.11: an extension has no default
    if (as_open(t))
        return is(t, TypeKind::TypeSet) ? static_cast<const Type*>(default_type_set_type())
                                        : default_object_type();
    const Type* d = builtin_type(simple_name(t));
    return d ? d : t;
}

}  // namespace

std::string Describer::short_name(const Type* t) {
    switch (t->kind) {
        case TypeKind::Optional:
        case TypeKind::NotUndef:
        case TypeKind::Iterable:
        case TypeKind::Iterator:
        case TypeKind::Sensitive:
        case TypeKind::Type:
        case TypeKind::Init: {
            const Type* inner = is(t, TypeKind::Init) ? to<InitType>(t).type
                                                      : static_cast<const ContainedType*>(t)->type;
            if (inner && !is(inner, TypeKind::Any))
                return fmt::format("{}[{}]", simple_name(t), type_name(inner));
            return simple_name(t);
        }
        default: return type_name(t);
    }
}

bool Describer::always_detailed(const Type* e, const Type* a) {
    if (e->kind == a->kind) {
        if (!as_open(e)) return true;
        // Object types and their extensions have different Ruby classes.
        return (as_object_extension(e) != nullptr) == (as_object_extension(a) != nullptr);
    }
    if (is(e, TypeKind::TypeAlias) || is(a, TypeKind::TypeAlias)) return true;
    return (is(e, TypeKind::Struct) && is(a, TypeKind::Hash)) ||
           (is(e, TypeKind::Tuple) && is(a, TypeKind::Array));
}

bool Describer::fits_default(const Type* e, const Type* a) {
    return is_assignable(ctx_, default_of(alias_expanded(ctx_, e)), a);
}

std::string Describer::detailed_actual(std::span<const Type* const> expected, const Type* a) {
    const Type* general = nullptr;
    for (const Type* e : expected) {
        e = alias_expanded(ctx_, e);
        if (always_detailed(e, a)) return to_alias_expanded_string(a);
        if (!general) general = generalize(ctx_, a);
        if (is_assignable(ctx_, e, general)) return to_alias_expanded_string(a);
    }
    return simple_name(a);
}

std::string Describer::type_message(const Mismatch& m, std::string_view lead) {
    const Type* e = m.expected;
    const Type* a = m.actual;
    bool optional = false;
    if (const auto* o = as<OptionalType>(e)) {
        optional = true;
        e = o->type ? o->type : defaults().any;
    }
    std::vector<const Type*> options;
    const auto* variant = as<VariantType>(e);
    if (variant)
        options.assign(variant->types.begin(), variant->types.end());
    else
        options.push_back(e);
    const auto any = [&](auto test) { return std::any_of(options.begin(), options.end(), test); };
    const bool detailed = any([&](const Type* t) { return always_detailed(t, a); }) ||
                          any([&](const Type* t) { return fits_default(t, a); });
    std::vector<std::string> names;
    std::string actual;
    if (detailed) {
        actual = detailed_actual(options, a);
        for (const Type* t : options) names.push_back(to_alias_expanded_string(t));
    } else {
        actual = short_name(a);
        for (const Type* t : options) {
            std::string name = short_name(t);
            if (std::find(names.begin(), names.end(), name) == names.end())
                names.push_back(std::move(name));
        }
    }
    if (optional) names.insert(names.begin(), "Undef");
    if (names.size() > 1)
        return fmt::format("{} expects a value of type {}, got {}", lead, one_of(names), actual);
    return fmt::format("{} expects {} value, got {}", lead,
                       a_an(names.empty() ? std::string("Variant") : names[0]), actual);
}

std::string Describer::pattern_message(const Mismatch& m, std::string_view lead) {
    const Type* e = m.expected;
    std::string_view prefix;
    if (const auto* o = as<OptionalType>(e)) {
        e = o->type ? o->type : defaults().any;
        prefix = "an undef value or ";
    }
    const auto* s = as<StringType>(m.actual);
    const std::string actual =
        s && s->value ? fmt::format("'{}'", *s->value) : short_name(m.actual);
    return fmt::format("{} expects {}a match for {}, got {}", lead, prefix,
                       to_alias_expanded_string(e), actual);
}

std::string Describer::message(const Mismatch& m, std::string_view lead) {
    switch (m.kind) {
        case Mismatch::Kind::MissingKey:
            return fmt::format("{} expects a value for key '{}'", lead, m.key);
        case Mismatch::Kind::MissingParameter:
            return fmt::format("{} expects a value for parameter '{}'", lead, m.key);
        case Mismatch::Kind::ExtraneousKey:
            return fmt::format("{} unrecognized key '{}'", lead, m.key);
        case Mismatch::Kind::InvalidParameter:
            return fmt::format("{} has no parameter named '{}'", lead, m.key);
        case Mismatch::Kind::UnexpectedBlock:
            return fmt::format("{} does not expect a block", lead);
        case Mismatch::Kind::MissingBlock: return fmt::format("{} expects a block", lead);
        case Mismatch::Kind::Unresolved:
            return fmt::format("{} references an unresolved type '{}'", lead, m.key);
        case Mismatch::Kind::Type: return type_message(m, lead);
        case Mismatch::Kind::Pattern: return pattern_message(m, lead);
        case Mismatch::Kind::WrongSize:
            return fmt::format("{} expects size to be {}, got {}", lead,
                               range_text(m.expected_size, "0"), range_text(m.actual_size, "0"));
        case Mismatch::Kind::WrongCount: {
            const Range& r = m.expected_size;
            const bool one =
                (r.min == 1 && (r.max == 1 || r.max == kMax)) || (r.min == 0 && r.max == 1);
            return fmt::format("{} expects {} argument{}, got {}", lead, range_text(r, "no"),
                               one ? "" : "s", range_text(m.actual_size, "none"));
        }
    }
    return std::string(lead);
}

std::string Describer::format(const Mismatch& m) {
    std::string lead;
    for (const PathElement& e : m.path) {
        lead += ' ';
        lead += e.to_string();
    }
    return message(m, lead);
}

std::string signature_text(Context& ctx, const Signature& signature) {
    (void)ctx;
    const TupleType* params = signature.type->params;
    if (!params) return {};
    const Range size = params->size_range();
    std::string out;
    if (size.min == 0 && size.max == 0) return out;
    std::vector<std::string_view> names(signature.parameter_names.begin(),
                                        signature.parameter_names.end());
    if (names.empty()) names.assign(params->types.size(), "");
    for (std::size_t i = 0; i < names.size() && !params->types.empty(); ++i) {
        const Type* type = params->types[std::min(i, params->types.size() - 1)];
        std::string_view indicator;
        if (size.max == kMax && i + 1 == names.size()) {
            indicator = size.min == static_cast<std::int64_t>(names.size()) ? "+" : "*";
        } else if (static_cast<std::int64_t>(i) + 1 > size.min) {
            indicator = "?";
            if (const auto* o = as<OptionalType>(type); o && o->type) type = o->type;
        }
        if (i > 0) out += ", ";
        out += fmt::format("{} {}{}", type->to_string(), names[i], indicator);
    }
    const Type* block = signature.type->block;
    if (const auto* o = as<OptionalType>(block)) {
        if (!out.empty()) out += ", ";
        out +=
            fmt::format("{} {}?", o->type ? o->type->to_string() : "undef", signature.block_name);
    } else if (is(block, TypeKind::Callable)) {
        if (!out.empty()) out += ", ";
        out += fmt::format("{} {}", block->to_string(), signature.block_name);
    }
    return out;
}

}  // namespace bunraku::types
