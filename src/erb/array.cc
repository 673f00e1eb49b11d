// Methods of Array.
#include <algorithm>

#include "erb/render.h"

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

/// Methods that change the array itself.
RV Renderer::array_change(const RV& self, M method, Args args, const Block* block) {
    Array& a = heap_.items(self);
    // Also where nothing changes: Ruby would say so of a frozen one.
    if (a.foreign) fall_back("a value of the compile is changed");
    a.dirty = true;
    heap_.changed = heap_.changed || a.copied;
    switch (method) {
        case M::store: {  // a[i] = v
            if (args.size() != 2 || !args[0].is(T::Int)) break;
            std::int64_t at = args[0].i;
            if (at < 0) at += a.size;
            if (at < 0 || at > 1'000'000) break;
            if (at < a.size) {
                a.items[at] = args[1];
            } else {
                heap_.insert(a, static_cast<std::uint32_t>(at), args[1]);
            }
            return args[1];
        }
        case M::op_shl: heap_.push(a, args[0]); return self;
        case M::push:
        case M::append:
            for (const RV& each : args) heap_.push(a, each);
            return self;
        case M::unshift:
        case M::prepend:
            for (std::size_t i = args.size(); i-- > 0;) heap_.insert(a, 0, args[i]);
            return self;
        case M::insert:
            if (args.size() < 2 || !args[0].is(T::Int) || args[0].i < 0 || args[0].i > 1'000'000)
                break;
            for (std::size_t i = args.size(); i-- > 1;)
                heap_.insert(a, static_cast<std::uint32_t>(args[0].i), args[i]);
            return self;
        case M::concat:
            for (const RV& each : args)
                if (!each.is(T::Array)) unknown(self, method);
            for (const RV& each : args) {
                const RV more = heap_.copy_array(each);
                for (std::uint32_t i = 0; i < more.a->size; ++i) heap_.push(a, more.a->items[i]);
            }
            return self;
        case M::replace: {
            if (args.size() != 1 || !args[0].is(T::Array)) break;
            const RV more = heap_.copy_array(args[0]);
            heap_.clear(a);
            for (std::uint32_t i = 0; i < more.a->size; ++i) heap_.push(a, more.a->items[i]);
            return self;
        }
        case M::pop:
        case M::shift: {
            if (!args.empty()) break;
            if (a.size == 0) return RV::nil();
            const std::uint32_t at = method == M::pop ? a.size - 1 : 0;
            const RV out = a.items[at];
            heap_.erase(a, at);
            return out;
        }
        case M::delete_: {
            if (args.size() != 1 || block) break;
            RV out;
            for (std::uint32_t i = 0; i < a.size;) {
                if (heap_.equal(a.items[i], args[0])) {
                    out = a.items[i];
                    heap_.erase(a, i);
                } else {
                    ++i;
                }
            }
            return out;
        }
        case M::delete_at: {
            if (args.size() != 1 || !args[0].is(T::Int)) break;
            std::int64_t at = args[0].i;
            if (at < 0) at += a.size;
            if (at < 0 || at >= a.size) return RV::nil();
            const RV out = a.items[at];
            heap_.erase(a, static_cast<std::uint32_t>(at));
            return out;
        }
        case M::clear:
            if (!args.empty()) break;
            heap_.clear(a);
            return self;
        default: {
            // sort!, map!, .. : the result of the same without !; nil where nothing changed.
            M plain{};
            bool nil_if_same = false;
            switch (method) {
                case M::collect_bang:
                case M::map_bang: plain = M::map; break;
                case M::sort_bang: plain = M::sort; break;
                case M::delete_if: plain = M::reject; break;
                case M::compact_bang:
                    plain = M::compact;
                    nil_if_same = true;
                    break;
                case M::uniq_bang:
                    plain = M::uniq;
                    nil_if_same = true;
                    break;
                case M::flatten_bang:
                    plain = M::flatten;
                    nil_if_same = true;
                    break;
                case M::reject_bang:
                    plain = M::reject;
                    nil_if_same = true;
                    break;
                case M::select_bang:
                    plain = M::select;
                    nil_if_same = true;
                    break;
                default: unknown(self, method);
            }
            const RV out = array_method(self, plain, args, block);
            if (!out.is(T::Array)) fall_back("break out of a method that changes its object");
            bool same = out.a->size == a.size;
            if (plain == M::flatten)
                for (std::uint32_t i = 0; i < a.size; ++i) same = same && !a.items[i].is(T::Array);
            heap_.clear(a);
            for (std::uint32_t i = 0; i < out.a->size; ++i) heap_.push(a, out.a->items[i]);
            return nil_if_same && same ? RV::nil() : self;
        }
    }
    unknown(self, method);
}

