// SPDX-License-Identifier: Apache-2.0
// Converts type expressions from text and syntax trees to types, with the error messages of
// Puppet's TypeParser.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>

#include "core/value/build.h"
#include "language/syntax/ast.h"
#include "language/syntax/parser.h"
#include "language/syntax/visit.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/object.h"
#include "language/types/type_args.h"
#include "language/types/typeset.h"

namespace bunraku::types {

namespace {

using Args = std::span<const Value>;

/// Returns the source of a whole tree. The location of a node alone may cover only its operator.
std::string_view tree_text(const syntax::Node* node) {
    std::uint32_t first = node->offset, last = node->offset + node->length;
    const auto widen = [&](const auto& self, const syntax::Node* n) -> void {
        DepthCheck depth;
        syntax::for_each_child(n, [&](const syntax::Node* child) {
            if (!child || child->source != node->source) return;
            first = std::min(first, child->offset);
            last = std::max(last, child->offset + child->length);
            self(self, child);
        });
    };
    widen(widen, node);
    return node->source ? node->source->text().substr(first, last - first) : node->text();
}

[[noreturn]] void invalid_specification(const syntax::Node* node) {
    throw base::PuppetError(
        fmt::format("The expression <{}> is not a valid type specification.", tree_text(node)));
}
[[noreturn]] void invalid_parameters(std::string_view type, std::string_view required,
                                     std::size_t given) {
    throw base::PuppetError(
        fmt::format("Invalid number of type parameters specified: {} requires {}, {} provided",
                    type, required, given));
}
[[noreturn]] void not_parameterized(const syntax::Node* node) {
    throw base::PuppetError(fmt::format("Not a parameterized type <{}>", tree_text(node)));
}

constexpr std::string_view kResourceTypes[] = {
    "component", "exec",     "file",    "filebucket", "group", "node", "notify", "package",
    "resources", "schedule", "service", "stage",      "tidy",  "user", "whit"};

/// Finds types inside a TypeSet: "MySet::Car".
const Type* find_in_type_set(Context& ctx, std::string_view name) {
    std::size_t at = name.rfind("::");
    while (at != std::string_view::npos && at > 0) {
        const Type* outer = ctx.loader->find_type(name.substr(0, at));
        if (const auto* set = as<TypeSetType>(outer)) {
            set->resolve(ctx);
            return set->find(name.substr(at + 2));
        }
        at = name.substr(0, at).rfind("::");
    }
    return nullptr;
}

/// Returns the type of a name, or null if it is unknown.
const Type* find_named(Context& ctx, std::string_view cased, std::string_view downcased) {
    const Type* t = builtin_type(downcased);
    const bool loaded = !t;
    if (!t && ctx.loader) {
        t = ctx.loader->find_type(cased);
        if (!t) t = find_in_type_set(ctx, cased);
    }
    if (!t) {
        for (std::string_view name : kResourceTypes)
            if (name == downcased) return make_resource(ctx, cased);
        return nullptr;
    }
    // Predefined types are resolved on first access instead.
    if (loaded) ensure_resolved(ctx, t);
    return t;
}

/// One type expression with its evaluated arguments.
class Access {
public:
    Access(Context& ctx, const syntax::AccessExpression& node) : ctx_(ctx), node_(node) {
        for (const syntax::Node* key : node.keys) values_.push_back(interpret_any(ctx, key));
        args_ = values_;
    }

