// SPDX-License-Identifier: Apache-2.0
// Evaluates syntax trees in scopes. One interpreter per compile; single-threaded.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/config/compatibility.h"
#include "core/value/encoding.h"
#include "core/value/value.h"
#include "language/evaluator/fact_reads.h"
#include "language/evaluator/function.h"
#include "language/evaluator/host.h"
#include "language/evaluator/scope.h"
#include "language/syntax/ast.h"
#include "language/types/type.h"

namespace bunraku::evaluator {

class Watcher;

enum class Strict : std::uint8_t { Off, Warning, Error };

struct Options {
    Strict strict = Strict::Error;
    bool strict_variables = true;
    /// if false, exporting and collecting exported resources logs a warning
    bool storeconfigs = false;
    bool tasks = false;
    config::Compatibility level = config::kDefaultLevel;
    /// maximum nesting of Puppet calls; a deeper call is an error and never a stack overflow
    int max_depth = 1000;
    /// Maximum number of calls of lambdas and of functions written in Puppet, for programs that
    /// evaluate untrusted code. A further call is an error.
    std::uint64_t max_calls = std::numeric_limits<std::uint64_t>::max();
    /// If true, a call with arguments for which Builtin::usual returns false is an error. The tool
    /// that compares releases uses this option: it determines the releases in which the module's
    /// Ruby code returns the same results for usual arguments.
    bool only_usual = false;
};

/// A value that can be called: a lambda, a Puppet function, a built-in function or a plugin
/// function. It has Kind::Closure. A lambda made for a call expression lives only as long as the
/// call.
class Callable : public types::TypedExtension {
public:
    /// Returns the signature as a Callable type, or a Variant of them for a built-in function with
    /// several.
    virtual const types::Type* signature(Interpreter& in) const = 0;
    /// Checks the arguments and runs the body. For `break` and `return` completions see
    /// Interpreter::pending.
    virtual Value call(Interpreter& in, Scope& scope, std::span<const Value> args,
                       const Callable* block, const syntax::Node* site) const = 0;
    virtual std::string_view name() const = 0;
    /// Returns the number of arguments it accepts as [required, maximum]. A maximum of -1 is
    /// unbounded.
    virtual std::pair<int, int> arity() const = 0;
    /// Returns the parameter names of a lambda or Puppet function, for messages.
    virtual std::vector<std::string_view> parameter_names() const = 0;
    /// Returns Ruby's Proc#arity as Puppet computes it for a block: the number of parameters, or -n
    /// if the n-th parameter is the first that is optional or captures the rest.
    virtual int block_arity() const;

    const types::Type* value_type(types::Context&) const override { return nullptr; }
    bool equal(const value::Extension& other) const override { return this == &other; }
    std::uint64_t hash() const override { return reinterpret_cast<std::uintptr_t>(this) >> 4; }
    void print(std::string& out) const override;
    Value to_rich_data(base::Arena&) const override { return Value::undef(); }

protected:
    ~Callable() = default;
};

/// The reason why a body ended early. Bodies and functions propagate it by returning immediately.
enum class Completion : std::uint8_t { Normal, Next, Break, Return };

class Interpreter {
public:
    Interpreter(base::Arena& arena, base::LogSink& log, const FunctionTable& functions, Hosts hosts,
                Options options);
    ~Interpreter();
    Interpreter(const Interpreter&) = delete;

    /// Evaluates a node and returns its value. Throws base::PuppetError with a location. If a
    /// control completion is pending, the value is meaningless and the caller must return.
    Value evaluate(const syntax::Node* node, Scope& scope);
    /// Evaluates the body of a class, define or node. `return()` and `next()` end it and set its
    /// value. `break()` is an error.
    Value evaluate_body(const syntax::Node* body, Scope& scope);
    /// Evaluates the top level of a manifest; the compiler handles its definitions. `return()`,
    /// `next()` and `break()` are errors there.
    Value evaluate_program(const syntax::Program& program, Scope& scope);

    /// Calls a function by name from C++ or Puppet code, with dispatch and autoloading. Throws
    /// "Unknown function: 'x'." if there is no such function. If `site` is given, it is the
    /// location of errors.
    Value call_function(std::string_view name, std::span<const Value> args, Scope& scope,
                        const Callable* block = nullptr, const syntax::Node* site = nullptr);
    bool function_exists(std::string_view name);
    const Callable* find_callable(std::string_view name);

    /// Returns the pending completion, which next, break and return set. A built-in function that
    /// iterates must check it after each yield and return at once unless it is Normal. For Break it
    /// consumes the completion with take_completion and returns the results collected so far.
    Completion pending() const { return pending_; }
    /// Clears the pending completion and returns its value.
    Value take_completion();
    void set_pending(Completion completion, const Value& v, const syntax::Node* site);

