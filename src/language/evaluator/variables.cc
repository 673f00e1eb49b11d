// SPDX-License-Identifier: Apache-2.0
// Variables: lookup, assignment and match variables (Puppet::Parser::Scope and the evaluator).
#include <algorithm>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/regex/regex.h"
#include "core/value/text.h"
#include "language/evaluator/evaluation.h"
#include "language/evaluator/watcher.h"
#include "language/types/kinds.h"

namespace bunraku::evaluator {

using namespace syntax;

namespace {

bool all_digits(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Reports whether the text is 0, or a decimal number that does not start with 0.
bool numeric_name(std::string_view text) {
    return all_digits(text) && (text.size() == 1 || text[0] != '0');
}

bool built_in_name(std::string_view name) {
    return name == "module_name" || name == "caller_module_name";
}

/// Returns the pending parameters of the scope if `name` is one of them, or null otherwise.
const PendingParameters* pending_with(const Scope& scope, Symbol name) {
    if (!scope.pending) return nullptr;
    const auto& names = scope.pending->names;
    return std::find(names.begin(), names.end(), name) != names.end() ? scope.pending : nullptr;
}

}  // namespace

const Value* Evaluation::find_variable(Scope& scope, Symbol name) {
    for (const Scope* s = &scope; s; s = s->parent) {
        if (const Value* v = s->find_local(name)) return v;
        if (s->pending) [[unlikely]]
            if (const auto* missing = pending_with(*s, name))
                throw UnevaluatedParameter{missing, name};
    }
    return nullptr;
}

const Value* Evaluation::find_qualified(Interpreter& in, Scope&, std::string_view name) {
    if (name.starts_with("::")) name.remove_prefix(2);
    const auto at = name.rfind("::");
    if (at == std::string_view::npos) return in.top_->find_local(name);
    const std::string_view class_name = name.substr(0, at);
    // The top scope may contain a variable with this qualified name (`--vars`, hiera's scopes).
    if (in.top_->given)
        if (const Value* v = in.top_->given->find(name)) return v;
    // This call fills the settings scope on first use, which also interns the names of the
    // settings.
    Scope* owner = in.hosts_.catalog ? in.hosts_.catalog->class_scope(class_name) : nullptr;
    if (!owner && class_name == "") return in.top_->find_local(name.substr(at + 2));
    if (!owner) return nullptr;
    if (class_name == "settings")
        environment::Trace::record(environment::Read::Setting, name.substr(at + 2));
    const Symbol leaf = Symbol::find(name.substr(at + 2));
    if (!leaf) return nullptr;
    for (; owner && (owner->kind == ScopeKind::Class || owner->kind == ScopeKind::Top);
         owner = owner->parent) {
        if (const Value* v = owner->find_local(leaf)) return v;
        if (const auto* missing = pending_with(*owner, leaf))
            throw UnevaluatedParameter{missing, leaf};
        if (owner->kind == ScopeKind::Top) break;
        // The search only continues in an inherited class.
        if (!owner->parent || owner->parent->kind != ScopeKind::Class) break;
    }
    return nullptr;
}

const Value* Evaluation::find_match(Scope& scope, std::uint32_t number) {
    for (const Scope* s = &scope; s; s = s->parent) {
        if (s->has_match) return number < s->match.size() ? &s->match[number] : nullptr;
        // a function can only access the variables of the top scope
        if (s->kind == ScopeKind::Function) break;
    }
    return nullptr;
}

Value Evaluation::unknown_variable(Interpreter& in, std::string_view name, const Node* site) {
    if (built_in_name(name) || numeric_name(name)) return Value::undef();
    std::string message = fmt::format("Unknown variable: '{}'.", name);
    const Strict severity = in.options_.strict_variables ? Strict::Error : in.options_.strict;
    if (severity == Strict::Error) in.fail(std::move(message), "UNKNOWN_VARIABLE", site);
    if (severity == Strict::Warning) in.warn(std::move(message), "UNKNOWN_VARIABLE", site);
    return Value::undef();
}

Value Evaluation::variable(Interpreter& in, const VariableExpression& node, Scope& scope) {
    if (node.numeric) {
        const Value* v = find_match(scope, node.number);
        return v ? *v : Value::undef();
    }
    const std::string_view name = node.name.view();
    if (!node.expr || (node.expr->kind != NodeKind::QualifiedName &&
                       node.expr->kind != NodeKind::LiteralInteger &&
                       node.expr->kind != NodeKind::LiteralString && name.empty())) {
        fail(in, node.expr, "ILLEGAL_VARIABLE_EXPRESSION",
             "Illegal variable expression. {} did not produce a variable name (String or Numeric).",
             a_an_uc(label(node.expr)));
    }
    const Value* v = node.qualified || name.find("::") != std::string_view::npos
                         ? find_qualified(in, scope, name)
                         : find_variable(scope, node.name);
    in.fact_reads.variable(node, name, v);
    if (v) {
        in.impl_->walks.variable(in.fact_reads, node, *v);
        return *v;
    }
    const auto* written = as<QualifiedName>(node.expr);
    return unknown_variable(in, written ? written->value : name, &node);
}

std::optional<Value> Interpreter::lookup_variable(Scope& scope, std::string_view name,
                                                  std::string_view below) {
    const Value* v = nullptr;
    if (all_digits(name)) {
        if (const auto group = base::parse_integer<std::uint32_t>(name)) {
            v = Evaluation::find_match(scope, *group);
        }
    } else if (name.find("::") != std::string_view::npos) {
        v = Evaluation::find_qualified(*this, scope, name);
    } else if (const Symbol symbol = Symbol::find(name)) {
        v = Evaluation::find_variable(scope, symbol);
    } else {
        // The name is not a symbol, so no code contains it. Only external variables can have it.
        for (const Scope* s = &scope; s && !v; s = s->parent)
            if (s->given) v = s->given->find(name);
    }
    if (const auto* part = v ? impl_->walks.find(*v) : nullptr) {
        FactReads::Path path = *part;
        if (!below.empty() && below != FactReads::kRecordedLater)
            path.text.append(".").append(below);
        fact_reads.record_path(path);
    } else {
        fact_reads.record_variable(name, v, below);
    }
    if (watcher) [[unlikely]]
        watcher->variable_read(scope, name, v);
    return v ? std::optional<Value>(*v) : std::nullopt;
}

bool Interpreter::variable_exists(Scope& scope, std::string_view name) {
    if (built_in_name(name)) return true;
    return lookup_variable(scope, name).has_value();
}

void Interpreter::assign(Scope& scope, Symbol name, const Value& v, const Node* site) {
    const std::string_view text = name.view();
    if (text.find("::") != std::string_view::npos)
        Evaluation::fail(*this, site, "CROSS_SCOPE_ASSIGNMENT",
                         "Illegal attempt to assign to '{}'. Cannot assign to variables in other "
                         "namespaces",
                         text);
    if (text == "server_facts")
        Evaluation::fail(*this, site, "ILLEGAL_RESERVED_ASSIGNMENT",
                         "Attempt to assign to a reserved variable name: '${}'", text);
    const bool reserved = text == "trusted" || text == "facts";
    if (scope.find_local(name) || pending_with(scope, name)) {
        if (reserved)
            Evaluation::fail(*this, site, "ILLEGAL_RESERVED_ASSIGNMENT",
                             "Attempt to assign to a reserved variable name: '${}'", text);
        if (text == "name" || text == "title")
            Evaluation::fail(*this, site, "ILLEGAL_REASSIGNMENT",
                             "Cannot reassign built in (or already assigned) variable '${}'", text);
        Evaluation::fail(*this, site, "ILLEGAL_REASSIGNMENT", "Cannot reassign variable '${}'",
                         text);
    }
    if (all_digits(text))
        runtime_error("Cannot assign to a numeric match result variable '${}'", text);
    if (reserved) runtime_error("Attempt to assign to a reserved variable name: '{}'", text);
    if (scope.pending && scope.pending->read_only)
        runtime_error("Attempt to assign variable {} when evaluating parameters", text);
    scope.add_local(name, v);
    BUNRAKU_ASSERT(scope.find_local(name));
}

/// Throws if the target is not assignable. Called before the right side is evaluated.
void Evaluation::check_assignable(const Node* target, Interpreter& in) {
    if (target && target->kind == NodeKind::VariableExpression) return;
    if (const auto* list = as<LiteralList>(target)) {
        for (const Node* each : list->values) check_assignable(each, in);
        return;
    }
    fail(in, target, "ILLEGAL_ASSIGNMENT",
         "Illegal attempt to assign to '{}'. Not an assignable reference", a_an(label(target)));
}

/// Assigns the value at `path` of the facts to a variable. Later reads of the variable, and uses of
/// the value of the assignment, are recorded.
void Evaluation::assign_fact(Interpreter& in, const AssignmentExpression& node, const Value& v,
                             FactReads::Path path) {
    const bool tracked =
        node.left->kind == NodeKind::VariableExpression && v.is_hash() && v.as_hash().size() > 0;
    if (!tracked) return in.fact_reads.record_path(path);
    in.impl_->walks.add_part(in.fact_reads, path, v.as_hash());
    if (!in.impl_->walks.is_discarded(node)) in.fact_reads.defer_record(node, std::move(path));
}

Value Evaluation::assignment(Interpreter& in, const AssignmentExpression& node, Scope& scope) {
    if (node.left->kind != NodeKind::VariableExpression) check_assignable(node.left, in);
    BUNRAKU_EVAL(v, in, node.right, scope);
    if (node.op != Op::Assign)
        fail(in, &node, "UNSUPPORTED_OPERATOR", "The operator '{}' is not supported.",
             op_text(node.op));
    if (FactReads::Path path; in.fact_reads.take_pending(node.right, path)) [[unlikely]]
        assign_fact(in, node, v, std::move(path));
    assign_to(in, node.left, v, node, scope);
    return v;
}

namespace {

/// Returns the value to which Puppet evaluates the target of an assignment: the name of a variable,
/// the number of a match variable, or an array of these for a list.
Value target_key(base::Arena& arena, const Node* target) {
    if (const auto* variable = as<VariableExpression>(target))
        return variable->numeric ? Value::integer(static_cast<std::int64_t>(variable->number))
                                 : Value::string(variable->name.view());
    std::vector<Value> keys;
    for (const Node* each : to<LiteralList>(target).values) keys.push_back(target_key(arena, each));
    return value::make_array(arena, keys);
}

std::string ruby_text(const Value& v) {
    std::string out;
    value::print_ruby_to_s(out, v);
    return out;
}

}  // namespace

void Evaluation::assign_to(Interpreter& in, const Node* target, const Value& v,
                           const AssignmentExpression& node, Scope& scope) {
    if (const auto* single = as<VariableExpression>(target)) {
        if (single->numeric)
            fail(in, node.left, "ILLEGAL_NUMERIC_ASSIGNMENT",
                 "Illegal attempt to assign to the numeric match result variable '${}'. Numeric "
                 "variables are not assignable",
                 single->number);
        if (single->qualified) {
            const auto* written = as<QualifiedName>(single->expr);
            fail(in, node.left, "CROSS_SCOPE_ASSIGNMENT",
                 "Illegal attempt to assign to '{}'. Cannot assign to variables in other "
                 "namespaces",
                 written ? written->value : single->name.view());
        }
        in.assign(scope, single->name, v, &node);
        return;
    }
    const auto& list = to<LiteralList>(target);
    const auto key_of = [&](const Node* n) { return target_key(in.arena_, n); };
    if (v.is_hash()) {
        for (const Node* each : list.values) {
            const Value* found = v.as_hash().find(key_of(each));
            if (!found)
                fail(in, &node, "MISSING_MULTI_ASSIGNMENT_KEY",
                     "No value for required key '{}' in assignment to variables from hash",
                     ruby_text(key_of(each)));
            assign_to(in, each, *found, node, scope);
        }
        return;
    }
    if (const auto* from = v.is_type() ? types::as<types::ClassType>(v.as_type()) : nullptr) {
        const std::string_view class_name = from->class_name.value_or("");
        Scope* owner = in.hosts_.catalog ? in.hosts_.catalog->class_scope(class_name) : nullptr;
        if (!owner)
            fail(in, node.right, "UNKNOWN_RESOURCE", "Resource not found: {}['{}']", "Class",
                 class_name);
        for (std::size_t i = 0; i < list.values.size(); ++i) {
            const std::string qualified =
                fmt::format("{}::{}", class_name, ruby_text(key_of(list.values[i])));
            const Value* found = find_qualified(in, scope, qualified);
            if (!found)
                fail(in, list.values[i], "MISSING_MULTI_ASSIGNMENT_VARIABLE",
                     "No value for required variable '${}' in assignment to variables from class "
                     "reference",
                     qualified);
            assign_to(in, list.values[i], *found, node, scope);
        }
        return;
    }
    const std::span<const Value> values = v.is_array() ? v.as_array() : std::span(&v, 1);
    if (values.size() != list.values.size())
        fail(in, &node, "ILLEGAL_MULTI_ASSIGNMENT_SIZE",
             "Mismatched number of assignable entries and values, expected {}, got {}",
             list.values.size(), values.size());
    BUNRAKU_ASSERT(values.size() == list.values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        assign_to(in, list.values[i], values[i], node, scope);
}

void Evaluation::set_match(Interpreter& in, Scope& scope, const Value& subject,
                           const regex::Regex& regex, bool& matched) {
    const std::string_view text = subject.as_string();
    const auto found = regex.search(text);
    matched = found.has_value();
    if (!matched) return;
    BUNRAKU_ASSERT(!found->groups.empty());
    const std::span<Value> groups = in.arena_.array<Value>(found->groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i)
        if (found->took_part(i))
            groups[i] = Value::string(found->group(text, i)).in_encoding(subject.is_bytes());
    scope.match = groups;
    scope.has_match = true;
}

}  // namespace bunraku::evaluator
