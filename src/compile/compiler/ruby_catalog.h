// SPDX-License-Identifier: Apache-2.0
// Access of Ruby code to the catalog under construction.
#pragma once

#include "language/template/ruby_session.h"

namespace bunraku::compiler {

using evaluator::Scope;
using value::Value;

class Compilation;

class RubyCatalog final : public templates::CatalogQueries {
public:
    explicit RubyCatalog(Compilation& compilation) : compilation_(compilation) {}

    std::vector<std::string> class_names() override;
    std::vector<std::string> catalog_tags() override;
    std::vector<std::string> scope_tags(Scope& scope) override;
    std::vector<std::pair<std::string, std::string>> declared_resources() override;
    std::optional<Value> resource_parameters(std::string_view type,
                                             std::string_view title) override;
    std::vector<std::string> resource_tags(std::string_view type, std::string_view title) override;
    std::pair<std::string, std::string> scope_resource(Scope& scope) override;
    Value scope_defaults(Scope& scope, std::string_view type) override;
    void define_class(std::string_view name) override;
    void add_class_resource(std::string_view name) override;
    bool evaluate_class(std::string_view name) override;

private:
    Compilation& compilation_;
};

}  // namespace bunraku::compiler
