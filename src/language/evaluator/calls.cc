// SPDX-License-Identifier: Apache-2.0
// Calls by name, as a method, or of a type; built-in functions and their dispatch.
#include <algorithm>

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "language/environment/read_answer.h"
#include "language/evaluator/closure.h"
#include "language/evaluator/dispatch.h"
#include "language/evaluator/evaluation.h"
#include "language/types/factory.h"
#include "language/types/kinds.h"
#include "language/types/mismatch.h"
#include "language/types/object.h"

namespace bunraku::evaluator {

using namespace syntax;

void Callable::print(std::string& out) const { out += name(); }

int Callable::block_arity() const {
    const auto [required, maximum] = arity();
    return maximum == required ? required : -(required + 1);
}

base::Arena& Call::arena() const { return interpreter.arena(); }

Value Call::yield(std::span<const Value> block_args) const {
    BUNRAKU_ASSERT(block);
    return block->call(interpreter, scope, block_args, nullptr, site);
}

Value Call::yield(std::initializer_list<Value> block_args) const {
    return yield(std::span<const Value>(block_args.begin(), block_args.size()));
}

const Callable* Interpreter::find_callable(std::string_view name) {
    // Data can contain this name. It has a symbol only if some code interned it.
    if (const Symbol known = Symbol::find(name))
        if (const Callable* callable = impl_->callables.find(known.view().data())) return callable;
    const Callable* found = nullptr;
    std::string_view plain = name;
    if (plain.starts_with("::")) plain.remove_prefix(2);
    const Builtin* builtin = functions_.find(plain);
    if (hosts_.definitions && (!builtin || functions_.is_replaceable(*builtin)))
        found = hosts_.definitions->find_function(*this, plain);
    if (!found && builtin) found = arena_.make<BuiltinFunction>(*builtin, functions_);
    if (found) impl_->callables.set(Symbol::intern(name).view().data(), found);
    return found;
}

bool Interpreter::function_exists(std::string_view name) { return find_callable(name) != nullptr; }

Value Interpreter::call_function(std::string_view name, std::span<const Value> args, Scope& scope,
                                 const Callable* block, const Node* site) {
    const Callable* callable = find_callable(name);
    if (!callable) fail(fmt::format("Unknown function: '{}'.", name), "UNKNOWN_FUNCTION", site);
    // A call without a site is a call from Ruby or from a native function. It does not appear in
    // Puppet's stack (PuppetStack).
    return Evaluation::invoke(*this, *callable, args, block, site ? site : current_site(), scope,
                              site != nullptr);
}

Value Evaluation::invoke(Interpreter& in, const Callable& callable, std::span<const Value> args,
                         const Callable* block, const Node* site, Scope& scope, bool on_stack) {
    struct Frame {
        Interpreter& in;
        Interpreter::CallFrame link;
        Frame(Interpreter& i, const Node* site, bool on_stack)
            : in(i), link{site, Evaluation::frame(i)} {
            if (site && on_stack) Evaluation::frame(in) = &link;
            ++Evaluation::depth(in);
        }
        ~Frame() {
            BUNRAKU_ASSERT(Evaluation::depth(in) > 0);
            Evaluation::frame(in) = link.outer;
            --Evaluation::depth(in);
        }
    } const frame(in, site, on_stack);
    if (in.depth_ > in.options_.max_depth) throw base::PuppetError("stack level too deep");
    return callable.call(in, scope, args, block, site);
}

Value Evaluation::call_with_block(Interpreter& in, std::string_view name,
                                  std::span<const Value> args, const LambdaExpression* lambda,
                                  const Node* site, Scope& scope) {
    const Callable* callable = in.impl_->callables.find(name.data());
    if (!callable) callable = in.find_callable(name);
    if (!callable) fail(in, site, "UNKNOWN_FUNCTION", "Unknown function: '{}'.", name);
    if (!lambda) return invoke(in, *callable, args, nullptr, site, scope);
    const LambdaClosure block(
        lambda_info(in, lambda, lambda->parameters, lambda->body, lambda->return_type, scope),
        scope);
    return invoke(in, *callable, args, &block, site, scope);
}

namespace {

/// Reports whether a function only passes the key and the value of each hash entry to its block,
/// and uses nothing else of the entries except the results of the block.
bool walks_entries(std::string_view function, const LambdaExpression* block) {
    if (function != "each" && function != "map" && function != "filter" && function != "any" &&
        function != "all")
        return false;
    if (!block || block->parameters.size() != 2) return false;
    return std::ranges::all_of(block->parameters, [](const Parameter* p) {
        // Checks against other types, including aliases, may look into the value.
        const auto* type = as<QualifiedReference>(p->type_expr);
        const bool plain =
            !p->type_expr ||
            (type && (type->value == "any" || type->value == "hash" || type->value == "string"));
        return plain && !p->captures_rest;
    });
}

}  // namespace

Value Evaluation::call_named(Interpreter& in, const CallNamedFunctionExpression& node,
                             Scope& scope) {
    const Node* functor = node.functor;
    ValueBuffer args;
    const auto* access_node = as<AccessExpression>(functor);
    if (functor->kind == NodeKind::QualifiedReference ||
        (access_node && access_node->left->kind == NodeKind::QualifiedReference)) {
        BUNRAKU_EVAL(type, in, functor, scope);
        args.push(type);
        unfold(in, node.arguments, scope, args);
        BUNRAKU_RETURN_IF_PENDING(in);
        static const Symbol kNew = Symbol::intern("new");
        return call_with_block(in, kNew.view(), args.view(), node.lambda, &node, scope);
    }
    if (functor->kind == NodeKind::RenderStringExpression)
        fail(in, &node, "ILLEGAL_EPP_PARAMETERS",
             "Ambiguous EPP parameter expression. Probably missing '<%-' before parameters to "
             "remove leading whitespace");
    const auto* name = as<QualifiedName>(functor);
    if (!name)
        fail(in, functor, "ILLEGAL_EXPRESSION",
             "Illegal expression. {} is unacceptable as {} in {}", a_an_uc(label(functor)),
             "function name", a_an(label(&node)));
    unfold(in, node.arguments, scope, args);
    // Callables are found by the address of the name's text.
    const auto function = name->symbol ? name->symbol.view() : name->value;
    if (name->value == "each" && node.lambda) in.impl_->walks.discard(node.lambda->body);
    if (FactReads::Path path; node.arguments.size() == 1 && args.size() == 1 &&
                              in.fact_reads.take_pending(node.arguments[0], path)) [[unlikely]] {
        if (args[0].is_hash() && walks_entries(name->value, node.lambda))
            return walk_fact(in, node, *node.lambda, scope, function, args[0], std::move(path));
        record_dug_path(in, name->value == "keys" ? "keys" : "", args.view(), std::move(path));
    }
    BUNRAKU_RETURN_IF_PENDING(in);
    return call_with_block(in, function, args.view(), node.lambda, &node, scope);
}

/// Evaluates a call such as `$facts['mountpoints'].each |$name, $mount| { .. }`. Records the keys
/// of the hash at `path` as read. The block records the parts of the values that it reads.
Value Evaluation::walk_fact(Interpreter& in, const Node& node, const LambdaExpression& block,
                            Scope& scope, std::string_view function, const Value& hash,
                            FactReads::Path path) {
    in.impl_->walks.iterate(in.fact_reads, path, hash.as_hash());
    const Value result = call_with_block(in, function, std::span(&hash, 1), &block, &node, scope);
    if (!result.is_hash() || result.as_hash().size() == 0 || in.impl_->walks.is_discarded(node))
        return result;
    // The result is the hash itself, or contains some of its entries.
    if (function == "filter") in.impl_->walks.add_part(in.fact_reads, path, result.as_hash());
    in.fact_reads.defer_record(node, std::move(path));
    return result;
}

/// Records the path that `$facts.dig('os', 'family')` or `$facts.get('os.family')` reads.
void Evaluation::record_dug_path(Interpreter& in, std::string_view function,
                                 std::span<const Value> args, FactReads::Path path) {
    if (function == "dig") {
        for (const Value& key : args.subspan(1))
            if (!FactReads::append(path, key)) break;
    } else if (function == "keys" && args.size() == 1 && args[0].is_hash()) {
        environment::append_segment(path.text, environment::kKeysSegment);
    } else if (function == "get" && args.size() > 1 && args[1].is_string() &&
               !args[1].as_string().empty()) {
        if (!path.text.empty()) path.text += '.';
        path.text += args[1].as_string();
    }
    in.fact_reads.record_path(path);
}

Value Evaluation::call_method(Interpreter& in, const CallMethodExpression& node, Scope& scope) {
    if (!node.functor)
        fail(in, &node, "ILLEGAL_EXPRESSION", "Illegal expression. {} is unacceptable as {} in {}",
             a_an_uc(label(&node)), "function accessor", a_an(label(&node)));
    ValueBuffer args;
    unfold(in, NodeList(&node.functor->left, 1), scope, args);
    BUNRAKU_RETURN_IF_PENDING(in);
    const auto* name = as<QualifiedName>(node.functor->right);
    if (!name)
        fail(in, node.functor, "ILLEGAL_EXPRESSION",
             "Illegal expression. {} is unacceptable as {} in {}", a_an_uc(label(node.functor)),
             "function name", a_an(label(&node)));
    const bool has_receiver = args.size() > 0;
    const Value receiver = has_receiver ? args[0] : Value::undef();
    FactReads::Path path;
    const bool of_fact = in.fact_reads.take_pending(node.functor->left, path);
    unfold(in, node.arguments, scope, args);
    // Callables are found by the address of the name's text.
    const auto function = name->symbol ? name->symbol.view() : name->value;
    if (name->value == "each" && node.lambda) in.impl_->walks.discard(node.lambda->body);
    if (of_fact) [[unlikely]] {
        if (receiver.is_hash() && args.size() == 1 && walks_entries(name->value, node.lambda))
            return walk_fact(in, node, *node.lambda, scope, function, receiver, std::move(path));
        record_dug_path(in, name->value, args.view(), std::move(path));
    }
    BUNRAKU_RETURN_IF_PENDING(in);
    if (has_receiver && receiver.is(Kind::Object) && in.hosts_.lookup) {
        const Callable* block = node.lambda ? in.make_lambda(*node.lambda, scope) : nullptr;
        if (const auto v = in.hosts_.lookup->context_method(in, scope, receiver, name->value,
                                                            args.view().subspan(1), block))
            return *v;
    }
    if (has_receiver && receiver.is(Kind::Object) && in.hosts_.members) {
        if (const auto v = in.hosts_.members->call_member(in, scope, receiver, name->value,
                                                          args.view().subspan(1)))
            return *v;
    }
    if (has_receiver && (receiver.is(Kind::Object) || receiver.is(Kind::Uri)))
        if (const auto v = types::call_member(in.types_, receiver, name->value,
                                              args.view().subspan(1), node.lambda != nullptr))
            return *v;
    return call_with_block(in, function, args.view(), node.lambda, &node, scope);
}

std::span<const ParsedOverload> BuiltinFunction::overloads() const {
    if (overloads_.empty()) overloads_ = table_.overloads(builtin_);
    BUNRAKU_ASSERT(overloads_.size() == builtin_.overloads.size());
    return overloads_;
}

namespace {

/// Reports whether functions of the 3.x API get the text of the value, or of a part of it
/// (Puppet's Runtime3FunctionArgumentConverter). Throws for iterators, which they cannot get.
bool has_newer_scalars(const Value& v) {
    base::step();
    switch (v.kind()) {
        case Kind::Regexp:
        case Kind::Timestamp:
        case Kind::Timespan:
        case Kind::SemVer:
        case Kind::SemVerRange:
        case Kind::Binary: return true;
        case Kind::Iterator: throw base::PuppetError("Use of an Iterator is not supported here");
        case Kind::Array: return std::ranges::any_of(v.as_array(), has_newer_scalars);
        case Kind::Hash:
            return std::ranges::any_of(v.as_hash(), [](const value::Entry& e) {
                return has_newer_scalars(e.key) || has_newer_scalars(e.value);
            });
        default: return false;
    }
}

/// Replaces these values by their texts.
Value for_older_functions(base::Arena& arena, const Value& v) {
    base::step();
    if (!has_newer_scalars(v)) return v;
    if (v.is_array()) {
        std::vector<Value> items;
        for (const Value& item : v.as_array()) items.push_back(for_older_functions(arena, item));
        return value::make_array(arena, items);
    }
    if (!v.is_hash()) return value::make_string(arena, value::to_text(v));
    value::HashBuilder out(arena, v.as_hash().size());
    for (const value::Entry& e : v.as_hash())
        out.set(for_older_functions(arena, e.key), for_older_functions(arena, e.value));
    return out.build();
}

}  // namespace

/// Calls a function of Puppet's 3.x API, which has a number of arguments but no types, and gets ""
/// for undef.
Value BuiltinFunction::call_legacy(Interpreter& in, Scope& scope, std::span<const Value> args,
                                   const Callable* block, const Node* site) const {
    const int arity = builtin_.legacy_arity;
    const auto given = static_cast<int>(args.size());
    if (arity >= 0 && given != arity)
        runtime_error("{}(): Wrong number of arguments given ({} for {})", builtin_.name, given,
                      arity);
    if (arity < 0 && given < -(arity + 1))
        runtime_error("{}(): Wrong number of arguments given ({} for minimum {})", builtin_.name,
                      given, -(arity + 1));
    ValueBuffer mapped;
    for (const Value& v : args)
        mapped.push(v.is_undef() ? Value::string("") : for_older_functions(in.arena(), v));
    BUNRAKU_ASSERT(builtin_.overloads.size() > 0 && mapped.size() == args.size());
    return builtin_.overloads.begin()->code(Call{in, scope, mapped.view(), block, site});
}

Value BuiltinFunction::call(Interpreter& in, Scope& scope, std::span<const Value> args,
                            const Callable* block, const Node* site) const {
    if (in.options().only_usual && builtin_.usual &&
        !builtin_.usual({in, scope, args, block, site}))
        runtime_error("{}(): not the usual arguments", builtin_.name);
    if (builtin_.legacy_arity != kTyped) return call_legacy(in, scope, args, block, site);
    const config::Compatibility level = in.options().level;
    for (const ParsedOverload& candidate : overloads()) {
        if (!candidate.overload->exists(level) || !accepts(in, candidate, args, block)) continue;
        BUNRAKU_ASSERT(candidate.overload && candidate.overload->code);
        const Call call{in, scope, args, block, site};
        if (!candidate.overload->mismatch) return candidate.overload->code(call);
        const Value text = candidate.overload->code(call);
        runtime_error("'{}' {}", builtin_.name, value::to_text(text));
    }
    std::vector<types::Signature> signatures;
    for (const ParsedOverload& candidate : overloads()) {
        if (candidate.overload->mismatch || !candidate.overload->exists(level)) continue;
        types::Signature s;
        s.type = candidate.callable;
        s.parameter_names.assign(candidate.names.begin(), candidate.names.end());
        if (!candidate.block_name.empty()) s.block_name = candidate.block_name;
        signatures.push_back(std::move(s));
    }
    const auto text = types::describe_call(in.types(), builtin_.name, signatures, args,
                                           block ? block->signature(in) : nullptr);
    throw base::PuppetError(text.value_or(fmt::format("'{}' cannot be called so", builtin_.name)));
}

const types::Type* BuiltinFunction::signature(Interpreter& in) const {
    std::vector<const types::Type*> all;
    for (const ParsedOverload& candidate : overloads())
        if (!candidate.overload->mismatch && candidate.overload->exists(in.options().level))
            all.push_back(candidate.callable);
    return all.size() == 1 ? all[0] : types::make_variant(in.types(), all);
}

std::pair<int, int> BuiltinFunction::arity() const {
    int required = 1 << 20, maximum = 0;
    for (const ParsedOverload& candidate : overloads()) {
        required = std::min(required, candidate.minimum);
        if (maximum >= 0)
            maximum = candidate.maximum < 0 ? -1 : std::max(maximum, candidate.maximum);
    }
    return {required, maximum};
}

std::vector<std::string_view> BuiltinFunction::parameter_names() const {
    const auto all = overloads();
    if (all.empty()) return {};
    return {all[0].names.begin(), all[0].names.end()};
}

}  // namespace bunraku::evaluator
