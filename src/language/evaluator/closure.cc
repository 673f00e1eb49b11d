// SPDX-License-Identifier: Apache-2.0
// Lambdas and Puppet functions: parameters, defaults, checks and bodies
// (Puppet::Pops::Evaluator::Closure).
#include "language/evaluator/closure.h"

#include <algorithm>
#include <limits>

#include "core/base/assert.h"
#include "core/value/build.h"
#include "language/evaluator/evaluation.h"
#include "language/types/factory.h"
#include "language/types/mismatch.h"
#include "language/types/type.h"

namespace bunraku::evaluator {

using namespace syntax;

Scope* Evaluation::take_scope(Interpreter& in, ScopeKind kind, Scope* parent) {
    auto& free = in.impl_->free_scopes;
    if (free.empty()) return in.new_scope(kind, parent);
    Scope* scope = free.back();
    free.pop_back();
    scope->reset(kind, parent);
    BUNRAKU_ASSERT(scope->size() == 0 && scope->parent == parent && !scope->pending);
    return scope;
}

void Evaluation::give_back(Interpreter& in, Scope* scope) {
    BUNRAKU_ASSERT(scope->kind >= ScopeKind::Function);
    if (!scope->retained) in.impl_->free_scopes.push_back(scope);
}

namespace {

/// A scope that exists while a body runs.
class BodyScope {
public:
    BodyScope(Interpreter& in, ScopeKind kind, Scope* parent)
        : in_(in), scope_(Evaluation::take_scope(in, kind, parent)) {}
    ~BodyScope() { Evaluation::give_back(in_, scope_); }
    BodyScope(const BodyScope&) = delete;
    Scope& operator*() const { return *scope_; }
    Scope* operator->() const { return scope_; }

private:
    Interpreter& in_;
    Scope* scope_;
};

types::Signature signature_of(const LambdaInfo& info) {
    types::Signature out;
    out.type = info.callable;
    for (const Parameter* p : info.parameters) out.parameter_names.push_back(p->name);
    return out;
}

}  // namespace

const LambdaInfo& Evaluation::lambda_info(Interpreter& in, const Node* node,
                                          ParameterList parameters, const Node* body,
                                          const Node* return_type, Scope& scope, bool by_name) {
    if (const LambdaInfo* known = in.impl_->lambdas.find(node)) return *known;
    base::Arena& arena = in.arena_;
    LambdaInfo info;
    info.parameters = parameters;
    info.body = body;
    info.return_type = return_type;
    const std::span<Symbol> names = arena.array<Symbol>(parameters.size());
    const std::span<const types::Type*> checks = arena.array<const types::Type*>(parameters.size());
    std::vector<const types::Type*> all;
    std::int64_t from = 0, to = 0;
    bool optional_seen = false;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Parameter& p = *parameters[i];
        names[i] = p.symbol ? p.symbol : Symbol::intern(p.name);
        const types::Type* type = in.evaluate_type(p.type_expr, scope);
        std::int64_t least = 1, most = 1;
        if (p.captures_rest) {
            least = 0;
            most = types::kMax;
            if (const auto* array = types::as<types::ArrayType>(type)) {
                if (array->size) {
                    least = std::max<std::int64_t>(array->size->min, 0);
                    most = array->size->max;
                }
                type = array->element;
            }
            info.captures_rest = true;
        } else if (p.value) {
            least = 0;
        }
        if (least == 0)
            optional_seen = true;
        else if (optional_seen && !by_name)  // named arguments have no order
            fail(in, &p, "REQUIRED_PARAMETER_AFTER_OPTIONAL",
                 "Parameter ${} is required but appears after optional parameters", p.name);
        if (__builtin_add_overflow(from, least, &from)) from = types::kMax;
        if (most == types::kMax || __builtin_add_overflow(to, most, &to)) to = types::kMax;
        all.push_back(type);
        if (type->kind != types::TypeKind::Any) checks[i] = type;
        if (checks[i] || p.value || p.captures_rest) info.simple = false;
    }
    BUNRAKU_ASSERT(all.size() == parameters.size() && names.size() == checks.size());
    BUNRAKU_ASSERT(!info.simple || !info.captures_rest);
    info.names = names;
    info.types = checks;
    // No call has more arguments than an int counts.
    constexpr std::int64_t kMostArguments = std::numeric_limits<int>::max();
    info.required = static_cast<int>(std::min(from, kMostArguments));
    info.maximum = to > kMostArguments ? -1 : static_cast<int>(to);
    if (return_type) info.returns = in.evaluate_type(return_type, scope);
    info.callable = types::make_callable(
        in.types_, types::make_tuple_type(in.types_, all, types::Range{from, to}), nullptr,
        info.returns);
    const LambdaInfo* retained = arena.make<LambdaInfo>(info);
    in.impl_->lambdas.set(node, retained);
    return *retained;
}

