// SPDX-License-Identifier: Apache-2.0
// Autoloading of functions and types from manifests, modules and Ruby (evaluator::DefinitionHost),
// and calls of the methods that Ruby defines for its types.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compile/compiler/definition.h"
#include "compile/compiler/resource_types.h"
#include "language/environment/environment.h"
#include "language/evaluator/interpreter.h"
#include "language/template/ruby_session.h"

namespace bunraku::compiler {

class Autoloader final : public evaluator::DefinitionHost, public evaluator::MemberHost {
public:
    /// `session` runs Ruby code; null if Ruby is not available.
    Autoloader(const environment::Environment& environment, Definitions& definitions,
               ResourceTypes& types, templates::RubySession* session)
        : environment_(environment), definitions_(definitions), types_(types), session_(session) {}

    const evaluator::Callable* find_function(evaluator::Interpreter& in,
                                             std::string_view name) override;
    const types::Type* find_type(evaluator::Interpreter& in, std::string_view name) override;
    std::optional<Value> call_member(evaluator::Interpreter& in, Scope& scope,
                                     const Value& receiver, std::string_view name,
                                     std::span<const Value> args) override;

private:
    const evaluator::Callable* find_ruby_function(evaluator::Interpreter& in, std::string_view name,
                                                  bool legacy);
    const types::Type* find_ruby_data_type(evaluator::Interpreter& in, std::string_view key);
    const types::Type* find_in_type_set(evaluator::Interpreter& in, std::string_view name);

    const environment::Environment& environment_;
    Definitions& definitions_;
    ResourceTypes& types_;
    templates::RubySession* session_;
    std::unordered_map<std::string, const evaluator::Callable*> functions_;
    std::unordered_map<std::string, const types::Type*> type_aliases_;
    std::vector<std::shared_ptr<const environment::ParsedFile>> kept_files_;
};

}  // namespace bunraku::compiler
