// SPDX-License-Identifier: Apache-2.0
// The methods of Hash.
#include "language/erb/methods.h"

namespace bunraku::erb {

namespace {

/// Forbids new keys while a hash is iterated.
class Iteration {
public:
    explicit Iteration(Hash& hash) : hash_(hash) { ++hash_.iterating; }
    ~Iteration() { --hash_.iterating; }
    Iteration(const Iteration&) = delete;

private:
    Hash& hash_;
};

}  // namespace

RV Renderer::pairs(const RV& hash) {
    Hash& h = heap_.entries(hash);
    RV out = heap_.array(h.size);
    for (std::uint32_t i = 0; i < h.size; ++i)
        heap_.push(*out.a, heap_.pair(h.entries[i].key, h.entries[i].value));
    return out;
}

struct Renderer::HashCall : Call {
    using Call::Call;

    /// Calls `f(key, value, block result)` for each entry. Returns false if `break` left the block;
    /// `v` is then the result of the method. `gets` selects the arguments of the block: the key,
    /// the value, or both as two arguments.
    enum class BlockArguments : std::uint8_t { Keys, Values, Both };
    template <class F>
    bool walk(BlockArguments block_arguments, RV& v, F&& f) {
        Hash& h = heap.entries(self);
        // Ruby's transform_values iterates over a copy, so the block may add keys.
        std::optional<Iteration> iteration;
        if (method != M::transform_values) iteration.emplace(h);
        for (std::uint32_t i = 0, n = h.size; i < n; ++i) {
            const HashEntry e = h.entries[i];
            if (!(block_arguments == BlockArguments::Both
                      ? yield2(e.key, e.value, v)
                      : yield1(block_arguments == BlockArguments::Keys ? e.key : e.value, v)))
                return false;
            f(e.key, e.value);
        }
        return true;
    }
    void set_all(const RV& out, const RV& other) {
        for (std::uint32_t i = 0; i < other.h->size; ++i)
            heap.set(*out.h, other.h->entries[i].key, other.h->entries[i].value);
    }