bool Evaluation::fits(Interpreter& in, const LambdaInfo& info, std::span<const Value> args) {
    if (args.size() < static_cast<std::size_t>(info.required)) return false;
    if (info.maximum >= 0 && args.size() > static_cast<std::size_t>(info.maximum)) return false;
    if (info.simple) return true;
    BUNRAKU_ASSERT(!info.types.empty() && info.types.size() == info.parameters.size());
    for (std::size_t i = 0; i < args.size(); ++i) {
        const types::Type* type = info.types[std::min(i, info.types.size() - 1)];
        if (type && !types::is_instance(in.types_, type, args[i])) return false;
    }
    return true;
}

void Evaluation::mismatch(Interpreter& in, const LambdaInfo& info, std::string_view callee,
                          std::span<const Value> args, const Callable* block) {
    const types::Signature signature = signature_of(info);
    const auto text = types::describe_call(in.types_, callee, std::span(&signature, 1), args,
                                           block ? block->signature(in) : nullptr);
    throw base::PuppetError(text.value_or(fmt::format("'{}' cannot be called so", callee)));
}

Value Interpreter::evaluate_default(const Parameter& parameter, Scope& scope) {
    PendingParameters* const pending = scope.pending;
    const Symbol name = parameter.symbol ? parameter.symbol : Symbol::intern(parameter.name);
    const auto position = [&](Symbol s) {
        return std::find(pending->names.begin(), pending->names.end(), s) - pending->names.begin();
    };
    struct Writable {
        PendingParameters* pending;
        bool before;
        ~Writable() {
            if (pending) pending->read_only = before;
        }
    } const writable{pending, pending && pending->read_only};
    if (pending) {
        pending->read_only = true;
        pending->current = static_cast<std::size_t>(position(name));
    }
    const MatchGuard guard(scope);
    try {
        return Evaluation::eval(*this, parameter.value, scope);
    } catch (const UnevaluatedParameter& missing) {
        if (missing.pending != pending) throw;
        if (position(missing.name) < position(name))
            runtime_error("{}: expects a value for parameter ${}", pending->callee,
                          missing.name.view());
        runtime_error(
            "{}: default expression for ${} tries to illegally access not yet evaluated ${}",
            pending->callee, name.view(), missing.name.view());
    }
}