    const Type* build() {
        const auto* ref = syntax::as<syntax::QualifiedReference>(node_.left);
        if (!ref) invalid_specification(&node_);
        const std::string_view name = ref->value;
        const Type* base = find_named(ctx_, ref->cased_value, name);
        if (!base) return make_type_reference(ctx_, tree_text(&node_));
        if (const Type* t = builtin_type(name);
            t != base || is(t, TypeKind::TypeAlias) ||
            (is(t, TypeKind::Object) && t != default_object_type()))
            return of_loaded(*ref, base);
        switch (base->kind) {
            case TypeKind::Array: return array();
            case TypeKind::Hash: return hash();
            case TypeKind::Collection:
                return make_collection(ctx_, size_from("Collection", "1 to 2"));
            case TypeKind::String: {
                const Range size = size_from("String", "1 to 2");
                return make_string(ctx_, size);
            }
            case TypeKind::Class:
                need(1, "Class", "1");
                if (args_[0].is_undef()) return base;
                if (!args_[0].is_string()) invalid_specification(&node_);
                return make_class(ctx_, args_[0].as_string());
            case TypeKind::Resource: return resource();
            case TypeKind::Regexp:
                need(1, "Regexp", "1");
                if (!args_[0].is_string() && !args_[0].is(value::Kind::Regexp))
                    invalid_specification(&node_);
                return regexp_of(ctx_, args_[0]);
            case TypeKind::Enum: return enumeration();
            case TypeKind::Pattern: at_least_one("Pattern"); return pattern_of(ctx_, args_);
            case TypeKind::Uri: need(1, "URI", "1"); return make_uri(ctx_, args_[0]);
            case TypeKind::Variant: {
                at_least_one("Variant");
                std::vector<const Type*> types;
                for (const Value& v : args_) types.push_back(type(v));
                return make_variant(ctx_, types);
            }
            case TypeKind::Tuple: return tuple();
            case TypeKind::Callable:
                if (args_.size() > 1 && args_[0].is_array() && args_.size() != 2)
                    invalid_parameters("callable", "2 when first parameter is an array",
                                       args_.size());
                return make_callable(ctx_, args_);
            case TypeKind::Struct:
                need(1, "Struct", "1");
                if (!args_[0].is_hash()) invalid_specification(&node_);
                return struct_of(ctx_, args_[0].as_hash());
            case TypeKind::Boolean:
                need(1, "Boolean", "1");
                if (!args_[0].is(value::Kind::Boolean))
                    throw base::PuppetError("Boolean parameter must be true or false");
                return make_boolean(args_[0].as_boolean());
            case TypeKind::Integer: return integer();
            case TypeKind::Float: return floating();
            case TypeKind::Object:
            case TypeKind::TypeSet:
                need(1, "Object", "1");
                return static_cast<const OpenType*>(base)->parameterized(ctx_, args_);
            case TypeKind::Init:
                if (args_.empty()) invalid_specification(&node_);
                return make_init(ctx_, type(args_[0]), args_.subspan(1));
            case TypeKind::Iterable:
                need(1, "Iterable", "1");
                return make_iterable(ctx_, type(args_[0]));
            case TypeKind::Iterator:
                need(1, "Iterator", "1");
                return make_iterator(ctx_, type(args_[0]));
            case TypeKind::Sensitive:
                if (args_.size() > 1) invalid_parameters("Sensitive", "0 to 1", args_.size());
                return make_sensitive_type(ctx_, args_.empty() ? nullptr : type(args_[0]));
            case TypeKind::Optional:
                need(1, "Optional", "1");
                return make_optional(ctx_, type_or_string(args_[0]));
            case TypeKind::NotUndef:
                if (args_.size() > 1) invalid_parameters("NotUndef", "0 to 1", args_.size());
                return make_not_undef(ctx_, args_.empty() ? nullptr : type_or_string(args_[0]));
            case TypeKind::Type: need(1, "Type", "1"); return make_type_type(ctx_, type(args_[0]));
            case TypeKind::Runtime:
                need(2, "Runtime", "2");
                return runtime_of(ctx_, args_[0], args_[1]);
            case TypeKind::Timespan:
                if (args_.size() > 2) invalid_parameters("Timespan", "0 to 2", args_.size());
                return timespan_of(ctx_, args_);
            case TypeKind::Timestamp:
                if (args_.size() > 2) invalid_parameters("Timestamp", "0 to 2", args_.size());
                return timestamp_of(ctx_, args_);
            case TypeKind::SemVer: at_least_one("SemVer"); return sem_ver_of(ctx_, args_);
            default: not_parameterized(ref);
        }
    }

private:
    /// Applies arguments to a type from the loader or to a built-in alias. Resource references and
    /// Object types accept arguments.
    const Type* of_loaded(const syntax::QualifiedReference& ref, const Type* base) {
        if (const auto* r = as<ResourceType>(base)) {
            need(1, ref.cased_value, "1");
            return make_resource(ctx_, r->type_name, title(args_[0]));
        }
        if (const OpenType* open = as_open(base); open && is(base, TypeKind::Object))
            return open->parameterized(ctx_, args_);
        not_parameterized(&ref);
    }

