// SPDX-License-Identifier: Apache-2.0
// The describer of Puppet 8.11: finds and words mismatches.
#include "language/types/mismatch.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/work_limit.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/mismatch_internal.h"
#include "language/types/object.h"

namespace bunraku::types {

namespace {

using Path = std::vector<PathElement>;
using List = std::vector<Mismatch>;

Path operator+(const Path& path, PathElement e) {
    Path out = path;
    out.push_back(std::move(e));
    return out;
}

void append(List& to, List from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

Describer::Describer(Context& ctx) : ctx_(ctx) {}

bool Describer::fits(const Type* to, const Type* from) { return is_assignable(ctx_, to, from); }
bool Describer::optional(const Type* t) { return fits(t, defaults().undef); }

Mismatch Describer::type_mismatch(Mismatch::Kind kind, Path path, const Type* expected,
                                  const Type* actual) {
    Mismatch m(kind, std::move(path));
    m.expected = normalize(ctx_, expected);
    m.actual = normalize(ctx_, actual);
    return m;
}
Mismatch Describer::size_mismatch(Mismatch::Kind kind, Path path, Range expected, Range actual) {
    Mismatch m(kind, std::move(path));
    m.expected_size = expected;
    m.actual_size = actual;
    return m;
}

Mismatch Describer::merge(const Mismatch& a, const Mismatch& b) {
    if (a.is_size()) {
        const Range r{std::min(a.expected_size.min, b.expected_size.min),
                      std::max(a.expected_size.max, b.expected_size.max)};
        return size_mismatch(a.kind, a.path, r, a.actual_size);
    }
    if (a.is_type()) {
        const Type* both[] = {a.expected, b.expected};
        return type_mismatch(a.kind, a.path, make_variant(ctx_, both), a.actual);
    }
    return Mismatch(a.kind, a.path);
}

List Describer::merge_descriptions(std::size_t varying, bool count, const std::vector<List>& all) {
    List descriptions;
    for (const List& l : all) append(descriptions, l);
    using Pick = bool (*)(const Mismatch&, bool);
    static constexpr Pick kPicks[] = {
        [](const Mismatch& m, bool c) {
            return m.kind == Mismatch::Kind::WrongCount ||
                   (!c && m.kind == Mismatch::Kind::WrongSize);
        },
        [](const Mismatch& m, bool) { return m.kind == Mismatch::Kind::MissingBlock; },
        [](const Mismatch& m, bool) { return m.kind == Mismatch::Kind::UnexpectedBlock; },
        [](const Mismatch& m, bool) { return m.is_type(); }};
    for (Pick pick : kPicks) {
        List picked;
        for (const Mismatch& m : descriptions)
            if (pick(m, count)) picked.push_back(m);
        if (picked.size() != all.size() || picked.empty()) continue;
        bool same = true;
        Mismatch merged = picked[0];
        for (std::size_t i = 1; i < picked.size() && same; ++i) {
            same = merged.canonical_path() == picked[i].canonical_path();
            if (same) merged = merge(merged, picked[i]);
        }
        if (!same) continue;
        descriptions = {merged};
        break;
    }
    List unique;
    for (Mismatch& m : descriptions)
        if (std::find(unique.begin(), unique.end(), m) == unique.end())
            unique.push_back(std::move(m));
    if (unique.size() == 1) unique[0].chop(varying);
    return unique;
}

List Describer::describe(const Type* expected, const Type* actual, const Path& path) {
    base::step();
    struct Finder {
        const TypeReferenceType* found = nullptr;
    } finder;
    accept(
        expected, &finder,
        [](void* closure, const Type* t) {
            auto* f = static_cast<Finder*>(closure);
            if (!f->found) f->found = as<TypeReferenceType>(t);
        },
        nullptr);
    if (finder.found) {
        Mismatch m(Mismatch::Kind::Unresolved, path);
        m.key = finder.found->type_string;
        return {m};
    }
    return describe(normalize(ctx_, expected), expected, actual, path);
}

List Describer::describe(const Type* expected, const Type* original, const Type* actual,
                         const Path& path) {
    DepthCheck depth;
    switch (expected->kind) {
        case TypeKind::Variant:
            return describe_variant(to<VariantType>(expected), original, actual, path);
        case TypeKind::Struct:
            return describe_struct(to<StructType>(expected), original, actual, path);
        case TypeKind::Hash: return describe_hash(to<HashType>(expected), original, actual, path);
        case TypeKind::Tuple:
            return describe_tuple(to<TupleType>(expected), original, actual, path,
                                  Mismatch::Kind::WrongSize);
        case TypeKind::Array:
            return describe_array(to<ArrayType>(expected), original, actual, path);
        case TypeKind::Callable:
            return describe_callable(to<CallableType>(expected), original, actual, path);
        case TypeKind::Optional: {
            const Type* inner = to<OptionalType>(expected).type;
            if (is(actual, TypeKind::Undef) || !inner) return {};
            return describe(inner, is(original, TypeKind::TypeAlias) ? original : expected, actual,
                            path);
        }
        case TypeKind::Enum:
        case TypeKind::Pattern:
            return {type_mismatch(Mismatch::Kind::Pattern, path, original, actual)};
        case TypeKind::TypeAlias:
            return describe(normalize(ctx_, resolved(ctx_, to<TypeAliasType>(expected))), expected,
                            actual, path);
        default:
            if (fits(expected, actual)) return {};
            return {type_mismatch(Mismatch::Kind::Type, path, original, actual)};
    }
}

List Describer::describe_variant(const VariantType& expected, const Type* original,
                                 const Type* actual, const Path& path) {
    std::vector<const Type*> types;
    if (is(original, TypeKind::Optional)) types.push_back(defaults().undef);
    types.insert(types.end(), expected.types.begin(), expected.types.end());
    std::vector<List> all;
    for (std::size_t i = 0; i < types.size(); ++i) {
        List d = describe(types[i], actual, path + PathElement::variant(i));
        if (d.empty()) return {};
        all.push_back(std::move(d));
    }
    List merged = merge_descriptions(path.size(), false, all);
    if (is(original, TypeKind::TypeAlias) && merged.size() == 1)
        return {type_mismatch(Mismatch::Kind::Type, path, original, actual)};
    return merged;
}

List Describer::describe_array(const ArrayType& expected, const Type* original, const Type* actual,
                               const Path& path) {
    if (const auto* tuple = as<TupleType>(actual)) {
        const auto n = static_cast<std::int64_t>(tuple->types.size());
        const Range size = expected.size.value_or(kAnySize);
        const Range given = tuple->size.value_or(Range{n, n});
        if (!size.covers(given))
            return {size_mismatch(Mismatch::Kind::WrongSize, path, size, given)};
        List out;
        for (std::size_t i = 0; i < tuple->types.size(); ++i)
            if (!fits(expected.element, tuple->types[i]))
                append(out,
                       describe(expected.element, tuple->types[i], path + PathElement::index(i)));
        return out;
    }
    if (const auto* a = as<ArrayType>(actual)) {
        const Range given = a->size.value_or(kAnySize);
        if (expected.size && !expected.size->covers(given))
            return {size_mismatch(Mismatch::Kind::WrongSize, path, *expected.size, given)};
        return {
            type_mismatch(Mismatch::Kind::Type, path, original, make_array_type(ctx_, a->element))};
    }
    return {type_mismatch(Mismatch::Kind::Type, path, original, actual)};
}

Range Describer::struct_size(const StructType& s) {
    std::int64_t required = 0;
    for (const StructElement& e : s.elements) required += optional(e.key) ? 0 : 1;
    return {required, static_cast<std::int64_t>(s.elements.size())};
}

List Describer::describe_hash(const HashType& expected, const Type* original, const Type* actual,
                              const Path& path) {
    if (const auto* s = as<StructType>(actual)) {
        const Range size = expected.size.value_or(kAnySize), given = struct_size(*s);
        if (!size.covers(given))
            return {size_mismatch(Mismatch::Kind::WrongSize, path, size, given)};
        List out;
        for (const StructElement& e : s->elements) {
            if (!fits(expected.key, e.key))
                append(out, describe(expected.key, e.key, path + PathElement::key(e.name)));
            if (!fits(expected.value, e.value))
                append(out, describe(expected.value, e.value, path + PathElement::entry(e.name)));
        }
        return out;
    }
    if (const auto* h = as<HashType>(actual)) {
        const Range given = h->size.value_or(kAnySize);
        if (expected.size && !expected.size->covers(given))
            return {size_mismatch(Mismatch::Kind::WrongSize, path, *expected.size, given)};
        return {type_mismatch(Mismatch::Kind::Type, path, original,
                              make_hash_type(ctx_, h->key, h->value))};
    }
    return {type_mismatch(Mismatch::Kind::Type, path, original, actual)};
}

List Describer::describe_struct(const StructType& expected, const Type* original,
                                const Type* actual, const Path& path) {
    if (const auto* s = as<StructType>(actual)) {
        List out;
        for (const StructElement& e : expected.elements) {
            const StructElement* given = s->find(e.name);
            if (!given) {
                if (!optional(e.key)) {
                    Mismatch m(Mismatch::Kind::MissingKey, path);
                    m.key = e.name;
                    out.push_back(std::move(m));
                }
                continue;
            }
            if (!fits(e.key, given->key))
                append(out, describe(e.key, given->key, path + PathElement::key(e.name)));
            if (!fits(e.value, given->value))
                append(out, describe(e.value, given->value, path + PathElement::entry(e.name)));
        }
        for (const StructElement& e : s->elements) {
            if (expected.find(e.name)) continue;
            Mismatch m(Mismatch::Kind::ExtraneousKey, path);
            m.key = e.name;
            out.push_back(std::move(m));
        }
        return out;
    }
    if (const auto* h = as<HashType>(actual)) {
        const Range given = h->size.value_or(kAnySize), size = struct_size(expected);
        if (!size.covers(given))
            return {size_mismatch(Mismatch::Kind::WrongSize, path, size, given)};
        return {type_mismatch(Mismatch::Kind::Type, path, original,
                              make_hash_type(ctx_, h->key, h->value))};
    }
    return {type_mismatch(Mismatch::Kind::Type, path, original, actual)};
}

List Describer::describe_tuple(const TupleType& expected, const Type* original, const Type* actual,
                               const Path& path, Mismatch::Kind size_kind) {
    if (equal(&expected, actual) || (expected.types.empty() && is(actual, TypeKind::Array)))
        return {};
    const Range size = expected.size_range();
    if (const auto* tuple = as<TupleType>(actual)) {
        const Range given = tuple->size_range();
        if (!size.covers(given)) return {size_mismatch(size_kind, path, size, given)};
        List out;
        if (expected.types.empty()) return out;
        for (std::size_t i = 0; i < tuple->types.size(); ++i) {
            const std::size_t at = std::min(i, expected.types.size() - 1);
            append(out,
                   describe(expected.types[at], tuple->types[i], path + PathElement::index(at)));
        }
        return out;
    }
    if (const auto* a = as<ArrayType>(actual)) {
        const Range given = a->size.value_or(kAnySize);
        if (!size.covers(given)) return {size_mismatch(size_kind, path, size, given)};
        List out;
        for (std::size_t i = 0; i < expected.types.size(); ++i)
            append(out, describe(expected.types[i], a->element, path + PathElement::index(i)));
        return out;
    }
    return {type_mismatch(Mismatch::Kind::Type, path, original, actual)};
}

List Describer::describe_callable(const CallableType& expected, const Type* original,
                                  const Type* actual, const Path& path) {
    const auto* c = as<CallableType>(actual);
    if (!c) return {type_mismatch(Mismatch::Kind::Type, path, original, actual)};
    if (!expected.params && !expected.returns) return {};
    if (expected.params && !c->params)
        return {type_mismatch(Mismatch::Kind::Type, path, original, actual)};
    if (expected.params) {
        List params = describe_tuple(*expected.params, expected.params, c->params, path,
                                     Mismatch::Kind::WrongCount);
        if (!params.empty()) return params;
    }
    const Type* this_return = expected.returns ? expected.returns : defaults().any;
    const Type* that_return = c->returns ? c->returns : defaults().any;
    if (!fits(this_return, that_return))
        return {type_mismatch(Mismatch::Kind::Type, path + PathElement::plain("return"),
                              this_return, that_return)};
    const Type* this_block = expected.block ? expected.block : defaults().undef;
    const Type* that_block = c->block ? c->block : defaults().undef;
    if (!fits(that_block, this_block))
        return {type_mismatch(Mismatch::Kind::Type, path + PathElement::plain("block"), this_block,
                              that_block)};
    return {};
}

// --- calls
// ----------------------------------------------------------------------------------------

List Describer::describe_arguments(const Signature& signature, const Type* args, const Path& path) {
    const TupleType* params = signature.type->params ? signature.type->params : defaults().tuple;
    std::vector<const Type*> given;
    Range given_size;
    if (const auto* tuple = as<TupleType>(args)) {
        given.assign(tuple->types.begin(), tuple->types.end());
        given_size = tuple->size_range();
    } else if (const auto* a = as<ArrayType>(args)) {
        given.assign(params->types.size(), a->element);
        given_size = a->size.value_or(kAnySize);
    } else {
        return {type_mismatch(Mismatch::Kind::Type, path, params, args)};
    }
    std::size_t count = given.size();
    if (!given.empty() && is_kind_of_callable(ctx_, given.back())) {
        --count;
        given_size = {static_cast<std::int64_t>(count), static_cast<std::int64_t>(count)};
    } else if (given.empty()) {
        // An empty tuple represents a call without arguments, and not any number of arguments.
        given_size = {0, 0};
    }
    const Range size = params->size_range();
    if (!size.covers(given_size))
        return {size_mismatch(Mismatch::Kind::WrongCount, path, size, given_size)};
    if (params->types.empty()) return {};
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = std::min(i, params->types.size() - 1);
        if (fits(params->types[at], given[i])) continue;
        const std::string_view name =
            at < signature.parameter_names.size() ? signature.parameter_names[at] : "";
        List d = describe(params->types[at], given[i], path + PathElement::parameter(name));
        if (!d.empty()) return d;
    }
    return {};
}

List Describer::describe_block(const Signature& signature, const Type* args, const Path& path) {
    const Type* wanted = signature.type->block;
    const auto* tuple = as<TupleType>(args);
    const Type* given = tuple && !tuple->types.empty() ? tuple->types.back() : nullptr;
    if (given && is_kind_of_callable(ctx_, given)) {
        if (!wanted) return {Mismatch(Mismatch::Kind::UnexpectedBlock, path)};
        return describe(wanted, given, path + PathElement::plain("block"));
    }
    if (!wanted || optional(wanted)) return {};
    return {Mismatch(Mismatch::Kind::MissingBlock, path)};
}

std::optional<std::string> Describer::describe_signatures(std::string_view name,
                                                          std::span<const Signature> signatures,
                                                          const Type* args) {
    std::vector<List> errors;
    for (std::size_t i = 0; i < signatures.size(); ++i)
        errors.push_back(describe_arguments(signatures[i], args, {PathElement::signature(i)}));
    const auto failed = [](const List& l) { return !l.empty(); };
    // If the arguments match, the block causes the mismatch.
    if (!std::all_of(errors.begin(), errors.end(), failed)) {
        std::vector<List> blocks;
        for (std::size_t i = 0; i < signatures.size(); ++i)
            blocks.push_back(describe_block(signatures[i], args, {PathElement::signature(i)}));
        const auto bad = std::count_if(blocks.begin(), blocks.end(), failed);
        if (bad == static_cast<std::ptrdiff_t>(blocks.size()))
            errors = blocks;
        else if (bad > 0)
            for (std::size_t i = 0; i < errors.size(); ++i)
                if (errors[i].empty()) errors[i] = blocks[i];
    }
    if (errors.empty()) return std::nullopt;
    const std::string label = name == "lambda" ? std::string("block") : fmt::format("'{}'", name);
    const List merged = merge_descriptions(0, true, errors);
    if (merged.size() == 1) return label + format(merged[0]);
    std::string out;
    if (signatures.size() == 1) {
        out = fmt::format("{} expects ({})", label, signature_text(ctx_, signatures[0]));
        for (Mismatch m : errors[0]) {
            m.chop(0);
            out += "\n  rejected:" + format(m);
        }
        return out;
    }
    out = fmt::format(
        "The function {} was called with arguments it does not accept. It expects one of:", label);
    for (std::size_t i = 0; i < signatures.size(); ++i) {
        out += fmt::format("\n  ({})", signature_text(ctx_, signatures[i]));
        for (Mismatch m : errors[i]) {
            m.chop(0);
            out += "\n    rejected:" + format(m);
        }
    }
    return out;
}

std::string Describer::join(const List& errors, std::string_view separator) {
    std::string out;
    for (const Mismatch& m : errors) {
        if (!out.empty()) out += separator;
        out += format(m);
    }
    return out;
}

// --- exported
// -------------------------------------------------------------------------------------

std::optional<std::string> describe_signatures(Context& ctx, std::string_view name,
                                               std::span<const Signature> signatures,
                                               const Type* args) {
    return Describer(ctx).describe_signatures(name, signatures, args);
}

std::optional<std::string> describe_call(Context& ctx, std::string_view name,
                                         std::span<const Signature> signatures,
                                         std::span<const Value> args, const Type* block) {
    std::vector<const Type*> types;
    for (const Value& v : args) types.push_back(infer_set(ctx, v));
    if (block) types.push_back(block);
    return describe_signatures(ctx, name, signatures, make_tuple_type(ctx, types));
}

bool accepts_call(Context& ctx, const CallableType* signature, std::span<const Value> args,
                  const Type* block) {
    const TupleType* params = signature->params;
    if (!params) return true;
    if (params->types.empty()) {
        if (!params->size_range().contains(static_cast<std::int64_t>(args.size()))) return false;
        if (!params->size && !args.empty()) return false;
    } else if (!is_instance(ctx, params, Value::array(args))) {
        return false;
    }
    if (!signature->block) return block == nullptr;
    return is_assignable(ctx, signature->block, block ? block : defaults().undef);
}

std::string describe_parameters(Context& ctx, std::string_view subject,
                                std::span<const NamedParameter> parameters,
                                const value::HashRep& given, bool missing_ok,
                                const DeferredType& deferred) {
    Describer d(ctx);
    List errors;
    const auto known = [&](std::string_view name) {
        return std::any_of(parameters.begin(), parameters.end(),
                           [&](const NamedParameter& p) { return p.name == name; });
    };
    for (const value::Entry& e : given) {
        if (e.key.is_string() && known(e.key.as_string())) continue;
        Mismatch m(Mismatch::Kind::InvalidParameter, {});
        m.key = value::to_text(e.key);
        errors.push_back(std::move(m));
    }
    static const Type* deferred_type = builtin_object_type("deferred");
    for (const NamedParameter& p : parameters) {
        const Type* type = p.type ? p.type : defaults().any;
        const Value* v = given.find(p.name);
        if (!v) {
            if (missing_ok || !p.required) continue;
            Mismatch m(Mismatch::Kind::MissingParameter, {});
            m.key = p.name;
            errors.push_back(std::move(m));
            continue;
        }
        const Path path{PathElement::parameter(p.name)};
        if (v->is(value::Kind::Object) && deferred_type && is_instance(ctx, deferred_type, *v)) {
            // The value is only known later, so only the declared return type of the function can
            // be checked.
            const Type* later = deferred ? deferred(*v) : nullptr;
            if (later && !is_assignable(ctx, generalize(ctx, type), generalize(ctx, later)))
                append(errors, d.describe(type, later, path));
            continue;
        }
        if (!is_instance(ctx, type, *v)) append(errors, d.describe(type, infer_set(ctx, *v), path));
    }
    if (errors.empty()) return {};
    if (errors.size() == 1) return fmt::format("{}:{}", subject, d.format(errors[0]));
    return fmt::format("{}:\n {}", subject, d.join(errors, "\n "));
}

void validate_parameters(Context& ctx, std::string_view subject,
                         std::span<const NamedParameter> parameters, const value::HashRep& given,
                         bool missing_ok, const DeferredType& deferred) {
    std::string text = describe_parameters(ctx, subject, parameters, given, missing_ok, deferred);
    if (!text.empty()) throw base::PuppetError(std::move(text));
}

void validate_default_parameter(Context& ctx, std::string_view subject, std::string_view name,
                                const Type* type, const Value& value) {
    if (is_instance(ctx, type, value)) return;
    Describer d(ctx);
    const List errors =
        d.describe(type, generalize(ctx, infer_set(ctx, value)), {PathElement::parameter(name)});
    if (errors.empty()) return;
    if (errors.size() == 1)
        throw base::PuppetError(fmt::format("{}:{}", subject, d.format(errors[0])));
    throw base::PuppetError(fmt::format("{}:\n {}", subject, d.join(errors, "\n ")));
}

std::string describe_type_mismatch(Context& ctx, std::string_view name, const Type* expected,
                                   const Type* actual) {
    Describer d(ctx);
    const List errors = d.describe(expected, actual, {PathElement::plain(name)});
    if (errors.empty()) return {};
    if (errors.size() > 1) return d.join(errors, "\n ");
    const std::string text = d.format(errors[0]);
    const std::size_t from = text.find_first_not_of(" \n\t");
    return from == std::string::npos ? std::string() : text.substr(from);
}

std::string describe_mismatch(Context& ctx, std::string_view subject, const Type* expected,
                              const Value& actual) {
    return describe_type_mismatch(ctx, subject, expected, infer_set(ctx, actual));
}

void assert_instance(Context& ctx, std::string_view subject, const Type* expected, const Value& v) {
    if (is_instance(ctx, expected, v)) return;
    throw base::PuppetError(describe_mismatch(ctx, subject, expected, v), "TYPE_MISMATCH");
}

}  // namespace bunraku::types
