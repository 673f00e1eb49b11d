// SPDX-License-Identifier: Apache-2.0
#include "language/types/iterator.h"

#include <array>
#include <fmt/format.h>
#include <limits>

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "core/value/build.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/object.h"

namespace bunraku::types {

namespace {

/// Returns the number of bytes of the character that starts at `at`.
std::size_t char_length(std::string_view text, std::size_t at) {
    BUNRAKU_ASSERT(at < text.size());
    std::size_t n = 1;
    while (at + n < text.size() && (static_cast<unsigned char>(text[at + n]) & 0xC0) == 0x80) ++n;
    return n;
}

struct EmptyCursor final : Cursor {
    bool next(Value*) override { return false; }
};

/// A cursor over a list, forwards or backwards, in steps.
struct ListCursor final : Cursor {
    std::span<const Value> items;
    std::int64_t at, step;
    ListCursor(std::span<const Value> list, std::int64_t start, std::int64_t by)
        : items(list), at(start), step(by) {
        BUNRAKU_ASSERT(step != 0);
    }
    bool next(Value* out) override {
        if (at < 0 || at >= static_cast<std::int64_t>(items.size())) return false;
        *out = items[static_cast<std::size_t>(at)];
        at += step;
        return true;
    }
};

struct RangeCursor final : Cursor {
    Range range;
    std::int64_t at, step;
    bool done = false;
    RangeCursor(Range r, std::int64_t by) : range(r), at(by < 0 ? r.max : r.min), step(by) {
        BUNRAKU_ASSERT(step != 0);
    }
    bool next(Value* out) override {
        base::step();
        if (done || !range.contains(at)) return false;
        *out = Value::integer(at);
        if (__builtin_add_overflow(at, step, &at)) done = true;
        return true;
    }
};

struct StepCursor final : Cursor {
    Cursor* inner;
    std::int64_t step;
    StepCursor(Cursor* c, std::int64_t n) : inner(c), step(n) { BUNRAKU_ASSERT(inner && step > 1); }
    bool next(Value* out) override {
        if (!inner->next(out)) return false;
        Value skipped;
        for (std::int64_t i = 1; i < step && inner->next(&skipped); ++i) {
        }
        return true;
    }
};

const Iterator* make_step(Context& ctx, const Iterator* inner, std::int64_t n);
const Iterator* make_list(Context& ctx, const Type* element, std::span<const Value> items,
                          bool reverse);

/// An iterator over every n-th element of another iterator.
class StepIterator final : public Iterator {
public:
    StepIterator(const Iterator* inner, std::int64_t n) : inner_(inner), step_(n) {
        BUNRAKU_ASSERT(n > 1);
        hold(inner->depth());
    }
    const Type* element_type(Context& ctx) const override { return inner_->element_type(ctx); }
    Cursor* start(Context& ctx) const override {
        return ctx.arena.make<StepCursor>(inner_->start(ctx), step_);
    }
    const Iterator* reversed(Context& ctx) const override {
        return make_list(ctx, element_type(ctx), to_array(ctx, *this).as_array(), true);
    }
    const Iterator* stepped(Context& ctx, std::int64_t n) const override {
        return make_step(ctx, this, n);
    }

private:
    const Iterator* inner_;
    std::int64_t step_;
};

const Iterator* make_step(Context& ctx, const Iterator* inner, std::int64_t n) {
    return n == 1 ? inner : ctx.arena.make<StepIterator>(inner, n);
}

/// An iterator over an array, the pairs of a hash, or the values of an Enum. The element type is
/// computed only on request.
class ListIterator final : public Iterator {
public:
    ListIterator(const Type* element, std::span<const Value> items, bool reverse, bool pairs)
        : items_(items), element_(element), reverse_(reverse), pairs_(pairs) {
        hold(Value::depth_of(items) - 1);
    }
    const Type* element_type(Context& ctx) const override {
        // The type is not stored, because the caller's arena may be short-lived.
        return element_ ? element_ : infer_elements(ctx);
    }
    Cursor* start(Context& ctx) const override {
        const auto n = static_cast<std::int64_t>(items_.size());
        return ctx.arena.make<ListCursor>(items_, reverse_ ? n - 1 : 0, reverse_ ? -1 : 1);
    }
    const Iterator* reversed(Context& ctx) const override {
        return ctx.arena.make<ListIterator>(element_, items_, !reverse_, pairs_);
    }
    const Iterator* stepped(Context& ctx, std::int64_t n) const override {
        return make_step(ctx, this, n);
    }
    // A reversed hash yields its pairs as single values.
    bool hash_style() const override { return pairs_ && !reverse_; }

private:
    const Type* infer_elements(Context& ctx) const {
        if (items_.empty())
            return pairs_ ? static_cast<const Type*>(defaults().key_pair) : defaults().unit;
        if (!pairs_) {
            std::vector<const Type*> types;
            for (const Value& v : items_) types.push_back(infer_set(ctx, v));
            return make_variant(ctx, types);
        }
        std::vector<const Type*> keys, values;
        for (const Value& v : items_) {
            BUNRAKU_ASSERT(v.as_array().size() == 2);
            keys.push_back(infer_set(ctx, v.as_array()[0]));
            values.push_back(infer_set(ctx, v.as_array()[1]));
        }
        const std::array<const Type*, 2> pair{make_variant(ctx, keys), make_variant(ctx, values)};
        return make_tuple_type(ctx, pair, Range{2, 2});
    }