    std::optional<std::string_view> title(const Value& v) {
        if (v.is_undef()) return std::nullopt;
        if (!v.is_string()) invalid_specification(&node_);
        return v.as_string();
    }

    void need(std::size_t n, std::string_view name, std::string_view required) {
        if (args_.size() != n) invalid_parameters(name, required, args_.size());
    }
    void at_least_one(std::string_view name) {
        if (args_.empty()) invalid_parameters(name, "1 or more", 0);
    }
    const Type* type(const Value& v) {
        if (!v.is_type()) invalid_specification(&node_);
        return v.as_type();
    }
    const Type* type_or_string(const Value& v) {
        return v.is_string() ? make_string(ctx_, v.as_string()) : type(v);
    }
    Range range(const Value& from, const Value& to) {
        if (!is_range_parameter(from) || !is_range_parameter(to)) invalid_specification(&node_);
        return range_of(from, to);
    }
    /// Returns a size from an Integer type or a lower bound.
    Range size(const Value& v) {
        if (v.is_type())
            if (const auto* i = as<IntegerType>(v.as_type())) return i->range;
        return range(v, Value::default_value());
    }
    Range size_from(std::string_view name, std::string_view required) {
        if (args_.size() == 1) return size(args_[0]);
        if (args_.size() == 2) return range(args_[0], args_[1]);
        invalid_parameters(name, required, args_.size());
    }

    const Type* array() {
        switch (args_.size()) {
            case 1: return make_array_type(ctx_, type(args_[0]));
            case 2:
                if (args_[0].is_type())
                    return make_array_type(ctx_, args_[0].as_type(), size(args_[1]));
                // 8.11 uses the type of `default` itself here.
                return make_array_type(ctx_, defaults().default_type, range(args_[0], args_[1]));
            case 3: return make_array_type(ctx_, type(args_[0]), range(args_[1], args_[2]));
            default: invalid_parameters("Array", "1 to 3", args_.size());
        }
    }

    const Type* hash() {
        switch (args_.size()) {
            case 2:
                if (args_[0].is_type() && args_[1].is_type())
                    return make_hash_type(ctx_, args_[0].as_type(), args_[1].as_type());
                return make_hash_type(ctx_, defaults().default_type, defaults().default_type,
                                      range(args_[0], args_[1]));
            case 3: {
                const Range r = size(args_[2]);
                return make_hash_type(ctx_, type(args_[0]), type(args_[1]), r);
            }
            case 4: {
                const Range r = range(args_[2], args_[3]);
                return make_hash_type(ctx_, type(args_[0]), type(args_[1]), r);
            }
            default: invalid_parameters("Hash", "2 to 4", args_.size());
        }
    }

    const Type* enumeration() {
        Args names = args_;
        if (!names.empty() && names.back().is(value::Kind::Boolean))
            names = names.first(names.size() - 1);
        if (names.empty()) invalid_parameters("Enum", "1 or more", 0);
        for (const Value& v : names)
            if (!v.is_string())
                throw base::PuppetError("Enum parameters must be identifiers or strings");
        return enum_of(ctx_, args_);
    }

