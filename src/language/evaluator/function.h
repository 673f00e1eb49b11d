// SPDX-License-Identifier: Apache-2.0
// The definition of a built-in function: one struct with its name, documentation, signatures and
// code.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "core/config/compatibility.h"
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

/// One call of a built-in function. The arguments are already checked against the signature.
struct Call {
    Interpreter& interpreter;
    Scope& scope;  ///< the caller's scope
    std::span<const Value> args;
    const Callable* block = nullptr;
    const syntax::Node* site = nullptr;  ///< location of the call; null for a call from C++

    base::Arena& arena() const;
    std::size_t size() const { return args.size(); }
    const Value& operator[](std::size_t i) const { return args[i]; }
    /// Returns the argument, or undef if it was not given.
    Value at(std::size_t i) const { return i < args.size() ? args[i] : Value::undef(); }
    /// Calls the block. `next` inside the block sets its value. `break` and an outer `return` are
    /// passed on as completions, without exceptions (see Interpreter::call).
    Value yield(std::initializer_list<Value> block_args) const;
    Value yield(std::span<const Value> block_args) const;
};

/// One signature and its code.
///
/// `signature` is "Type name, Type name?, Type *name, Type +name, Callable[..] &block?". A `?`
/// after a name means optional. A `*` before a name means repeated (0..), and a `+` means repeated
/// (1..). `&` marks the block. An empty signature has no arguments. The types are Puppet's own,
/// because mismatch errors show them exactly as in Puppet's dispatches.
struct Overload {
    std::string_view signature;
    Value (*code)(const Call& call);
    /// Puppet's `argument_mismatch`. It is tried if no other overload matches. `code` returns the
    /// text of the error, which is thrown as "'NAME' TEXT".
    bool mismatch = false;
    /// The changes between compatibility levels that add and remove this overload.
    std::optional<config::Change> added = {}, removed = {};
    /// Reports whether the overload exists at a level.
    bool exists(config::Compatibility level) const {
        return (!added || config::changed(level, *added)) &&
               (!removed || !config::changed(level, *removed));
    }
};

/// The arity of a function without a signature, like Puppet's 3.x functions: n means exactly n
/// arguments, -(n+1) means at least n. The errors are "NAME(): Wrong number of arguments given (1
/// for 2)" and "... (0 for minimum 1)". Arguments that are undef are passed as ""; nested undefs
/// are not converted.
inline constexpr int kTyped = -1000;

struct Builtin {
    std::string_view name;
    std::string_view doc;  ///< Markdown; the first sentence is the summary
    std::initializer_list<Overload> overloads;
    /// Statement functions (include, notice, fail, ..) have no value (rvalue false).
    bool statement = false;
    /// any other value: a 3.x style function with one overload and the signature ""
    int legacy_arity = kTyped;
    /// Local type aliases for the signatures, one per line: "StringData = Variant[String, ..]".
    std::string_view local_types = {};
    /// For a function that replaces a module's Ruby function: returns true for calls whose result
    /// is the same in every compared release. The arguments are not checked yet. Null means that
    /// there is no such restriction.
    bool (*usual)(const Call& call) = nullptr;
};

/// A function table of one family: each file of `function/` defines one
/// `std::span<const Builtin> xyz_functions();` and `function/table.cc` lists the families.
using Family = std::span<const Builtin> (*)();

/// An overload with its parsed signature (evaluator/dispatch.h).
struct ParsedOverload;

/// All families, with lookup by name. The table is built once and read by all threads. A signature
/// is parsed when its function is first called.
class FunctionTable {
public:
    /// `replaceable` lists the families whose functions are Ruby functions of modules in Puppet
    /// (those of stdlib). A Puppet function of the environment takes precedence over a built-in
    /// function of these families with the same name.
    explicit FunctionTable(std::span<const Family> families,
                           std::span<const Family> replaceable = {});
    ~FunctionTable();
    FunctionTable(const FunctionTable&) = delete;
    const Builtin* find(std::string_view name) const;
    bool is_replaceable(const Builtin& function) const;
    /// Returns the parsed signatures of a function of this table, in order.
    std::span<const ParsedOverload> overloads(const Builtin& function) const;
    /// Returns all functions sorted by name, for documentation and `describe`.
    std::span<const Builtin* const> all() const;

private:
    struct Impl;
    Impl* impl_;
};

}  // namespace bunraku::evaluator
