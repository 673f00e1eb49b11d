// SPDX-License-Identifier: Apache-2.0
// Scopes: they hold variables and form the chain for the lookup of unqualified names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/arena.h"
#include "core/base/assert.h"
#include "core/base/symbol.h"
#include "core/value/value.h"

namespace bunraku::evaluator {

using base::Symbol;
using value::Value;

enum class ScopeKind : std::uint8_t { Top, Node, Class, Define, Function, Local };

/// Parameters that are being set one after the other. While a scope points to this object, reading
/// a listed name that is not set yet fails with Puppet's error "X: expects a value for parameter
/// $y" (or "default expression for $x tries to illegally access not yet evaluated $y"). Assignment
/// is refused while `read_only` is true.
struct PendingParameters {
    std::string_view callee;  ///< "lambda", "Class[Foo]", a function's name
    std::span<const Symbol> names;
    std::size_t current = 0;  ///< index of the parameter whose default is being evaluated
    bool read_only = false;
};

/// The state that the catalog's host attaches to a scope: the resource and its defaults. The host
/// derives a class from it, which only the host uses.
struct HostScope {
protected:
    ~HostScope() = default;
};

/// One scope. The compiler makes class, define, node and top scopes (Interpreter::new_scope). The
/// interpreter makes Function and Local scopes (lambda bodies). A scope is trivially destructible
/// and lives in the compile's arena.
///
/// Function and Local scopes are recycled when their body ends. Code that stores a scope must store
/// `scope.base()` instead. Resources, defaults and tags are also attached to that base scope,
/// because in Puppet lambda bodies are only a stack inside the scope of the class.
///
/// The lookup of an unqualified name searches this scope and its enclosing Local scopes, then the
/// scope of the inherited class, then the node scope, then the top scope
/// (Puppet::Parser::Scope#lookupvar, 8.11: no dynamic scope for variables).
class Scope {
public:
    Scope(base::Arena& arena, ScopeKind own_kind, Scope* enclosing)
        : kind(own_kind), parent(enclosing), arena_(&arena) {}

    ScopeKind kind;
    /// The enclosing scope (Local), the inherited class or node or top (Class), node or top
    /// (Define), top (Function), or null (Top).
    Scope* parent;
    /// The scope that declared the class or define. Only resource defaults and tags use it, because
    /// they are dynamic.
    Scope* dynamic_parent = nullptr;
    /// The class or define of this scope ("" for top), and the compiler's state for it.
    std::string_view name;
    HostScope* host = nullptr;
    /// Variables with external names (facts, node data, arguments of a template). They are looked
    /// up by text if the name is not set here, because such names are never interned
    /// (docs/design/0001). May be null.
    const value::HashRep* given = nullptr;

    /// Returns the nearest enclosing scope that is not a lambda body or function. Top, Node, Class
    /// and Define scopes return themselves.
    Scope& base() {
        Scope* s = this;
        while (s->kind >= ScopeKind::Function && s->parent) s = s->parent;
        return *s;
    }

    /// Returns the value set in this scope itself, or null if the name is not set here.
    const Value* find_local(Symbol variable) const {
        if (const Value* v = find_set(variable)) return v;
        return given ? given->find(variable.view()) : nullptr;
    }
    /// Like the other overload, for a name that may not be a symbol.
    const Value* find_local(std::string_view variable) const;
    /// Calls `visit` with the name and the value of every variable of this scope itself.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::uint32_t i = 0; i < size_; ++i) visit(slots_[i].name.view(), slots_[i].value);
        if (given == nullptr) return;
        for (const value::Entry& e : *given) {
            const Symbol known = Symbol::find(e.key.as_string());
            if (!known || !find_set(known)) visit(e.key.as_string(), e.value);
        }
    }
    /// Stores or replaces a value without the checks of an assignment.
    void set_local(Symbol variable, const Value& v);
    /// Appends a variable, which must not be set in this scope.
    void add_local(Symbol variable, const Value& v);
    /// Returns the names set here, in order.
    std::vector<Symbol> names() const;
    std::size_t size() const { return size_; }
    Symbol name_at(std::size_t i) const {
        BUNRAKU_ASSERT(i < size_);
        return slots_[i].name;
    }
    const Value& value_at(std::size_t i) const {
        BUNRAKU_ASSERT(i < size_);
        return slots_[i].value;
    }

    /// Match variables $0..$n of the innermost match in this scope.
    std::span<const Value> match;
    bool has_match = false;
    PendingParameters* pending = nullptr;
    /// True if a reference to this scope outlives the body, so that it is never recycled.
    bool retained = false;

    /// Empties the scope for reuse and retains its memory.
    void reset(ScopeKind new_kind, Scope* new_parent);

private:
    struct Slot {
        Symbol name;
        Value value;
    };
    const Value* find_set(Symbol variable) const {
        if (index_) return find_indexed(variable);
        for (const Slot *s = slots_, *e = slots_ + size_; s != e; ++s)
            if (s->name == variable) return &s->value;
        return nullptr;
    }
    const Value* find_indexed(Symbol variable) const;
    void grow();
    void reindex();

    base::Arena* arena_;
    Slot* slots_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = 0;
    // hash index with open addressing, used above 16 names; an entry is slot + 1
    std::uint32_t* index_ = nullptr;
    std::uint32_t index_mask_ = 0;
};

/// Restores the match variables of a scope at the end of if, unless, case and selectors.
class MatchGuard {
public:
    explicit MatchGuard(Scope& scope) : scope_(scope), match_(scope.match), has_(scope.has_match) {}
    ~MatchGuard() {
        scope_.match = match_;
        scope_.has_match = has_;
    }
    MatchGuard(const MatchGuard&) = delete;

private:
    Scope& scope_;
    std::span<const Value> match_;
    bool has_;
};

}  // namespace bunraku::evaluator