    const Type* tuple() {
        at_least_one("Tuple");
        Args types = args_;
        Size size;
        const std::size_t n = types.size();
        const auto lower = [](const Value& v) { return v.is_integer() ? v : Value::integer(0); };
        if (n >= 2 && is_range_parameter(types[n - 2])) {
            size = range(lower(types[n - 2]), types[n - 1]);
            types = types.first(n - 2);
        } else if (is_range_parameter(types[n - 1])) {
            size = range_of(lower(types[n - 1]), Value::default_value());
            types = types.first(n - 1);
        }
        std::vector<const Type*> out;
        for (const Value& v : types) out.push_back(type_of(ctx_, v));
        return make_tuple_type(ctx_, out, size);
    }

    const Type* integer() {
        if (args_.size() > 2 || args_.empty())
            invalid_parameters("Integer", "1 or 2", args_.size());
        for (const Value& v : args_)
            if (!v.is_integer() && !v.is_default()) invalid_specification(&node_);
        return make_integer(
            ctx_, range_of(args_[0], args_.size() == 2 ? args_[1] : Value::default_value()));
    }

    const Type* floating() {
        if (args_.size() > 2 || args_.empty()) invalid_parameters("Float", "1 or 2", args_.size());
        return float_between(ctx_, args_, [&](std::size_t) { invalid_specification(&node_); });
    }

    const Type* resource() {
        if (args_.empty() || args_.size() > 2)
            invalid_parameters("Resource", "1 or 2", args_.size());
        std::optional<std::string_view> given;
        if (args_.size() == 2) given = title(args_[1]);
        if (args_[0].is_string()) return make_resource(ctx_, args_[0].as_string(), given);
        const Type* t = args_[0].is_type() ? args_[0].as_type() : defaults().any;
        if (const auto* r = as<ResourceType>(t)) {
            if (args_.size() == 1) return make_resource(ctx_, r->type_name);
            return make_resource(ctx_, r->type_name, given);
        }
        const auto* unknown = as<TypeReferenceType>(t);
        if (!unknown)
            throw base::PuppetError(
                fmt::format("The type name cannot be a {}", ruby_class_name(args_[0])));
        const std::string_view text = unknown->type_string;
        const std::size_t bracket = text.find('[');
        if (bracket == std::string_view::npos) return make_resource(ctx_, text, given);
        const auto tree = syntax::parse("", std::string(text.substr(bracket)));
        const Value inner = interpret_any(ctx_, tree->program->body);
        if (!inner.is_array() || inner.as_array().size() != 1)
            invalid_parameters(t->to_string(), "1", inner.is_array() ? inner.as_array().size() : 1);
        return make_resource(ctx_, text.substr(0, bracket), title(inner.as_array()[0]));
    }

