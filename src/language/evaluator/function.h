// How a built-in function is written: one struct with its name, documentation, signatures and code.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "core/value/build.h"
#include "core/value/value.h"

namespace bunraku::syntax {
struct Node;
}

namespace bunraku::evaluator {

class Interpreter;
class Scope;
class Callable;
using value::Value;

/// One call of a built-in, its arguments already checked against the signature.
struct Call {
    Interpreter& interpreter;
    Scope& scope;  ///< the caller's
    std::span<const Value> args;
    const Callable* block = nullptr;
    const syntax::Node* site = nullptr;  ///< where the call stands; null from C++

    base::Arena& arena() const;
    std::size_t size() const { return args.size(); }
    const Value& operator[](std::size_t i) const { return args[i]; }
    /// The argument, or undef where it was not given.
    Value at(std::size_t i) const { return i < args.size() ? args[i] : Value::undef(); }
    /// Calls the block; `next` inside it gives its value. `break` and outer `return` travel as
    /// exceptions-free completions (see Interpreter::call).
    Value yield(std::initializer_list<Value> block_args) const;
    Value yield(std::span<const Value> block_args) const;
};

/// One signature and its code.
///
/// `signature` is "Type name, Type name?, Type *name, Type +name, Callable[..] &block?": `?` behind
/// a name is optional, `*` before it repeats (0..), `+` repeats (1..), `&` is the block. Types are
/// Puppet's. Empty: no arguments. They word the mismatch errors exactly as Puppet's dispatches do,
/// so they are Puppet's own.
struct Overload {
    std::string_view signature;
    Value (*code)(const Call& call);
    /// Puppet's `argument_mismatch`: tried when no other overload fits; `code` gives the text of
    /// the error
    /// ("'NAME' TEXT" is raised).
    bool mismatch = false;
};

/// Arity of a function that has no signature, as Puppet's 3.x functions: n exact, -(n+1) at least
/// n. Violations read "NAME(): Wrong number of arguments given (1 for 2)" and "... (0 for minimum
/// 1)". Arguments that are undef arrive as "" (not nested ones).
inline constexpr int kTyped = -1000;

struct Builtin {
    std::string_view name;
    std::string_view doc;  ///< Markdown; the first sentence is the summary
    std::initializer_list<Overload> overloads;
    /// Statement functions (include, notice, fail, ..) have no value (rvalue false).
    bool statement = false;
    int legacy_arity = kTyped;  ///< else: a 3.x style function with one overload, signature ""
    /// Local type aliases for the signatures: "StringData = Variant[String, ..]" one a line.
    std::string_view local_types = {};
    /// Of a function that stands for a module's Ruby: true for calls whose answer is the same in
    /// every release that was compared; null: there is no such narrowing. The arguments are not
    /// checked yet.
    bool (*usual)(const Call& call) = nullptr;
};

/// A family's table: each file of `function/` defines one `std::span<const Builtin>
/// xyz_functions();` and `function/table.cc` lists the families.
using Family = std::span<const Builtin> (*)();

/// An overload with its signature parsed (evaluator/dispatch.h).
struct ParsedOverload;

/// All families, looked up by name. Built once, read by all threads. Signatures are parsed when a
/// function is first called.
class FunctionTable {
public:
    /// `replaceable`: families of functions that modules bring in Ruby Puppet (stdlib's). A
    /// function of the same name that the environment defines in Puppet is called instead of one of
    /// these.
    explicit FunctionTable(std::span<const Family> families,
                           std::span<const Family> replaceable = {});
    ~FunctionTable();
    FunctionTable(const FunctionTable&) = delete;
    const Builtin* find(std::string_view name) const;
    bool is_replaceable(const Builtin& function) const;
    /// The parsed signatures of a function of this table, in order.
    std::span<const ParsedOverload> overloads(const Builtin& function) const;
    /// Every function, by name: for documentation and `describe`.
    std::span<const Builtin* const> all() const;

private:
    struct Impl;
    Impl* impl_;
};

}  // namespace bunraku::evaluator