void Evaluation::bind_arguments(Interpreter& in, const LambdaInfo& info, std::string_view callee,
                                Scope& scope, std::span<const Value> args, bool checked) {
    const std::size_t count = info.parameters.size();
    BUNRAKU_ASSERT(info.names.size() == count && scope.size() == 0 && !scope.pending);
    // Surplus arguments are dropped, as in Puppet.
    if (info.simple && args.size() >= count) [[likely]] {
        for (std::size_t i = 0; i < count; ++i) scope.add_local(info.names[i], args[i]);
        return;
    }
    PendingParameters pending{.callee = callee, .names = info.names};
    scope.pending = &pending;
    struct Done {
        Scope& scope;
        ~Done() { scope.pending = nullptr; }
    } const done{scope};
    bool recheck = !checked;
    for (std::size_t i = 0; i < count; ++i) {
        const Parameter& p = *info.parameters[i];
        const auto by_default = [&] {
            recheck = true;
            const Value v = in.evaluate_default(p, scope);
            return p.captures_rest && !v.is_array() ? value::make_array(in.arena_, {v}) : v;
        };
        Value v;
        if (i >= args.size()) {
            if (p.value)
                v = by_default();
            else if (p.captures_rest)
                v = Value::array({});
            else
                fail(in, &p, "MISSING_REQUIRED_PARAMETER",
                     "Parameter ${} is required but no value was given", p.name);
        } else if (p.captures_rest) {
            const std::span<const Value> rest = args.subspan(i);
            v = rest.size() == 1 && rest[0].is_undef() && p.value
                    ? by_default()
                    : value::make_array(in.arena_, rest);
        } else {
            v = args[i];
        }
        if (Evaluation::pending(in)) return;
        scope.add_local(info.names[i], v);
    }
    if (!recheck) return;
    // The values that the body receives, including defaults, must match the types.
    BUNRAKU_ASSERT(scope.size() >= count);
    ValueBuffer all;
    for (std::size_t i = 0; i < count; ++i) {
        const Value& v = scope.value_at(i);
        BUNRAKU_ASSERT(!info.parameters[i]->captures_rest || v.is_array());
        if (info.parameters[i]->captures_rest)
            for (const Value& each : v.as_array()) all.push(each);
        else
            all.push(v);
    }
    if (!fits(in, info, all.view())) mismatch(in, info, callee, all.view(), nullptr);
}

Value Evaluation::run_lambda(Interpreter& in, const LambdaInfo& info, std::string_view callee,
                             ScopeKind kind, Scope& closure_scope, std::span<const Value> args,
                             bool checked) {
    check_depth(in);
    if (++in.calls_ > in.options_.max_calls)
        throw base::PuppetError("The limit on function calls was exceeded");
    const BodyScope scope(in, kind, &closure_scope);
    bind_arguments(in, info, callee, *scope, args, checked);
    BUNRAKU_RETURN_IF_PENDING(in);
    Value result = eval(in, info.body, *scope);
    if (in.pending_ == Completion::Next) result = in.take_completion();
    BUNRAKU_RETURN_IF_PENDING(in);
    if (info.returns && info.returns->kind != types::TypeKind::Any)
        types::assert_instance(in.types_,
                               fmt::format("value returned from {} has wrong type,", callee),
                               info.returns, result);
    return result;
}

const types::Type* LambdaClosure::signature(Interpreter&) const { return info_.callable; }

const types::Type* LambdaClosure::value_type(types::Context&) const { return info_.callable; }

std::vector<std::string_view> LambdaClosure::parameter_names() const {
    std::vector<std::string_view> out;
    for (const Parameter* p : info_.parameters) out.push_back(p->name);
    return out;
}

int LambdaClosure::block_arity() const {
    int count = 0;
    for (const Parameter* p : info_.parameters) {
        ++count;
        if (p->captures_rest || p->value) return -count;
    }
    return count;
}

Value LambdaClosure::call(Interpreter& in, Scope&, std::span<const Value> args, const Callable*,
                          const Node*) const {
    // A built-in that ignores completions may continue to call the block. After a completion the
    // block does not run any more.
    BUNRAKU_RETURN_IF_PENDING(in);
    return Evaluation::run_lambda(in, info_, "lambda", ScopeKind::Local, scope_, args, false);
}

const LambdaInfo& PuppetFunction::info(Interpreter& in) const {
    if (!info_)
        info_ = &Evaluation::lambda_info(in, &definition_, definition_.parameters, definition_.body,
                                         definition_.return_type, scope_);
    return *info_;
}

const types::Type* PuppetFunction::signature(Interpreter& in) const { return info(in).callable; }