    Context& ctx_;
    const syntax::AccessExpression& node_;
    std::vector<Value> values_;
    Args args_;
};

Value interpret_hash(Context& ctx, const syntax::LiteralHash& node) {
    value::HashBuilder out(ctx.arena, node.entries.size());
    for (const syntax::KeyedEntry* e : node.entries) {
        const Value key = interpret_any(ctx, e->key);
        out.set(key, interpret_any(ctx, e->value));
    }
    return out.build();
}

Value negated(const syntax::Node* node, const Value& v) {
    if (v.is_integer()) return Value::integer(-v.as_integer());
    if (v.is_float()) return Value::floating(-v.as_float());
    invalid_specification(node);
}

Value interpret_regexp(Context& ctx, const syntax::LiteralRegularExpression& node) {
    const auto* rep = static_cast<const value::RegexpRep*>(node.regexp_rep);
    if (rep) return value::make_regexp(ctx.arena, rep->source, rep->options);
    return value::make_regexp(ctx.arena, node.pattern);
}

}  // namespace

Value interpret_any(Context& ctx, const syntax::Node* node) {
    using syntax::NodeKind;
    DepthCheck depth;
    switch (node->kind) {
        case NodeKind::Program: return interpret_any(ctx, syntax::to<syntax::Program>(node).body);
        case NodeKind::QualifiedReference: {
            const auto& ref = syntax::to<syntax::QualifiedReference>(node);
            const Type* t = find_named(ctx, ref.cased_value, ref.value);
            return Value::type(t ? t : make_type_reference(ctx, ref.cased_value));
        }
        case NodeKind::AccessExpression: {
            Access access(ctx, syntax::to<syntax::AccessExpression>(node));
            return Value::type(access.build());
        }
        case NodeKind::QualifiedName:
            return value::make_string(ctx.arena, syntax::to<syntax::QualifiedName>(node).value);
        case NodeKind::LiteralString:
            return value::make_string(ctx.arena, syntax::to<syntax::LiteralString>(node).value);
        case NodeKind::LiteralBoolean:
            return Value::boolean(syntax::to<syntax::LiteralBoolean>(node).value);
        case NodeKind::LiteralDefault: return Value::default_value();
        case NodeKind::LiteralUndef: return Value::undef();
        case NodeKind::LiteralInteger:
            return Value::integer(syntax::to<syntax::LiteralInteger>(node).value);
        case NodeKind::LiteralFloat:
            return Value::floating(syntax::to<syntax::LiteralFloat>(node).value);
        case NodeKind::LiteralRegularExpression:
            return interpret_regexp(ctx, syntax::to<syntax::LiteralRegularExpression>(node));
        case NodeKind::UnaryMinusExpression:
            return negated(node,
                           interpret_any(ctx, syntax::to<syntax::UnaryMinusExpression>(node).expr));
        case NodeKind::LiteralHash:
            return interpret_hash(ctx, syntax::to<syntax::LiteralHash>(node));
        case NodeKind::LiteralList: {
            std::vector<Value> out;
            for (const syntax::Node* v : syntax::to<syntax::LiteralList>(node).values)
                out.push_back(interpret_any(ctx, v));
            return value::make_array(ctx.arena, out);
        }
        case NodeKind::HeredocExpression:
            return interpret_any(ctx, syntax::to<syntax::HeredocExpression>(node).text_expr);
        case NodeKind::BlockExpression: {
            // The text must be a single expression.
            const auto& statements = syntax::to<syntax::BlockExpression>(node).statements;
            if (statements.size() == 1) return interpret_any(ctx, statements[0]);
            invalid_specification(node);
        }
        case NodeKind::TypeAlias: {
            const auto& alias = syntax::to<syntax::TypeAlias>(node);
            const Type* t = make_type_definition(ctx, ctx.arena.copy(alias.name), alias.type_expr);
            return Value::type(ensure_resolved(ctx, t));
        }
        default: invalid_specification(node);
    }
}

const Type* interpret(Context& ctx, const syntax::Node* node) {
    const Value v = interpret_any(ctx, node);
    if (!v.is_type()) invalid_specification(node);
    return v.as_type();
}

const Type* parse_type(Context& ctx, std::string_view text) {
    const bool word = !text.empty() && text[0] >= 'A' && text[0] <= 'Z' &&
                      std::all_of(text.begin(), text.end(), [](char c) {
                          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
                      });
    if (word)
        if (const Type* t = builtin_type(text); t && !is(t, TypeKind::TypeAlias)) return t;
    // 8.11 has this text as a special case, although the expression alone is invalid.
    if (text == "Array[1]") return make_array_type(ctx, nullptr, Range{1, kMax});
    auto tree = syntax::parse("", std::string(text));
    const syntax::Node* body = tree->program->body;
    if (syntax::as<syntax::TypeAlias>(body) || syntax::as<syntax::TypeDefinition>(body))
        ctx.arena.own(std::make_unique<std::shared_ptr<const syntax::Tree>>(tree));
    return interpret(ctx, body);
}

}  // namespace bunraku::types
