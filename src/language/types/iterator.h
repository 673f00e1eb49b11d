// SPDX-License-Identifier: Apache-2.0
// Iterator values, over which each, map, step, reverse_each and tree_each iterate.
#pragma once

#include <cstdint>

#include "language/types/kinds.h"

namespace bunraku::types {

/// One iteration over an iterator. Lives in the context's arena.
class Cursor {
public:
    /// Stores the next element in `out`. Returns false at the end.
    virtual bool next(Value* out) = 0;

protected:
    ~Cursor() = default;
};

/// A lazy sequence (Kind::Iterator). It is immutable: every iteration has a separate cursor.
class Iterator : public TypedExtension {
public:
    virtual const Type* element_type(Context& ctx) const = 0;
    virtual Cursor* start(Context& ctx) const = 0;
    virtual const Iterator* reversed(Context& ctx) const = 0;
    /// Returns an iterator over every n-th element, starting with the first; n > 0.
    virtual const Iterator* stepped(Context& ctx, std::int64_t n) const = 0;
    /// Returns true if the elements are [key, value] pairs, which a block with two parameters
    /// receives separately.
    virtual bool hash_style() const { return false; }

    const Type* value_type(Context& ctx) const override;  ///< Iterator[T]
    bool equal(const value::Extension& other) const override { return this == &other; }
    std::uint64_t hash() const override { return reinterpret_cast<std::uintptr_t>(this) >> 4; }
    void print(std::string& out) const override;  ///< "Iterator[T]-Value"
    Value to_rich_data(base::Arena&) const override { return Value::undef(); }

protected:
    ~Iterator() = default;
};

/// Returns the iterator over an iterable value (array, hash, string, integer, Integer[1, 3],
/// Enum[..], iterator). Returns null if the value is not iterable.
const Iterator* iterable_on(Context& ctx, const Value& v);
inline Value iterator_value(const Iterator* it) {
    return Value::extension(value::Kind::Iterator, it);
}
/// Returns all elements as an array.
Value to_array(Context& ctx, const Iterator& it);

/// Options of the function tree_each.
struct TreeOptions {
    bool breadth_first = false;
    bool include_root = true;
    bool include_containers = true;
    bool include_values = true;
    bool include_refs = false;
    const Type* container_type = nullptr;  ///< null means Variant[Array, Hash, Object]
};
/// Returns an iterator whose elements are [path, value]. Throws PuppetError for invalid options.
const Iterator* tree_iterator(Context& ctx, const Value& root, const TreeOptions& options);

}  // namespace bunraku::types