    std::span<const Value> items_;
    const Type* element_;
    bool reverse_, pairs_;
};

const Iterator* make_list(Context& ctx, const Type* element, std::span<const Value> items,
                          bool reverse) {
    return ctx.arena.make<ListIterator>(element, items, reverse, false);
}

/// An iterator from one integer to another in steps. A further step produces a range again.
class RangeIterator final : public Iterator {
public:
    RangeIterator(Range r, std::int64_t step) : range_(r), step_(step) {
        BUNRAKU_ASSERT(step_ != 0 && range_.bounded());
    }
    const Type* element_type(Context& ctx) const override { return make_integer(ctx, range_); }
    Cursor* start(Context& ctx) const override {
        return ctx.arena.make<RangeCursor>(range_, step_);
    }
    const Iterator* reversed(Context& ctx) const override {
        return ctx.arena.make<RangeIterator>(range_, -step_);
    }
    const Iterator* stepped(Context& ctx, std::int64_t n) const override {
        std::int64_t by = 0, span = 0;
        if (__builtin_mul_overflow(step_, n, &by) ||
            by == std::numeric_limits<std::int64_t>::min() ||
            __builtin_sub_overflow(range_.max, range_.min, &span))
            return make_step(ctx, this, n);
        Range r = range_;
        // The end of the range moves to the last element of the iteration. When it iterates
        // backwards, Puppet uses the remainder of a division by a negative number, and may
        // therefore omit the last element.
        if (by > 0)
            r.max -= span % by;
        else if (const std::int64_t rest = span % -by; rest != 0)
            r.min += -by - rest;
        return ctx.arena.make<RangeIterator>(r, by);
    }

private:
    Range range_;
    std::int64_t step_;
};

std::span<const Value> characters(Context& ctx, const Value& string) {
    const std::string_view text = string.as_string();
    std::vector<Value> out;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t n = string.is_bytes() ? 1 : char_length(text, i);
        BUNRAKU_ASSERT(n > 0 && n <= text.size() - i);
        out.push_back(Value::string(text.substr(i, n)).in_encoding(string.is_bytes()));
        i += n;
    }
    return ctx.arena.copy(out);
}

const Iterator* on_type(Context& ctx, const Type* t) {
    if (const auto* alias = as<TypeAliasType>(t)) t = resolve(ctx, alias);
    if (const auto* i = as<IntegerType>(t))
        return i->range.bounded() ? ctx.arena.make<RangeIterator>(i->range, 1) : nullptr;
    if (const auto* e = as<EnumType>(t)) {
        std::vector<Value> values;
        for (std::string_view v : e->values) values.push_back(Value::string(v));
        return make_list(ctx, t, ctx.arena.copy(values), false);
    }
    return nullptr;
}

}  // namespace

const Type* Iterator::value_type(Context& ctx) const {
    return make_iterator(ctx, element_type(ctx));
}

void Iterator::print(std::string& out) const {
    base::Arena arena(2048);
    Context ctx{arena, nullptr};
    const Type* t = element_type(ctx);
    out += t ? fmt::format("Iterator[{}]-Value", generalize(ctx, t)->to_string())
             : std::string("Iterator-Value");
}

const Iterator* iterable_on(Context& ctx, const Value& v) {
    using value::Kind;
    switch (v.kind()) {
        case Kind::Iterator: return static_cast<const Iterator*>(v.as_extension());
        case Kind::String: return make_list(ctx, defaults().string_char, characters(ctx, v), false);
        case Kind::Array: return ctx.arena.make<ListIterator>(nullptr, v.as_array(), false, false);
        case Kind::Hash: {
            std::vector<Value> pairs;
            pairs.reserve(v.as_hash().size());
            for (const value::Entry& e : v.as_hash())
                pairs.push_back(value::make_array(ctx.arena, {e.key, e.value}));
            return ctx.arena.make<ListIterator>(nullptr, ctx.arena.copy(pairs), false, true);
        }
        case Kind::Integer:
            if (v.as_integer() < 0) return nullptr;
            if (v.as_integer() == 0) return make_list(ctx, defaults().unit, {}, false);
            return ctx.arena.make<RangeIterator>(Range{0, v.as_integer() - 1}, 1);
        case Kind::Type: return on_type(ctx, v.as_type());
        default: return nullptr;
    }
}

