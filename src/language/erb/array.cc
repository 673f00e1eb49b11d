// SPDX-License-Identifier: Apache-2.0
// The methods of Array.
#include <algorithm>

#include "language/erb/methods.h"

namespace bunraku::erb {

RV Renderer::array_index(const RV& self, Args args) {
    const auto size = static_cast<std::int64_t>(self.a->size);
    const auto cut = [&](std::int64_t from, std::int64_t count) {
        if (from < 0) from += size;
        if (from < 0 || from > size || count < 0) return RV::nil();
        count = std::min(count, size - from);
        RV out = heap_.array(static_cast<std::size_t>(count));
        for (std::int64_t i = 0; i < count; ++i)
            heap_.push(*out.a, heap_.items(self).items[from + i]);
        return out;
    };
    if (args.size() == 2 && args[0].is(T::Int) && args[1].is(T::Int))
        return cut(args[0].i, args[1].i);
    if (args.size() == 1 && args[0].is(T::Int)) {
        const std::int64_t at = args[0].i < 0 ? args[0].i + size : args[0].i;
        return at < 0 || at >= size ? RV::nil() : heap_.items(self).items[at];
    }
    if (args.size() == 1 && args[0].is(T::Range)) {
        std::int64_t from = args[0].r->from.i, to = args[0].r->to.i;
        if (from < 0) from += size;
        if (to < 0) to += size;
        if (from < 0 || from > size) return RV::nil();
        return cut(from, std::max<std::int64_t>(to - from + (args[0].r->exclusive ? 0 : 1), 0));
    }
    if (args.size() == 1 && args[0].is(T::Str))
        ruby_error("no implicit conversion of String into Integer");
    unknown(self, M::op_index);
}

struct Renderer::ArrayCall : Call {
    using Call::Call;

    Array& a = *self.a;

