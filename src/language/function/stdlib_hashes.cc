// SPDX-License-Identifier: Apache-2.0
// stdlib's functions on hashes, and pick, as in module versions 8.5.0 and 9.7.0.
#include <algorithm>

#include "core/base/work_limit.h"
#include "language/evaluator/function.h"
#include "language/function/stdlib_support.h"
#include "language/function/stdlib_usual.h"
#include "language/types/iterator.h"

namespace bunraku::function {
namespace {

using evaluator::Completion;

// --- merge ---

Value merge(const Call& call) {
    value::HashBuilder out(call.arena());
    for (const Value& v : call.args)
        if (v.is_hash()) out.merge(v.as_hash());
    return out.build();
}

/// Calls the block with the result so far and the element, or its key and value. Merges hashes that
/// the block returns into the result.
template <bool kThree>
Value merge_iterable(const Call& call) {
    if (call.size() != 1)
        argument_error("wrong number of arguments (given {}, expected 1)", call.size());
    value::HashBuilder out(call.arena());
    std::int64_t index = 0;
    for (const Value& v : elements(call, call[0])) {
        const Value gathered = out.build();
        Value answer;
        if (!kThree)
            answer = call.yield({gathered, v});
        else if (call[0].is_hash())
            answer = call.yield({gathered, v.as_array()[0], v.as_array()[1]});
        else
            answer = call.yield({gathered, Value::integer(index++), v});
        if (call.interpreter.pending() != Completion::Normal) {
            if (call.interpreter.pending() != Completion::Break) return Value::undef();
            call.interpreter.take_completion();
            break;
        }
        if (answer.is_hash()) out.merge(answer.as_hash());
    }
    return out.build();
}

Value merge_deep(const Call& call, const value::HashRep& a, const value::HashRep& b) {
    base::step();
    value::HashBuilder out(call.arena());
    out.merge(a);
    for (const auto& e : b) {
        const Value* old = out.find(e.key);
        if (old && old->is_hash() && e.value.is_hash())
            out.set(e.key, merge_deep(call, old->as_hash(), e.value.as_hash()));
        else
            out.set(e.key, e.value);
    }
    return out.build();
}
Value deep_merge(const Call& call) {
    if (call.size() < 2) {
        argument_error("deep_merge(): wrong number of arguments ({}; must be at least 2)",
                       call.size());
    }
    Value out = value::HashBuilder(call.arena()).build();
    for (const Value& v : call.args) {
        if (v.is_string() && v.as_string().empty()) continue;  // undef
        if (!v.is_hash())
            argument_error("deep_merge: unexpected argument type {}, only expects hash arguments",
                           ruby_class(v));
        out = merge_deep(call, out.as_hash(), v.as_hash());
    }
    return out;
}

Value has_key(const Call& call) {
    if (call.size() != 2)
        argument_error("has_key(): wrong number of arguments ({}; must be 2)", call.size());
    if (!call[0].is_hash()) {
        argument_error(
            "has_key(): expects the first argument to be a hash, got {} which is of type {}",
            inspect(call[0]), ruby_class(call[0]));
    }
    return Value::boolean(call[0].as_hash().find(call[1]) != nullptr);
}

Value hash(const Call& call) {
    if (call.size() == 0) argument_error("hash(): Wrong number of arguments given (0 for 1)");
    if (!call[0].is_array()) argument_error("hash(): Requires array to work with");
    std::vector<Value> flat;
    flatten_into(flat, call[0].as_array());
    if (flat.size() % 2 != 0) argument_error("hash(): Unable to compute hash from array given");
    value::HashBuilder out(call.arena());
    for (std::size_t i = 0; i < flat.size(); i += 2) out.set(flat[i], flat[i + 1]);
    return out.build();
}

Value join_keys_to_values(const Call& call) {
    if (call.size() != 2)
        argument_error("join_keys_to_values(): Takes exactly two arguments, but {} given.",
                       call.size());
    if (!call[0].is_hash())
        argument_error(
            "join_keys_to_values(): The first argument must be a hash, but a {} was given.",
            ruby_class(call[0]));
    if (!call[1].is_string())
        argument_error(
            "join_keys_to_values(): The second argument must be a string, but a {} was given.",
            ruby_class(call[1]));
    std::vector<Value> out;
    for (const auto& e : call[0].as_hash()) {
        const auto joined = [&](const Value& v) {
            value::JoinedText whole;
            append_to_s(whole, e.key);
            whole.append(call[1]);
            append_to_s(whole, v);
            return text(call, whole);
        };
        if (e.value.is_array()) {
            for (const Value& v : e.value.as_array()) out.push_back(joined(v));
        } else if (ruby_to_s(e.value) == "undef") {
            out.push_back(text(call, ruby_to_s(e.key), e.key));
        } else {
            out.push_back(joined(e.value));
        }
    }
    return list(call, out);
}

// --- dig ---

Value dig(const Value& data, const Value& path, const Value& fallback) {
    if (!data.is_hash() && !data.is_array())
        argument_error("dig44(): first argument must be a hash or an array, given {}",
                       ruby_class(data));
    if (!path.is_array())
        argument_error("dig44(): second argument must be an array, given {}", ruby_class(path));
    Value at = data;
    for (const Value& key : path.as_array()) {
        if (at.is_hash()) {
            const Value* next = at.as_hash().find(key);
            if (!next || next->is_undef()) return fallback;
            at = *next;
        } else if (at.is_array()) {
            const auto index = key.is_float() ? std::optional(to_integer(key))
                               : key.is_numeric() || key.is_string() ? strict_integer(key)
                                                                     : std::nullopt;
            const auto size = static_cast<std::int64_t>(at.as_array().size());
            if (!index) return fallback;
            const std::int64_t i = *index < 0 ? *index + size : *index;
            if (i < 0 || i >= size || at.as_array()[static_cast<std::size_t>(i)].is_undef())
                return fallback;
            at = at.as_array()[static_cast<std::size_t>(i)];
        } else {
            return fallback;
        }
    }
    return at.is_undef() ? fallback : at;
}
Value dig44(const Call& call) {
    if (call.size() < 2)
        argument_error("dig44(): Wrong number of arguments given ({} for at least 2)", call.size());
    return dig(call[0], call[1], call.at(2));
}
Value try_get_value(const Call& call) {
    scope_warning(call,
                  "try_get_value() DEPRECATED: this function is deprecated, please use dig() "
                  "instead.");
    const Value& data = call[0];
    const std::string path = ruby_to_s(call.at(1));
    if ((!data.is_hash() && !data.is_array()) || path.empty())
        return call.at(2).truthy() ? call[2] : data;
    const std::string separator = call.at(3).truthy() ? ruby_to_s(call[3]) : "/";
    std::vector<Value> keys;
    for (std::size_t at = 0; at <= path.size();) {
        std::size_t end = separator.empty() ? at + 1 : path.find(separator, at);
        if (end == std::string::npos) end = path.size();
        const std::string part = path.substr(at, end - at);
        keys.push_back(all_digits(part) ? Value::integer(to_integer(Value::string(part)))
                                        : text(call, part));
        at = end + separator.size();
        if (separator.empty() && at >= path.size()) break;
    }
    while (!keys.empty() && keys.back().is_string() && keys.back().as_string().empty())
        keys.pop_back();
    return dig(data, list(call, keys), call.at(2));
}

// --- pick ---

bool blank(const Value& v) { return v.is_undef() || (v.is_string() && (v.as_string().empty())); }
Value pick(const Call& call) {
    for (const Value& v : call.args)
        if (!blank(v)) return v;
    argument_error("pick(): must receive at least one non empty value");
}
Value pick_default(const Call& call) {
    if (call.size() == 0) argument_error("Must receive at least one argument.");
    for (const Value& v : call.args.first(call.size() - 1))
        if (!blank(v)) return v;
    return call.args.back();
}

// --- stdlib::nested_values, stdlib::sort_by ---

void nested_into(std::vector<Value>& out, const value::HashRep& hash) {
    base::step();
    for (const auto& e : hash) {
        if (e.value.is_hash())
            nested_into(out, e.value.as_hash());
        else
            out.push_back(e.value);
    }
}
Value nested_values(const Call& call) {
    std::vector<Value> out;
    nested_into(out, call[0].as_hash());
    return list(call, out);
}

/// Compares like Ruby's <=> of numbers, strings, and arrays of them.
int order(const Value& a, const Value& b) {
    base::step();
    if (a.is_numeric() && b.is_numeric()) {
        if (a.is_integer() && b.is_integer())
            return (a.as_integer() > b.as_integer()) - (a.as_integer() < b.as_integer());
        return (a.as_number() > b.as_number()) - (a.as_number() < b.as_number());
    }
    if (a.is_string() && b.is_string()) {
        const int c = a.as_string().compare(b.as_string());
        return (c > 0) - (c < 0);
    }
    if (a.is_array() && b.is_array()) {
        const auto x = a.as_array(), y = b.as_array();
        for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
            if (const int c = order(x[i], y[i])) return c;
        return (x.size() > y.size()) - (x.size() < y.size());
    }
    if (ruby_equal(a, b)) return 0;
    argument_error("comparison of {} with {} failed", ruby_class(a),
                   b.is_numeric() || b.is_undef() ? inspect(b) : std::string(ruby_class(b)));
}

/// Returns the elements sorted by the results of the block. Returns nullopt if the block left
/// early.
std::optional<std::vector<Value>> sorted(const Call& call) {
    struct Keyed {
        Value key, element;
    };
    std::vector<Keyed> all;
    for (const Value& v : elements(call, call[0])) {
        const bool two = call[0].is_hash() && call.block->arity().first > 1;
        const Value key = two ? call.yield({v.as_array()[0], v.as_array()[1]}) : call.yield({v});
        if (call.interpreter.pending() != Completion::Normal) return std::nullopt;
        all.push_back({key, v});
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Keyed& a, const Keyed& b) { return order(a.key, b.key) < 0; });
    std::vector<Value> out;
    for (const Keyed& k : all) out.push_back(k.element);
    return out;
}
Value sort_by_array(const Call& call) {
    const auto all = sorted(call);
    return all ? list(call, *all) : Value::undef();
}
Value sort_by_string(const Call& call) {
    const auto all = sorted(call);
    if (!all) return Value::undef();
    std::string out;
    for (const Value& v : *all) out += ruby_to_s(v);
    return text(call, out);
}
Value sort_by_hash(const Call& call) {
    const auto all = sorted(call);
    if (!all) return Value::undef();
    value::HashBuilder out(call.arena());
    for (const Value& v : *all) out.set(v.as_array()[0], v.as_array()[1]);
    return out.build();
}

#define BUNRAKU_MERGE(NAME)                                                               \
    {NAME,                                                                                \
     "Merges hashes, or the results of a block for the elements of an iterable.",         \
     {{"Variant[Hash[Scalar,Any], Undef, String[0,0]] *args >> Hash[Scalar,Any]", merge}, \
      {"Iterable *args, Callable[3,3] &block >> Hash", merge_iterable<true>},             \
      {"Iterable *args, Callable[2,2] &block >> Hash", merge_iterable<false>}},           \
     false,                                                                               \
     evaluator::kTyped,                                                                   \
     {},                                                                                  \
     usual::hashes}

const Builtin kFunctions[] = {
    BUNRAKU_MERGE("merge"),
    BUNRAKU_MERGE("stdlib::merge"),
    {"deep_merge", "Merges hashes recursively.", {{"", deep_merge}}, false, -1, {}, usual::hashes},
    {"has_key", "True if a hash has a key.", {{"", has_key}}, false, -1},
    {"hash", "Makes a hash from an array of keys and values.", {{"", hash}}, false, -1},
    {"join_keys_to_values",
     "Joins each key of a hash to its value.",
     {{"", join_keys_to_values}},
     false,
     -1,
     {},
     usual::data},
    {"dig44",
     "The value at a path of keys and indices.",
     {{"", dig44}},
     false,
     -2,
     {},
     usual::data},
    {"try_get_value", "The value at a path (\"a/0/b\").", {{"", try_get_value}}, false, -2},
    {"pick",
     "The first argument that is neither undef nor empty.",
     {{"", pick}},
     false,
     -1,
     {},
     usual::data},
    {"pick_default",
     "The first argument that is neither undef nor empty, else the last.",
     {{"", pick_default}},
     false,
     -1},
    {"stdlib::nested_values",
     "The values of a hash and of the hashes in it.",
     {{"Hash hash >> Array", nested_values}}},
    {"stdlib::sort_by",
     "Sorts elements by the results of a block.",
     {{"Array ary, Callable[1,1] &block", sort_by_array},
      {"String str, Callable[1,1] &block", sort_by_string},
      {"Hash hsh, Variant[Callable[1,1], Callable[2,2]] &block", sort_by_hash}}},
};

}  // namespace

std::span<const Builtin> stdlib_hash_functions() { return kFunctions; }

}  // namespace bunraku::function
