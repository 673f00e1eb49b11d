// SPDX-License-Identifier: Apache-2.0
// Access to files and templates of an environment's modules, for file(), epp(), template() and
// similar functions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "language/environment/environment.h"
#include "language/evaluator/host.h"
#include "language/evaluator/interpreter.h"
#include "language/template/erb.h"
#include "language/template/ruby_session.h"

namespace bunraku::erb {
struct Shared;
}

namespace bunraku::templates {

/// The template functions of one compile. The environment caches parsed templates.
class Templates final : public evaluator::TemplateHost {
public:
    explicit Templates(std::shared_ptr<const environment::Environment> environment)
        : environment_(std::move(environment)), ruby_(environment_) {}

    /// Returns the session in which Ruby code of this compile runs.
    RubySession& ruby() { return ruby_; }

    evaluator::Value epp(evaluator::Interpreter& in, evaluator::Scope& scope,
                         std::string_view reference, const evaluator::Value* parameters) override;
    evaluator::Value inline_epp(evaluator::Interpreter& in, evaluator::Scope& scope,
                                std::string_view text, const evaluator::Value* parameters) override;
    evaluator::Value erb(evaluator::Interpreter& in, evaluator::Scope& scope,
                         std::string_view reference) override;
    evaluator::Value inline_erb(evaluator::Interpreter& in, evaluator::Scope& scope,
                                std::string_view text) override;
    std::optional<std::string> find_file(std::string_view reference,
                                         std::string_view folder) override;
    std::optional<std::string> module_directory(std::string_view module) override;

private:
    /// The reason why a template was not rendered natively.
    struct ErbFailure {
        std::string reason;
        std::string detail;  ///< Ruby's error text if the reason is an error.
        std::uint32_t line = 1;
    };
    ErbCache& erb_cache();
    void finish_erb(evaluator::Interpreter& in, evaluator::Scope& scope, erb::Shared& shared);
    evaluator::Value render_erb(evaluator::Interpreter& in, evaluator::Scope& scope,
                                const ErbTemplate& erb, std::string_view reference);
    evaluator::Value render_by_ruby(evaluator::Interpreter& in, evaluator::Scope& scope,
                                    const ErbTemplate& erb, std::string_view reference,
                                    const ErbFailure& native);

    std::shared_ptr<const environment::Environment> environment_;
    std::shared_ptr<ErbCache> erb_cache_;
    erb::Shared* erb_shared_ = nullptr;  ///< State of the current rendering.
    RubySession ruby_;
};

}  // namespace bunraku::templates
