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
    bool storeconfigs = false;  ///< off: exporting and collecting exported resources warns
    bool tasks = false;
    int max_depth = 1000;  ///< nested Puppet calls; beyond: an error, never a stack overflow
    /// Calls of lambdas and functions written in Puppet, for those who evaluate what strangers
    /// wrote; beyond: an error.
    std::uint64_t max_calls = std::numeric_limits<std::uint64_t>::max();
    /// A call with arguments for which Builtin::usual is false is an error: for the tool that
    /// finds out for which releases the usual ones are answered as by the module's Ruby.
    bool only_usual = false;
};

/// Something that can be called with values: lambda, Puppet function, built-in, plugin function.
/// Kind::Closure. Lambdas made for a call expression live only as long as the call.
class Callable : public types::TypedExtension {
public:
    /// The signature as a Callable type (a Variant of them for a built-in with several).
    virtual const types::Type* signature(Interpreter& in) const = 0;
    /// Checks arguments, runs the body. `break`/`return` completions: see Interpreter::pending.
    virtual Value call(Interpreter& in, Scope& scope, std::span<const Value> args,
                       const Callable* block, const syntax::Node* site) const = 0;
    virtual std::string_view name() const = 0;
    /// Number of arguments it takes: [required, maximum]; maximum -1 is unbounded.
    virtual std::pair<int, int> arity() const = 0;
    /// Parameter names of a lambda or Puppet function, for messages.
    virtual std::vector<std::string_view> parameter_names() const = 0;
    /// Ruby's Proc#arity as Puppet computes it for a block: the number of parameters, or -n where
    /// the n-th is the first that is optional or takes the rest.
    virtual int block_arity() const;

    const types::Type* value_type(types::Context&) const override { return nullptr; }
    bool equal(const value::Extension& other) const override { return this == &other; }
    std::uint64_t hash() const override { return reinterpret_cast<std::uintptr_t>(this) >> 4; }
    void print(std::string& out) const override;
    Value to_rich_data(base::Arena&) const override { return Value::undef(); }

protected:
    ~Callable() = default;
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
    /// the value means nothing and callers must return.
    Value evaluate(const syntax::Node* node, Scope& scope);
    /// Evaluates a class, define or node body: `return()` and `next()` end it and give their value,
    /// `break()` is an error.
    Value evaluate_body(const syntax::Node* body, Scope& scope);
    /// Evaluates a manifest's top level (the definitions in it are the compiler's): any of the
    /// three there is an error.
    Value evaluate_program(const syntax::Program& program, Scope& scope);

    /// Calls a function by name from C++ or Puppet code, with dispatch and autoloading. Throws
    /// "Unknown function: 'x'." where there is none. Errors are located at `site` where it is
    /// given.
    Value call_function(std::string_view name, std::span<const Value> args, Scope& scope,
                        const Callable* block = nullptr, const syntax::Node* site = nullptr);
    bool function_exists(std::string_view name);
    const Callable* find_callable(std::string_view name);

    /// Control flow in flight (set by next/break/return); builtins that iterate check it after each
    /// yield: anything but Normal means return at once (Break: consume it with take_completion and
    /// give what was gathered so far).
    Completion pending() const { return pending_; }
    /// Takes the completion: gives its value and clears it.
    Value take_completion();
    void set_pending(Completion completion, const Value& v, const syntax::Node* site);

    /// Variables by name, qualified ones ("a::b", "::a") and numeric ones included; nullopt where
    /// unset. No messages. `below`: all that is read of the value, a dotted path ("": the whole).
    std::optional<Value> lookup_variable(Scope& scope, std::string_view name,
                                         std::string_view below = {});
    /// True where the name is set to anything, undef included (Scope#exist?).
    bool variable_exists(Scope& scope, std::string_view name);
    /// An assignment with all of Puppet's checks.
    void assign(Scope& scope, Symbol name, const Value& v, const syntax::Node* site);

