// SPDX-License-Identifier: Apache-2.0
// Iterating methods that arrays, hashes and ranges share.
#include <algorithm>

#include "core/base/merge_sort.h"
#include "core/base/work_limit.h"
#include "language/erb/methods.h"

namespace bunraku::erb {

/// Compares with <=>. If the values are not comparable, Ruby renders the template instead.
int Renderer::ordering(const RV& a, const RV& b) {
    const int c = heap_.compare(a, b);
    if (c != 2) return c;
    // Ruby's message shows the operands in an order that depends on its sort algorithm.
    fall_back("a comparison of different things");
}

RV Renderer::sorted(const RV& array, const Block* block) {
    RV out = heap_.copy_array(array);
    // Ruby uses glibc's merge sort, which is stable.
    std::vector<RV> items(out.a->items, out.a->items + out.a->size);
    RV left;
    const bool finished =
        base::merge_sort(items, [&](const RV& a, const RV& b) -> std::optional<bool> {
            if (!block) return ordering(a, b) > 0;
            RV c;
            if (!yield2(*block, a, b, c)) {
                left = c;
                return std::nullopt;
            }
            if (!c.is(T::Int)) fall_back("a sort block that gives no number");
            return c.i > 0;
        });
    if (!finished) return left;
    std::ranges::copy(items, out.a->items);
    return out;
}

RV Renderer::sorted_by(const RV& array, const Block& block) {
    struct Keyed {
        RV key;
        RV item;
    };
    std::vector<Keyed> items;
    for (std::uint32_t i = 0; i < heap_.items(array).size; ++i) {
        const RV item = array.a->items[i];
        RV key;
        if (!yield1(block, item, key)) return key;
        items.push_back({key, item});
    }
    std::ranges::stable_sort(
        items, [&](const Keyed& a, const Keyed& b) { return ordering(a.key, b.key) < 0; });
    RV out = heap_.array(items.size());
    for (const auto& each : items) heap_.push(*out.a, each.item);
    return out;
}

/// Returns the result of min, max, min_by or max_by, which is the first of equal items.
RV Renderer::extreme(const RV& array, M method, Args args, const Block* block) {
    const bool by = method == M::min_by || method == M::max_by;
    if (!args.empty() || (by != (block != nullptr))) unknown(array, method);
    const int sign = method == M::min || method == M::min_by ? -1 : 1;
    RV best, best_key;
    for (std::uint32_t i = 0; i < heap_.items(array).size; ++i) {
        const RV item = array.a->items[i];
        RV key = item;
        if (by && !yield1(*block, item, key)) return key;
        if (i == 0 || ordering(key, best_key) == sign) {
            best = item;
            best_key = key;
        }
    }
    return best;
}

RV Renderer::injected(const RV& array, Args args, const Block* block) {
    std::optional<RV> sum;
    if (!block) {
        if (args.empty() || args.size() > 2 || !args.back().is(T::Sym)) unknown(array, M::inject);
        fall_back("inject with a symbol");
    }
    if (args.size() > 1) unknown(array, M::inject);
    if (args.size() == 1) sum = args[0];
    for (std::uint32_t i = 0; i < heap_.items(array).size; ++i) {
        const RV item = array.a->items[i];
        if (!sum) {
            sum = item;
            continue;
        }
        RV out;
        if (!yield2(*block, *sum, item, out)) return out;
        if (out.is(T::Output)) fall_back("the output as a value");
        sum = out;
    }
    return sum.value_or(RV::nil());
}

void Renderer::flatten_into(RV& out, const RV& array, std::int64_t depth, int nested) {
    base::step();
    if (nested > 90) fall_back("nested too deep");
    for (std::uint32_t i = 0; i < heap_.items(array).size; ++i) {
        const RV item = array.a->items[i];
        if (item.is(T::Array) && depth != 0) {
            flatten_into(out, item, depth - 1, nested + 1);
        } else {
            heap_.push(*out.a, item);
        }
    }
}

void Renderer::join_into(std::string& out, const RV& array, std::string_view separator, int depth,
                         bool& first) {
    base::step();
    if (depth > 90) fall_back("nested too deep");
    for (std::uint32_t i = 0; i < heap_.items(array).size; ++i) {
        const RV item = array.a->items[i];
        if (item.is(T::Array)) {
            // An empty nested list still gets its separators.
            if (heap_.items(item).size == 0) {
                if (!first) out += separator;
                first = false;
            } else {
                join_into(out, item, separator, depth + 1, first);
            }
            continue;
        }
        if (!first) out += separator;
        first = false;
        heap_.print(out, item);
        if (out.size() > (64u << 20)) fall_back("too much memory");
    }
}

RV Renderer::filtered(const RV& array, const Block& block, bool keep, bool& left) {
    RV out = heap_.array();
    for (std::uint32_t i = 0; i < heap_.items(array).size; ++i) {
        const RV item = array.a->items[i];
        RV v;
        if (!yield1(block, item, v)) {
            left = true;
            return v;
        }
        if (v.truthy() == keep) heap_.push(*out.a, item);
    }
    return out;
}

/// `self` is the receiver, which may be a Hash or a Range. `array` holds its items.
struct Renderer::EnumerableCall : Call {
    const RV& array;

