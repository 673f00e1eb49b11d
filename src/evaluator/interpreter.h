// Evaluates syntax trees in scopes. One interpreter per compile; single-threaded.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "evaluator/function.h"
#include "evaluator/host.h"
#include "evaluator/scope.h"
#include "syntax/ast.h"
#include "types/type.h"
#include "value/value.h"

namespace bunraku::evaluator {

enum class Strict : std::uint8_t { Off, Warning, Error };

struct Options {
    Strict strict = Strict::Error;
    bool strict_variables = true;
    int max_depth = 1000;  ///< nested Puppet calls; beyond: an error, never a stack overflow
};

/// Something that can be called with values: lambda, Puppet function, built-in, plugin function.
/// Kind::Closure.
class Callable : public value::Extension {
public:
    /// The signature as a Callable type.
    virtual const types::Type* signature(Interpreter& in) const = 0;
    /// Checks arguments, runs the body. `break`/`return` completions: see Interpreter::pending.
    virtual Value call(Interpreter& in, Scope& scope, std::span<const Value> args,
                       const Callable* block, const syntax::Node* site) const = 0;
    virtual std::string_view name() const = 0;
    /// Number of arguments a lambda takes: [required, maximum]; maximum -1 is unbounded.
    virtual std::pair<int, int> arity() const = 0;
    /// Parameter names of a lambda or Puppet function (for `with named arguments` and messages).
    virtual std::vector<std::string_view> parameter_names() const = 0;
};

/// Why a body ended before its end. Bodies and functions pass it on by returning at once.
enum class Completion : std::uint8_t { Normal, Next, Break, Return };

class Interpreter {
public:
    Interpreter(base::Arena& arena, base::LogSink& log, const FunctionTable& functions, Hosts hosts,
                Options options);
    ~Interpreter();
    Interpreter(const Interpreter&) = delete;

    /// The value of a node. Throws base::PuppetError, located. When a control completion is pending
    /// the value is that of the completion and callers must return.
    Value evaluate(const syntax::Node* node, Scope& scope);
    /// Evaluates a class, define, node or program body: `return()` ends it, `next`/`break` outside
    /// of blocks are errors.
    Value evaluate_body(const syntax::Node* body, Scope& scope);

    /// Calls a function by name from C++ or Puppet code, with dispatch and autoloading.
    Value call_function(std::string_view name, std::span<const Value> args, Scope& scope,
                        const Callable* block = nullptr, const syntax::Node* site = nullptr);
    bool function_exists(std::string_view name);
    const Callable* find_callable(std::string_view name);

    /// Control flow in flight (set by next/break/return); builtins that iterate check it after each
    /// yield.
    Completion pending() const { return pending_; }
    /// Takes the completion: gives its value and clears it.
    Value take_completion();
    void set_pending(Completion completion, const Value& v, const syntax::Node* site);

    /// Variables by name, qualified ones included; nullopt where unset. No messages.
    std::optional<Value> lookup_variable(Scope& scope, std::string_view name);
    /// An assignment with all of Puppet's checks.
    void assign(Scope& scope, Symbol name, const Value& v, const syntax::Node* site);

    /// Evaluates a type expression (of a parameter) to a type.
    const types::Type* evaluate_type(const syntax::Node* node, Scope& scope);
    /// Binds arguments to the parameters of a definition (classes and defines by name use the
    /// compiler).
    const Callable* make_lambda(const syntax::LambdaExpression& lambda, Scope& scope);
    const Callable* make_function(const syntax::FunctionDefinition& definition,
                                  Scope& closure_scope);

    Scope* new_scope(ScopeKind kind, Scope* parent);
    Scope& top_scope() { return *top_; }
    Scope* node_scope = nullptr;

    base::Arena& arena() { return arena_; }
    base::LogSink& log() { return log_; }
    types::Context& types() { return types_; }
    Hosts& hosts() { return hosts_; }
    const Options& options() const { return options_; }
    const FunctionTable& functions() const { return functions_; }
    /// EPP output in progress (RenderString/RenderExpression append here); null outside templates.
    std::string* epp_output = nullptr;

    /// A warning with the place of `site`, once per message where `once`.
    void warn(std::string message, std::string_view issue_code, const syntax::Node* site,
              bool once = false);
    /// Throws with the place of `site`.
    [[noreturn]] void fail(std::string message, std::string_view issue_code,
                           const syntax::Node* site);
    /// Where the innermost call stands, for messages made in built-ins.
    const syntax::Node* current_site() const { return site_; }

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
    const syntax::Node* site_ = nullptr;
    int depth_ = 0;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// The language's operators on values, used by functions too.
/// `==`: numbers by value, strings without regard to case, recursively.
bool equals(const Value& a, const Value& b);
/// `<=>`; throws with Puppet's text where the operands cannot be compared.
int compare(const Value& a, const Value& b);
/// `needle in haystack`
bool includes(Interpreter& in, const Value& haystack, const Value& needle, Scope* scope);
/// Case/selector matching of one option.
bool matches(Interpreter& in, const Value& subject, const Value& option, Scope& scope);

}  // namespace bunraku::evaluator