    /// Evaluates a type expression (of a parameter) to a type; null node: Any.
    const types::Type* evaluate_type(const syntax::Node* node, Scope& scope);
    /// What evaluate_type is to give for an expression: it was evaluated before this compile.
    void remember_type(const syntax::Node* node, const types::Type* type);
    /// The default expression of a parameter. `scope.pending` should name the parameters.
    Value evaluate_default(const syntax::Parameter& parameter, Scope& scope);
    /// A lambda that lives as long as the compile.
    const Callable* make_lambda(const syntax::LambdaExpression& lambda, Scope& scope);
    /// A function written in Puppet; its body sees its parameters and top scope.
    const Callable* make_function(const syntax::FunctionDefinition& definition,
                                  Scope& closure_scope);
    /// Runs a lambda (an EPP template) with arguments by name. With `enforce` they are checked
    /// against its parameters; without, all of them become variables.
    Value call_by_name(const syntax::LambdaExpression& lambda, Scope& closure_scope,
                       std::string_view callee, const value::HashRep& args, bool enforce);

    Scope* new_scope(ScopeKind kind, Scope* parent);
    Scope& top_scope() { return *top_; }
    Scope* node_scope = nullptr;
    FactReads fact_reads;
    Watcher* watcher = nullptr;  ///< null: nobody is told what is evaluated

    base::Arena& arena() { return arena_; }
    base::LogSink& log() { return log_; }
    types::Context& types() { return types_; }
    Hosts& hosts() { return hosts_; }
    const Options& options() const { return options_; }
    const FunctionTable& functions() const { return functions_; }
    /// EPP output in progress (RenderString/RenderExpression append here); null outside templates.
    value::JoinedText* epp_output = nullptr;
    bool epp_sensitive = false;  ///< a Sensitive value was rendered into epp_output

    /// A warning with the place of `site`; where `once`, once per `key`, or else per message.
    void warn(std::string message, std::string_view issue_code, const syntax::Node* site,
              bool once = false, std::string_view key = {});
    /// Throws with the place of `site`.
    [[noreturn]] void fail(std::string message, std::string_view issue_code,
                           const syntax::Node* site);
    /// Adds a place to an error of a built-in or of a lower floor, as Puppet words it: what has an
    /// issue code stays as it is, everything else becomes "Error while evaluating a Function Call,
    /// ..." by the kind of the node.
    void locate(base::PuppetError& error, const syntax::Node* site);
    /// Where the innermost call stands, for messages made in built-ins.
    const syntax::Node* current_site() const {
        return frame_ && frame_->site->kind != syntax::NodeKind::Program ? frame_->site : nullptr;
    }
    /// A call that goes on, or a whole manifest (its site is the Program).
    struct CallFrame {
        const syntax::Node* site;
        const CallFrame* outer;
    };
    /// Puppet's stack: the innermost call first; null outside of any. Bodies that are evaluated
    /// later (defines, nodes) stand on none.
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
    std::uint64_t calls_ = 0;         // of Options::max_calls
    std::uintptr_t stack_floor_ = 0;  // no frame below this address
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// The language's operators on values, used by functions too.
/// `==`: numbers by value, strings without regard to case, recursively.
bool equals(const Value& a, const Value& b);
/// `<=>`; throws with Puppet's text where the operands cannot be compared.
int compare(const Value& a, const Value& b);
/// `needle in haystack`; match variables are set in `scope` where it is given.
bool includes(Interpreter& in, const Value& haystack, const Value& needle, Scope* scope);
/// Case/selector matching of one option.
bool matches(Interpreter& in, const Value& subject, const Value& option, Scope* scope);
/// A String (decimal, hex, octal, float, blanks around) or a number as a number; nullopt where it
/// is none (Puppet::Pops::Utils.to_n).
std::optional<Value> to_number(const Value& v);

}  // namespace bunraku::evaluator
