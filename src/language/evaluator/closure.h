// SPDX-License-Identifier: Apache-2.0
// Callables: lambdas, functions written in Puppet, and built-in functions.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "language/evaluator/interpreter.h"

namespace bunraku::types {
struct CallableType;
struct TupleType;
}  // namespace bunraku::types

namespace bunraku::evaluator {

/// Data that is computed once for a lambda or function node. It lives in the compile's arena.
struct LambdaInfo {
    syntax::ParameterList parameters;
    std::span<const Symbol> names;
    const syntax::Node* body = nullptr;
    const syntax::Node* return_type = nullptr;
    int required = 0;
    int maximum = 0;  ///< -1 means unbounded
    /// True if the parameters have no types, no defaults and no capture of the rest.
    bool simple = true;
    bool captures_rest = false;
    /// type of each parameter; element type for the parameter that captures the rest
    std::span<const types::Type* const> types;
    const types::CallableType* callable = nullptr;
    const types::Type* returns = nullptr;  ///< null means Any
};

/// A lambda together with its defining scope. No code compares lambdas by identity, so an instance
/// can live on the stack during a call.
class LambdaClosure final : public Callable {
public:
    LambdaClosure(const LambdaInfo& info, Scope& scope) : info_(info), scope_(scope) {}
    const types::Type* signature(Interpreter& in) const override;
    Value call(Interpreter& in, Scope& scope, std::span<const Value> args, const Callable* block,
               const syntax::Node* site) const override;
    std::string_view name() const override { return "lambda"; }
    std::pair<int, int> arity() const override { return {info_.required, info_.maximum}; }
    std::vector<std::string_view> parameter_names() const override;
    int block_arity() const override;
    const types::Type* value_type(types::Context& ctx) const override;
    const LambdaInfo& info() const { return info_; }

private:
    const LambdaInfo& info_;
    Scope& scope_;
};

/// `function name(..) { .. }`
class PuppetFunction final : public Callable {
public:
    PuppetFunction(std::string_view name, const syntax::FunctionDefinition& definition,
                   Scope& closure_scope)
        : name_(name), definition_(definition), scope_(closure_scope) {}
    const types::Type* signature(Interpreter& in) const override;
    Value call(Interpreter& in, Scope& scope, std::span<const Value> args, const Callable* block,
               const syntax::Node* site) const override;
    std::string_view name() const override { return name_; }
    std::pair<int, int> arity() const override;
    std::vector<std::string_view> parameter_names() const override;
    const syntax::FunctionDefinition& definition() const { return definition_; }

private:
    const LambdaInfo& info(Interpreter& in) const;
    std::string_view name_;
    const syntax::FunctionDefinition& definition_;
    Scope& scope_;
    mutable const LambdaInfo* info_ = nullptr;
};

/// A built-in function from the function table.
class BuiltinFunction final : public Callable {
public:
    BuiltinFunction(const Builtin& builtin, const FunctionTable& table)
        : builtin_(builtin), table_(table) {}
    const types::Type* signature(Interpreter& in) const override;
    Value call(Interpreter& in, Scope& scope, std::span<const Value> args, const Callable* block,
               const syntax::Node* site) const override;
    std::string_view name() const override { return builtin_.name; }
    std::pair<int, int> arity() const override;
    std::vector<std::string_view> parameter_names() const override;

private:
    Value call_legacy(Interpreter& in, Scope& scope, std::span<const Value> args,
                      const Callable* block, const syntax::Node* site) const;
    std::span<const ParsedOverload> overloads() const;
    const Builtin& builtin_;
    const FunctionTable& table_;
    mutable std::span<const ParsedOverload> overloads_;
};

/// Thrown when code reads a parameter that has no value yet. evaluate_default converts it to a
/// PuppetError.
struct UnevaluatedParameter {
    const PendingParameters* pending;
    Symbol name;
};

}  // namespace bunraku::evaluator