    /// Looks up a variable by name, including qualified ("a::b", "::a") and numeric names. Returns
    /// nullopt if it is not set. Logs no messages. `below` is the dotted path of the part of the
    /// value that the caller reads; empty means the whole value.
    std::optional<Value> lookup_variable(Scope& scope, std::string_view name,
                                         std::string_view below = {});
    /// Reports whether the name is set to any value, including undef (Scope#exist?).
    bool variable_exists(Scope& scope, std::string_view name);
    /// Assigns a variable with all of Puppet's checks.
    void assign(Scope& scope, Symbol name, const Value& v, const syntax::Node* site);

    /// Evaluates the type expression of a parameter. A null node means Any.
    const types::Type* evaluate_type(const syntax::Node* node, Scope& scope);
    /// Sets the result of evaluate_type for an expression that was evaluated before this compile.
    void remember_type(const syntax::Node* node, const types::Type* type);
    /// Evaluates the default expression of a parameter. `scope.pending` should contain the
    /// parameters.
    Value evaluate_default(const syntax::Parameter& parameter, Scope& scope);
    /// Returns a lambda that lives as long as the compile.
    const Callable* make_lambda(const syntax::LambdaExpression& lambda, Scope& scope);
    /// Returns a function written in Puppet. Its body has access to its parameters and to the top
    /// scope.
    const Callable* make_function(const syntax::FunctionDefinition& definition,
                                  Scope& closure_scope);
    /// Runs a lambda (an EPP template) with arguments by name. With `enforce`, they are checked
    /// against its parameters. Without it, all of them become variables.
    Value call_by_name(const syntax::LambdaExpression& lambda, Scope& closure_scope,
                       std::string_view callee, const value::HashRep& args, bool enforce);

    Scope* new_scope(ScopeKind kind, Scope* parent);
    Scope& top_scope() { return *top_; }
    Scope* node_scope = nullptr;
    FactReads fact_reads;
    Watcher* watcher = nullptr;  ///< receives every evaluated expression; may be null

    base::Arena& arena() { return arena_; }
    base::LogSink& log() { return log_; }
    types::Context& types() { return types_; }
    Hosts& hosts() { return hosts_; }
    const Options& options() const { return options_; }
    const FunctionTable& functions() const { return functions_; }
    /// Output of the current EPP template, to which RenderString and RenderExpression append. Null
    /// outside templates.
    value::JoinedText* epp_output = nullptr;
    bool epp_sensitive = false;  ///< True if a Sensitive value was rendered into epp_output.

    /// Logs a warning with the location of `site`.
    void warn(std::string message, std::string_view issue_code, const syntax::Node* site);
    /// Logs a warning once per `key`, or once per message if there is no key.
    void warn_once(std::string message, std::string_view issue_code, const syntax::Node* site,
                   std::string_view key = {});
    /// Throws an error with the location of `site`.
    [[noreturn]] void fail(std::string message, std::string_view issue_code,
                           const syntax::Node* site);
    /// Adds a location to an error of a built-in function or of a lower layer, with Puppet's
    /// wording. An error with an issue code does not change. Any other error becomes "Error while
    /// evaluating a Function Call, ...", depending on the kind of the node.
    void locate(base::PuppetError& error, const syntax::Node* site);
    /// Returns the location of the innermost call, for messages of built-in functions.
    const syntax::Node* current_site() const {
        return frame_ && frame_->site->kind != syntax::NodeKind::Program ? frame_->site : nullptr;
    }
    /// A call in progress, or a whole manifest, whose site is the Program.
    struct CallFrame {
        const syntax::Node* site;
        const CallFrame* outer;
    };
    /// Returns Puppet's stack with the innermost call first, or null outside any call. Bodies that
    /// are evaluated later (defines, nodes) start with an empty stack.
    const CallFrame* frames() const { return frame_; }

private:
    friend struct Evaluation;  // evaluator/*.cc
    base::Arena& arena_;
    base::LogSink& log_;
    const FunctionTable& functions_;
    Hosts hosts_;
    Options options_;
    types::Context types_;
    Scope* top_ = nullptr;
    Completion pending_ = Completion::Normal;
    Value pending_value_;
    const syntax::Node* pending_site_ = nullptr;
    const CallFrame* frame_ = nullptr;
    int depth_ = 0;
    std::uint64_t calls_ = 0;         // number of calls, limited by Options::max_calls
    std::uintptr_t stack_floor_ = 0;  // lowest address for a stack frame
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// The operators of the language on values. Functions use them too.
/// Compares like `==`: recursively, numbers by value, and strings without regard to case.
bool equals(const Value& a, const Value& b);
/// Compares like `<=>`. Throws with Puppet's text if the operands cannot be compared.
int compare(const Value& a, const Value& b);
/// Evaluates `needle in haystack`. Sets match variables in `scope` if it is not null.
bool includes(Interpreter& in, const Value& haystack, const Value& needle, Scope* scope);
/// Matches one option of a case or selector.
bool matches(Interpreter& in, const Value& subject, const Value& option, Scope* scope);
/// Converts a number, or a String with a number (decimal, hex, octal or float, with surrounding
/// blanks). Returns nullopt for anything else (Puppet::Pops::Utils.to_n).
std::optional<Value> to_number(const Value& v);

}  // namespace bunraku::evaluator
