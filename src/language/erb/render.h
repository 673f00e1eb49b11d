// SPDX-License-Identifier: Apache-2.0
// Runs a parsed template.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/regex/regex.h"
#include "language/erb/ast.h"
#include "language/erb/value.h"

namespace bunraku::erb {

/// The interface of a template to everything outside of it.
class RenderHost {
public:
    virtual ~RenderHost() = default;
    /// Returns the value of @name; nullopt if it is not set. `below` is the part of the value that
    /// is read (Node::below); empty means all of it.
    virtual std::optional<Value> variable(base::Symbol name, std::string_view below) = 0;
    /// Returns the value for scope['name'] or scope.lookupvar('name'); nullopt if there is no such
    /// variable.
    virtual std::optional<Value> lookup(std::string_view name, std::string_view below = {}) = 0;
    /// Records the read of another part of a value that was returned before.
    virtual void read_again(base::Symbol name, std::string_view below) = 0;
    /// Returns a hash of all variables that @names can reach (scope.to_hash).
    virtual Value variables() = 0;
    /// Calls a Puppet function without side effects; `legacy` means scope.function_NAME. Throws
    /// Fallback for functions that must not be called here.
    virtual Value call_function(std::string_view name, std::span<const Value> args,
                                bool legacy) = 0;
    /// Returns the arena for values that are passed to functions.
    virtual base::Arena& arena() = 0;
    /// Returns the path of the template; empty for an inline template.
    virtual std::string_view file() = 0;
};

struct RegexRef {
    const regex::Regex* regex = nullptr;
};

struct MatchData {
    std::string_view subject;
    regex::Match match;
};

using Args = std::span<const RV>;

/// State that a rendering shares with the templates that it calls (scope.function_template). It
/// also holds the actions that are delayed until the outermost rendering ends, because until then a
/// fallback to Ruby must remain possible.
struct Shared {
    struct DelayedCall {
        std::string function;
        std::vector<Value> args;
    };
    Heap heap;
    std::vector<std::pair<std::string, RV>> variables;  ///< Set by scope.setvar.
    std::vector<DelayedCall> calls;                     ///< Delayed calls of logging functions.
    /// An array or hash of the compile that the template has read. Its address identifies it, so
    /// that all references see the same object. If the template changes the object, the variable
    /// gets the change at the end, as in Puppet.
    struct Object {
        const void* place;
        RV object;
        std::string name;
        Value was;
    };
    std::vector<Object> objects;
    const RV* find(std::string_view name) const {
        for (const auto& [each, v] : variables)
            if (each == name) return &v;
        return nullptr;
    }
};

/// One rendering. Throws Fallback if Ruby must render the template.
class Renderer {
public:
    Renderer(const Program& program, RenderHost& host, Shared& shared)
        : program_(program), host_(host), shared_(shared), heap_(shared.heap) {}
    std::string run();
    /// Returns the line of the template that is being rendered.
    std::uint32_t line() const { return line_; }

private:
    enum class Flow : std::uint8_t { Normal, Next, Break, Return };

    // render.cc
    Flow exec(const Node& node, RV& result);
    RV eval(const Node& node);
    Flow exec_case(const Node& node, RV& result);
    Flow exec_while(const Node& node, RV& result);
    Flow exec_for(const Node& node, RV& result);
    RV assign(const Node& node);
    RV assign_to(const Node& target, const RV& v);
    RV read_variable(int slot, std::string_view below = {});
    void spread(std::span<const Node* const> targets, const RV& v);
    RV eval_call(const Node& node);
    RV scope_call(const Node& node);
    RV function_call(const Node& node);
    RV kernel(const Node& node);
    RV own_call(const Node& node);
    RV interpolated(const Node& node);
    RV lookup(const RV& name, std::string_view below);
    RV object(std::string_view name, const Value& v);
    bool case_equal(const RV& option, const RV& subject);
    void step() {
        if (++steps_ > 5'000'000) fall_back("too many steps");
    }