RV Renderer::array_method(const RV& self, M method, Args args, const Block* block) {
    Array& a = *self.a;
    const bool one_array = args.size() == 1 && args[0].is(T::Array) && !block;
    switch (method) {
        case M::op_index:
        case M::slice:
            if (block) break;
            return array_index(self, args);
        case M::at:
            if (args.size() != 1 || !args[0].is(T::Int)) break;
            return array_index(self, args);
        case M::length:
        case M::size:
            if (!args.empty() || block) break;
            return RV::integer(a.size);
        case M::empty:
            if (!args.empty() || block) break;
            return RV::boolean(a.size == 0);
        case M::include_:
        case M::member:
            if (args.size() != 1 || block) break;
            for (std::uint32_t i = 0; i < heap_.items(self).size; ++i)
                if (heap_.equal(a.items[i], args[0])) return RV::boolean(true);
            return RV::boolean(false);
        case M::join: {
            if (args.size() > 1 || block) break;
            std::string_view by;
            if (args.size() == 1 && !args[0].is(T::Nil)) {
                if (!args[0].is(T::Str)) break;
                by = args[0].s->view();
            }
            std::string out;
            bool first = true;
            join_into(out, self, by, 0, first);
            return str(out);
        }
        case M::each_index:
            if (!block || !args.empty()) break;
            for (std::uint32_t i = 0; i < heap_.items(self).size; ++i) {
                RV v;
                if (!yield1(*block, RV::integer(i), v)) return v;
            }
            return self;
        case M::flatten: {
            if (args.size() > 1 || block) break;
            std::int64_t depth = -1;
            if (args.size() == 1 && !args[0].is(T::Int)) break;
            if (args.size() == 1) depth = args[0].i;
            RV out = heap_.array(a.size);
            flatten_into(out, self, depth, 0);
            return out;
        }
        case M::compact: {
            if (!args.empty() || block) break;
            RV out = heap_.array(a.size);
            for (std::uint32_t i = 0; i < heap_.items(self).size; ++i)
                if (!a.items[i].is(T::Nil)) heap_.push(*out.a, a.items[i]);
            return out;
        }
        case M::reverse: {
            if (!args.empty() || block) break;
            RV out = heap_.copy_array(self);
            std::reverse(out.a->items, out.a->items + out.a->size);
            return out;
        }
        case M::rotate: {
            if (!args.empty() || block) break;
            RV out = heap_.copy_array(self);
            if (out.a->size > 1)
                std::rotate(out.a->items, out.a->items + 1, out.a->items + out.a->size);
            return out;
        }
        case M::last: {
            if (block) break;
            heap_.items(self);
            if (args.empty()) return a.size > 0 ? a.items[a.size - 1] : RV::nil();
            if (args.size() != 1 || !args[0].is(T::Int) || args[0].i < 0) break;
            RV out = heap_.array();
            for (std::uint32_t i = 0; i < a.size; ++i)
                if (static_cast<std::int64_t>(a.size - i) <= args[0].i)
                    heap_.push(*out.a, a.items[i]);
            return out;
        }
        case M::op_add: {
            if (!one_array) {
                if (args[0].is(T::Nil)) ruby_error("no implicit conversion of nil into Array");
                if (args[0].is(T::Str)) ruby_error("no implicit conversion of String into Array");
                break;
            }
            RV out = heap_.copy_array(self);
            for (std::uint32_t i = 0; i < heap_.items(args[0]).size; ++i)
                heap_.push(*out.a, args[0].a->items[i]);
            return out;
        }
        case M::op_sub:
        case M::op_and:
        case M::op_or: {
            if (!one_array) break;
            RV other = heap_.hash(), seen = heap_.hash(), out = heap_.array();
            for (std::uint32_t i = 0; i < heap_.items(args[0]).size; ++i)
                heap_.set(*other.h, args[0].a->items[i], RV::nil());
            const auto add = [&](const RV& v) {
                if (heap_.find(*seen.h, v)) return;
                heap_.set(*seen.h, v, RV::nil());
                heap_.push(*out.a, v);
            };
            for (std::uint32_t i = 0; i < heap_.items(self).size; ++i) {
                const RV v = a.items[i];
                const bool there = heap_.find(*other.h, v) != nullptr;
                if (method == M::op_sub && !there) heap_.push(*out.a, v);
                if (method == M::op_and && there) add(v);
                if (method == M::op_or) add(v);
            }
            if (method == M::op_or)
                for (std::uint32_t i = 0; i < args[0].a->size; ++i) add(args[0].a->items[i]);
            return out;
        }
        case M::op_mul: {
            if (args[0].is(T::Str)) return array_method(self, M::join, args, nullptr);
            if (!args[0].is(T::Int) || args[0].i < 0 || args[0].i * (a.size + 1) > 1'000'000) break;
            RV out = heap_.array();
            for (std::int64_t n = 0; n < args[0].i; ++n)
                for (std::uint32_t i = 0; i < heap_.items(self).size; ++i)
                    heap_.push(*out.a, a.items[i]);
            return out;
        }
        case M::dig: {
            if (args.empty() || block) break;
            const RV v = array_index(self, args.subspan(0, 1));
            if (args.size() == 1 || v.is(T::Nil)) return v;
            return invoke(v, M::dig, args.subspan(1), nullptr);
        }
        case M::fetch: {
            if (args.empty() || args.size() > 2 || !args[0].is(T::Int) || block) break;
            const std::int64_t at = args[0].i < 0 ? args[0].i + a.size : args[0].i;
            if (at >= 0 && at < a.size) return heap_.items(self).items[at];
            if (args.size() == 2) return args[1];
            break;
        }
        case M::values_at: {
            RV out = heap_.array();
            for (const RV& each : args) {
                if (!each.is(T::Int)) unknown(self, method);
                heap_.push(*out.a, array_index(self, {&each, 1}));
            }
            return out;
        }
        case M::product: {
            if (!one_array ||
                static_cast<std::uint64_t>(heap_.items(self).size) * heap_.items(args[0]).size >
                    1'000'000)
                break;
            RV out = heap_.array();
            for (std::uint32_t i = 0; i < a.size; ++i)
                for (std::uint32_t k = 0; k < args[0].a->size; ++k)
                    heap_.push(*out.a, heap_.pair(a.items[i], args[0].a->items[k]));
            return out;
        }
        case M::assoc:
            if (args.size() != 1) break;
            for (std::uint32_t i = 0; i < heap_.items(self).size; ++i) {
                const RV v = a.items[i];
                if (v.is(T::Array) && heap_.items(v).size > 0 &&
                    heap_.equal(v.a->items[0], args[0]))
                    return v;
            }
            return RV::nil();
        case M::transpose: {
            if (!args.empty()) break;
            RV out = heap_.array();
            for (std::uint32_t i = 0; i < heap_.items(self).size; ++i) {
                const RV row = a.items[i];
                if (!row.is(T::Array) || heap_.items(row).size != heap_.items(a.items[0]).size)
                    unknown(self, method);
                for (std::uint32_t k = 0; k < row.a->size; ++k) {
                    if (i == 0) heap_.push(*out.a, heap_.array());
                    heap_.push(*out.a->items[k].a, row.a->items[k]);
                }
            }
            return out;
        }
        case M::rindex:
            if (args.size() != 1 || block) break;
            for (std::uint32_t i = heap_.items(self).size; i-- > 0;)
                if (heap_.equal(a.items[i], args[0])) return RV::integer(i);
            return RV::nil();
        case M::to_a:
        case M::entries:
            if (!args.empty() || block) break;
            return self;
        case M::store:
        case M::op_shl:
        case M::push:
        case M::append:
        case M::unshift:
        case M::prepend:
        case M::insert:
        case M::concat:
        case M::replace:
        case M::pop:
        case M::shift:
        case M::delete_:
        case M::delete_at:
        case M::delete_if:
        case M::clear:
        case M::collect_bang:
        case M::map_bang:
        case M::sort_bang:
        case M::compact_bang:
        case M::uniq_bang:
        case M::flatten_bang:
        case M::reject_bang:
        case M::select_bang: return array_change(self, method, args, block);
        case M::each_pair: break;
        default: return enumerate(self, self, method, args, block);
    }
    unknown(self, method);
}

}  // namespace bunraku::erb
