// What evaluation needs of the floors above: resources, definitions, lookup, templates, node data.
// Implemented in compiler, hiera and template; plain expressions run without them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/value/value.h"
#include "language/evaluator/scope.h"
#include "language/syntax/ast.h"
#include "language/types/type.h"

namespace bunraku::evaluator {

class Interpreter;
class Callable;

/// One evaluated `name => value` or `name +> value`.
struct Attribute {
    std::string_view name;
    Value value;
    bool append = false;
    const syntax::Node* site = nullptr;
};

/// What CatalogHost::collect gives: a value of Kind::Closure that is good for relationships only.
class CollectorValue : public types::TypedExtension {
public:
    const types::Type* value_type(types::Context&) const override { return nullptr; }
    bool equal(const value::Extension& other) const override { return this == &other; }
    std::uint64_t hash() const override { return reinterpret_cast<std::uintptr_t>(this) >> 4; }
    Value to_rich_data(base::Arena&) const override { return Value::undef(); }

protected:
    ~CollectorValue() = default;
};

/// Resources and classes. Every call throws base::PuppetError with Puppet's text; `site` gives the
/// place. An error that leaves without a place and without an issue code is one that the evaluator
/// wraps as Puppet's RUNTIME_ERROR ("Error while evaluating a Resource Statement, ..."); with an
/// issue code it only adds the place; a located one passes as it is.
class CatalogHost {
public:
    virtual ~CatalogHost() = default;

