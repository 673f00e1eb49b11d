// SPDX-License-Identifier: Apache-2.0
// Literals, strings, comparison and match expressions, EPP output.
#include <charconv>
#include <cstring>

#include "core/base/assert.h"
#include "core/regex/regex.h"
#include "core/value/build.h"
#include "language/evaluator/evaluation.h"
#include "language/evaluator/syntax_check.h"
#include "language/types/iterator.h"
#include "language/types/kinds.h"
#include "language/types/type.h"

namespace bunraku::evaluator {

using namespace syntax;

Value Evaluation::qualified_reference(Interpreter& in, const QualifiedReference& node) {
    if (const types::Type* known = in.impl_->types.find(&node)) return Value::type(known);
    const types::Type* type = types::builtin_type(node.value);
    const bool loaded = !type;
    if (loaded) type = in.impl_->find_type(node.cased_value);
    if (!type || type->kind == types::TypeKind::TypeReference)
        fail(in, &node, "UNKNOWN_RESOURCE_TYPE", "Resource type not found: {}", node.cased_value);
    if (loaded) types::ensure_resolved(in.types_, type);
    in.impl_->types.set(&node, type);
    return Value::type(type);
}

void Evaluation::unfold_value(Interpreter& in, const Value& v, ValueBuffer& out) {
    switch (v.kind()) {
        case Kind::Undef: return;
        case Kind::Array:
            for (const Value& each : v.as_array()) out.push(each);
            return;
        case Kind::Hash:
            for (const value::Entry& e : v.as_hash())
                out.push(value::make_array(in.arena_, {e.key, e.value}));
            return;
        case Kind::Iterator: {
            const auto* iterator = static_cast<const types::Iterator*>(v.as_extension());
            types::Cursor* cursor = iterator->start(in.types_);
            for (Value each; cursor->next(&each);) out.push(each);
            return;
        }
        default: out.push(v);
    }
}

void Evaluation::unfold(Interpreter& in, NodeList nodes, Scope& scope, ValueBuffer& out) {
    for (const Node* node : nodes) {
        const Node* inner = unwind_parentheses(node);
        if (inner && inner->kind == NodeKind::UnfoldExpression) {
            const Value v = eval(in, to<UnfoldExpression>(inner).expr, scope);
            if (pending(in)) return;
            unfold_value(in, v, out);
        } else {
            out.push(eval(in, inner, scope));
            if (pending(in)) return;
        }
    }
}

Value Evaluation::unfold_expression(Interpreter& in, const UnfoldExpression& node, Scope& scope) {
    BUNRAKU_EVAL(v, in, node.expr, scope);
    if (v.is_array()) return v;
    ValueBuffer out;
    unfold_value(in, v, out);
    return value::make_array(in.arena_, out.view());
}

Value Evaluation::literal_list(Interpreter& in, const LiteralList& node, Scope& scope) {
    ValueBuffer out;
    unfold(in, node.values, scope, out);
    BUNRAKU_RETURN_IF_PENDING(in);
    // An empty list also needs a unique address, because a template may append to it
    // (variable_changed).
    if (out.view().empty()) return Value::array(in.arena_.array<Value>(1).first(0));
    return value::make_array(in.arena_, out.view());
}

Value Evaluation::literal_hash(Interpreter& in, const LiteralHash& node, Scope& scope) {
    value::HashBuilder out(in.arena_, node.entries.size());
    for (const KeyedEntry* entry : node.entries) {
        BUNRAKU_EVAL(key, in, entry->key, scope);
        BUNRAKU_EVAL(v, in, entry->value, scope);
        out.set(key, v);
    }
    return out.build();
}

namespace {

/// Returns the text of an interpolated value. A string value is not copied.
Value interpolated(Interpreter& in, const Value& v) {
    switch (v.kind()) {
        case Kind::String: return v;
        case Kind::Undef: return Value::string({});
        case Kind::Boolean: return Value::string(v.as_boolean() ? "true" : "false");
        case Kind::Integer: {
            char digits[24];
            const auto end = std::to_chars(digits, digits + sizeof digits, v.as_integer()).ptr;
            return value::make_string(
                in.arena(), std::string_view(digits, static_cast<std::size_t>(end - digits)));
        }
        default:
            return value::make_string(in.arena(), value::to_text(v))
                .in_encoding(value::holds_wide_bytes(v));
    }
}

/// Reports whether the concatenation of these strings is in ASCII-8BIT.
bool joined_as_bytes(std::span<const Value> parts, std::string_view text) {
    BUNRAKU_ASSERT(!parts.empty());
    bool bytes = parts[0].is_bytes();
    std::size_t done = 0;
    for (const Value& part : parts) {
        bytes =
            value::joined_encoding(text.substr(0, done), bytes, part.as_string(), part.is_bytes());
        done += part.as_string().size();
    }
    BUNRAKU_ASSERT(done == text.size());
    return bytes;
}

}  // namespace

Value Evaluation::concatenated(Interpreter& in, const ConcatenatedString& node, Scope& scope) {
    ValueBuffer parts;
    std::size_t size = 0;
    bool bytes = false;
    for (const Node* segment : node.segments) {
        BUNRAKU_EVAL(v, in, segment, scope);
        const Value part = interpolated(in, v);
        size += part.as_string().size();
        bytes |= part.is_bytes();
        parts.push(part);
    }
    BUNRAKU_ASSERT(parts.size() == node.segments.size());
    if (parts.size() == 1) return parts[0];
    char* const out = static_cast<char*>(in.arena_.allocate(size + 1, 1));
    char* at = out;
    for (const Value& part : parts.view()) {
        const std::string_view s = part.as_string();
        if (!s.empty()) std::memcpy(at, s.data(), s.size());
        at += s.size();
    }
    BUNRAKU_ASSERT(at == out + size);
    *at = '\0';
    const Value text = Value::string(std::string_view(out, size));
    return bytes ? text.in_encoding(joined_as_bytes(parts.view(), text.as_string())) : text;
}

Value Evaluation::text(Interpreter& in, const TextExpression& node, Scope& scope) {
    if (const auto* name = as<QualifiedName>(node.expr)) {
        if (const auto v = in.lookup_variable(scope, name->value)) return interpolated(in, *v);
        return interpolated(in, unknown_variable(in, name->value, &node));
    }
    BUNRAKU_EVAL(v, in, node.expr, scope);
    return interpolated(in, v);
}

Value Evaluation::heredoc(Interpreter& in, const HeredocExpression& node, Scope& scope) {
    BUNRAKU_EVAL(v, in, node.text_expr, scope);
    if (!node.syntax.empty() && node.text_expr->kind != NodeKind::LiteralString)
        check_external_syntax(v, node.syntax, node.text_expr);
    return v;
}

namespace {

/// Compares types like Puppet's TypeCalculator#equals and its order of types. Types are equal if
/// they are the same or accept the same values. A type is less than another type that accepts more
/// values.
bool compare_types(types::Context& context, Op op, const types::Type* a, const types::Type* b) {
    const auto takes = [&](const types::Type* t, const types::Type* o) {
        return types::is_assignable(context, t, o);
    };
    const auto same = [&] { return a->equal(*b) || (takes(b, a) && takes(a, b)); };
    switch (op) {
        case Op::Equal: return same();
        case Op::NotEqual: return !same();
        case Op::Less: return takes(b, a) && !same();
        case Op::LessEqual: return takes(b, a);
        case Op::Greater: return takes(a, b) && !same();
        default: return takes(a, b);
    }
}

}  // namespace

Value Evaluation::comparison(Interpreter& in, const ComparisonExpression& node, Scope& scope) {
    BUNRAKU_EVAL(left, in, node.left, scope);
    BUNRAKU_EVAL(right, in, node.right, scope);
    if (left.is_type() && right.is_type())
        return Value::boolean(compare_types(in.types_, node.op, left.as_type(), right.as_type()));
    switch (node.op) {
        case Op::Equal: return Value::boolean(equals(left, right));
        case Op::NotEqual: return Value::boolean(!equals(left, right));
        default: break;
    }
    try {
        if (left.is_type()) return Value::boolean(false);
        const int order = compare(left, right);
        switch (node.op) {
            case Op::Less: return Value::boolean(order < 0);
            case Op::LessEqual: return Value::boolean(order <= 0);
            case Op::Greater: return Value::boolean(order > 0);
            default: return Value::boolean(order >= 0);
        }
    } catch (const base::PuppetError& error) {
        if (error.located()) throw;
        fail(in, &node, "COMPARISON_NOT_POSSIBLE",
             "Comparison of: {} {} {}, is not possible. Caused by '{}'.", label(left),
             op_text(node.op), label(right), error.message());
    }
}

Value Evaluation::match(Interpreter& in, const MatchExpression& node, Scope& scope) {
    BUNRAKU_EVAL(left, in, node.left, scope);
    BUNRAKU_EVAL(pattern, in, node.right, scope);
    const bool positive = node.op == Op::Match;
    const auto answer = [positive](bool matched) { return Value::boolean(matched == positive); };
    if (pattern.is_type()) return answer(types::is_instance(in.types_, pattern.as_type(), left));
    if (pattern.is(Kind::SemVerRange)) return answer(matches(in, left, pattern, nullptr));
    const regex::Regex* regex = nullptr;
    if (pattern.is(Kind::Regexp)) {
        regex = pattern.as_regexp().regex;
    } else {
        if (!pattern.is_string())
            fail(in, node.right, "MATCH_NOT_REGEXP",
                 "Can not convert right match operand to a regular expression. Caused by 'no "
                 "implicit conversion of {} into String'.",
                 pattern.is_undef()          ? "nil"
                 : pattern.is(Kind::Boolean) ? (pattern.as_boolean() ? "true" : "false")
                                             : label(pattern));
        try {
            regex = value::make_regexp(in.arena_, pattern.as_string()).as_regexp().regex;
        } catch (const base::PuppetError& error) {
            fail(in, node.right, "MATCH_NOT_REGEXP",
                 "Can not convert right match operand to a regular expression. Caused by '{}'.",
                 error.message());
        }
    }
    if (!left.is_string())
        fail(in, node.left, "MATCH_NOT_STRING",
             "Left match operand must result in a String value. Got {}.", a_an(label(left)));
    bool matched = false;
    set_match(in, scope, left, *regex, matched);
    return answer(matched);
}

Value Evaluation::in_expression(Interpreter& in, const InExpression& node, Scope& scope) {
    BUNRAKU_EVAL(left, in, node.left, scope);
    BUNRAKU_EVAL(right, in, node.right, scope);
    return Value::boolean(includes(in, right, left, &scope));
}

Value Evaluation::epp(Interpreter& in, const EppExpression& node, Scope& scope) {
    value::JoinedText output;
    struct Restore {
        Interpreter& in;
        value::JoinedText* output;
        bool sensitive;
        ~Restore() {
            in.epp_output = output;
            in.epp_sensitive = sensitive;
        }
    } const restore{in, in.epp_output, in.epp_sensitive};
    in.epp_output = &output;
    in.epp_sensitive = false;
    eval(in, node.body, scope);
    BUNRAKU_RETURN_IF_PENDING(in);
    const Value text = value::make_string(in.arena_, output.text()).in_encoding(output.is_bytes());
    return in.epp_sensitive ? value::make_sensitive(in.arena_, text) : text;
}

Value Evaluation::render(Interpreter& in, const RenderExpression& node, Scope& scope) {
    BUNRAKU_EVAL(v, in, node.expr, scope);
    if (!in.epp_output) return Value::undef();
    if (v.is(Kind::Sensitive)) {
        in.epp_sensitive = true;
        in.epp_output->append(v.unwrap());
    } else {
        in.epp_output->append(v);
    }
    return Value::undef();
}

}  // namespace bunraku::evaluator
