// Values whose behaviour lives above the type system, as far as the type system must know them.
#pragma once

#include <functional>
#include <string_view>

#include "types/type.h"
#include "value/value.h"

namespace bunraku::types {

/// Base of everything of Kind::Closure: lambdas, Puppet functions, built-ins.
class CallableValue : public value::Extension {
public:
    /// Its signature: a Callable type.
    virtual const Type* callable_type(Context& ctx) const = 0;
    /// Name for mismatch messages: "lambda", "each".
    virtual std::string_view callable_name() const = 0;

protected:
    ~CallableValue() = default;
};

/// Base of everything of Kind::Iterator: a lazy sequence that can be walked any number of times.
class IteratorValue : public value::Extension {
public:
    /// Type of the elements; null: Any.
    virtual const Type* element_type(Context& ctx) const = 0;
    /// Gives every element in order until `visit` answers false.
    virtual void each(const std::function<bool(const Value&)>& visit) const = 0;
    /// Entries are [key, value] pairs of a hash: two block parameters take key and value.
    virtual bool hash_style() const { return false; }

protected:
    ~IteratorValue() = default;
};

}  // namespace bunraku::types
