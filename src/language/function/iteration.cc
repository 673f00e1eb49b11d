// SPDX-License-Identifier: Apache-2.0
// Functions that iterate over a value and call a block: each, map, filter, reduce, slice and
// others.
#include <algorithm>

#include "core/base/work_limit.h"
#include "core/regex/regex.h"
#include "language/evaluator/interpreter.h"
#include "language/function/support.h"
#include "language/types/iterator.h"
#include "language/types/kinds.h"
#include "language/types/object.h"

namespace bunraku::function {

namespace {

using evaluator::Completion;

/// The action after a yield.
enum class After { Continue, Break, Leave };

/// `break()` ends this iteration. Any other pending completion leaves the function immediately.
After after_yield(const Call& call) {
    switch (call.interpreter.pending()) {
        case Completion::Normal: return After::Continue;
        case Completion::Break: call.interpreter.take_completion(); return After::Break;
        default: return After::Leave;
    }
}

/// Iterates over any iterable except a hash. `visit` returns false to stop.
template <class Visit>
void walk(const Call& call, const Value& v, Visit&& visit) {
    if (v.is_array()) {
        for (const Value& each : v.as_array())
            if (!visit(each)) return;
        return;
    }
    if (v.is_integer()) {
        for (std::int64_t i = 0; i < v.as_integer(); ++i) {
            base::step();
            if (!visit(Value::integer(i))) return;
        }
        return;
    }
    auto& ctx = call.interpreter.types();
    const types::Iterator* iterator = types::iterable_on(ctx, v);
    if (!iterator)
        argument_error("{}(): wrong argument type ({}; is not Iterable.", "Function",
                       ruby_class(v));
    types::Cursor* cursor = iterator->start(ctx);
    for (Value each; cursor->next(&each);)
        if (!visit(each)) return;
}

Value pair(const Call& call, const value::Entry& e) {
    return value::make_array(call.arena(), {e.key, e.value});
}

/// each_entry and each_element call the block for every entry of a hash, or for every element of
/// another iterable. With `kTwo` the block gets two arguments: key and value, or index and element.
/// `take` receives the entry or element and the block's result, and returns false to stop.
template <bool kTwo, class Take>
void each_entry(const Call& call, Take&& take) {
    for (const value::Entry& e : call[0].as_hash()) {
        Value block_result;
        if constexpr (kTwo)
            block_result = call.yield({e.key, e.value});
        else
            block_result = call.yield({pair(call, e)});
        if (call.interpreter.pending() != Completion::Normal) return;
        if (!take(e, block_result)) return;
    }
}

template <bool kTwo, class Take>
void each_element(const Call& call, Take&& take) {
    std::int64_t index = 0;
    walk(call, call[0], [&](const Value& each) {
        Value block_result;
        if constexpr (kTwo)
            block_result = call.yield({Value::integer(index), each});
        else
            block_result = call.yield({each});
        if (call.interpreter.pending() != Completion::Normal) return false;
        return static_cast<bool>(take(index++, each, block_result));
    });
}

/// Returns `result` after normal completion or a break. Returns undef if another completion is
/// pending.
Value finish(const Call& call, const Value& result) {
    return after_yield(call) == After::Leave ? Value::undef() : result;
}

template <bool kTwo>
Value each_hash(const Call& call) {
    each_entry<kTwo>(call, [](const value::Entry&, const Value&) { return true; });
    return finish(call, call[0]);
}
template <bool kTwo>
Value each_iterable(const Call& call) {
    each_element<kTwo>(call, [](std::int64_t, const Value&, const Value&) { return true; });
    return finish(call, call[0]);
}

template <bool kTwo>
Value map_hash(const Call& call) {
    std::vector<Value> out;
    out.reserve(call[0].as_hash().size());
    each_entry<kTwo>(call, [&](const value::Entry&, const Value& block_result) {
        out.push_back(block_result);
        return true;
    });
    if (after_yield(call) == After::Leave) return Value::undef();
    return list(call, out);
}
template <bool kTwo>
Value map_iterable(const Call& call) {
    std::vector<Value> out;
    if (call[0].is_array()) out.reserve(call[0].as_array().size());
    each_element<kTwo>(call, [&](std::int64_t, const Value&, const Value& block_result) {
        out.push_back(block_result);
        return true;
    });
    if (after_yield(call) == After::Leave) return Value::undef();
    return list(call, out);
}

/// Unlike the other functions, filter over a hash passes `break()` on to the enclosing iteration.
template <bool kTwo>
Value filter_hash(const Call& call) {
    value::HashBuilder out(call.arena(), call[0].as_hash().size());
    each_entry<kTwo>(call, [&](const value::Entry& e, const Value& block_result) {
        if (block_result.truthy()) out.set(e.key, e.value);
        return true;
    });
    if (call.interpreter.pending() != Completion::Normal) return Value::undef();
    return out.build();
}
template <bool kTwo>
Value filter_iterable(const Call& call) {
    std::vector<Value> out;
    each_element<kTwo>(call, [&](std::int64_t, const Value& each, const Value& block_result) {
        if (block_result.truthy()) out.push_back(each);
        return true;
    });
    if (after_yield(call) == After::Leave) return Value::undef();
    return list(call, out);
}

template <bool kAll, bool kTwo>
Value test_hash(const Call& call) {
    bool result = kAll;
    each_entry<kTwo>(call, [&](const value::Entry&, const Value& block_result) {
        if (block_result.truthy() == kAll) return true;
        result = !kAll;
        return false;
    });
    return Value::boolean(result);
}
template <bool kAll, bool kTwo>
Value test_iterable(const Call& call) {
    bool result = kAll;
    each_element<kTwo>(call, [&](std::int64_t, const Value&, const Value& block_result) {
        if (block_result.truthy() == kAll) return true;
        result = !kAll;
        return false;
    });
    return Value::boolean(result);
}

Value index_hash_1(const Call& call) {
    for (const value::Entry& e : call[0].as_hash()) {
        const Value block_result = call.yield({e.value});
        if (call.interpreter.pending() != Completion::Normal) return Value::undef();
        if (block_result.truthy()) return e.key;
    }
    return Value::undef();
}
Value index_hash_2(const Call& call) {
    Value result;
    each_entry<true>(call, [&](const value::Entry& e, const Value& block_result) {
        if (!block_result.truthy()) return true;
        result = e.key;
        return false;
    });
    return result;
}
template <bool kTwo>
Value index_iterable(const Call& call) {
    Value result;
    each_element<kTwo>(call, [&](std::int64_t i, const Value&, const Value& block_result) {
        if (!block_result.truthy()) return true;
        result = Value::integer(i);
        return false;
    });
    return result;
}
Value index_string(const Call& call) {
    const std::string_view subject = call[0].as_string();
    std::size_t at = std::string_view::npos;
    if (call[1].is_string()) {
        at = subject.find(call[1].as_string());
    } else if (const auto found = call[1].as_regexp().regex->search(subject)) {
        at = found->groups[0]->first;
    }
    if (at == std::string_view::npos) return Value::undef();
    return Value::integer(static_cast<std::int64_t>(characters(subject.substr(0, at))));
}

/// Compares like Ruby's ==: numbers by value, strings by their bytes.
bool same(const Value& a, const Value& b) {
    if (a.is_numeric() && b.is_numeric()) return evaluator::equals(a, b);
    return value::equal(a, b);
}

Value index_value(const Call& call) {
    if (call[0].is_hash()) {
        for (const value::Entry& e : call[0].as_hash())
            if (same(e.value, call[1])) return e.key;
        return Value::undef();
    }
    Value result;
    std::int64_t i = 0;
    walk(call, call[0], [&](const Value& each) {
        if (!same(each, call[1])) {
            ++i;
            return true;
        }
        result = Value::integer(i);
        return false;
    });
    return result;
}

Value reduce_over(const Call& call, const Value* start) {
    Value memo = start ? *start : Value::undef();
    bool started = start != nullptr;
    const auto step = [&](const Value& each) {
        if (!started) {
            memo = each;
            started = true;
            return true;
        }
        const Value next = call.yield({memo, each});
        if (call.interpreter.pending() != Completion::Normal) return false;
        memo = next;
        return true;
    };
    if (call[0].is_hash()) {
        for (const value::Entry& e : call[0].as_hash())
            if (!step(pair(call, e))) break;
    } else {
        walk(call, call[0], step);
    }
    return finish(call, memo);
}
Value reduce(const Call& call) { return reduce_over(call, nullptr); }
Value reduce_memo(const Call& call) { return reduce_over(call, &call[1]); }

Value slice(const Call& call) {
    const auto size = static_cast<std::size_t>(call[1].as_integer());
    std::size_t serving = 1;
    if (call.block) {
        const int arity = call.block->block_arity();
        serving = arity < 0 ? size : static_cast<std::size_t>(arity);
        if (serving == 0)
            argument_error("slice(): block must define at least one parameter. Block has 0.");
        if (serving != 1 && serving != size) {
            std::string names;
            for (const std::string_view name : call.block->parameter_names())
                names += (names.empty() ? "" : ", ") + std::string(name);
            argument_error(
                "slice(): block must define one parameter, or the same number of parameters as the "
                "given size of the slice ({}). Block has {}; {}",
                size, serving, names);
        }
    }
    const bool hash = call[0].is_hash();
    std::vector<Value> result, serve;
    const auto give = [&] {
        if (serve.empty()) return true;
        if (!call.block) {
            result.push_back(list(call, serve));
        } else if (serving == 1) {
            call.yield({list(call, serve)});
        } else {
            // A hash is filled with empty pairs, any other value with undef.
            while (serve.size() < serving)
                serve.push_back(hash ? Value::array({}) : Value::undef());
            call.yield(serve);
        }
        serve.clear();
        return call.interpreter.pending() == Completion::Normal;
    };
    const auto take = [&](const Value& each) {
        serve.push_back(each);
        return serve.size() < size || give();
    };
    if (hash) {
        for (const value::Entry& e : call[0].as_hash())
            if (!take(pair(call, e))) break;
    } else {
        walk(call, call[0], take);
    }
    if (call.interpreter.pending() == Completion::Normal) give();
    return finish(call, call.block ? call[0] : list(call, result));
}

const types::Iterator& iterator_of(const Call& call) {
    const types::Iterator* iterator = types::iterable_on(call.interpreter.types(), call[0]);
    if (!iterator)
        argument_error("{}(): wrong argument type ({}; is not Iterable.", "Function",
                       ruby_class(call[0]));
    return *iterator;
}

/// Calls the block for every element of an iterator. `break()` ends the iteration.
Value yield_all(const Call& call, const types::Iterator& iterator) {
    types::Cursor* cursor = iterator.start(call.interpreter.types());
    for (Value each; cursor->next(&each);) {
        call.yield({each});
        if (call.interpreter.pending() != Completion::Normal) break;
    }
    return finish(call, Value::undef());
}

Value reverse_each(const Call& call) {
    const types::Iterator* reversed = iterator_of(call).reversed(call.interpreter.types());
    return call.block ? yield_all(call, *reversed) : types::iterator_value(reversed);
}

Value step(const Call& call) {
    const types::Iterator* stepped =
        iterator_of(call).stepped(call.interpreter.types(), call[1].as_integer());
    return call.block ? yield_all(call, *stepped) : types::iterator_value(stepped);
}

const types::Iterator& tree_of(const Call& call) {
    types::TreeOptions options;
    if (call.size() > 1) {
        const value::HashRep& given = call[1].as_hash();
        const auto flag = [&](std::string_view name, bool& target) {
            if (const Value* v = given.find(name); v && !v->is_undef()) target = v->as_boolean();
        };
        flag("include_root", options.include_root);
        flag("include_containers", options.include_containers);
        flag("include_values", options.include_values);
        flag("include_refs", options.include_refs);
        if (const Value* v = given.find("order"); v && v->is_string())
            options.breadth_first = v->as_string() == "breadth_first";
        if (const Value* v = given.find("container_type"); v && v->is_type())
            options.container_type = v->as_type();
    }
    return *types::tree_iterator(call.interpreter.types(), call[0], options);
}

template <bool kTwo>
Value tree_each_block(const Call& call) {
    types::Cursor* cursor = tree_of(call).start(call.interpreter.types());
    for (Value each; cursor->next(&each);) {
        const auto parts = each.as_array();
        if constexpr (kTwo)
            call.yield({parts[0], parts[1]});
        else
            call.yield({parts[1]});
        if (call.interpreter.pending() != Completion::Normal) break;
    }
    return finish(call, call[0]);
}

Value tree_each(const Call& call) { return types::iterator_value(&tree_of(call)); }

#define BUNRAKU_FOUR_FORMS(hash_code, iterable_code)                          \
    {"Hash[Any, Any] hash, Callable[2,2] &block", hash_code<true>},           \
        {"Hash[Any, Any] hash, Callable[1,1] &block", hash_code<false>},      \
        {"Iterable enumerable, Callable[2,2] &block", iterable_code<true>}, { \
        "Iterable enumerable, Callable[1,1] &block", iterable_code<false>     \
    }

template <bool kTwo>
Value all_hash(const Call& call) {
    return test_hash<true, kTwo>(call);
}
template <bool kTwo>
Value all_iterable(const Call& call) {
    return test_iterable<true, kTwo>(call);
}
template <bool kTwo>
Value any_hash(const Call& call) {
    return test_hash<false, kTwo>(call);
}
template <bool kTwo>
Value any_iterable(const Call& call) {
    return test_iterable<false, kTwo>(call);
}

constexpr std::string_view kTreeTypes =
    "OptionsType = Struct[{container_type => Optional[Type], include_root => Optional[Boolean], "
    "include_containers => Optional[Boolean], include_values => Optional[Boolean], order => "
    "Optional[Enum[depth_first, breadth_first]], include_refs => Optional[Boolean]}]";
#define BUNRAKU_TREE "Variant[Iterator, Array, Hash, Object] tree, OptionsType options?"

const Builtin kFunctions[] = {
    {"each",
     "Calls the block for every element and returns the first argument. With two parameters the "
     "block gets the key and value of a hash entry, or the index and value of another element.",
     {BUNRAKU_FOUR_FORMS(each_hash, each_iterable)}},
    {"map",
     "Calls the block for every element and returns an array of its results.",
     {BUNRAKU_FOUR_FORMS(map_hash, map_iterable)}},
    {"filter",
     "Returns the elements for which the block is true: a hash for a hash, an array for anything "
     "else.",
     {BUNRAKU_FOUR_FORMS(filter_hash, filter_iterable)}},
    {"all",
     "True if the block is true for every element.",
     {BUNRAKU_FOUR_FORMS(all_hash, all_iterable)}},
    {"any",
     "True if the block is true for at least one element.",
     {BUNRAKU_FOUR_FORMS(any_hash, any_iterable)}},
    {"index",
     "Finds the index (or key) of the first element that the block accepts or that equals the "
     "second "
     "argument; undef if there is none.",
     {{"Hash[Any, Any] hash, Callable[2,2] &block", index_hash_2},
      {"Hash[Any, Any] hash, Callable[1,1] &block", index_hash_1},
      {"Iterable enumerable, Callable[2,2] &block", index_iterable<true>},
      {"Iterable enumerable, Callable[1,1] &block", index_iterable<false>},
      {"String str, Variant[String,Regexp] match", index_string},
      {"Iterable enumerable, Any match", index_value}}},
    {"reduce",
     "Combines all elements into one value: the block gets its last result and the next element.",
     {{"Iterable enumerable, Callable[2,2] &block", reduce},
      {"Iterable enumerable, Any memo, Callable[2,2] &block", reduce_memo}}},
    {"slice",
     "Cuts an iterable into slices of the given size, and passes each slice to the block if there "
     "is "
     "one.",
     {{"Hash[Any, Any] hash, Integer[1, default] slice_size, Callable &block?", slice},
      {"Iterable enumerable, Integer[1, default] slice_size, Callable &block?", slice}}},
    {"reverse_each",
     "Iterates backwards: calls the block, or returns an Iterator.",
     {{"Iterable iterable", reverse_each},
      {"Iterable iterable, Callable[1,1] &block", reverse_each}}},
    {"step",
     "Iterates over every n-th element from the first: calls the block, or returns an Iterator.",
     {{"Iterable iterable, Integer[1] step", step},
      {"Iterable iterable, Integer[1] step, Callable[1,1] &block", step}}},
    {"tree_each",
     "Iterates over all values nested in arrays, hashes and objects: calls the block with path and "
     "value, "
     "or "
     "returns an Iterator over such pairs.",
     {{BUNRAKU_TREE ", Callable[2,2] &block", tree_each_block<true>},
      {BUNRAKU_TREE ", Callable[1,1] &block", tree_each_block<false>},
      {BUNRAKU_TREE, tree_each}},
     false,
     evaluator::kTyped,
     kTreeTypes},
};

}  // namespace

std::span<const Builtin> iteration_functions() { return kFunctions; }

}  // namespace bunraku::function
