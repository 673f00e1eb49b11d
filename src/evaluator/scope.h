// Scopes: where variables live, and the chain by which unqualified names are found.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/symbol.h"
#include "value/value.h"

namespace bunraku::evaluator {

using base::Symbol;
using value::Value;

enum class ScopeKind : std::uint8_t { Top, Node, Class, Define, Function, Local };

/// One scope. Class, define, node and top scopes are made by the compiler; Function and Local
/// (lambda, match variables) by the interpreter. Lives in the compile's arena-backed pool until the
/// compile ends.
///
/// Lookup of an unqualified name: this scope and its enclosing Local scopes, then the inherited
/// class's scope, then the node scope, then top (Puppet::Parser::Scope#lookupvar, 8.11: no dynamic
/// scope for variables).
class Scope {
public:
    Scope(ScopeKind kind, Scope* parent) : kind(kind), parent(parent) {}
    const ScopeKind kind;
    /// Lexically enclosing (Local), the inherited class or node or top (Class), node or top
    /// (Define), null (Top).
    Scope* parent;
    /// The scope a class or define was declared from: only for resource defaults and tags, which
    /// are dynamic.
    Scope* dynamic_parent = nullptr;
    /// The class or define this scope belongs to ("" for top), and what the compiler hangs on it.
    std::string_view name;
    void* resource = nullptr;  ///< compiler::Resource*
    void* extra = nullptr;     ///< compiler's per-scope data (defaults, ..)
    bool no_parent_lookup =
        false;  ///< functions see only their parameters and top-level facts/globals as Puppet rules

    /// Set in this very scope; null where it is not.
    const Value* find_local(Symbol name) const;
    /// Plain store, without the checks of an assignment.
    void set_local(Symbol name, const Value& v);
    /// Names set here, in order.
    std::vector<Symbol> names() const;

    // Match variables $0..$n of the innermost match.
    std::span<const Value> match;
    bool has_match = false;

private:
    struct Slot {
        Symbol name;
        Value value;
    };
    std::vector<Slot> slots_;  // linear up to 12, then indexed
    std::vector<std::uint32_t> index_;
};

}  // namespace bunraku::evaluator