    /// `type { titles: attributes }`. `type_name` is down-cased ("class" for classes); gives the
    /// array of references (the value of a resource expression). Per-expression defaults are merged
    /// by the evaluator already.
    /// `titles_are_text`: false where Ruby code gave numbers: such titles are no tags.
    virtual Value create_resources(Interpreter& in, Scope& scope, syntax::ResourceForm form,
                                   std::string_view type_name,
                                   std::span<const std::string_view> titles,
                                   std::span<const Attribute> attributes, const syntax::Node* site,
                                   bool titles_are_text = true) = 0;
    /// `File { mode => .. }`
    virtual void set_defaults(Interpreter& in, Scope& scope, std::string_view type_name,
                              std::span<const Attribute> attributes, const syntax::Node* site) = 0;
    /// `File['/x'] { mode => .. }` for every reference.
    virtual void override_resources(Interpreter& in, Scope& scope,
                                    std::span<const types::Reference> references,
                                    std::span<const Attribute> attributes,
                                    const syntax::Node* site) = 0;
    /// `left -> right`; operands are flat arrays of references and collectors, each once. `op` is
    /// one of the four. Gives the value of the expression: the right side's references, or the
    /// left's where the right is empty.
    virtual Value relate(Interpreter& in, Scope& scope, const Value& left, const Value& right,
                         syntax::Op op, const syntax::Node* site) = 0;
    /// `Type <| query |> { .. }`: registers a collector; its value is a CollectorValue, usable in
    /// `relate`.
    virtual Value collect(Interpreter& in, Scope& scope, const syntax::CollectExpression& node,
                          std::string_view type_name, std::span<const Attribute> overrides) = 0;
    /// `File['/x']['mode']`: a parameter's value with defaults; undef where it has none. Throws for
    /// unknown resources.
    virtual Value resource_parameter(Interpreter& in, Scope& scope, const types::Reference& ref,
                                     std::string_view parameter, const syntax::Node* site) = 0;
    /// include/require/contain: names, Class[..] references, arrays of them are already flattened
    /// to names.
    virtual std::vector<Value> include_classes(Interpreter& in, Scope& scope,
                                               std::span<const std::string_view> names,
                                               const syntax::Node* site) = 0;
    virtual void contain_classes(Interpreter& in, Scope& scope,
                                 std::span<const std::string_view> names,
                                 const syntax::Node* site) = 0;
    virtual void require_classes(Interpreter& in, Scope& scope,
                                 std::span<const std::string_view> names,
                                 const syntax::Node* site) = 0;
    virtual void realize(Interpreter& in, Scope& scope,
                         std::span<const types::Reference> references,
                         const syntax::Node* site) = 0;
    virtual void tag(Scope& scope, std::span<const std::string_view> tags) = 0;
    virtual bool tagged(Scope& scope, std::span<const std::string_view> tags) = 0;
    /// The default of the metaparameter noop for every native resource declared in `scope` or
    /// below.
    virtual void set_noop(Scope& scope, bool noop) {
        (void)scope;
        (void)noop;
    }
    /// The scope of an evaluated class for `$a::b::x`; null where the class has not been evaluated.
    virtual Scope* class_scope(std::string_view class_name) = 0;
    /// `defined`: what exists now.
    virtual bool resource_declared(std::string_view type_name, std::string_view title) = 0;
    virtual bool class_declared(std::string_view name) = 0;
    virtual bool class_known(std::string_view name) = 0;   ///< autoloads
    virtual bool define_known(std::string_view name) = 0;  ///< autoloads
    virtual bool resource_type_known(std::string_view name) = 0;
    /// The titles of the declared resources of a type, in order.
    virtual std::vector<std::string_view> declared_titles(std::string_view type_name) {
        (void)type_name;
        return {};
    }
    /// Ruby code changed in place what the variable `name` holds: it has `now` already, and what
    /// shares its old value (the parameter it comes from) is to change with it.
    virtual void variable_changed(Scope& scope, std::string_view name, const Value& was,
                                  const Value& now) {
        (void)scope;
        (void)name;
        (void)was;
        (void)now;
    }
    /// "Type[title]" as a declared resource spells itself; empty: there is none.
    virtual std::string declared_reference(std::string_view type_name, std::string_view title) {
        (void)type_name;
        (void)title;
        return {};
    }
    /// A parameter of a declared resource just as it is set so far; undef where it is not (or the
    /// resource is not there).
    virtual Value declared_parameter(std::string_view type_name, std::string_view title,
                                     std::string_view parameter) {
        (void)type_name;
        (void)title;
        (void)parameter;
        return Value::undef();
    }
    /// "Scope(Class[main])", "Scope(Foo[bar])": the source Puppet names for messages logged from a
    /// scope.
    virtual std::string scope_label(Scope& scope) {
        (void)scope;
        return "Scope(Class[main])";
    }
    /// Top-level `node`/`class`/`define` met as statements inside evaluated code need nothing: they
    /// are hoisted.
};

/// Functions and types by name: the environment's autoloader.
class DefinitionHost {
public:
    virtual ~DefinitionHost() = default;
    /// A function written in Puppet (or by the plugin host), autoloaded; null where there is none.
    /// Called once a name: the interpreter keeps the answer. Built-ins are found before.
    virtual const Callable* find_function(Interpreter& in, std::string_view name) = 0;
    /// The type of a capitalised name ("Stdlib::Absolutepath"; case does not matter) that is not
    /// built in: a type alias, an Object type or TypeSet, a type of a Ruby plugin, and every known
    /// resource type (native ones and defines) as its Resource type. Null: "Resource type not
    /// found: X".
    virtual const types::Type* find_type(Interpreter& in, std::string_view name) = 0;
};

/// Methods of values that are not written in the Puppet language.
class MemberHost {
public:
    virtual ~MemberHost() = default;
    /// The value of a method of an instance whose type is implemented elsewhere (in Ruby); nullopt:
    /// it has no such method.
    virtual std::optional<Value> call_member(Interpreter& in, Scope& scope, const Value& receiver,
                                             std::string_view name,
                                             std::span<const Value> args) = 0;
};

/// `lookup` and automatic parameter lookup.
class LookupHost {
public:
    virtual ~LookupHost() = default;
    /// All call forms of the function `lookup` (args as given); `block` computes a default.
    virtual Value lookup(Interpreter& in, Scope& scope, std::span<const Value> args,
                         const Callable* block) = 0;
    /// Automatic parameter lookup of a class; nullopt where no data has the key.
    /// `scope` is the class's, with the parameters set so far.
    virtual std::optional<Value> class_parameter(Interpreter& in, Scope& scope,
                                                 std::string_view class_name,
                                                 std::string_view parameter,
                                                 const types::Type* type) = 0;
    /// hiera, hiera_array, hiera_hash, hiera_include: `merge` is "first", "unique" or "hash".
    virtual Value hiera(Interpreter& in, Scope& scope, std::string_view merge,
                        std::span<const Value> args, const Callable* block) = 0;
    /// A method of the Puppet::LookupContext that a data function was given; nullopt: no such one.
    virtual std::optional<Value> context_method(Interpreter& in, Scope& scope, const Value& context,
                                                std::string_view method,
                                                std::span<const Value> args,
                                                const Callable* block) = 0;
    /// yaml_data, json_data, hocon_data and eyaml_lookup_key, called from Puppet code; the types
    /// of the arguments are checked.
    virtual Value data_function(Interpreter& in, Scope& scope, std::string_view name,
                                std::span<const Value> args) = 0;
};

/// Files of modules and templates.
class TemplateHost {
public:
    virtual ~TemplateHost() = default;
    virtual Value epp(Interpreter& in, Scope& scope, std::string_view reference,
                      const Value* parameters) = 0;
    virtual Value inline_epp(Interpreter& in, Scope& scope, std::string_view text,
                             const Value* parameters) = 0;
    virtual Value erb(Interpreter& in, Scope& scope, std::string_view reference) = 0;
    virtual Value inline_erb(Interpreter& in, Scope& scope, std::string_view text) = 0;
    /// `file('module/x')`, find_file, ...: the path of a file of a module or an absolute one;
    /// nullopt: not there. `folder` is "files", "templates", "scripts", ...
    virtual std::optional<std::string> find_file(std::string_view reference,
                                                 std::string_view folder) = 0;
    virtual std::optional<std::string> module_directory(std::string_view module) = 0;
};

/// What evaluation reads outside of the language and of its environment's files; together they are
/// the one door (docs/design/0054). What is read is noted in the compile's trace.
class Inputs {
public:
    virtual ~Inputs() = default;
    virtual std::optional<std::string> read_file(std::string_view path) = 0;
    virtual bool file_exists(std::string_view path) = 0;
    virtual std::int64_t now_ns() = 0;
    /// Bits that nobody can foresee (functions shuffle, bcrypt's salt).
    virtual std::uint32_t random_bits() = 0;
    /// Runs a command on the compiling machine (function generate): exit status and output, errors
    /// merged in.
    struct CommandOutput {
        int status = 0;
        std::string output;
    };
    virtual base::Result<CommandOutput> run_command(const std::vector<std::string>& argv,
                                                    const std::string& cwd) {
        (void)argv;
        (void)cwd;
        return base::failure("commands cannot be run here");
    }
    /// The same with a file of `content`, whose path `argv` is given; it is gone afterwards.
    virtual base::Result<CommandOutput> run_command_on(
        std::string_view content,
        const std::function<std::vector<std::string>(const std::string& path)>& argv,
        const std::string& cwd) {
        (void)content;
        (void)argv;
        (void)cwd;
        return base::failure("commands cannot be run here");
    }
    /// Answers a query of the store (function puppetdb_query): PQL text, or a syntax tree in
    /// arrays. The answer lives in `arena`.
    virtual base::Result<Value> store_query(const Value& query, base::Arena& arena) {
        (void)query;
        (void)arena;
        return base::failure("no store can be asked here");
    }
    /// Paths that a shell pattern matches, sorted (function glob).
    virtual std::vector<std::string> glob(const std::string& pattern) {
        (void)pattern;
        return {};
    }
    /// A Puppet setting as text, for $settings::x, `strict`, ...; nullopt: unknown.
    virtual std::optional<std::string> setting(std::string_view name) = 0;
    virtual std::string_view environment_name() = 0;
    virtual std::string_view node_name() = 0;
};

/// The hosts of one compile; a null one means the feature is not there (plain `eval`).
struct Hosts {
    CatalogHost* catalog = nullptr;
    DefinitionHost* definitions = nullptr;
    MemberHost* members = nullptr;
    LookupHost* lookup = nullptr;
    TemplateHost* templates = nullptr;
    Inputs* inputs = nullptr;
};

}  // namespace bunraku::evaluator