    /// Runs a block. Returns false if `break` left it; `out` is then the result of the method.
    bool yield(const Block& block, Args args, RV& out);
    bool yield1(const Block& block, const RV& v, RV& out) { return yield(block, {&v, 1}, out); }
    bool yield2(const Block& block, const RV& a, const RV& b, RV& out) {
        const RV both[] = {a, b};
        return yield(block, both, out);
    }
    void bind(const Block::Parameter& parameter, const RV& v);

    // object.cc: methods of all objects, and the small classes.
    /// A call of a method. Classes with many methods use tables (methods.h).
    struct Call;
    struct StringCall;
    struct ArrayCall;
    struct HashCall;
    struct EnumerableCall;
    RV invoke(const RV& self, M method, Args args, const Block* block);
    RV integer_method(const RV& self, M method, Args args, const Block* block);
    RV float_method(const RV& self, M method, Args args);
    RV symbol_method(const RV& self, M method, Args args);
    RV nil_method(M method, Args args);
    RV range_method(const RV& self, M method, Args args, const Block* block);
    RV regex_method(const RV& self, M method, Args args);
    RV match_method(const RV& self, M method, Args args);
    RV class_method(const RV& self, M method, Args args);
    RV scope_hash_method(M method, Args args, const Block* block);
    RV enumerator_method(const RV& self, M method, Args args, const Block* block);
    bool is_a(const RV& v, std::string_view cls);
    bool responds_to(const RV& v, std::string_view name);

    // string.cc
    RV string_method(const RV& self, M method, Args args, const Block* block);
    RV string_index(const RV& self, Args args);
    RV substitute(const RV& self, Args args, const Block* block, bool all);
    RV split(std::string_view text, Args args);
    RV scan(const RV& self, Args args, const Block* block);
    RV format(std::string_view text, const RV& args);
    std::string translate(std::string_view text, std::string_view from, std::string_view to);

    // array.cc
    RV array_method(const RV& self, M method, Args args, const Block* block);
    RV array_index(const RV& self, Args args);
    // enumerable.cc
    RV enumerate(const RV& self, const RV& array, M method, Args args, const Block* block);
    RV filtered(const RV& array, const Block& block, bool keep, bool& left);
    RV sorted(const RV& array, const Block* block);
    RV sorted_by(const RV& array, const Block& block);
    RV extreme(const RV& array, M method, Args args, const Block* block);
    RV injected(const RV& array, Args args, const Block* block);
    void flatten_into(RV& out, const RV& array, std::int64_t depth, int nested);
    void join_into(std::string& out, const RV& array, std::string_view separator, int depth,
                   bool& first);
    int ordering(const RV& a, const RV& b);

    // hash.cc
    RV hash_method(const RV& self, M method, Args args, const Block* block);
    RV pairs(const RV& hash);

    // json.cc
    void json(std::string& out, const RV& v, int depth, bool pretty = false);

    [[noreturn]] void unknown(const RV& self, M method);
    [[noreturn]] void no_method(const RV& self, M method);

    bool match(const regex::Regex& regex, const RV& subject, std::size_t start = 0);
    RV group(std::size_t i);
    RV str(std::string_view text) { return heap_.string(text); }

    const Program& program_;
    RenderHost& host_;
    Shared& shared_;
    Heap& heap_;
    std::string out_;
    std::vector<RV> locals_;
    std::vector<bool> defined_;  ///< functions
    struct Variable {
        RV value;
        bool read = false;
        bool set = false;
    };
    std::vector<Variable> variables_;
    std::string_view match_subject_;
    std::optional<regex::Match> match_;
    std::uint64_t steps_ = 0;
    std::uint32_t line_ = 1;
    int depth_ = 0;
};

/// Returns the offset of the n-th character of UTF-8 text; the text's size if it has fewer
/// characters.
std::size_t char_offset(std::string_view text, std::size_t n);
std::size_t char_count(std::string_view text);

}  // namespace bunraku::erb