    RV op_index() { return renderer.array_index(self, args); }
    RV length() { return RV::integer(a.size); }
    RV empty() { return RV::boolean(a.size == 0); }
    RV include() {
        for (std::uint32_t i = 0; i < heap.items(self).size; ++i)
            if (heap.equal(a.items[i], args[0])) return RV::boolean(true);
        return RV::boolean(false);
    }
    RV join() {
        std::string_view by;
        if (args.size() == 1 && !args[0].is(T::Nil)) {
            if (!args[0].is(T::Str)) return unknown();
            by = args[0].s->view();
        }
        std::string out;
        bool first = true;
        renderer.join_into(out, self, by, 0, first);
        return str(out);
    }
    RV each_index() {
        RV v;
        for (std::uint32_t i = 0; i < heap.items(self).size; ++i)
            if (!yield1(RV::integer(i), v)) return v;
        return self;
    }
    RV flatten() {
        RV out = heap.array(a.size);
        renderer.flatten_into(out, self, args.empty() ? -1 : args[0].i, 0);
        return out;
    }
    RV compact() {
        RV out = heap.array(a.size);
        for (std::uint32_t i = 0; i < heap.items(self).size; ++i)
            if (!a.items[i].is(T::Nil)) heap.push(*out.a, a.items[i]);
        return out;
    }
    RV reverse() {
        RV out = heap.copy_array(self);
        std::reverse(out.a->items, out.a->items + out.a->size);
        return out;
    }
    RV rotate() {
        RV out = heap.copy_array(self);
        if (out.a->size > 1)
            std::rotate(out.a->items, out.a->items + 1, out.a->items + out.a->size);
        return out;
    }
    RV last() {
        heap.items(self);
        if (args.empty()) return a.size > 0 ? a.items[a.size - 1] : RV::nil();
        if (args[0].i < 0) return unknown();
        RV out = heap.array();
        for (std::uint32_t i = 0; i < a.size; ++i)
            if (static_cast<std::int64_t>(a.size - i) <= args[0].i) heap.push(*out.a, a.items[i]);
        return out;
    }
    RV op_add() {
        if (args[0].is(T::Nil)) ruby_error("no implicit conversion of nil into Array");
        if (args[0].is(T::Str)) ruby_error("no implicit conversion of String into Array");
        if (!args[0].is(T::Array)) return unknown();
        RV out = heap.copy_array(self);
        for (std::uint32_t i = 0; i < heap.items(args[0]).size; ++i)
            heap.push(*out.a, args[0].a->items[i]);
        return out;
    }
    /// Operators -, & and |.
    RV combined() {
        RV other = heap.hash(), seen = heap.hash(), out = heap.array();
        for (std::uint32_t i = 0; i < heap.items(args[0]).size; ++i)
            heap.set(*other.h, args[0].a->items[i], RV::nil());
        const auto add = [&](const RV& v) {
            if (heap.find(*seen.h, v)) return;
            heap.set(*seen.h, v, RV::nil());
            heap.push(*out.a, v);
        };
        for (std::uint32_t i = 0; i < heap.items(self).size; ++i) {
            const RV v = a.items[i];
            const bool there = heap.find(*other.h, v) != nullptr;
            if (method == M::op_sub && !there) heap.push(*out.a, v);
            if (method == M::op_and && there) add(v);
            if (method == M::op_or) add(v);
        }
        if (method == M::op_or)
            for (std::uint32_t i = 0; i < args[0].a->size; ++i) add(args[0].a->items[i]);
        return out;
    }
    RV op_mul() {
        if (args[0].is(T::Str)) return join();
        if (!args[0].is(T::Int) || args[0].i < 0 || args[0].i * (a.size + 1) > 1'000'000)
            return unknown();
        RV out = heap.array();
        for (std::int64_t n = 0; n < args[0].i; ++n)
            for (std::uint32_t i = 0; i < heap.items(self).size; ++i) heap.push(*out.a, a.items[i]);
        return out;
    }
    RV dig() {
        if (args.empty()) return unknown();
        const RV v = renderer.array_index(self, args.subspan(0, 1));
        if (args.size() == 1 || v.is(T::Nil)) return v;
        return renderer.invoke(v, M::dig, args.subspan(1), nullptr);
    }
    RV fetch() {
        const std::int64_t at = args[0].i < 0 ? args[0].i + a.size : args[0].i;
        if (at >= 0 && at < a.size) return heap.items(self).items[at];
        return args.size() == 2 ? args[1] : unknown();
    }
    RV values_at() {
        RV out = heap.array();
        for (const RV& each : args) {
            if (!each.is(T::Int)) return unknown();
            heap.push(*out.a, renderer.array_index(self, {&each, 1}));
        }
        return out;
    }
    RV product() {
        const std::uint64_t left = heap.items(self).size;
        if (left * heap.items(args[0]).size > 1'000'000) return unknown();
        RV out = heap.array();
        for (std::uint32_t i = 0; i < a.size; ++i)
            for (std::uint32_t k = 0; k < args[0].a->size; ++k)
                heap.push(*out.a, heap.pair(a.items[i], args[0].a->items[k]));
        return out;
    }
    RV assoc() {
        for (std::uint32_t i = 0; i < heap.items(self).size; ++i) {
            const RV v = a.items[i];
            if (v.is(T::Array) && heap.items(v).size > 0 && heap.equal(v.a->items[0], args[0]))
                return v;
        }
        return RV::nil();
    }
    RV transpose() {
        RV out = heap.array();
        for (std::uint32_t i = 0; i < heap.items(self).size; ++i) {
            const RV row = a.items[i];
            if (!row.is(T::Array) || heap.items(row).size != heap.items(a.items[0]).size)
                return unknown();
            for (std::uint32_t k = 0; k < row.a->size; ++k) {
                if (i == 0) heap.push(*out.a, heap.array());
                heap.push(*out.a->items[k].a, row.a->items[k]);
            }
        }
        return out;
    }
    RV rindex() {
        for (std::uint32_t i = heap.items(self).size; i-- > 0;)
            if (heap.equal(a.items[i], args[0])) return RV::integer(i);
        return RV::nil();
    }
    RV to_a() { return self; }