std::pair<int, int> PuppetFunction::arity() const {
    int required = 0, maximum = 0;
    for (const Parameter* p : definition_.parameters) {
        if (p->captures_rest) {
            maximum = -1;
            break;
        }
        ++maximum;
        if (!p->value) ++required;
    }
    return {required, maximum};
}

std::vector<std::string_view> PuppetFunction::parameter_names() const {
    std::vector<std::string_view> out;
    for (const Parameter* p : definition_.parameters) out.push_back(p->name);
    return out;
}

Value PuppetFunction::call(Interpreter& in, Scope&, std::span<const Value> args,
                           const Callable* block, const Node* site) const {
    const LambdaInfo& known = info(in);
    if (block || !Evaluation::fits(in, known, args))
        Evaluation::mismatch(in, known, name_, args, block);
    try {
        const Value result =
            Evaluation::run_lambda(in, known, name_, ScopeKind::Function, scope_, args, true);
        if (in.pending() == Completion::Return) return in.take_completion();
        return result;
    } catch (base::PuppetError& error) {
        if (site) {
            const base::Location where = site->where();
            error.add_frame(fmt::format("{}:{} in {}", where.file.empty() ? "unknown" : where.file,
                                        where.line, name_));
        }
        throw;
    }
}

const Callable* Interpreter::make_lambda(const LambdaExpression& lambda, Scope& scope) {
    for (Scope* s = &scope; s; s = s->parent) s->retained = true;
    return arena_.make<LambdaClosure>(
        Evaluation::lambda_info(*this, &lambda, lambda.parameters, lambda.body, lambda.return_type,
                                scope),
        scope);
}

const Callable* Interpreter::make_function(const FunctionDefinition& definition,
                                           Scope& closure_scope) {
    return arena_.make<PuppetFunction>(definition.name, definition, closure_scope);
}

Value Interpreter::call_by_name(const LambdaExpression& lambda, Scope& closure_scope,
                                std::string_view callee, const value::HashRep& args, bool enforce) {
    const BodyScope scope(*this, ScopeKind::Local, &closure_scope);
    if (!enforce) {
        scope->given = &args;
        return Evaluation::eval(*this, lambda.body, *scope);
    }
    const LambdaInfo& info = Evaluation::lambda_info(*this, &lambda, lambda.parameters, lambda.body,
                                                     lambda.return_type, closure_scope, true);
    PendingParameters pending{.callee = callee, .names = info.names};
    scope->pending = &pending;
    std::vector<types::NamedParameter> parameters;
    for (std::size_t i = 0; i < info.parameters.size(); ++i)
        parameters.push_back({info.parameters[i]->name,
                              info.types[i] ? info.types[i] : types::builtin_type("any"),
                              info.parameters[i]->value == nullptr});
    value::HashBuilder given(arena_, args.size());
    for (const value::Entry& e : args) {
        if (e.value.is_undef()) continue;
        given.set(e.key, e.value);
        // Validation below reports names that are not parameters. All parameter names are symbols.
        if (const Symbol name = Symbol::find(e.key.as_string())) scope->set_local(name, e.value);
    }
    for (std::size_t i = 0; i < info.parameters.size(); ++i) {
        const Parameter& p = *info.parameters[i];
        if (scope->find_local(info.names[i])) continue;
        if (!p.value && !args.find(p.name)) continue;
        const Value v = p.value ? evaluate_default(p, *scope) : Value::undef();
        given.set(p.name, v);
        scope->set_local(info.names[i], v);
    }
    types::validate_parameters(types_, callee, parameters, given.build().as_hash());
    scope->pending = nullptr;
    Value result = Evaluation::eval(*this, lambda.body, *scope);
    if (pending_ == Completion::Next) result = take_completion();
    if (pending_ != Completion::Normal) return Value::undef();
    if (info.returns && info.returns->kind != types::TypeKind::Any)
        types::assert_instance(types_,
                               fmt::format("value returned from {} has wrong type,", callee),
                               info.returns, result);
    return result;
}

}  // namespace bunraku::evaluator
