// Scopes: where variables live, and the chain by which unqualified names are found.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/arena.h"
#include "core/base/symbol.h"
#include "core/value/value.h"

namespace bunraku::evaluator {

using base::Symbol;
using value::Value;

enum class ScopeKind : std::uint8_t { Top, Node, Class, Define, Function, Local };

/// Parameters that are just being given values, one after the other. While a scope points at one of
/// these, reading a listed name that is not set yet is Puppet's error "X: expects a value for
/// parameter $y" (or "default expression for $x tries to illegally access not yet evaluated $y"),
/// and assigning is refused while `read_only`.
struct PendingParameters {
    std::string_view callee;  ///< "lambda", "Class[Foo]", a function's name
    std::span<const Symbol> names;
    std::size_t current = 0;  ///< index of the parameter whose default is evaluated
    bool read_only = false;
};

/// What the host of a catalog keeps of a scope: the resource, its defaults. A host derives its own,
/// and it alone looks into it.
struct HostScope {
protected:
    ~HostScope() = default;
};

/// One scope. Class, define, node and top scopes are made by the compiler (Interpreter::new_scope);
/// Function and Local (lambda bodies) by the interpreter. Trivially destructible, in the compile's
/// arena.
///
/// Function and Local scopes are recycled when their body ends: who keeps a scope for later keeps
/// `scope.base()`, which is also what resources, defaults and tags hang on (Puppet's own scopes
/// know lambda bodies only as a stack inside the class's scope).
///
/// Lookup of an unqualified name: this scope and its enclosing Local scopes, then the inherited
/// class's scope, then the node scope, then top (Puppet::Parser::Scope#lookupvar, 8.11: no dynamic
/// scope for variables).
class Scope {
public:
    Scope(base::Arena& arena, ScopeKind kind, Scope* parent)
        : kind(kind), parent(parent), arena_(&arena) {}

    ScopeKind kind;
    /// Lexically enclosing (Local), the inherited class or node or top (Class), node or top
    /// (Define), top (Function), null (Top).
    Scope* parent;
    /// The scope a class or define was declared from: only for resource defaults and tags, which
    /// are dynamic.
    Scope* dynamic_parent = nullptr;
    /// The class or define this scope belongs to ("" for top), and what the compiler hangs on it.
    std::string_view name;
    HostScope* host = nullptr;
    /// Variables whose names come from outside (facts, node data, arguments of a template): asked
    /// by their text where nothing is set here, since such names are never interned
    /// (docs/design/0001). Null: none.
    const value::HashRep* given = nullptr;

    /// The nearest enclosing scope that is no lambda body or function: itself for Top, Node, Class,
    /// Define.
    Scope& base() {
        Scope* s = this;
        while (s->kind >= ScopeKind::Function && s->parent) s = s->parent;
        return *s;
    }

    /// Set in this very scope; null where it is not.
    const Value* find_local(Symbol name) const {
        if (const Value* v = find_set(name)) return v;
        return given ? given->find(name.view()) : nullptr;
    }
    /// The same of a name that may be no symbol.
    const Value* find_local(std::string_view name) const;
    /// Calls `visit` with the name and the value of every variable of this very scope.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::uint32_t i = 0; i < size_; ++i) visit(slots_[i].name.view(), slots_[i].value);
        if (given == nullptr) return;
        for (const value::Entry& e : *given) {
            const Symbol known = Symbol::find(e.key.as_string());
            if (!known || !find_set(known)) visit(e.key.as_string(), e.value);
        }
    }
    /// Plain store, without the checks of an assignment; replaces.
    void set_local(Symbol name, const Value& v);
    /// Appends; the caller knows that `name` is not there.
    void add_local(Symbol name, const Value& v);
    /// Names set here, in order.
    std::vector<Symbol> names() const;
    std::size_t size() const { return size_; }
    Symbol name_at(std::size_t i) const { return slots_[i].name; }
    const Value& value_at(std::size_t i) const { return slots_[i].value; }

    /// Match variables $0..$n of the innermost match in this scope.
    std::span<const Value> match;
    bool has_match = false;
    PendingParameters* pending = nullptr;
    bool kept = false;  ///< something outlives the body and points here: never recycled

    /// Empties for reuse; keeps the room.
    void reset(ScopeKind new_kind, Scope* new_parent);

private:
    struct Slot {
        Symbol name;
        Value value;
    };
    const Value* find_set(Symbol name) const {
        if (index_) return find_indexed(name);
        for (const Slot *s = slots_, *e = slots_ + size_; s != e; ++s)
            if (s->name == name) return &s->value;
        return nullptr;
    }
    const Value* find_indexed(Symbol name) const;
    void grow();
    void reindex();

    base::Arena* arena_;
    Slot* slots_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = 0;
    std::uint32_t* index_ = nullptr;  // open addressing above 16 names: slot + 1
    std::uint32_t index_mask_ = 0;
};

/// Restores the match variables of a scope: they do not leave if, unless, case and selectors.
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
