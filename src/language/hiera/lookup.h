// SPDX-License-Identifier: Apache-2.0
// Hiera 5: lookup through the global, environment and module layers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "language/environment/environment.h"
#include "language/evaluator/host.h"
#include "language/evaluator/interpreter.h"
#include "language/hiera/data_cache.h"
#include "language/hiera/explain.h"

namespace bunraku::hiera {

/// Calls a Hiera 3 backend written in Ruby. `request` and the result are those of
/// ruby::Host::ask_hiera3.
using Hiera3Backends =
    std::function<Value(evaluator::Interpreter& in, evaluator::Scope& scope, const Value& request)>;

struct LookupOptions {
    std::string hiera_config;  ///< Path of the global hiera.yaml; it need not exist.
    std::string codedir;
    bool strict_error = true;                     ///< True if the setting `strict` is error.
    bool warn_deprecated = true;                  ///< False if `strict` is off.
    std::string data_binding_terminus = "hiera";  ///< "none" disables the global layer.
    Hiera3Backends hiera3 = nullptr;              ///< Null if there are none.
};

/// Puppet::Pops::Lookup for one compile (8.11). Single-threaded; only the data cache is shared.
class Lookup final : public evaluator::LookupHost {
public:
    Lookup(std::shared_ptr<const environment::Environment> environment,
           std::shared_ptr<DataCache> cache, LookupOptions options);
    ~Lookup() override;

    Value lookup(evaluator::Interpreter& in, evaluator::Scope& scope, std::span<const Value> args,
                 const evaluator::Callable* block) override;
    std::optional<Value> class_parameter(evaluator::Interpreter& in, evaluator::Scope& scope,
                                         std::string_view class_name, std::string_view parameter,
                                         const types::Type* type) override;
    Value hiera(evaluator::Interpreter& in, evaluator::Scope& scope, std::string_view merge,
                std::span<const Value> args, const evaluator::Callable* block) override;
    std::optional<Value> context_method(evaluator::Interpreter& in, evaluator::Scope& scope,
                                        const Value& context, std::string_view method,
                                        std::span<const Value> args,
                                        const evaluator::Callable* block) override;
    Value data_function(evaluator::Interpreter& in, evaluator::Scope& scope, std::string_view name,
                        std::span<const Value> args) override;

    /// A request of `puppet lookup`: the names to look up in order, with type, merge and default.
    /// The steps go to `explainer`, which may be null. `ask` throws the same errors as the
    /// function.
    struct Question {
        std::vector<std::string> names;
        const types::Type* type = nullptr;
        Value merge;
        std::optional<Value> fallback;
    };
    Value ask(evaluator::Interpreter& in, evaluator::Scope& scope, const Question& question,
              Explainer* explainer);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::hiera
