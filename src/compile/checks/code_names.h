// SPDX-License-Identifier: Apache-2.0
// The names that an environment defines, for checks of code that is not evaluated.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compile/checks/named_types.h"
#include "language/environment/environment.h"

namespace bunraku::restype {
struct TypeSpec;
}

namespace bunraku::checks {

/// Whether a name exists. Unknown if its module is not part of the environment.
enum class Existence : std::uint8_t { Exists, Missing, Unknown };

/// Finds definitions in the modules of an environment. Results are cached.
class CodeNames {
public:
    using Names = std::set<std::string, std::less<>>;

    explicit CodeNames(const environment::Environment& environment) : environment_(environment) {}

    /// Names are in lower case, without leading colons.
    Existence class_exists(const std::string& name);
    Existence type_exists(const std::string& name);
    Existence function_exists(const std::string& name);
    /// Reports whether a module defines the function, so that the program's own may differ from it.
    bool module_has_function(const std::string& name) const;
    bool has_module(std::string_view name) const { return environment_.module(name) != nullptr; }

    /// Returns a definition, or null.
    const syntax::NamedDefinition* class_definition(const std::string& name);
    const syntax::NamedDefinition* defined_type(const std::string& name);
    /// Returns a function in the Puppet language, or null.
    const syntax::FunctionDefinition* function_definition(const std::string& name);
    /// Returns a type whose attributes are known because no module replaces it, or null.
    const restype::TypeSpec* native_type(const std::string& name) const;

    /// Returns the attributes of a resource type, or of "class NAME", without metaparameters.
    /// Returns null if they are not known, such as those of a type in Ruby.
    const Names* attributes(const std::string& type);
    /// Returns the variables of a class, including those of the classes from which it inherits.
    /// Returns null if one of these classes is not known.
    const Names* variables(const std::string& class_name);
    /// The data types of the environment.
    NamedTypes& types() { return types_; }

    /// Reports whether `test` accepts the text of a manifest, template, Ruby or data file of the
    /// environment or its modules. Reads all of them when it is first called.
    bool any_text(const std::function<bool(std::string_view)>& test);
    /// Adds a folder whose files any_text searches, besides those of the modules.
    void add_folder(const std::string& folder) { folders_.insert(folder); }

private:
    using Kind = syntax::NodeKind;

    /// Finds the aliases in the modules.
    class ModuleTypes final : public NamedTypes {
    public:
        explicit ModuleTypes(const environment::Environment& environment)
            : environment_(environment) {}

    private:
        std::string definition_of(std::string_view name) override;
        const environment::Environment& environment_;
    };

    const syntax::NamedDefinition* find(Kind kind, const std::string& name);
    std::optional<Names> find_attributes(const std::string& type);
    std::optional<Names> find_variables(const std::string& class_name);
    Existence missing(std::string_view keyword, const std::string& name);
    Existence find_missing(std::string_view keyword, const std::string& name);
    void read_all_texts();
    void read_texts(const std::string& folder, bool of_module, int depth);

    struct FoundText {
        std::string text;
        bool of_module = false;
    };

    const environment::Environment& environment_;
    ModuleTypes types_{environment_};
    std::map<std::pair<Kind, std::string>, const syntax::NamedDefinition*> found_;
    /// Names whose files have syntax errors, so that they may define them.
    Names unreadable_;
    std::map<std::string, Existence> missing_;  ///< by keyword and name
    std::map<std::string, std::optional<Names>, std::less<>> attributes_, variables_;
    std::set<std::string> folders_;
    std::optional<std::vector<FoundText>> texts_;
    std::size_t text_bytes_ = 0;
    /// Keeps the trees of found definitions.
    std::vector<std::shared_ptr<const environment::ParsedFile>> files_;
};

}  // namespace bunraku::checks
