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

void Formatter::time(std::string_view name, const Range& r, bool timestamp) {
    out_ += name;
    if (r.open()) return;
    const auto end = [&](std::int64_t ns) {
        literal(timestamp ? Value::timestamp(ns) : Value::timespan(ns));
    };
    out_ += '[';
    if (r.min == kMin)
        out_ += "default";
    else
        end(r.min);
    if (r.max != kMax && r.max != r.min) {
        out_ += ", ";
        end(r.max);
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

void Formatter::type(const Type* t) {
    base::step();
    if (!t) {
        out_ += "undef";
        return;
    }
    DepthCheck depth;
    switch (t->kind) {
        case TypeKind::Integer: {
            out_ += "Integer";
            const Range& r = to<IntegerType>(t).range;
            if (r.open()) return;
            out_ += '[';
            range(r);
            out_ += ']';
            return;
        }
        case TypeKind::Float: {
            out_ += "Float";
            const auto& f = to<FloatType>(t);
            if (std::isinf(f.min) && f.min < 0 && std::isinf(f.max) && f.max > 0) return;
            out_ += '[';
            out_ += std::isinf(f.min) ? "default" : value::format_float(f.min);
            if (!std::isinf(f.max)) {
                out_ += ", ";
                out_ += value::format_float(f.max);
            }
            out_ += ']';
            return;
        }
        case TypeKind::Boolean: {
            const auto& v = to<BooleanType>(t).value;
            out_ += !v ? "Boolean" : (*v ? "Boolean[true]" : "Boolean[false]");
            return;
        }
        case TypeKind::String: string(to<StringType>(t)); return;
        case TypeKind::Enum: {
            const auto& e = to<EnumType>(t);
            out_ += "Enum";
            if (e.values.empty()) return;
            out_ += '[';
            for (std::size_t i = 0; i < e.values.size(); ++i) {
                if (i > 0) out_ += ", ";
                out_ += value::quote(e.values[i]);
            }
            if (e.case_insensitive) out_ += ", true";
            out_ += ']';
            return;
        }
        case TypeKind::Regexp: {
            out_ += "Regexp";
            const auto* rep = to<RegexpType>(t).rep;
            if (!rep) return;
            out_ += '[';
            literal(Value::regexp(rep));
            out_ += ']';
            return;
        }
        case TypeKind::Pattern: {
            const auto& patterns = to<PatternType>(t).patterns;
            out_ += "Pattern";
            if (patterns.empty()) return;
            out_ += '[';
            for (std::size_t i = 0; i < patterns.size(); ++i) {
                if (i > 0) out_ += ", ";
                if (patterns[i]->rep)
                    literal(Value::regexp(patterns[i]->rep));
                else
                    out_ += "//";
            }
            out_ += ']';
            return;
        }
        case TypeKind::Collection: {
            const Size& size = to<CollectionType>(t).size;
            out_ += "Collection";
            if (!size || size->open()) return;
            out_ += '[';
            range(*size);
            out_ += ']';
            return;
        }
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
        case TypeKind::Optional:
        case TypeKind::NotUndef: {
            const Type* inner = static_cast<const ContainedType*>(t)->type;
            const std::string_view name = is(t, TypeKind::Optional) ? "Optional" : "NotUndef";
            if (const StringType* s = literal_string(inner)) {
                out_ += name;
                out_ += '[';
                out_ += value::quote(*s->value);
                out_ += ']';
                return;
            }
            contained(name, inner);
            return;
        }
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
            out_ += "TypeReference[";
            out_ += value::quote(to<TypeReferenceType>(t).type_string);
            out_ += ']';
            return;
        case TypeKind::Callable: callable(to<CallableType>(t)); return;
        case TypeKind::Timestamp: time("Timestamp", to<TimestampType>(t).range, true); return;
        case TypeKind::Timespan: time("Timespan", to<TimespanType>(t).range, false); return;
        case TypeKind::SemVer: {
            const auto& ranges = to<SemVerType>(t).ranges;
            out_ += "SemVer";
            if (ranges.empty()) return;
            out_ += '[';
            for (std::size_t i = 0; i < ranges.size(); ++i) {
                if (i > 0) out_ += ", ";
                out_ += '\'';
                out_ += ranges[i]->to_string();
                out_ += '\'';
            }
            out_ += ']';
            return;
        }
        case TypeKind::Uri: {
            out_ += "URI";
            const auto* p = to<UriType>(t).parameters;
            if (!p) return;
            out_ += '[';
            literal(Value::hash(p));
            out_ += ']';
            return;
        }
        case TypeKind::Init: {
            const auto& i = to<InitType>(t);
            out_ += "Init";
            if (!i.type) return;
            out_ += '[';
            type(i.type);
            for (const Value& v : i.args) {
                out_ += ", ";
                literal(v);
            }
            out_ += ']';
            return;
        }
        case TypeKind::Runtime: runtime(to<RuntimeType>(t)); return;
        case TypeKind::Resource: {
            const auto& r = to<ResourceType>(t);
            out_ +=
                r.type_name.empty() ? std::string("Resource") : capitalize_segments(r.type_name);
            if (r.type_name.empty() || !r.title) return;
            out_ += '[';
            out_ += value::quote(*r.title);
            out_ += ']';
            return;
        }
        case TypeKind::Class: {
            const auto& c = to<ClassType>(t);
            out_ += "Class";
            if (!c.class_name) return;
            out_ += '[';
            out_ += *c.class_name;
            out_ += ']';
            return;
        }
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
