// SPDX-License-Identifier: Apache-2.0
// The interfaces that evaluation needs from higher layers: resources, definitions, lookup,
// templates and node data. The modules compiler, hiera and template implement them. Plain
// expressions do not need them.
#pragma once

#include <cstdint>
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

/// The result of CatalogHost::collect: a value of Kind::Closure that can only be used in
/// relationships.
class CollectorValue : public types::TypedExtension {
public:
    const types::Type* value_type(types::Context&) const override { return nullptr; }
    bool equal(const value::Extension& other) const override { return this == &other; }
    std::uint64_t hash() const override { return reinterpret_cast<std::uintptr_t>(this) >> 4; }
    Value to_rich_data(base::Arena&) const override { return Value::undef(); }

protected:
    ~CollectorValue() = default;
};

/// Whether titles are strings, or numbers that Ruby code passed. Numbers do not become tags.
enum class TitleKind : std::uint8_t { Text, Number };

/// Resources and classes. Every function throws base::PuppetError with Puppet's text; `site` is the
/// location. The evaluator completes an error that has no location. If the error also has no issue
/// code, the evaluator wraps it as Puppet's RUNTIME_ERROR ("Error while evaluating a Resource
/// Statement, ..."). Otherwise it only adds the location. An error with a location is passed on
/// unchanged.
class CatalogHost {
public:
    virtual ~CatalogHost() = default;

    /// Creates the resources of `type { titles: attributes }`. `type_name` is in lower case
    /// ("class" for classes). The evaluator has already merged per-expression defaults. Returns the
    /// array of references, which is the value of the resource expression.
    virtual Value create_resources(Interpreter& in, Scope& scope, syntax::ResourceForm form,
                                   std::string_view type_name,
                                   std::span<const std::string_view> titles,
                                   std::span<const Attribute> attributes, const syntax::Node* site,
                                   TitleKind kind = TitleKind::Text) = 0;
    /// Sets resource defaults: `File { mode => .. }`.
    virtual void set_defaults(Interpreter& in, Scope& scope, std::string_view type_name,
                              std::span<const Attribute> attributes, const syntax::Node* site) = 0;
    /// Overrides attributes for every reference: `File['/x'] { mode => .. }`.
    virtual void override_resources(Interpreter& in, Scope& scope,
                                    std::span<const types::Reference> references,
                                    std::span<const Attribute> attributes,
                                    const syntax::Node* site) = 0;
    /// Adds the relationship `left -> right`. The operands are flat arrays of references and
    /// collectors without duplicates. `op` is one of the four operators. Returns the value of the
    /// expression: the references of the right side, or those of the left side if the right side is
    /// empty.
    virtual Value relate(Interpreter& in, Scope& scope, const Value& left, const Value& right,
                         syntax::Op op, const syntax::Node* site) = 0;
    /// Registers the collector `Type <| query |> { .. }` and returns it as a CollectorValue, which
    /// `relate` accepts.
    virtual Value collect(Interpreter& in, Scope& scope, const syntax::CollectExpression& node,
                          std::string_view type_name, std::span<const Attribute> overrides) = 0;
    /// Returns the value of a parameter, as in `File['/x']['mode']`, including defaults. Returns
    /// undef if it has no value. Throws for unknown resources.
    virtual Value resource_parameter(Interpreter& in, Scope& scope, const types::Reference& ref,
                                     std::string_view parameter, const syntax::Node* site) = 0;
    /// Implements include, require and contain. The caller has flattened the arguments (names,
    /// Class[..] references, arrays of them) to names.
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
    /// Sets the default of the metaparameter noop for every resource declared in `scope` or below
    /// it.
    virtual void set_noop(Scope& scope, std::optional<bool> noop) {
        (void)scope;
        (void)noop;
    }
    /// Returns the scope of an evaluated class for `$a::b::x`, or null if the class has not been
    /// evaluated.
    virtual Scope* class_scope(std::string_view class_name) = 0;
    /// For `defined`: reports whether the resource is already declared.
    virtual bool resource_declared(std::string_view type_name, std::string_view title) = 0;
    virtual bool class_declared(std::string_view name) = 0;
    virtual bool class_known(std::string_view name) = 0;   ///< autoloads
    virtual bool define_known(std::string_view name) = 0;  ///< autoloads
    virtual bool resource_type_known(std::string_view name) = 0;
    /// Returns the titles of the declared resources of a type, in declaration order.
    virtual std::vector<std::string_view> declared_titles(std::string_view type_name) {
        (void)type_name;
        return {};
    }
    /// Called after Ruby code changed the value of the variable `name` in place. The variable
    /// already has the value `now`. The parameter that shared its old value `was` must change too.
    virtual void variable_changed(Scope& scope, std::string_view name, const Value& was,
                                  const Value& now) {
        (void)scope;
        (void)name;
        (void)was;
        (void)now;
    }
    /// Returns "Type[title]" with the spelling of the declared resource. Empty if there is no such
    /// resource.
    virtual std::string declared_reference(std::string_view type_name, std::string_view title) {
        (void)type_name;
        (void)title;
        return {};
    }
    /// Returns a parameter of a declared resource as currently set. Returns undef if the parameter
    /// or the resource does not exist.
    virtual Value declared_parameter(std::string_view type_name, std::string_view title,
                                     std::string_view parameter) {
        (void)type_name;
        (void)title;
        (void)parameter;
        return Value::undef();
    }
    /// Returns "Scope(Class[main])" or "Scope(Foo[bar])": the source that Puppet shows for messages
    /// logged from a scope.
    virtual std::string scope_label(Scope& scope) {
        (void)scope;
        return "Scope(Class[main])";
    }
    /// There is no function for `node`, `class` and `define` statements inside evaluated code,
    /// because they are hoisted.
};