Value to_array(Context& ctx, const Iterator& it) {
    std::vector<Value> out;
    Cursor* cursor = it.start(ctx);
    Value v;
    while (cursor->next(&v)) out.push_back(v);
    return value::make_array(ctx.arena, out);
}

// --- tree_each
// ------------------------------------------------------------------------------------

namespace {

/// An iterator over all nodes of a tree of arrays, hashes and objects as [path, value]. The nodes
/// are collected when the first iteration starts.
class TreeIterator final : public Iterator {
public:
    TreeIterator(const Value& root, const TreeOptions& options) : root_(root), options_(options) {
        hold(root.depth());
    }
    const Type* element_type(Context&) const override { return defaults().any; }
    Cursor* start(Context& ctx) const override {
        return ctx.arena.make<ListCursor>(all(ctx), 0, 1);
    }
    const Iterator* reversed(Context& ctx) const override {
        return make_list(ctx, defaults().any, all(ctx), true);
    }
    const Iterator* stepped(Context& ctx, std::int64_t n) const override {
        return make_step(ctx, this, n);
    }

private:
    struct Node {
        Value path;
        Value value;
    };

    std::span<const Value> all(Context& ctx) const {
        if (done_) return entries_;
        std::vector<Value> out;
        const auto emit = [&](const Node& n) {
            out.push_back(value::make_array(ctx.arena, {n.path, n.value}));
        };
        const Node root{value::make_array(ctx.arena, std::span<const Value>()), root_};
        if (options_.include_root && options_.include_containers) emit(root);
        if (options_.breadth_first) {
            // The breadth-first order ignores include_values (8.11).
            std::vector<Node> queue{root};
            for (std::size_t i = 0; i < queue.size(); ++i) {
                const Node parent = queue[i];
                each_child(ctx, parent, [&](const Node& child) {
                    if (is_container(ctx, child.value)) {
                        queue.push_back(child);
                        if (options_.include_containers) emit(child);
                    } else {
                        emit(child);
                    }
                });
            }
        } else {
            descend(ctx, root, emit);
        }
        entries_ = ctx.arena.copy(out);
        done_ = true;
        return entries_;
    }

    template <class Emit>
    void descend(Context& ctx, const Node& parent, const Emit& emit) const {
        each_child(ctx, parent, [&](const Node& child) {
            if (is_container(ctx, child.value)) {
                if (options_.include_containers) emit(child);
                descend(ctx, child, emit);
            } else if (options_.include_values) {
                emit(child);
            }
        });
    }

    bool is_container(Context& ctx, const Value& v) const {
        if (options_.container_type) return is_instance(ctx, options_.container_type, v);
        return v.is_array() || v.is_hash() || v.is(value::Kind::Object);
    }

    template <class F>
    void each_child(Context& ctx, const Node& parent, const F& visit) const {
        const auto below = [&](const Value& key, const Value& v) {
            std::vector<Value> path(parent.path.as_array().begin(), parent.path.as_array().end());
            path.push_back(key);
            visit(Node{value::make_array(ctx.arena, path), v});
        };
        const Value& v = parent.value;
        if (v.is_array()) {
            std::int64_t i = 0;
            for (const Value& e : v.as_array()) below(Value::integer(i++), e);
        } else if (v.is_hash()) {
            for (const value::Entry& e : v.as_hash()) below(e.key, e.value);
        } else if (const Object* object = as_object(v)) {
            for (const Member* m : object->type()->all_attributes()) {
                if (m->kind == AttributeKind::Reference && !options_.include_refs) continue;
                if (const auto value = object_attribute(ctx, v, m->name))
                    below(Value::string(m->name), *value);
            }
        }
    }

    Value root_;
    TreeOptions options_;
    mutable std::span<const Value> entries_;
    mutable bool done_ = false;
};

}  // namespace

const Iterator* tree_iterator(Context& ctx, const Value& root, const TreeOptions& options) {
    if (options.container_type) {
        const std::array<const Type*, 3> kinds{defaults().array, defaults().hash,
                                               default_object_type()};
        if (!is_assignable(ctx, make_variant(ctx, kinds), options.container_type))
            throw base::PuppetError(fmt::format(
                "Only Array, Hash, and Object types can be used as container types. Got {}",
                options.container_type->to_string()));
    }
    if (!options.include_containers && !options.include_values)
        throw base::PuppetError(
            "Options 'include_containers' and 'include_values' cannot both be false");
    return ctx.arena.make<TreeIterator>(root, options);
}

}  // namespace bunraku::types