    RV op_index() {
        RV v;
        return heap.lookup(self, args[0], v) ? v : RV::nil();
    }
    RV has_key() {
        RV v;
        return RV::boolean(heap.lookup(self, args[0], v));
    }
    RV fetch() {
        RV v;
        if (heap.lookup(self, args[0], v)) return v;
        if (block && args.size() == 1) {
            yield1(args[0], v);
            return v;
        }
        return args.size() == 2 && !block ? args[1] : unknown();
    }
    RV dig() {
        if (args.empty()) return unknown();
        RV v;
        if (!heap.lookup(self, args[0], v)) v = RV::nil();
        if (args.size() == 1 || v.is(T::Nil)) return v;
        return renderer.invoke(v, M::dig, args.subspan(1), nullptr);
    }
    RV length() { return RV::integer(self.h->size); }
    RV empty() { return RV::boolean(self.h->size == 0); }
    RV keys() {
        Hash& h = heap.entries(self);
        RV out = heap.array(h.size);
        for (std::uint32_t i = 0; i < h.size; ++i)
            heap.push(*out.a, method == M::keys ? h.entries[i].key : h.entries[i].value);
        return out;
    }
    RV key() {
        Hash& h = heap.entries(self);
        for (std::uint32_t i = 0; i < h.size; ++i)
            if (heap.equal(h.entries[i].value, args[0]))
                return method == M::key ? h.entries[i].key : RV::boolean(true);
        return method == M::key ? RV::nil() : RV::boolean(false);
    }
    RV values_at() {
        RV out = heap.array();
        for (const RV& each : args) {
            RV found;
            heap.lookup(self, each, found);
            heap.push(*out.a, found);
        }
        return out;
    }
    RV each() {
        // A block |k, v| needs no intermediate pair.
        const bool flat = block->symbol == M::none_such && block->parameters.size() > 1;
        Hash& h = heap.entries(self);
        const Iteration iteration(h);
        for (std::uint32_t i = 0; i < h.size; ++i) {
            const HashEntry e = h.entries[i];
            RV v;
            if (!(flat ? yield2(e.key, e.value, v) : yield1(heap.pair(e.key, e.value), v)))
                return v;
        }
        return self;
    }
    RV each_key() {
        RV v;
        const BlockArguments block_arguments =
            method == M::each_key ? BlockArguments::Keys : BlockArguments::Values;
        return walk(block_arguments, v, [](const RV&, const RV&) {}) ? self : v;
    }
    /// Methods such as select and reject.
    RV select() {
        RV v, out = heap.hash();
        const bool keep = method == M::select || method == M::filter;
        const auto add = [&](const RV& key, const RV& value) {
            if (v.truthy() == keep) heap.set(*out.h, key, value);
        };
        return walk(BlockArguments::Both, v, add) ? out : v;
    }
    RV transform() {
        const bool values = method == M::transform_values;
        RV v, out = heap.hash();
        const auto add = [&](const RV& key, const RV& value) {
            heap.set(*out.h, values ? key : v, values ? v : value);
        };
        return walk(values ? BlockArguments::Values : BlockArguments::Keys, v, add) ? out : v;
    }
    RV invert() {
        Hash& h = heap.entries(self);
        RV out = heap.hash();
        for (std::uint32_t i = 0; i < h.size; ++i)
            heap.set(*out.h, h.entries[i].value, h.entries[i].key);
        return out;
    }
    RV merge() {
        const bool changes = method != M::merge;
        if (changes && self.h->foreign) fall_back("a value of the compile is changed");
        heap.entries(self);
        RV out = changes ? self : heap.copy_hash(self);
        set_all(out, heap.copy_hash(args[0]));
        return out;
    }
    RV compact() {
        Hash& h = heap.entries(self);
        RV out = heap.hash();
        for (std::uint32_t i = 0; i < h.size; ++i)
            if (!h.entries[i].value.is(T::Nil))
                heap.set(*out.h, h.entries[i].key, h.entries[i].value);
        return out;
    }
    RV slice() {
        RV v, out = heap.hash();
        for (const RV& each : args)
            if (heap.lookup(self, each, v)) heap.set(*out.h, each, v);
        return out;
    }
    RV except() {
        RV out = heap.copy_hash(self);
        for (const RV& each : args) heap.erase(*out.h, each);
        return out;
    }
    RV store() {
        heap.set(heap.entries(self), args[0], args[1]);
        return args[1];
    }
    RV delete_() {
        RV v = RV::nil();
        heap.erase(heap.entries(self), args[0], &v);
        return v;
    }
    RV delete_if() {
        if (self.h->foreign) fall_back("a value of the compile is changed");
        const RV kept = select();
        if (!kept.is(T::Hash)) fall_back("break out of a method that changes its object");
        heap.clear(*self.h);
        set_all(self, kept);
        return self;
    }
    RV clear() {
        heap.clear(heap.entries(self));
        return self;
    }
    RV to_h() { return self; }
    RV to_a() { return renderer.pairs(self); }
    RV flatten() {
        const RV all = renderer.pairs(self);
        RV out = heap.array();
        renderer.flatten_into(out, all, 1, 0);
        return out;
    }
    RV enumerated() {
        if (method == M::any && !block && args.empty()) return RV::boolean(self.h->size > 0);
        heap.entries(self);
        const Iteration iteration(*self.h);
        return renderer.enumerate(self, renderer.pairs(self), method, args, block);
    }
};

RV Renderer::hash_method(const RV& self, M method, Args args, const Block* block) {
    using C = HashCall;
    using enum Blocks;
    static constexpr MethodTable<C> kMethods{
        {{M::op_index}, "v", None, &C::op_index},
        {{M::has_key, M::key_p, M::include_, M::member}, "v", None, &C::has_key},
        {{M::fetch}, "v?v", Allowed, &C::fetch},
        {{M::dig}, "*", None, &C::dig},
        {{M::length, M::size}, "", None, &C::length},
        {{M::empty}, "", None, &C::empty},
        {{M::keys, M::values}, "", None, &C::keys},
        {{M::has_value, M::value_p, M::key}, "v", None, &C::key},
        {{M::values_at}, "*", None, &C::values_at},
        {{M::each, M::each_pair}, "", Needed, &C::each},
        {{M::each_key, M::each_value}, "", Needed, &C::each_key},
        {{M::select, M::filter, M::reject}, "", Needed, &C::select},
        {{M::transform_values, M::transform_keys}, "", Needed, &C::transform},
        {{M::invert}, "", None, &C::invert},
        {{M::merge, M::update, M::merge_bang}, "h", None, &C::merge},
        {{M::compact}, "", None, &C::compact},
        {{M::slice}, "*", None, &C::slice},
        {{M::except}, "*", None, &C::except},
        {{M::store}, "vv", None, &C::store},
        {{M::delete_}, "v", None, &C::delete_},
        {{M::delete_if}, "", Needed, &C::delete_if},
        {{M::clear}, "", Allowed, &C::clear},
        {{M::to_h, M::to_hash}, "", None, &C::to_h},
        {{M::to_a}, "", None, &C::to_a},
        {{M::flatten}, "", None, &C::flatten},
        {{M::map, M::collect, M::flat_map, M::filter_map}, "*", Allowed, &C::enumerated},
        {{M::sort, M::sort_by, M::min_by, M::max_by}, "*", Allowed, &C::enumerated},
        {{M::find, M::detect, M::find_all, M::partition}, "*", Allowed, &C::enumerated},
        {{M::group_by, M::inject, M::reduce, M::each_with_index}, "*", Allowed, &C::enumerated},
        {{M::each_with_object, M::each_slice, M::any, M::all}, "*", Allowed, &C::enumerated},
        {{M::none, M::one, M::count, M::sum}, "*", Allowed, &C::enumerated},
        {{M::first, M::take, M::drop, M::uniq}, "*", Allowed, &C::enumerated},
        {{M::entries}, "*", Allowed, &C::enumerated},
    };
    HashCall call(*this, self, method, args, block);
    return kMethods.run(call);
}

}  // namespace bunraku::erb
