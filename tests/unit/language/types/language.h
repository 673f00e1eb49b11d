// SPDX-License-Identifier: Apache-2.0
// A minimal language for tests of values: literals, calls of types, attributes, comparisons, type
// definitions.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/value/build.h"
#include "language/syntax/ast.h"
#include "language/syntax/parser.h"
#include "language/types/convert.h"
#include "language/types/object.h"
#include "language/types/typeset.h"

namespace bunraku::types {

class Language final : public Loader {
public:
    base::Arena arena;
    Context ctx{arena, this};

    /// Runs statements that are separated by " ;; ". Returns the last value as text, or "!! " and
    /// the error.
    std::string run(const std::string& code) {
        try {
            Value v;
            for (std::size_t at = 0; at != std::string::npos;) {
                const auto end = code.find(" ;; ", at);
                v = statement(code.substr(at, end == std::string::npos ? end : end - at));
                at = end == std::string::npos ? end : end + 4;
            }
            if (v.is(value::Kind::Timestamp)) return "Timestamp " + value::to_text(v);
            if (v.is(value::Kind::Timespan)) return "Timespan " + value::to_text(v);
            return convert_to_string(ctx, v, std::string_view("%p"));
        } catch (const base::PuppetError& error) {
            static constexpr std::string_view kAccess =
                "Error while evaluating a '[]' expression, ";
            const std::string& text = error.message();
            return "!! " + (text.starts_with(kAccess) ? text.substr(kAccess.size()) : text);
        }
    }

    Value statement(const std::string& code) {
        trees_.push_back(syntax::parse("", code));
        const syntax::Program& program = *trees_.back()->program;
        for (const syntax::Node* d : program.definitions) {
            if (d->kind != syntax::NodeKind::TypeAlias) continue;
            const auto& alias = *static_cast<const syntax::TypeAlias*>(d);
            types_[lower(alias.name)] = make_type_definition(ctx, alias.name, alias.type_expr);
            return Value::undef();
        }
        return evaluate(program.body);
    }

    const Type* find_type(std::string_view name) override {
        const std::string key = lower(name);
        if (const auto it = types_.find(key); it != types_.end()) return it->second;
        const auto colon = key.find("::");
        if (colon == std::string::npos) return nullptr;
        const auto it = types_.find(key.substr(0, colon));
        const auto* set = it == types_.end() ? nullptr : as<TypeSetType>(it->second);
        return set != nullptr ? set->find(name.substr(colon + 2)) : nullptr;
    }

private:
    static std::string lower(std::string_view text) {
        std::string out(text);
        for (char& c : out) {
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
        }
        return out;
    }

    static std::string_view name_of(const syntax::Node* n) {
        return n->kind == syntax::NodeKind::QualifiedName
                   ? static_cast<const syntax::QualifiedName*>(n)->value
                   : n->text();
    }

    std::vector<Value> all(syntax::NodeList nodes) {
        std::vector<Value> out;
        for (const syntax::Node* n : nodes) out.push_back(evaluate(n));
        return out;
    }

    Value evaluate(const syntax::Node* n) {
        using syntax::NodeKind;
        switch (n->kind) {
            case NodeKind::LiteralList:
                return value::make_array(arena,
                                         all(static_cast<const syntax::LiteralList*>(n)->values));
            case NodeKind::LiteralHash: {
                value::HashBuilder out(arena);
                for (const auto* e : static_cast<const syntax::LiteralHash*>(n)->entries) {
                    const Value key = evaluate(e->key);
                    out.set(key, evaluate(e->value));
                }
                return out.build();
            }
            case NodeKind::UnaryMinusExpression: {
                const Value v = evaluate(static_cast<const syntax::UnaryMinusExpression*>(n)->expr);
                return v.is_float() ? Value::floating(-v.as_float())
                                    : Value::integer(-v.as_integer());
            }
            case NodeKind::QualifiedReference: {
                const Type* t = interpret(ctx, n);
                if (const OpenType* open = as_open(t)) open->resolve(ctx);
                return Value::type(t);
            }
            case NodeKind::AccessExpression: {
                const auto& access = *static_cast<const syntax::AccessExpression*>(n);
                const Value left = evaluate(access.left);
                return access_type(ctx, left.as_type(), all(access.keys));
            }
            case NodeKind::CallNamedFunctionExpression: {
                const auto& call = *static_cast<const syntax::CallNamedFunctionExpression*>(n);
                const Value type = evaluate(call.functor);
                return new_instance(ctx, type.as_type(), all(call.arguments));
            }
            case NodeKind::CallMethodExpression: {
                const auto& call = *static_cast<const syntax::CallMethodExpression*>(n);
                const Value receiver = evaluate(call.functor->left);
                const std::string_view name = name_of(call.functor->right);
                return call_member(ctx, receiver, name, all(call.arguments))
                    .value_or(Value::undef());
            }
            case NodeKind::NamedAccessExpression: {
                const auto& access = *static_cast<const syntax::NamedAccessExpression*>(n);
                return call_member(ctx, evaluate(access.left), name_of(access.right), {})
                    .value_or(Value::undef());
            }
            case NodeKind::ComparisonExpression:
            case NodeKind::MatchExpression: {
                const auto& binary = *static_cast<const syntax::BinaryNode*>(n);
                const Value a = evaluate(binary.left), b = evaluate(binary.right);
                switch (binary.op) {
                    case syntax::Op::Equal: return Value::boolean(value::equal(a, b));
                    case syntax::Op::Match: return Value::boolean(is_instance(ctx, b.as_type(), a));
                    case syntax::Op::LessEqual:
                        return Value::boolean(is_assignable(ctx, b.as_type(), a.as_type()));
                    default:
                        return Value::boolean(is_assignable(ctx, b.as_type(), a.as_type()) &&
                                              !equal(a.as_type(), b.as_type()));
                }
            }
            default: return interpret_any(ctx, n);
        }
    }

    std::vector<std::shared_ptr<const syntax::Tree>> trees_;
    std::map<std::string, const Type*> types_;
};

}  // namespace bunraku::types
