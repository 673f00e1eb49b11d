// Classes, defines and nodes as one compile knows them (Puppet::Resource::Type and TypeCollection).
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

/// A class, a define or a node. Lives as long as the compile; what it points at lives in the trees.
struct Definition {
    enum class Kind : std::uint8_t { Class, Define, Node };
    Kind kind = Kind::Class;
    std::string_view name;  ///< down-cased; "" for the main class
    std::string_view module_name;
    bool has_module = false;       ///< the main class made without a manifest has none
    std::string_view parent_name;  ///< as written, with a leading "::"; empty: none
    std::string_view file;
    int line = 0;
    syntax::ParameterList parameters;
    const syntax::Node* node = nullptr;  ///< in the tree; null for what no manifest defines
    int in_file = -1;                    ///< which of Definitions' files has it; -1: none
    bool noted = false;                  ///< among the reads of this compile
    const syntax::Node* body = nullptr;
    std::vector<const syntax::Program*> programs;  ///< of the main class

    // Nodes whose name is a regular expression.
    const value::RegexpRep* pattern = nullptr;

    /// A collector's override made it everybody's child, as Puppet does (Type#override).
    bool overrides_all = false;

    // Found out on first use.
    Definition* parent = nullptr;
    const ParameterTable* table = nullptr;  ///< of `parameters`

    static constexpr int kOther = -1;    ///< name, title or a metaparameter
    static constexpr int kUnknown = -2;  ///< no parameter at all
    /// The number of a parameter, once they are ready.
    int parameter_index(std::string_view parameter) const;
};

/// All definitions of one compile; loads from the modules what is asked for.
class Definitions {
public:
    Definitions(const environment::Environment& env, base::Arena& arena, base::LogSink& log);

    /// The main manifest. Errors name the environment as Puppet does.
    void import_main();
    void import(std::shared_ptr<const environment::ParsedFile> file, std::string_view module_name);
    /// Takes the definitions of a tree that somebody else keeps (eval's expressions).
    void import_tree(const syntax::Tree& tree, std::string_view module_name, bool with_program,
                     int in_file = -1);

    Definition& main() { return *main_; }
    /// The class `settings` where no manifest defines it: it can be included like any other.
    Definition& add_settings();
    /// A class without a body, made by a function. Throws where a definition has the name.
    Definition& add_class(std::string_view name);
    /// What is known already; null else. Names are down-cased, without a leading "::".
    Definition* known_class(std::string_view name) const;
    Definition* known_define(std::string_view name) const;
    /// The same, autoloading. A leading "::" and capitals are accepted.
    Definition* find_class(std::string_view name);
    Definition* find_define(std::string_view name);
    bool has_nodes() const { return !nodes_.empty(); }
    /// The node of that name, or the first whose expression matches; `match` is set then.
    Definition* find_node(std::string_view name, std::optional<regex::Match>* match);
    Definition* known_node(std::string_view name) const;

    /// What it inherits from; throws where there is none.
    Definition& parent_of(Definition& definition);
    /// Whether `child` inherits from `ancestor`, by however many steps.
    bool child_of(const Definition* child, const Definition* ancestor);
    /// Its parameters can be asked for by number, with their types.
    void prepare(Definition& definition, evaluator::Interpreter& in);
    /// The parameters of a definition in a file of the environment, made once for all compiles;
    /// null: they are the compile's own matter.
    const SharedTypes::Parameters* shared_parameters(
        const syntax::Node& definition, syntax::ParameterList list, const syntax::Node* returns,
        const std::shared_ptr<const environment::ParsedFile>& file);
    /// The same of the alias of a down-cased name.
    const types::Type* shared_alias(std::string_view key);

    const syntax::FunctionDefinition* known_function(std::string_view name) const;
    /// A type alias or Object type defined in a manifest: TypeAlias or TypeDefinition node.
    const syntax::Node* known_type(std::string_view name) const;

private:
    void add_type(std::string_view name, const syntax::Node* node);
    /// Whether what several compiles share means the same to this one. Its reads are noted then.
    bool take(const SharedTypes::Answer& answer) const;
    void add(const syntax::Node* node, std::string_view module_name, int in_file);
    Definition* make(Definition::Kind kind, const syntax::Node& node, std::string_view name,
                     std::string_view module_name);
    bool load(std::string_view name);
    /// Its text is a read of the compile.
    Definition* used(Definition* definition) const;
    [[noreturn]] static void duplicate(const Definition& fresh, std::string message);
    void check_class_name(const Definition& fresh) const;

    const environment::Environment& env_;
    base::Arena& arena_;
    base::LogSink& log_;
    std::shared_ptr<SharedTypes> shared_types_;
    std::vector<std::unique_ptr<Definition>> all_;
    std::vector<std::unique_ptr<const ParameterTable>> tables_;  ///< the compile's own
    std::vector<std::shared_ptr<const environment::ParsedFile>> files_;
    Definition* main_ = nullptr;
    std::unordered_map<std::string_view, Definition*> classes_, defines_, nodes_;
    std::vector<Definition*> node_list_;
    std::unordered_map<std::string_view, const syntax::FunctionDefinition*> functions_;
    std::unordered_map<std::string, const syntax::Node*> types_;
    std::unordered_set<std::string> loaded_;
};

/// "foo::bar" as Puppet's class resource titles have it: "Foo::Bar"; what starts with a capital
/// stays.
std::string_view capitalize(base::Arena& arena, std::string_view name);
std::string_view downcase(base::Arena& arena, std::string_view name);

}  // namespace bunraku::compiler
