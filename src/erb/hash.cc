// Methods of Hash.
#include "erb/render.h"

namespace bunraku::erb {

namespace {

/// While a hash is iterated no key may be added.
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

/// select, reject and their like: the block gets key and value as two arguments.
RV Renderer::hash_filter(const RV& self, M method, const Block& block) {
    Hash& h = heap_.entries(self);
    const Iteration iteration(h);
    RV out = heap_.hash();
    const bool keep = method == M::select || method == M::filter;
    for (std::uint32_t i = 0; i < h.size; ++i) {
        const HashEntry e = h.entries[i];
        RV v;
        if (!yield2(block, e.key, e.value, v)) return v;
        if (v.truthy() == keep) heap_.set(*out.h, e.key, e.value);
    }
    return out;
}

RV Renderer::hash_method(const RV& self, M method, Args args, const Block* block) {
    const bool one = args.size() == 1 && !block;
    RV v;
    switch (method) {
        case M::op_index:
            if (!one) break;
            return heap_.lookup(self, args[0], v) ? v : RV::nil();
        case M::has_key:
        case M::key_p:
        case M::include_:
        case M::member:
            if (!one) break;
            return RV::boolean(heap_.lookup(self, args[0], v));
        case M::fetch:
            if (args.empty() || args.size() > 2) break;
            if (heap_.lookup(self, args[0], v)) return v;
            if (block && args.size() == 1) {
                RV out;
                yield1(*block, args[0], out);
                return out;
            }
            if (args.size() == 2 && !block) return args[1];
            break;
        case M::dig: {
            if (args.empty() || block) break;
            if (!heap_.lookup(self, args[0], v)) v = RV::nil();
            if (args.size() == 1 || v.is(T::Nil)) return v;
            return invoke(v, M::dig, args.subspan(1), nullptr);
        }
        case M::length:
        case M::size:
            if (!args.empty() || block) break;
            return RV::integer(self.h->size);
        case M::empty:
            if (!args.empty() || block) break;
            return RV::boolean(self.h->size == 0);
        case M::keys:
        case M::values: {
            if (!args.empty() || block) break;
            Hash& h = heap_.entries(self);
            RV out = heap_.array(h.size);
            for (std::uint32_t i = 0; i < h.size; ++i)
                heap_.push(*out.a, method == M::keys ? h.entries[i].key : h.entries[i].value);
            return out;
        }
        case M::has_value:
        case M::value_p:
        case M::key: {
            if (!one) break;
            Hash& h = heap_.entries(self);
            for (std::uint32_t i = 0; i < h.size; ++i)
                if (heap_.equal(h.entries[i].value, args[0]))
                    return method == M::key ? h.entries[i].key : RV::boolean(true);
            return method == M::key ? RV::nil() : RV::boolean(false);
        }
        case M::values_at: {
            if (block) break;
            RV out = heap_.array();
            for (const RV& each : args) {
                RV found;
                heap_.lookup(self, each, found);
                heap_.push(*out.a, found);
            }
            return out;
        }
        case M::each:
        case M::each_pair: {
            if (!block || !args.empty()) break;
            Hash& h = heap_.entries(self);
            const Iteration iteration(h);
            for (std::uint32_t i = 0; i < h.size; ++i) {
                const HashEntry e = h.entries[i];
                // |k, v| needs no pair in between.
                const bool flat = block->symbol == M::none_such && block->parameters.size() > 1;
                if (!(flat ? yield2(*block, e.key, e.value, v)
                           : yield1(*block, heap_.pair(e.key, e.value), v)))
                    return v;
            }
            return self;
        }
        case M::each_key:
        case M::each_value: {
            if (!block || !args.empty()) break;
            Hash& h = heap_.entries(self);
            const Iteration iteration(h);
            for (std::uint32_t i = 0; i < h.size; ++i) {
                const HashEntry e = h.entries[i];
                if (!yield1(*block, method == M::each_key ? e.key : e.value, v)) return v;
            }
            return self;
        }
        case M::select:
        case M::filter:
        case M::reject:
            if (!block || !args.empty()) break;
            return hash_filter(self, method, *block);
        case M::transform_values:
        case M::transform_keys: {
            if (!block || !args.empty()) break;
            Hash& h = heap_.entries(self);
            RV out = heap_.hash();
            for (std::uint32_t i = 0; i < h.size; ++i) {
                const HashEntry e = h.entries[i];
                const bool values = method == M::transform_values;
                if (!yield1(*block, values ? e.value : e.key, v)) return v;
                heap_.set(*out.h, values ? e.key : v, values ? v : e.value);
            }
            return out;
        }
        case M::invert: {
            if (!args.empty() || block) break;
            Hash& h = heap_.entries(self);
            RV out = heap_.hash();
            for (std::uint32_t i = 0; i < h.size; ++i)
                heap_.set(*out.h, h.entries[i].value, h.entries[i].key);
            return out;
        }
        case M::merge:
        case M::update:
        case M::merge_bang: {
            if (args.size() != 1 || !args[0].is(T::Hash) || block) break;
            const bool changes = method != M::merge;
            if (changes && self.h->foreign) fall_back("a value of the compile is changed");
            heap_.entries(self);
            RV out = changes ? self : heap_.copy_hash(self);
            const RV other = heap_.copy_hash(args[0]);
            for (std::uint32_t i = 0; i < other.h->size; ++i)
                heap_.set(*out.h, other.h->entries[i].key, other.h->entries[i].value);
            return out;
        }
        case M::compact: {
            if (!args.empty() || block) break;
            Hash& h = heap_.entries(self);
            RV out = heap_.hash();
            for (std::uint32_t i = 0; i < h.size; ++i)
                if (!h.entries[i].value.is(T::Nil))
                    heap_.set(*out.h, h.entries[i].key, h.entries[i].value);
            return out;
        }
        case M::slice:
        case M::except: {
            if (block) break;
            RV out = method == M::slice ? heap_.hash() : heap_.copy_hash(self);
            for (const RV& each : args) {
                if (method == M::except) {
                    heap_.erase(*out.h, each);
                } else if (heap_.lookup(self, each, v)) {
                    heap_.set(*out.h, each, v);
                }
            }
            return out;
        }
        case M::store:
            if (args.size() != 2 || block) break;
            heap_.set(heap_.entries(self), args[0], args[1]);
            return args[1];
        case M::delete_:
            if (!one) break;
            v = RV::nil();
            heap_.erase(heap_.entries(self), args[0], &v);
            return v;
        case M::delete_if: {
            if (!block || !args.empty()) break;
            if (self.h->foreign) fall_back("a value of the compile is changed");
            const RV kept = hash_filter(self, M::reject, *block);
            if (!kept.is(T::Hash)) fall_back("break out of a method that changes its object");
            heap_.clear(*self.h);
            for (std::uint32_t i = 0; i < kept.h->size; ++i)
                heap_.set(*self.h, kept.h->entries[i].key, kept.h->entries[i].value);
            return self;
        }
        case M::clear:
            if (!args.empty()) break;
            heap_.clear(heap_.entries(self));
            return self;
        case M::to_h:
        case M::to_hash:
            if (!args.empty() || block) break;
            return self;
        case M::to_a:
            if (!args.empty() || block) break;
            return pairs(self);
        case M::flatten: {
            if (!args.empty() || block) break;
            const RV all = pairs(self);
            RV out = heap_.array();
            flatten_into(out, all, 1, 0);
            return out;
        }
        case M::join:
        case M::push:
        case M::op_shl:
        case M::last:
        case M::index:
        case M::reverse:
        case M::split:
        case M::to_str: break;
        case M::map:
        case M::collect:
        case M::flat_map:
        case M::filter_map:
        case M::sort:
        case M::sort_by:
        case M::min_by:
        case M::max_by:
        case M::find:
        case M::detect:
        case M::find_all:
        case M::partition:
        case M::group_by:
        case M::inject:
        case M::reduce:
        case M::each_with_index:
        case M::each_with_object:
        case M::each_slice:
        case M::any:
        case M::all:
        case M::none:
        case M::one:
        case M::count:
        case M::sum:
        case M::first:
        case M::take:
        case M::drop:
        case M::uniq:
        case M::entries: {
            if (method == M::any && !block && args.empty()) return RV::boolean(self.h->size > 0);
            heap_.entries(self);
            const Iteration iteration(*self.h);
            return enumerate(self, pairs(self), method, args, block);
        }
        default: break;
    }
    unknown(self, method);
}

}  // namespace bunraku::erb