    EnumerableCall(Renderer& r, const RV& of, const RV& items, M m, Args a, const Block* b)
        : Call(r, of, m, a, b), array(items) {}

    std::uint32_t size() const { return heap.items(array).size; }
    RV item(std::uint32_t i) const { return array.a->items[i]; }
    RV enumerator(Enumerator::Kind kind) {
        // For a Hash, `each` with an index would return the Hash; this rare case falls back.
        if (self.t != T::Array) return unknown();
        RV out;
        out.t = T::Enumerator;
        out.e = heap.arena().make<Enumerator>(kind, self.a);
        return out;
    }
    /// Passes each item and the block's result for it (the item itself without a block) to `f`
    /// until `f` returns false. Returns false if `break` left the block; `v` is then the result of
    /// the method.
    template <class F>
    bool walk(RV& v, F&& f) {
        for (std::uint32_t i = 0; i < size(); ++i) {
            const RV each = item(i);
            v = each;
            if (block && !yield1(each, v)) return false;
            if (!f(each, i)) return true;
        }
        return true;
    }
    /// Like walk, for all items.
    template <class F>
    bool walk_all(RV& v, F&& f) {
        return walk(v, [&f](const RV& each, std::uint32_t) {
            f(each);
            return true;
        });
    }

    RV each() {
        if (!block) return enumerator(Enumerator::Kind::Each);
        RV v;
        return walk_all(v, [](const RV&) {}) ? self : v;
    }
    RV each_with_index() {
        if (!block) return enumerator(Enumerator::Kind::EachWithIndex);
        RV v;
        for (std::uint32_t i = 0; i < size(); ++i)
            if (!yield2(item(i), RV::integer(i), v)) return v;
        return self;
    }
    RV reverse_each() {
        RV v;
        for (std::uint32_t i = size(); i-- > 0;) {
            if (i >= size()) continue;
            if (!yield1(item(i), v)) return v;
        }
        return self;
    }
    RV each_with_object() {
        RV v;
        for (std::uint32_t i = 0; i < size(); ++i)
            if (!yield2(item(i), args[0], v)) return v;
        return args[0];
    }
    RV each_slice() {
        if (args[0].i < 1) return unknown();
        RV v;
        for (std::uint32_t i = 0; i < size();) {
            RV part = heap.array();
            for (std::int64_t n = 0; n < args[0].i && i < size(); ++n)
                heap.push(*part.a, item(i++));
            if (!yield1(part, v)) return v;
        }
        return self;
    }
    RV map() {
        if (!block) return enumerator(Enumerator::Kind::Map);
        RV v, out = heap.array(size());
        return walk_all(v, [&](const RV&) { heap.push(*out.a, v); }) ? out : v;
    }
    RV filter_map() {
        RV v, out = heap.array();
        const auto add = [&](const RV&) {
            if (v.truthy()) heap.push(*out.a, v);
        };
        return walk_all(v, add) ? out : v;
    }
    RV flat_map() {
        RV v, out = heap.array();
        const auto add = [&](const RV&) {
            if (!v.is(T::Array)) return heap.push(*out.a, v);
            for (std::uint32_t k = 0; k < heap.items(v).size; ++k) heap.push(*out.a, v.a->items[k]);
        };
        return walk_all(v, add) ? out : v;
    }
    RV select() {
        if (!block)
            return enumerator(method == M::reject ? Enumerator::Kind::Reject
                                                  : Enumerator::Kind::Select);
        bool left = false;
        return renderer.filtered(array, *block, method != M::reject, left);
    }
    RV partition() {
        RV v, yes = heap.array(), no = heap.array();
        const auto add = [&](const RV& each) { heap.push(*(v.truthy() ? yes : no).a, each); };
        return walk_all(v, add) ? heap.pair(yes, no) : v;
    }
    RV group_by() {
        RV v, out = heap.hash();
        const auto add = [&](const RV& each) {
            const RV* group = heap.find(*out.h, v);
            const RV list = group ? *group : heap.array();
            if (!group) heap.set(*out.h, v, list);
            heap.push(*list.a, each);
        };
        return walk_all(v, add) ? out : v;
    }
    RV find() {
        RV v, out;
        const auto look = [&](const RV& each, std::uint32_t) {
            if (v.truthy()) out = each;
            return !v.truthy();
        };
        return walk(v, look) ? out : v;
    }
    RV find_index() {
        if (args.empty() != (block != nullptr)) return unknown();
        RV v, out;
        const auto look = [&](const RV&, std::uint32_t i) {
            const bool found = block ? v.truthy() : heap.equal(v, args[0]);
            if (found) out = RV::integer(i);
            return !found;
        };
        return walk(v, look) ? out : v;
    }
    /// Methods any?, all?, none? and one?.
    RV any() {
        RV v;
        std::size_t yes = 0, no = 0;
        const auto count = [&](const RV&, std::uint32_t) {
            ++(v.truthy() ? yes : no);
            return method == M::all ? no == 0 : method == M::one || yes == 0;
        };
        if (!walk(v, count)) return v;
        return RV::boolean(method == M::any    ? yes > 0
                           : method == M::all  ? no == 0
                           : method == M::none ? yes == 0
                                               : yes == 1);
    }
    RV count() {
        if (!block && args.empty()) return RV::integer(size());
        if (block && !args.empty()) return unknown();
        RV v;
        std::int64_t count = 0;
        const auto add = [&](const RV&) {
            if (block ? v.truthy() : heap.equal(v, args[0])) ++count;
        };
        return walk_all(v, add) ? RV::integer(count) : v;
    }
    RV inject() { return renderer.injected(array, args, block); }
    RV sum() {
        RV v, total = args.empty() ? RV::integer(0) : args[0];
        const auto add = [&](const RV&) {
            // Ruby sums Floats with an error compensation.
            if (v.is(T::Float) || total.is(T::Float)) fall_back("a sum of Floats");
            total = renderer.invoke(total, M::op_add, {&v, 1}, nullptr);
        };
        return walk_all(v, add) ? total : v;
    }
    RV sort() { return renderer.sorted(array, block); }
    RV sort_by() { return renderer.sorted_by(array, *block); }
    RV extreme() { return renderer.extreme(array, method, args, block); }
    RV uniq() {
        RV v, seen = heap.hash(), out = heap.array();
        const auto add = [&](const RV& each) {
            if (heap.find(*seen.h, v)) return;
            heap.set(*seen.h, v, RV::nil());
            heap.push(*out.a, each);
        };
        return walk_all(v, add) ? out : v;
    }
    RV first() {
        if (args.empty()) return size() > 0 ? item(0) : RV::nil();
        return take();
    }
    /// take(n), drop(n)
    RV take() {
        if (args[0].i < 0) return unknown();
        RV out = heap.array();
        for (std::uint32_t i = 0; i < size(); ++i)
            if ((i < args[0].i) == (method != M::drop)) heap.push(*out.a, item(i));
        return out;
    }
    RV zip() {
        RV out = heap.array();
        for (std::uint32_t i = 0; i < size(); ++i)
            heap.push(*out.a, heap.pair(item(i), i < heap.items(args[0]).size ? args[0].a->items[i]
                                                                              : RV::nil()));
        return out;
    }
    RV to_h() {
        RV v, out = heap.hash();
        const auto add = [&](const RV&) {
            if (!v.is(T::Array) || heap.items(v).size != 2) unknown();
            heap.set(*out.h, v.a->items[0], v.a->items[1]);
        };
        return walk_all(v, add) ? out : v;
    }
    RV to_a() { return heap.copy_array(array); }
};

RV Renderer::enumerate(const RV& self, const RV& array, M method, Args args, const Block* block) {
    using C = EnumerableCall;
    using enum Blocks;
    static constexpr MethodTable<C> kMethods{
        {{M::each, M::each_pair}, "", Allowed, &C::each},
        {{M::each_with_index}, "", Allowed, &C::each_with_index},
        {{M::reverse_each}, "", Needed, &C::reverse_each},
        {{M::each_with_object}, "v", Needed, &C::each_with_object},
        {{M::each_slice}, "i", Needed, &C::each_slice},
        {{M::map, M::collect}, "", Allowed, &C::map},
        {{M::filter_map}, "", Needed, &C::filter_map},
        {{M::flat_map, M::collect_concat}, "", Needed, &C::flat_map},
        {{M::select, M::filter, M::find_all, M::reject}, "", Allowed, &C::select},
        {{M::partition}, "", Needed, &C::partition},
        {{M::group_by}, "", Needed, &C::group_by},
        {{M::find, M::detect}, "", Needed, &C::find},
        {{M::find_index, M::index}, "?v", Allowed, &C::find_index},
        {{M::any, M::all, M::none, M::one}, "", Allowed, &C::any},
        {{M::count}, "?v", Allowed, &C::count},
        {{M::inject, M::reduce}, "*", Allowed, &C::inject},
        {{M::sum}, "?v", Allowed, &C::sum},
        {{M::sort}, "", Allowed, &C::sort},
        {{M::sort_by}, "", Needed, &C::sort_by},
        {{M::min, M::max, M::min_by, M::max_by}, "*", Allowed, &C::extreme},
        {{M::uniq}, "", Allowed, &C::uniq},
        {{M::first}, "?i", None, &C::first},
        {{M::take, M::drop}, "i", None, &C::take},
        {{M::zip}, "a", None, &C::zip},
        {{M::to_h}, "", Allowed, &C::to_h},
        {{M::entries, M::to_a}, "", None, &C::to_a},
    };
    EnumerableCall call(*this, self, array, method, args, block);
    return kMethods.run(call);
}

}  // namespace bunraku::erb
