// What arrays, hashes and ranges have in common: methods that iterate.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "erb/render.h"

namespace bunraku::erb {

/// <=> that must have an answer.
int Renderer::ordering(const RV& a, const RV& b) {
    const int c = heap_.compare(a, b);
    if (c != 2) return c;
    // Ruby's text shows the operands, in an order that depends on its sort.
    fall_back("a comparison of different things");
}

RV Renderer::sorted(const RV& array, const Block* block) {
    RV out = heap_.copy_array(array);
    // Ruby sorts with glibc's merge sort: stable.
    std::vector<RV> items(out.a->items, out.a->items + out.a->size);
    struct Left {
        RV value;
    };
    try {
        std::ranges::stable_sort(items, [&](const RV& a, const RV& b) {
            if (!block) return ordering(a, b) < 0;
            RV c;
            if (!yield2(*block, a, b, c)) throw Left{c};
            if (!c.is(T::Int)) fall_back("a sort block that gives no number");
            return c.i < 0;
        });
    } catch (const Left& left) {
        return left.value;
    }
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

/// min, max, min_by, max_by: the first of equals.
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
    M symbol = M::none_such;
    std::optional<RV> sum;
    if (!block) {
        if (args.empty() || args.size() > 2 || !args.back().is(T::Sym)) unknown(array, M::inject);
        fall_back("inject with a symbol");
    }
    if (args.size() > 1) unknown(array, M::inject);
    if (args.size() == 1) sum = args[0];
    (void)symbol;
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
    if (depth > 90) fall_back("nested too deep");
    for (std::uint32_t i = 0; i < heap_.items(array).size; ++i) {
        const RV item = array.a->items[i];
        if (item.is(T::Array)) {
            // An empty list inside still has its separators.
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

/// `self` is what was called (a Hash or a Range, too), `array` its items.
RV Renderer::enumerate(const RV& self, const RV& array, M method, Args args, const Block* block) {
    const auto size = [&] { return heap_.items(array).size; };
    const auto item = [&](std::uint32_t i) { return array.a->items[i]; };
    const auto enumerator = [&](Enumerator::Kind kind) {
        // What `each` gives of a Hash is the Hash; nobody writes that with an index.
        if (self.t != T::Array || !args.empty()) unknown(self, method);
        RV out;
        out.t = T::Enumerator;
        out.e = heap_.arena().make<Enumerator>(kind, self.a);
        return out;
    };
    RV v;
    switch (method) {
        case M::each:
        case M::each_pair:
            if (!block) return enumerator(Enumerator::Kind::Each);
            if (!args.empty()) break;
            for (std::uint32_t i = 0; i < size(); ++i)
                if (!yield1(*block, item(i), v)) return v;
            return self;
        case M::each_with_index:
            if (!block) return enumerator(Enumerator::Kind::EachWithIndex);
            if (!args.empty()) break;
            for (std::uint32_t i = 0; i < size(); ++i)
                if (!yield2(*block, item(i), RV::integer(i), v)) return v;
            return self;
        case M::reverse_each:
            if (!block || !args.empty()) break;
            for (std::uint32_t i = size(); i-- > 0;) {
                if (i >= size()) continue;
                if (!yield1(*block, item(i), v)) return v;
            }
            return self;
        case M::each_with_object:
            if (!block || args.size() != 1) break;
            for (std::uint32_t i = 0; i < size(); ++i)
                if (!yield2(*block, item(i), args[0], v)) return v;
            return args[0];
        case M::each_slice: {
            if (!block || args.size() != 1 || !args[0].is(T::Int) || args[0].i < 1) break;
            for (std::uint32_t i = 0; i < size();) {
                RV part = heap_.array();
                for (std::int64_t n = 0; n < args[0].i && i < size(); ++n)
                    heap_.push(*part.a, item(i++));
                if (!yield1(*block, part, v)) return v;
            }
            return self;
        }
        case M::map:
        case M::collect: {
            if (!block) return enumerator(Enumerator::Kind::Map);
            if (!args.empty()) break;
            RV out = heap_.array(size());
            for (std::uint32_t i = 0; i < size(); ++i) {
                if (!yield1(*block, item(i), v)) return v;
                heap_.push(*out.a, v);
            }
            return out;
        }
        case M::filter_map: {
            if (!block || !args.empty()) break;
            RV out = heap_.array();
            for (std::uint32_t i = 0; i < size(); ++i) {
                if (!yield1(*block, item(i), v)) return v;
                if (v.truthy()) heap_.push(*out.a, v);
            }
            return out;
        }
        case M::flat_map:
        case M::collect_concat: {
            if (!block || !args.empty()) break;
            RV out = heap_.array();
            for (std::uint32_t i = 0; i < size(); ++i) {
                if (!yield1(*block, item(i), v)) return v;
                if (!v.is(T::Array)) {
                    heap_.push(*out.a, v);
                    continue;
                }
                for (std::uint32_t k = 0; k < heap_.items(v).size; ++k)
                    heap_.push(*out.a, v.a->items[k]);
            }
            return out;
        }
        case M::select:
        case M::filter:
        case M::find_all:
        case M::reject: {
            if (!block)
                return enumerator(method == M::reject ? Enumerator::Kind::Reject
                                                      : Enumerator::Kind::Select);
            if (!args.empty()) break;
            bool left = false;
            return filtered(array, *block, method != M::reject, left);
        }
        case M::partition: {
            if (!block || !args.empty()) break;
            RV yes = heap_.array(), no = heap_.array();
            for (std::uint32_t i = 0; i < size(); ++i) {
                const RV each = item(i);
                if (!yield1(*block, each, v)) return v;
                heap_.push(*(v.truthy() ? yes : no).a, each);
            }
            return heap_.pair(yes, no);
        }
        case M::group_by: {
            if (!block || !args.empty()) break;
            RV out = heap_.hash();
            for (std::uint32_t i = 0; i < size(); ++i) {
                const RV each = item(i);
                if (!yield1(*block, each, v)) return v;
                const RV* group = heap_.find(*out.h, v);
                const RV list = group ? *group : heap_.array();
                if (!group) heap_.set(*out.h, v, list);
                heap_.push(*list.a, each);
            }
            return out;
        }
        case M::find:
        case M::detect:
            if (!block || !args.empty()) break;
            for (std::uint32_t i = 0; i < size(); ++i) {
                const RV each = item(i);
                if (!yield1(*block, each, v)) return v;
                if (v.truthy()) return each;
            }
            return RV::nil();
        case M::find_index:
        case M::index:
            if (block ? !args.empty() : args.size() != 1) break;
            for (std::uint32_t i = 0; i < size(); ++i) {
                if (block && !yield1(*block, item(i), v)) return v;
                if (block ? v.truthy() : heap_.equal(item(i), args[0])) return RV::integer(i);
            }
            return RV::nil();
        case M::any:
        case M::all:
        case M::none:
        case M::one: {
            if (!args.empty()) break;
            std::size_t count = 0;
            for (std::uint32_t i = 0; i < size(); ++i) {
                v = item(i);
                if (block) {
                    const RV each = v;
                    if (!yield1(*block, each, v)) return v;
                }
                if (v.truthy()) ++count;
                if (method == M::any && v.truthy()) return RV::boolean(true);
                if (method == M::all && !v.truthy()) return RV::boolean(false);
                if (method == M::none && v.truthy()) return RV::boolean(false);
            }
            return RV::boolean(method == M::all || method == M::none ||
                               (method == M::one && count == 1));
        }
        case M::count: {
            if (!block && args.empty()) return RV::integer(size());
            if (block ? !args.empty() : args.size() != 1) break;
            std::int64_t count = 0;
            for (std::uint32_t i = 0; i < size(); ++i) {
                if (block && !yield1(*block, item(i), v)) return v;
                if (block ? v.truthy() : heap_.equal(item(i), args[0])) ++count;
            }
            return RV::integer(count);
        }
        case M::inject:
        case M::reduce: return injected(array, args, block);
        case M::sum: {
            if (args.size() > 1) break;
            RV total = args.empty() ? RV::integer(0) : args[0];
            for (std::uint32_t i = 0; i < size(); ++i) {
                v = item(i);
                if (block) {
                    const RV each = v;
                    if (!yield1(*block, each, v)) return v;
                }
                // Ruby sums Floats with a correction.
                if (v.is(T::Float) || total.is(T::Float)) fall_back("a sum of Floats");
                total = invoke(total, M::op_add, {&v, 1}, nullptr);
            }
            return total;
        }
        case M::sort:
            if (!args.empty()) break;
            return sorted(array, block);
        case M::sort_by:
            if (!args.empty() || !block) break;
            return sorted_by(array, *block);
        case M::min:
        case M::max:
        case M::min_by:
        case M::max_by: return extreme(array, method, args, block);
        case M::uniq: {
            if (!args.empty()) break;
            RV seen = heap_.hash(), out = heap_.array();
            for (std::uint32_t i = 0; i < size(); ++i) {
                const RV each = item(i);
                v = each;
                if (block && !yield1(*block, each, v)) return v;
                if (heap_.find(*seen.h, v)) continue;
                heap_.set(*seen.h, v, RV::nil());
                heap_.push(*out.a, each);
            }
            return out;
        }
        case M::first: {
            if (block) break;
            if (args.empty()) return size() > 0 ? item(0) : RV::nil();
            [[fallthrough]];
        }
        case M::take: {
            if (block || args.size() != 1 || !args[0].is(T::Int) || args[0].i < 0) break;
            RV out = heap_.array();
            for (std::uint32_t i = 0; i < size() && i < args[0].i; ++i) heap_.push(*out.a, item(i));
            return out;
        }
        case M::drop: {
            if (block || args.size() != 1 || !args[0].is(T::Int) || args[0].i < 0) break;
            RV out = heap_.array();
            for (std::uint32_t i = 0; i < size(); ++i)
                if (i >= args[0].i) heap_.push(*out.a, item(i));
            return out;
        }
        case M::zip: {
            if (block || args.size() != 1 || !args[0].is(T::Array)) break;
            RV out = heap_.array();
            for (std::uint32_t i = 0; i < size(); ++i)
                heap_.push(*out.a,
                           heap_.pair(item(i), i < heap_.items(args[0]).size ? args[0].a->items[i]
                                                                             : RV::nil()));
            return out;
        }
        case M::to_h: {
            if (!args.empty()) break;
            RV out = heap_.hash();
            for (std::uint32_t i = 0; i < size(); ++i) {
                v = item(i);
                if (block) {
                    const RV each = v;
                    if (!yield1(*block, each, v)) return v;
                }
                if (!v.is(T::Array) || heap_.items(v).size != 2) unknown(self, method);
                heap_.set(*out.h, v.a->items[0], v.a->items[1]);
            }
            return out;
        }
        case M::entries:
        case M::to_a:
            if (!args.empty() || block) break;
            return heap_.copy_array(array);
        default: break;
    }
    unknown(self, method);
}

}  // namespace bunraku::erb
