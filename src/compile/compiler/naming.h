// SPDX-License-Identifier: Apache-2.0
// Resource names derived from titles, for the formats of the catalog. Uses the specs of the native
// types and the Ruby types of an environment.
#pragma once

#include <memory>

#include "language/environment/environment.h"
#include "resources/catalog/naming.h"

namespace bunraku::compiler {

class TypeNames final : public catalog::Naming {
public:
    explicit TypeNames(std::shared_ptr<const environment::Environment> environment = nullptr)
        : environment_(std::move(environment)) {}
    catalog::TypeNaming of(std::string_view type) const override;
    std::vector<std::pair<std::string_view, std::string>> parse_title(
        std::string_view type, std::string_view title) const override;
    std::optional<catalog::Place> body_of(const catalog::Ref& ref) const override;

private:
    std::shared_ptr<const environment::Environment> environment_;
    mutable std::unordered_map<std::string, std::string> ruby_namevars_;
};

}  // namespace bunraku::compiler