/// Lookup of functions and types by name, through the environment's autoloader.
class DefinitionHost {
public:
    virtual ~DefinitionHost() = default;
    /// Autoloads a function that is written in Puppet or implemented by the plugin host. Returns
    /// null if there is none. The interpreter finds built-in functions first and caches the result,
    /// so this is called once per name.
    virtual const Callable* find_function(Interpreter& in, std::string_view name) = 0;
    /// Returns the type for a capitalised name ("Stdlib::Absolutepath", case-insensitive) that is
    /// not built in. This can be a type alias, an Object type or TypeSet, or a type of a Ruby
    /// plugin. For a known resource type, native or define, it is its Resource type. Returns null
    /// if there is no such type; the caller then reports "Resource type not found: X".
    virtual const types::Type* find_type(Interpreter& in, std::string_view name) = 0;
};

/// Methods of values that are implemented outside the Puppet language.
class MemberHost {
public:
    virtual ~MemberHost() = default;
    /// Calls a method of an instance whose type is implemented elsewhere (in Ruby). Returns nullopt
    /// if it has no such method.
    virtual std::optional<Value> call_member(Interpreter& in, Scope& scope, const Value& receiver,
                                             std::string_view name,
                                             std::span<const Value> args) = 0;
};

/// `lookup` and automatic parameter lookup.
class LookupHost {
public:
    virtual ~LookupHost() = default;
    /// Implements all call forms of the function `lookup`. `args` are the arguments as given;
    /// `block` computes a default.
    virtual Value lookup(Interpreter& in, Scope& scope, std::span<const Value> args,
                         const Callable* block) = 0;
    /// Looks up a class parameter automatically. Returns nullopt if no data contains the key.
    /// `scope` is the scope of the class with the parameters set so far.
    virtual std::optional<Value> class_parameter(Interpreter& in, Scope& scope,
                                                 std::string_view class_name,
                                                 std::string_view parameter,
                                                 const types::Type* type) = 0;
    /// Implements hiera, hiera_array, hiera_hash and hiera_include. `merge` is "first", "unique" or
    /// "hash".
    virtual Value hiera(Interpreter& in, Scope& scope, std::string_view merge,
                        std::span<const Value> args, const Callable* block) = 0;
    /// Calls a method of the Puppet::LookupContext passed to a data function. Returns nullopt if
    /// there is no such method.
    virtual std::optional<Value> context_method(Interpreter& in, Scope& scope, const Value& context,
                                                std::string_view method,
                                                std::span<const Value> args,
                                                const Callable* block) = 0;
    /// Implements yaml_data, json_data, hocon_data and eyaml_lookup_key when Puppet code calls
    /// them. The types of the arguments are already checked.
    virtual Value data_function(Interpreter& in, Scope& scope, std::string_view name,
                                std::span<const Value> args) = 0;
};

