// SPDX-License-Identifier: Apache-2.0
// Blocks and conditions.
#include "language/evaluator/evaluation.h"

namespace bunraku::evaluator {

using namespace syntax;

Value Evaluation::block(Interpreter& in, const BlockExpression& node, Scope& scope) {
    Value last;
    const Node* previous = nullptr;
    for (const Node* statement : node.statements) {
        // No code uses the value of the previous statement.
        if (FactReads::Path unused; previous) (void)in.fact_reads.take_pending(previous, unused);
        last = eval(in, statement, scope);
        BUNRAKU_RETURN_IF_PENDING(in);
        previous = statement;
    }
    return last;
}

Value Evaluation::if_expression(Interpreter& in, const IfExpression& node, Scope& scope) {
    const MatchGuard guard(scope);
    BUNRAKU_EVAL(test, in, node.test, scope);
    return eval(in, test.truthy() ? node.then_expr : node.else_expr, scope);
}

Value Evaluation::unless_expression(Interpreter& in, const UnlessExpression& node, Scope& scope) {
    const MatchGuard guard(scope);
    BUNRAKU_EVAL(test, in, node.test, scope);
    return eval(in, test.truthy() ? node.else_expr : node.then_expr, scope);
}

/// Reports whether one option of a case or selector matches; the option is not `default`. Also
/// returns false if a completion is pending.
bool Evaluation::option_matches(Interpreter& in, const Value& subject, const Node* option,
                                Scope& scope) {
    const Value v = eval(in, option, scope);
    if (pending(in)) return false;
    if (option->kind != NodeKind::UnfoldExpression) return matches(in, subject, v, &scope);
    for (const Value& each : v.as_array())
        if (matches(in, subject, each, &scope)) return true;
    return false;
}

Value Evaluation::case_expression(Interpreter& in, const CaseExpression& node, Scope& scope) {
    const MatchGuard guard(scope);
    BUNRAKU_EVAL(test, in, node.test, scope);
    const Node* otherwise = nullptr;
    for (const CaseOption* option : node.options) {
        for (const Node* value : option->values) {
            const Node* candidate = unwind_parentheses(value);
            if (candidate->kind == NodeKind::LiteralDefault) {
                otherwise = option->then_expr;
                continue;
            }
            const bool hit = option_matches(in, test, candidate, scope);
            BUNRAKU_RETURN_IF_PENDING(in);
            if (hit) return eval(in, option->then_expr, scope);
        }
    }
    return eval(in, otherwise, scope);
}

Value Evaluation::selector(Interpreter& in, const SelectorExpression& node, Scope& scope) {
    const MatchGuard guard(scope);
    BUNRAKU_EVAL(test, in, node.left, scope);
    const Node* otherwise = nullptr;
    for (const SelectorEntry* entry : node.selectors) {
        const Node* candidate = unwind_parentheses(entry->matching_expr);
        if (candidate->kind == NodeKind::LiteralDefault) {
            otherwise = entry->value_expr;
            continue;
        }
        const bool hit = option_matches(in, test, candidate, scope);
        BUNRAKU_RETURN_IF_PENDING(in);
        if (hit) return eval(in, entry->value_expr, scope);
    }
    if (otherwise) return eval(in, otherwise, scope);
    fail(in, node.left, "UNMATCHED_SELECTOR",
         "No matching entry for selector parameter with value '{}'", ruby_to_s(test));
}

}  // namespace bunraku::evaluator
