// SPDX-License-Identifier: Apache-2.0
// Checks literal values against types as written in manifests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "language/syntax/ast.h"
#include "language/types/type.h"

namespace bunraku::checks {

/// Reports whether an expression has the same value in every compile.
bool is_literal(const syntax::Node* node);
/// Returns the source text of a type expression including its last bracket.
std::string type_text(const syntax::Node* type);

/// Reads types as written in manifests. The derived class finds type aliases.
class NamedTypes : public types::Loader {
public:
    const types::Type* find_type(std::string_view name) override;
    /// Returns the type. Returns null if it is not valid or contains an unknown name.
    const types::Type* parse(std::string_view text);
    /// Returns Puppet's message if the value is not an instance of the type `type`. `subject` is
    /// the start of the message, such as "parameter 'x'". Returns nullopt if the type is not known.
    std::optional<std::string> mismatch(std::string_view type, std::string_view subject,
                                        const value::Value& value);
    /// Does the same for a literal expression. Returns nullopt for other expressions.
    std::optional<std::string> mismatch(std::string_view type, std::string_view subject,
                                        const syntax::Node* value);

    types::Context& context() { return context_; }
    base::Arena& arena() { return arena_; }

protected:
    /// Returns the type to which an alias refers, or an empty text if the name is not an alias.
    virtual std::string definition_of(std::string_view name) = 0;

private:
    base::Arena arena_;
    types::Context context_{arena_, this};
    std::map<std::string, const types::Type*, std::less<>> parsed_;
    int depth_ = 0;
    bool unknown_ = false;
};

}  // namespace bunraku::checks