/// Access to templates and to the files of modules.
class TemplateHost {
public:
    virtual ~TemplateHost() = default;
    virtual Value epp(Interpreter& in, Scope& scope, std::string_view reference,
                      const Value* parameters) = 0;
    virtual Value inline_epp(Interpreter& in, Scope& scope, std::string_view text,
                             const Value* parameters) = 0;
    virtual Value erb(Interpreter& in, Scope& scope, std::string_view reference) = 0;
    virtual Value inline_erb(Interpreter& in, Scope& scope, std::string_view text) = 0;
    /// Returns the path of a file for `file('module/x')`, find_file and others. The reference names
    /// a file of a module or is an absolute path. Returns nullopt if the file does not exist.
    /// `folder` is "files", "templates", "scripts" and so on.
    virtual std::optional<std::string> find_file(std::string_view reference,
                                                 std::string_view folder) = 0;
    virtual std::optional<std::string> module_directory(std::string_view module) = 0;
};

/// All inputs of evaluation other than the language and the files of its environment. This is the
/// only interface for such inputs (docs/design/0054). Every read is recorded in the compile's
/// trace.
class Inputs {
public:
    virtual ~Inputs() = default;
    virtual std::optional<std::string> read_file(std::string_view path) = 0;
    virtual bool file_exists(std::string_view path) = 0;
    virtual std::int64_t now_ns() = 0;
    /// Returns unpredictable random bits, for the function shuffle and bcrypt's salt.
    virtual std::uint32_t random_bits() = 0;
    /// The exit status and the output, including error output, of a command that runs on the
    /// compiling machine (function generate).
    struct CommandOutput {
        int status = 0;
        std::string output;
    };
    virtual base::Result<CommandOutput> run_command(const std::vector<std::string>& argv,
                                                    const std::string& cwd) {
        (void)argv;
        (void)cwd;
        return base::failure("running commands is not supported in this context");
    }
    /// Like run_command, but passes a temporary file with `content`: `argv` gets its path. The file
    /// is removed afterwards.
    virtual base::Result<CommandOutput> run_command_on(
        std::string_view content,
        const std::function<std::vector<std::string>(const std::string& path)>& argv,
        const std::string& cwd) {
        (void)content;
        (void)argv;
        (void)cwd;
        return base::failure("running commands is not supported in this context");
    }
    /// Runs a query against the store (function puppetdb_query). The query is PQL text, or a syntax
    /// tree as arrays. The result lives in `arena`.
    virtual base::Result<Value> store_query(const Value& query, base::Arena& arena) {
        (void)query;
        (void)arena;
        return base::failure("store queries are not supported in this context");
    }
    /// Returns the sorted paths that match a shell pattern (function glob).
    virtual std::vector<std::string> glob(const std::string& pattern) {
        (void)pattern;
        return {};
    }
    /// Returns a Puppet setting as text, for $settings::x, `strict` and others. Returns nullopt if
    /// the setting is unknown.
    virtual std::optional<std::string> setting(std::string_view name) = 0;
    virtual std::string_view environment_name() = 0;
    virtual std::string_view node_name() = 0;
};

/// The hosts of one compile. A null host means that the feature is not available (plain `eval`).
struct Hosts {
    CatalogHost* catalog = nullptr;
    DefinitionHost* definitions = nullptr;
    MemberHost* members = nullptr;
    LookupHost* lookup = nullptr;
    TemplateHost* templates = nullptr;
    Inputs* inputs = nullptr;
};

}  // namespace bunraku::evaluator
