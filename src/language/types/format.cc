// SPDX-License-Identifier: Apache-2.0
#include "language/types/format.h"

#include <cmath>

#include "core/base/semver.h"
#include "core/base/work_limit.h"
#include "language/types/factory.h"
#include "language/types/internal.h"

namespace bunraku::types {

using value::Kind;

namespace {

/// Inside Optional and NotUndef, a string literal represents its type.
const StringType* literal_string(const Type* t) {
    const auto* s = as<StringType>(t);
    return s && s->value ? s : nullptr;
}

/// Reports whether the type accepts undef. Uses a scratch arena for the temporary types.
bool accepts_undef(const Type* t) {
    base::Arena scratch(512);
    Context ctx{scratch, nullptr};
    try {
        return is_assignable(ctx, t, defaults().undef);
    } catch (const base::PuppetError&) {
        return false;  // an alias that cannot be resolved here
    }
}

}  // namespace

void Formatter::range(const Range& r) {
    // The smallest and largest integers represent an open end, unless the range contains only that
    // integer.
    const bool single = r.min == r.max;
    out_ += r.min == kMin && !single ? "default" : std::to_string(r.min);
    if (r.max != kMax || single) {
        out_ += ", ";
        out_ += std::to_string(r.max);
    }
}

void Formatter::list(std::string_view name, Types types, bool empty) {
    out_ += name;
    if (empty) return;
    out_ += '[';
    for (std::size_t i = 0; i < types.size(); ++i) {
        if (i > 0) out_ += ", ";
        type(types[i]);
    }
    out_ += ']';
}

void Formatter::contained(std::string_view name, const Type* inner) {
    out_ += name;
    if (!inner) return;
    out_ += '[';
    type(inner);
    out_ += ']';
}

void Formatter::string(const StringType& t) {
    out_ += "String";
    const bool sized = t.size && !t.size->open();
    const bool value = debug && t.value;
    if (!sized && !value) return;
    out_ += '[';
    if (sized) range(*t.size);
    if (value) out_ += value::quote(*t.value);
    out_ += ']';
}

void Formatter::time(std::string_view name, const Range& r, Value (*make)(std::int64_t)) {
    out_ += name;
    if (r.open()) return;
    out_ += '[';
    if (r.min == kMin)
        out_ += "default";
    else
        literal(make(r.min));
    if (r.max != kMax && r.max != r.min) {
        out_ += ", ";
        literal(make(r.max));
    }
    out_ += ']';
}

void Formatter::tuple(const TupleType& t) {
    out_ += "Tuple";
    if (t.types.empty()) return;
    out_ += '[';
    for (std::size_t i = 0; i < t.types.size(); ++i) {
        if (i > 0) out_ += ", ";
        type(t.types[i]);
    }
    if (t.size && !t.size->open()) {
        out_ += ", ";
        range(*t.size);
    }
    out_ += ']';
}

void Formatter::structure(const StructType& t) {
    out_ += "Struct";
    if (t.elements.empty()) return;
    out_ += "[{";
    bool first = true;
    for (const StructElement& e : t.elements) {
        if (!first) out_ += ", ";
        first = false;
        // The key shows whether the entry is optional or required only if the value's type does
        // not.
        const bool value_optional = accepts_undef(e.value);
        const bool key_optional = is(e.key, TypeKind::Optional);
        if (key_optional != value_optional) {
            out_ += key_optional ? "Optional[" : "NotUndef[";
            out_ += value::quote(e.name);
            out_ += ']';
        } else {
            out_ += value::quote(e.name);
        }
        out_ += " => ";
        type(e.value);
    }
    out_ += "}]";
}

void Formatter::callable_params(const CallableType& t) {
    bool first = true;
    const auto next = [&] {
        if (!first) out_ += ", ";
        first = false;
    };
    for (const Type* p : t.params->types) {
        if (is(p, TypeKind::Unit)) continue;
        next();
        type(p);
    }
    if (t.params->types.empty()) {
        next();
        out_ += "0, 0";
    } else if (t.params->size && !t.params->size->open()) {
        next();
        range(*t.params->size);
    }
    if (t.block) {
        next();
        type(t.block);
    }
}

void Formatter::callable(const CallableType& t) {
    out_ += "Callable";
    if (!t.returns) {
        if (!t.params) return;
        out_ += '[';
        callable_params(t);
        out_ += ']';
        return;
    }
    out_ += "[[";
    if (t.params) callable_params(t);
    out_ += "], ";
    type(t.returns);
    out_ += ']';
}

void Formatter::collection(std::string_view name, const Size& size, const Type* key,
                           const Type* element, bool is_default) {
    out_ += name;
    if (size && size->min == 0 && size->max == 0) {
        out_ += "[0, 0]";
        return;
    }
    if (is_default) return;
    out_ += '[';
    if (key) {
        type(key);
        out_ += ", ";
    }
    type(element);
    if (size && !size->open()) {
        out_ += ", ";
        range(*size);
    }
    out_ += ']';
}

void Formatter::format_alias(const TypeAliasType& t, bool expand) {
    out_ += t.name;
    static constexpr std::string_view kBuiltin[] = {"Data", "RichData", "RichDataKey",
                                                    "Puppet::LookupKey", "Puppet::LookupValue"};
    if (!expand || !t.resolved) return;
    for (std::string_view name : kBuiltin)
        if (name == t.name) return;
    out_ += " = ";
    type(t.resolved);
}

void Formatter::alias(const TypeAliasType& t) {
    if (!expanded || !t.self_recursive) {
        format_alias(t, expanded);
        return;
    }
    guard_.with_this(&t, [&](unsigned state) {
        format_alias(t, (state & Guard::kThis) == 0);
        return true;
    });
}

void Formatter::runtime(const RuntimeType& t) {
    out_ += "Runtime";
    if (t.runtime.empty() && t.name.empty() && !t.pattern) return;
    out_ += '[';
    out_ += t.runtime.empty() ? "undef" : t.runtime;
    out_ += ", ";
    if (t.pattern) {
        out_ += '[';
        literal(Value::regexp(t.pattern));
        out_ += ", ";
        out_ += value::quote(t.replacement);
        out_ += ']';
    } else {
        out_ += t.name.empty() ? "undef" : value::quote(t.name);
    }
    out_ += ']';
}

void Formatter::literal(const Value& v) {
    base::step();
    switch (v.kind()) {
        case Kind::Type: type(v.as_type()); break;
        case Kind::Array: {
            out_ += '[';
            bool first = true;
            for (const Value& e : v.as_array()) {
                if (!first) out_ += ", ";
                first = false;
                literal(e);
            }
            out_ += ']';
            break;
        }
        case Kind::Hash: {
            out_ += '{';
            bool first = true;
            for (const value::Entry& e : v.as_hash()) {
                if (!first) out_ += ", ";
                first = false;
                literal(e.key);
                out_ += " => ";
                literal(e.value);
            }
            out_ += '}';
            break;
        }
        default: value::print_source(out_, v);
    }
}

void Formatter::floating(const FloatType& t) {
    out_ += "Float";
    if (std::isinf(t.min) && t.min < 0 && std::isinf(t.max) && t.max > 0) return;
    out_ += '[';
    out_ += std::isinf(t.min) ? "default" : value::format_float(t.min);
    if (!std::isinf(t.max)) {
        out_ += ", ";
        out_ += value::format_float(t.max);
    }
    out_ += ']';
}

void Formatter::enumeration(const EnumType& t) {
    out_ += "Enum";
    if (t.values.empty()) return;
    out_ += '[';
    for (std::size_t i = 0; i < t.values.size(); ++i) {
        if (i > 0) out_ += ", ";
        out_ += value::quote(t.values[i]);
    }
    if (t.case_insensitive) out_ += ", true";
    out_ += ']';
}

void Formatter::pattern(const PatternType& t) {
    out_ += "Pattern";
    if (t.patterns.empty()) return;
    out_ += '[';
    for (std::size_t i = 0; i < t.patterns.size(); ++i) {
        if (i > 0) out_ += ", ";
        if (t.patterns[i]->rep)
            literal(Value::regexp(t.patterns[i]->rep));
        else
            out_ += "//";
    }
    out_ += ']';
}

void Formatter::ranged(std::string_view name, const Size& size) {
    out_ += name;
    if (!size || size->open()) return;
    out_ += '[';
    range(*size);
    out_ += ']';
}

void Formatter::with_argument(std::string_view name, std::string_view argument) {
    out_ += name;
    out_ += '[';
    out_ += argument;
    out_ += ']';
}

void Formatter::with_literal(std::string_view name, const Value& argument) {
    out_ += name;
    out_ += '[';
    literal(argument);
    out_ += ']';
}

/// Formats Optional and NotUndef. A literal string is written without its type.
void Formatter::contained_or_string(std::string_view name, const Type* inner) {
    if (const StringType* s = literal_string(inner)) {
        with_argument(name, value::quote(*s->value));
    } else {
        contained(name, inner);
    }
}

void Formatter::sem_ver(const SemVerType& t) {
    out_ += "SemVer";
    if (t.ranges.empty()) return;
    out_ += '[';
    for (std::size_t i = 0; i < t.ranges.size(); ++i) {
        if (i > 0) out_ += ", ";
        out_ += '\'';
        out_ += t.ranges[i]->to_string();
        out_ += '\'';
    }
    out_ += ']';
}

void Formatter::init(const InitType& t) {
    out_ += "Init";
    if (!t.type) return;
    out_ += '[';
    type(t.type);
    for (const Value& v : t.args) {
        out_ += ", ";
        literal(v);
    }
    out_ += ']';
}

void Formatter::resource(const ResourceType& t) {
    if (t.type_name.empty()) {
        out_ += "Resource";
    } else if (t.title) {
        with_argument(capitalize_segments(t.type_name), value::quote(*t.title));
    } else {
        out_ += capitalize_segments(t.type_name);
    }
}

void Formatter::type(const Type* t) {
    base::step();
    if (!t) {
        out_ += "undef";
        return;
    }
    DepthCheck depth;
    switch (t->kind) {
        case TypeKind::Integer: ranged("Integer", to<IntegerType>(t).range); return;
        case TypeKind::Float: floating(to<FloatType>(t)); return;
        case TypeKind::Boolean: {
            const auto& v = to<BooleanType>(t).value;
            out_ += !v ? "Boolean" : (*v ? "Boolean[true]" : "Boolean[false]");
            return;
        }
        case TypeKind::String: string(to<StringType>(t)); return;
        case TypeKind::Enum: enumeration(to<EnumType>(t)); return;
        case TypeKind::Regexp:
            if (const auto* rep = to<RegexpType>(t).rep) {
                with_literal("Regexp", Value::regexp(rep));
            } else {
                out_ += "Regexp";
            }
            return;
        case TypeKind::Pattern: pattern(to<PatternType>(t)); return;
        case TypeKind::Collection: ranged("Collection", to<CollectionType>(t).size); return;
        case TypeKind::Array: {
            const auto& a = to<ArrayType>(t);
            collection("Array", a.size, nullptr, a.element, equal(t, defaults().array));
            return;
        }
        case TypeKind::Hash: {
            const auto& h = to<HashType>(t);
            collection("Hash", h.size, h.key, h.value, equal(t, defaults().hash));
            return;
        }
        case TypeKind::Tuple: tuple(to<TupleType>(t)); return;
        case TypeKind::Struct: structure(to<StructType>(t)); return;
        case TypeKind::Variant:
            list("Variant", to<VariantType>(t).types, to<VariantType>(t).types.empty());
            return;
        case TypeKind::Optional: contained_or_string("Optional", to<OptionalType>(t).type); return;
        case TypeKind::NotUndef: contained_or_string("NotUndef", to<NotUndefType>(t).type); return;
        case TypeKind::Type: contained("Type", to<TypeType>(t).type); return;
        case TypeKind::Iterable: contained("Iterable", to<IterableType>(t).type); return;
        case TypeKind::Iterator: contained("Iterator", to<IteratorType>(t).type); return;
        case TypeKind::Sensitive: {
            const Type* inner = to<SensitiveType>(t).type;
            contained("Sensitive", is(inner, TypeKind::Any) ? nullptr : inner);
            return;
        }
        case TypeKind::TypeAlias: alias(to<TypeAliasType>(t)); return;
        case TypeKind::TypeReference:
            with_argument("TypeReference", value::quote(to<TypeReferenceType>(t).type_string));
            return;
        case TypeKind::Callable: callable(to<CallableType>(t)); return;
        case TypeKind::Timestamp:
            time("Timestamp", to<TimestampType>(t).range, Value::timestamp);
            return;
        case TypeKind::Timespan:
            time("Timespan", to<TimespanType>(t).range, Value::timespan);
            return;
        case TypeKind::SemVer: sem_ver(to<SemVerType>(t)); return;
        case TypeKind::Uri:
            if (const auto* p = to<UriType>(t).parameters) {
                with_literal("URI", Value::hash(p));
            } else {
                out_ += "URI";
            }
            return;
        case TypeKind::Init: init(to<InitType>(t)); return;
        case TypeKind::Runtime: runtime(to<RuntimeType>(t)); return;
        case TypeKind::Resource: resource(to<ResourceType>(t)); return;
        case TypeKind::Class:
            if (const auto& name = to<ClassType>(t).class_name) {
                with_argument("Class", *name);
            } else {
                out_ += "Class";
            }
            return;
        case TypeKind::Object:
        case TypeKind::TypeSet: static_cast<const OpenType*>(t)->print_type(out_, expanded); return;
        default: out_ += types::simple_name(t);
    }
}

void Type::print(std::string& out) const {
    Formatter f(out);
    // A named definition is printed with its content if it is the outermost type. Inside another
    // type only its name is printed.
    f.expanded =
        kind == TypeKind::TypeAlias || kind == TypeKind::Object || kind == TypeKind::TypeSet;
    f.type(this);
}

std::string Type::to_string() const {
    std::string out;
    print(out);
    return out;
}

std::string to_alias_expanded_string(const Type* t) {
    std::string out;
    Formatter f(out);
    f.expanded = true;
    f.type(t);
    return out;
}

std::string to_debug_string(const Type* t) {
    std::string out;
    Formatter f(out);
    f.debug = true;
    f.type(t);
    return out;
}

}  // namespace bunraku::types
