// SPDX-License-Identifier: Apache-2.0
// The names that an environment defines, for checks of code that is not evaluated.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "language/environment/environment.h"

namespace bunraku::checks {

/// Whether a name exists. Unknown if its module is not part of the environment.
enum class Existence : std::uint8_t { Exists, Missing, Unknown };

/// Finds definitions in the modules of an environment. Results are cached.
class CodeNames {
public:
    explicit CodeNames(const environment::Environment& environment) : environment_(environment) {}

    /// Names are in lower case, without leading colons.
    Existence class_exists(const std::string& name);
    Existence type_exists(const std::string& name);
    Existence function_exists(const std::string& name) const;

    /// Returns the attributes of a resource type without metaparameters. Returns nullopt if they
    /// are not known, such as those of a type in Ruby.
    std::optional<std::set<std::string, std::less<>>> attributes(const std::string& type);
    /// Returns the variables of a class, including those of the classes from which it inherits.
    /// Returns nullopt if one of these classes is not known.
    std::optional<std::set<std::string, std::less<>>> variables(const std::string& class_name);

private:
    using Kind = syntax::NodeKind;
    /// Returns the definition of a class or defined type, or null.
    const syntax::NamedDefinition* find(Kind kind, const std::string& name);
    Existence missing(std::string_view name) const;

    const environment::Environment& environment_;
    std::map<std::pair<Kind, std::string>, const syntax::NamedDefinition*> found_;
    /// Keeps the trees of found definitions.
    std::vector<std::shared_ptr<const environment::ParsedFile>> files_;
};

}  // namespace bunraku::checks
