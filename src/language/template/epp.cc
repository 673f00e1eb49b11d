// SPDX-License-Identifier: Apache-2.0
#include "language/template/epp.h"

#include <fmt/format.h>
#include <string>

#include "core/base/diagnostic.h"
#include "core/value/build.h"

namespace bunraku::templates {

Value render_epp(evaluator::Interpreter& in, evaluator::Scope& scope, std::string_view function,
                 const syntax::Program& program, const Value* parameters) {
    const auto* lambda = syntax::as<syntax::LambdaExpression>(program.body);
    const auto* epp = lambda ? syntax::as<syntax::EppExpression>(lambda->body) : nullptr;
    if (!epp)
        throw base::PuppetError(
            fmt::format("{}(): the parser did not produce an EppExpression", function));
    if (!program.definitions.empty()) {
        throw base::PuppetError(fmt::format(
            "{}(): The EPP template contains illegal expressions (definitions)", function));
    }
    value::HashBuilder args(in.arena());
    const bool given = parameters && parameters->is_hash();
    if (given) {
        for (const auto& [key, v] : parameters->as_hash()) {
            std::string_view name = key.is_string() ? key.as_string() : std::string_view();
            if (name.find("::") == std::string_view::npos) {
                args.set(key, v);
                continue;
            }
            if (name.starts_with("::"))
                name.remove_prefix(2);  // A qualified key sets a variable of that scope.
            in.assign(scope, base::Symbol::intern(name), v, nullptr);
        }
    }
    // If a template declares no parameters, its arguments become variables without a check.
    const bool enforce = epp->parameters_specified || !given;
    const Value hash = args.build();
    return in.call_by_name(*lambda, scope, "lambda", hash.as_hash(), enforce);
}

}  // namespace bunraku::templates