    // Methods that change the array itself.
    Array& changed() {
        heap.items(self);
        // Also if the call changes nothing, because Ruby raises an error for a frozen array even
        // then.
        if (a.foreign) fall_back("a value of the compile is changed");
        a.dirty = true;
        heap.changed = heap.changed || a.copied;
        return a;
    }
    /// Replaces the items by those of `other`.
    void take_all(const RV& other) {
        for (std::uint32_t i = 0; i < other.a->size; ++i) heap.push(a, other.a->items[i]);
    }
    /// a[i] = v
    RV store() {
        changed();
        std::int64_t at = args[0].i;
        if (at < 0) at += a.size;
        if (at < 0 || at > 1'000'000) return unknown();
        if (at < a.size) {
            a.items[at] = args[1];
        } else {
            heap.insert(a, static_cast<std::uint32_t>(at), args[1]);
        }
        return args[1];
    }
    RV push() {
        changed();
        for (const RV& each : args) heap.push(a, each);
        return self;
    }
    RV unshift() {
        changed();
        for (std::size_t i = args.size(); i-- > 0;) heap.insert(a, 0, args[i]);
        return self;
    }
    RV insert() {
        changed();
        if (args.size() < 2 || !args[0].is(T::Int) || args[0].i < 0 || args[0].i > 1'000'000)
            return unknown();
        for (std::size_t i = args.size(); i-- > 1;)
            heap.insert(a, static_cast<std::uint32_t>(args[0].i), args[i]);
        return self;
    }
    RV concat() {
        changed();
        for (const RV& each : args)
            if (!each.is(T::Array)) return unknown();
        for (const RV& each : args) take_all(heap.copy_array(each));
        return self;
    }
    RV replace() {
        changed();
        const RV more = heap.copy_array(args[0]);
        heap.clear(a);
        take_all(more);
        return self;
    }
    RV pop() {
        changed();
        return a.size == 0 ? RV::nil() : removed(method == M::pop ? a.size - 1 : 0);
    }
    RV delete_() {
        changed();
        RV out;
        for (std::uint32_t i = 0; i < a.size;) {
            if (heap.equal(a.items[i], args[0])) {
                out = removed(i);
            } else {
                ++i;
            }
        }
        return out;
    }
    RV delete_at() {
        changed();
        const std::int64_t at = args[0].i < 0 ? args[0].i + a.size : args[0].i;
        return at < 0 || at >= a.size ? RV::nil() : removed(static_cast<std::uint32_t>(at));
    }
    RV removed(std::uint32_t at) {
        const RV out = a.items[at];
        heap.erase(a, at);
        return out;
    }
    RV clear() {
        changed();
        heap.clear(a);
        return self;
    }
    /// Runs sort!, map! and others with the result of the method without "!". Returns nil if
    /// nothing changed.
    RV bang() {
        static constexpr struct {
            M method, plain;
            bool nil_if_same;
        } kPlain[] = {
            {M::collect_bang, M::map, false},    {M::map_bang, M::map, false},
            {M::sort_bang, M::sort, false},      {M::delete_if, M::reject, false},
            {M::compact_bang, M::compact, true}, {M::uniq_bang, M::uniq, true},
            {M::flatten_bang, M::flatten, true}, {M::reject_bang, M::reject, true},
            {M::select_bang, M::select, true},
        };
        changed();
        const auto& row =
            *std::ranges::find(kPlain, method, [](const auto& r) { return r.method; });
        const RV out = renderer.array_method(self, row.plain, args, block);
        if (!out.is(T::Array)) fall_back("break out of a method that changes its object");
        bool same = out.a->size == a.size;
        if (row.plain == M::flatten)
            for (std::uint32_t i = 0; i < a.size; ++i) same = same && !a.items[i].is(T::Array);
        heap.clear(a);
        take_all(out);
        return row.nil_if_same && same ? RV::nil() : self;
    }
};

RV Renderer::array_method(const RV& self, M method, Args args, const Block* block) {
    using C = ArrayCall;
    using enum Blocks;
    static constexpr MethodTable<C> kMethods{
        {{M::op_index, M::slice}, "*", None, &C::op_index},
        {{M::at}, "i", Allowed, &C::op_index},
        {{M::length, M::size}, "", None, &C::length},
        {{M::empty}, "", None, &C::empty},
        {{M::include_, M::member}, "v", None, &C::include},
        {{M::join}, "?v", None, &C::join},
        {{M::each_index}, "", Needed, &C::each_index},
        {{M::each_pair}, "", None, &C::unknown},
        {{M::flatten}, "?i", None, &C::flatten},
        {{M::compact}, "", None, &C::compact},
        {{M::reverse}, "", None, &C::reverse},
        {{M::rotate}, "", None, &C::rotate},
        {{M::last}, "?i", None, &C::last},
        {{M::op_add}, "v", None, &C::op_add},
        {{M::op_sub, M::op_and, M::op_or}, "a", None, &C::combined},
        {{M::op_mul}, "v", None, &C::op_mul},
        {{M::dig}, "*", None, &C::dig},
        {{M::fetch}, "i?v", None, &C::fetch},
        {{M::values_at}, "*", Allowed, &C::values_at},
        {{M::product}, "a", None, &C::product},
        {{M::assoc}, "v", Allowed, &C::assoc},
        {{M::transpose}, "", Allowed, &C::transpose},
        {{M::rindex}, "v", None, &C::rindex},
        {{M::to_a, M::entries}, "", None, &C::to_a},
        {{M::store}, "iv", Allowed, &C::store},
        {{M::op_shl, M::push, M::append}, "*", Allowed, &C::push},
        {{M::unshift, M::prepend}, "*", Allowed, &C::unshift},
        {{M::insert}, "*", Allowed, &C::insert},
        {{M::concat}, "*", Allowed, &C::concat},
        {{M::replace}, "a", Allowed, &C::replace},
        {{M::pop, M::shift}, "", Allowed, &C::pop},
        {{M::delete_}, "v", None, &C::delete_},
        {{M::delete_at}, "i", Allowed, &C::delete_at},
        {{M::clear}, "", Allowed, &C::clear},
        {{M::collect_bang, M::map_bang, M::sort_bang, M::delete_if}, "*", Allowed, &C::bang},
        {{M::compact_bang, M::uniq_bang, M::flatten_bang}, "*", Allowed, &C::bang},
        {{M::reject_bang, M::select_bang}, "*", Allowed, &C::bang},
    };
    const auto* row = kMethods.find(method);
    if (!row) return enumerate(self, self, method, args, block);
    ArrayCall call(*this, self, method, args, block);
    return kMethods.run(*row, call);
}

}  // namespace bunraku::erb
