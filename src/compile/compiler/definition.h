// SPDX-License-Identifier: Apache-2.0
// Classes, defines and nodes of one compile (Puppet::Resource::Type and TypeCollection).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compile/compiler/shared_types.h"
#include "core/base/arena.h"
#include "core/base/diagnostic.h"
#include "core/regex/regex.h"
#include "language/environment/environment.h"
#include "language/evaluator/interpreter.h"
#include "language/syntax/ast.h"
#include "language/types/type.h"

namespace bunraku::compiler {

/// A class, define or node. Lives as long as the compile; its pointers refer to the syntax trees.
struct Definition {
    enum class Kind : std::uint8_t { Class, Define, Node };
    Kind kind = Kind::Class;
    std::string_view name;  ///< down-cased; "" for the main class
    std::string_view module_name;
    bool has_module = false;       ///< false for the main class if no manifest exists
    std::string_view parent_name;  ///< as written, with a leading "::"; empty if there is no parent
    std::string_view file;
    int line = 0;
    syntax::ParameterList parameters;
    const syntax::Node* node = nullptr;  ///< node of the tree; null if no manifest defines it
    int in_file = -1;                    ///< index into Definitions::files_; -1 if it has no file
    bool noted = false;                  ///< True if the trace of this compile contains it.
    const syntax::Node* body = nullptr;
    std::vector<const syntax::Program*> programs;  ///< for the main class

    // Nodes whose name is a regular expression.
    const value::RegexpRep* pattern = nullptr;

    /// True if a collector inside the definition has overrides. It is then a child of every other
    /// definition, as in Puppet (Type#override).
    bool overrides_all = false;

    // Set on first use.
    Definition* parent = nullptr;
    const ParameterTable* table = nullptr;  ///< table of `parameters`

    static constexpr int kOther = -1;    ///< name, title or a metaparameter
    static constexpr int kUnknown = -2;  ///< not a parameter
    /// Returns the index of a parameter. Requires Definitions::prepare.
    int parameter_index(std::string_view parameter) const;
};

/// All definitions of one compile. Loads definitions from the modules on demand.
class Definitions {
public:
    Definitions(const environment::Environment& env, base::Arena& arena, base::LogSink& log);

    /// Imports the main manifest. Errors name the environment as in Puppet.
    void import_main();
    void import(std::shared_ptr<const environment::ParsedFile> file, std::string_view module_name);
    /// Imports the definitions of a tree that the caller owns (expressions of `eval`).
    void import_tree(const syntax::Tree& tree, std::string_view module_name, bool with_program,
                     int in_file = -1);

    Definition& main() { return *main_; }
    /// Adds the class `settings`, unless a manifest defines it. Code can include it like any other
    /// class.
    Definition& add_settings();
    /// Adds a class without a body, made by a function. Throws if a definition has this name.
    Definition& add_class(std::string_view name);
    /// Returns a definition that is already loaded, or null. Names are down-cased, without a
    /// leading "::".
    Definition* known_class(std::string_view name) const;
    Definition* known_define(std::string_view name) const;
    /// Like known_class and known_define, but autoloads. Accepts a leading "::" and capitals.
    Definition* find_class(std::string_view name);
    Definition* find_define(std::string_view name);
    bool has_nodes() const { return !nodes_.empty(); }
    /// Returns the node of that name, or the first node whose regular expression matches; then sets
    /// `match`.
    Definition* find_node(std::string_view name, std::optional<regex::Match>* match);
    Definition* known_node(std::string_view name) const;

    /// Returns the definition that `definition` inherits from. Throws if it does not exist.
    Definition& parent_of(Definition& definition);
    /// Reports whether `child` inherits from `ancestor`, directly or indirectly.
    bool child_of(const Definition* child, const Definition* ancestor);
    /// Makes the table of the parameters and their types. Required before parameter_index().
    void prepare(Definition& definition, evaluator::Interpreter& in);
    /// Returns the parameters of a definition in a file of the environment, made once for all
    /// compiles. Returns null if the compile must make them itself.
    const SharedTypes::Parameters* shared_parameters(
        const syntax::Node& definition, syntax::ParameterList list, const syntax::Node* returns,
        const std::shared_ptr<const environment::ParsedFile>& file);
    /// Like shared_parameters, for the alias of a down-cased name.
    const types::Type* shared_alias(std::string_view key);

    const syntax::FunctionDefinition* known_function(std::string_view name) const;
    /// Returns the TypeAlias or TypeDefinition node of a type that a manifest defines.
    const syntax::Node* known_type(std::string_view name) const;

private:
    void add_type(std::string_view name, const syntax::Node* node);
    /// Reports whether a shared answer means the same in this compile; if so, records its reads.
    bool take(const SharedTypes::Answer& answer) const;
    void add(const syntax::Node* node, std::string_view module_name, int in_file);
    Definition* make(Definition::Kind kind, const syntax::Node& node, std::string_view name,
                     std::string_view module_name);
    bool load(std::string_view name);
    /// Records the text of a definition as a read of the compile.
    Definition* used(Definition* definition) const;
    [[noreturn]] static void duplicate(const Definition& fresh, std::string message);
    void check_parameters(const Definition& d) const;
    void add_class(const syntax::HostClassDefinition& ast, std::string_view module_name,
                   int in_file);
    void add_define(const syntax::ResourceTypeDefinition& ast, std::string_view module_name,
                    int in_file);
    void add_nodes(const syntax::NodeDefinition& ast, std::string_view module_name);
    void check_class_name(const Definition& fresh) const;

    const environment::Environment& env_;
    base::Arena& arena_;
    base::LogSink& log_;
    std::shared_ptr<SharedTypes> shared_types_;
    std::vector<std::unique_ptr<Definition>> all_;
    std::vector<std::unique_ptr<const ParameterTable>> tables_;  ///< tables of this compile only
    std::vector<std::shared_ptr<const environment::ParsedFile>> files_;
    Definition* main_ = nullptr;
    std::unordered_map<std::string_view, Definition*> classes_, defines_, nodes_;
    std::vector<Definition*> node_list_;
    std::unordered_map<std::string_view, const syntax::FunctionDefinition*> functions_;
    std::unordered_map<std::string, const syntax::Node*> types_;
    std::unordered_set<std::string> loaded_;
};

/// Returns a class name in the form of Puppet's class titles: "foo::bar" becomes "Foo::Bar".
/// Segments that start with a capital do not change.
std::string_view capitalize(base::Arena& arena, std::string_view name);
std::string_view downcase(base::Arena& arena, std::string_view name);

}  // namespace bunraku::compiler
