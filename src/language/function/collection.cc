// SPDX-License-Identifier: Apache-2.0
// Functions on arrays and hashes that do not iterate lazily.
#include <algorithm>

#include "core/base/assert.h"
#include "core/base/merge_sort.h"
#include "core/base/work_limit.h"
#include "language/function/support.h"
#include "language/types/iterator.h"
#include "language/types/mismatch.h"
#include "language/types/object.h"

namespace bunraku::function {
namespace {

using evaluator::Completion;
using value::HashBuilder;
using value::Kind;

bool interrupted(const Call& call) { return call.interpreter.pending() != Completion::Normal; }

Value empty_collection(const Call& call) {
    return Value::boolean(call[0].is_array() ? call[0].as_array().empty()
                                             : call[0].as_hash().empty());
}
Value empty_string(const Call& call) { return Value::boolean(call[0].as_string().empty()); }
Value empty_sensitive(const Call& call) {
    return Value::boolean(call[0].unwrap().as_string().empty());
}
Value empty_numeric(const Call& call) {
    warn_once(call, "Calling function empty() with Numeric value is deprecated.", true);
    return Value::boolean(false);
}
Value empty_undef(const Call&) { return Value::boolean(true); }

Value flatten(const Call& call) {
    std::vector<Value> out;
    flatten_into(out, call.args);
    return list(call, out);
}

Value keys(const Call& call) {
    std::vector<Value> out;
    for (const auto& e : call[0].as_hash()) out.push_back(e.key);
    return list(call, out);
}
Value values(const Call& call) {
    std::vector<Value> out;
    for (const auto& e : call[0].as_hash()) out.push_back(e.value);
    return list(call, out);
}

Value length(const Call& call) {
    const Value& v = call[0];
    std::size_t n = 0;
    switch (v.kind()) {
        case Kind::Array: n = v.as_array().size(); break;
        case Kind::Hash: n = v.as_hash().size(); break;
        case Kind::Binary: n = v.as_string().size(); break;
        default: n = characters(v);
    }
    return Value::integer(static_cast<std::int64_t>(n));
}

// --- dig, get, getvar ---

/// The error that `dig` reports to `get`, which may pass it to a block as an Error value.
struct DigError {
    std::string message;
    std::string_view code;
    std::vector<Value> walked;
    const types::Type* type;
};

/// Returns the value at the path of keys. If the path does not fit the data, sets `dig_error` and
/// returns undef.
Value walk(const Call& call, Value data, std::span<const Value> path,
           std::optional<DigError>& dig_error) {
    std::vector<Value> walked;
    for (const Value& key : path) {
        if (data.is_undef() || key.is_undef()) return Value::undef();
        if (!data.is_array() && !data.is_hash()) {
            auto& ctx = call.interpreter.types();
            // The start of the path is the argument of `dig` itself, which must be a collection.
            if (walked.empty()) {
                argument_error("{}", types::describe_mismatch(
                                         ctx, "'dig' parameter 'data'",
                                         types::parse_type(ctx, "Optional[Collection]"), data));
            }
            const auto* type = types::infer(call.interpreter.types(), data);
            dig_error =
                DigError{fmt::format("The given data does not contain a Collection at {}, got '{}'",
                                     ruby_inspect(list(call, walked)), type->to_string()),
                         "EXPECTED_COLLECTION", walked, type};
            return Value::undef();
        }
        walked.push_back(key);
        if (data.is_array()) {
            if (!key.is_integer()) {
                const auto* type = types::infer(call.interpreter.types(), key);
                dig_error =
                    DigError{fmt::format("The given data requires an Integer index at {}, got '{}'",
                                         ruby_inspect(list(call, walked)), type->to_string()),
                             "EXPECTED_INTEGER_INDEX", walked, type};
                return Value::undef();
            }
            const auto items = data.as_array();
            std::int64_t i = key.as_integer();
            if (i < 0) i += static_cast<std::int64_t>(items.size());
            data = i >= 0 && i < static_cast<std::int64_t>(items.size())
                       ? items[static_cast<std::size_t>(i)]
                       : Value::undef();
        } else {
            const Value* found = data.as_hash().find(key);
            data = found ? *found : Value::undef();
        }
    }
    return data;
}

Value dig(const Call& call) {
    std::optional<DigError> dig_error;
    const Value v = walk(call, call[0], call.args.subspan(1), dig_error);
    if (dig_error) throw base::PuppetError(dig_error->message);
    return v;
}

Value get_from(const Call& call, const Value& from, std::string_view navigation,
               const Value& otherwise) {
    if (from.is_undef()) return otherwise;
    if (navigation.empty()) return from;
    std::vector<Value> path;
    // After a first segment, a number without a name is also accepted as an index.
    if (!value::split_dotted(call.arena(), fmt::format("x.{}", navigation), path)) {
        throw base::PuppetError("Syntax error in dotted-navigation string");
    }
    path.erase(path.begin());
    std::optional<DigError> dig_error;
    const Value v = walk(call, from, path, dig_error);
    if (!dig_error) return v.is_undef() ? otherwise : v;
    if (!call.block) throw base::PuppetError(dig_error->message);
    HashBuilder details(call.arena());
    details.set("walked_path", list(call, dig_error->walked));
    details.set(dig_error->code == "EXPECTED_COLLECTION" ? "value_type" : "index_type",
                Value::type(dig_error->type));
    auto& ctx = call.interpreter.types();
    const Value args[] = {text(call, dig_error->message), Value::string("SLICE_ERROR"),
                          details.build(), Value::string(dig_error->code)};
    return call.yield({types::make_object_unchecked(
        ctx, types::as_object_type(types::builtin_object_type("error")), args)});
}

Value get(const Call& call) { return get_from(call, call[0], call[1].as_string(), call.at(2)); }

Value getvar(const Call& call) {
    std::string_view navigation = call[0].as_string();
    std::size_t end = navigation.starts_with("::") ? 2 : 0;
    auto word = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    while (end < navigation.size()) {
        if (word(navigation[end])) {
            ++end;
        } else if (navigation.substr(end).starts_with("::") && end + 2 < navigation.size() &&
                   word(navigation[end + 2])) {
            end += 2;
        } else {
            break;
        }
    }
    const std::string_view name = navigation.substr(0, end);
    navigation.remove_prefix(end);
    if (!navigation.empty()) {
        if (navigation[0] != '.') {
            argument_error("First character after var name in get string must be a '.' - got {}",
                           navigation[0]);
        }
        navigation.remove_prefix(1);
    }
    const auto v = call.interpreter.lookup_variable(call.scope, name, navigation);
    if (!v) return call.at(1);
    return get_from(call, *v, navigation, call.at(1));
}

Value getvar_mismatch(const Call& call) {
    return text(call, "The given string does not start with a valid variable name");
}

// --- group_by, partition, sort, unique ---

std::vector<Value> pairs_or_items(const Call& call) { return elements(call, call[0]); }

Value yield_two(const Call& call, const Value& item, std::size_t i) {
    if (call[0].is_hash()) return call.yield({item.as_array()[0], item.as_array()[1]});
    return call.yield({Value::integer(static_cast<std::int64_t>(i)), item});
}

template <bool Two>
Value group_by(const Call& call) {
    const auto items = pairs_or_items(call);
    std::vector<std::pair<Value, std::vector<Value>>> groups;
    HashBuilder index(call.arena());
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Value key = Two ? yield_two(call, items[i], i) : call.yield({items[i]});
        if (interrupted(call)) return Value::undef();
        if (const Value* at = index.find(key)) {
            groups[static_cast<std::size_t>(at->as_integer())].second.push_back(items[i]);
        } else {
            index.set(key, Value::integer(static_cast<std::int64_t>(groups.size())));
            groups.push_back({key, {items[i]}});
        }
    }
    HashBuilder out(call.arena());
    for (auto& [key, members] : groups) out.set(key, list(call, members));
    return out.build();
}

template <bool Two>
Value partition(const Call& call) {
    const auto items = pairs_or_items(call);
    std::vector<Value> yes, no;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Value chosen = Two ? yield_two(call, items[i], i) : call.yield({items[i]});
        if (interrupted(call)) return Value::undef();
        (chosen.truthy() ? yes : no).push_back(items[i]);
    }
    return value::make_array(call.arena(), {list(call, yes), list(call, no)});
}

/// Compares like Ruby's <=> for sort without a block: numbers with numbers, strings with strings,
/// arrays element-wise.
int ruby_compare(const Value& a, const Value& b) {
    base::step();
    if (a.is_numeric() && b.is_numeric()) {
        if (a.is_integer() && b.is_integer()) {
            return a.as_integer() < b.as_integer() ? -1 : a.as_integer() > b.as_integer();
        }
        return a.as_number() < b.as_number() ? -1 : a.as_number() > b.as_number();
    }
    if (a.is_string() && b.is_string()) {
        const int c = a.as_string().compare(b.as_string());
        return c < 0 ? -1 : c > 0;
    }
    if (a.is_array() && b.is_array()) {
        const auto x = a.as_array(), y = b.as_array();
        for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
            if (const int c = ruby_compare(x[i], y[i])) return c;
        }
        return x.size() < y.size() ? -1 : x.size() > y.size();
    }
    if (a.kind() == b.kind() &&
        (a.is(Kind::Timestamp) || a.is(Kind::Timespan) || a.is(Kind::SemVer))) {
        return evaluator::compare(a, b);
    }
    if (value::equal(a, b)) return 0;
    const bool shown = b.is_undef() || b.is(Kind::Boolean) || b.is_numeric();
    argument_error("comparison of {} with {} failed", ruby_class(a),
                   shown ? ruby_inspect(b) : std::string(ruby_class(b)));
}

std::vector<Value> sorted(const Call& call, std::vector<Value> items) {
    if (!call.block) {
        std::stable_sort(items.begin(), items.end(),
                         [](const Value& a, const Value& b) { return ruby_compare(a, b) < 0; });
        return items;
    }
    const bool finished =
        base::merge_sort(items, [&](const Value& a, const Value& b) -> std::optional<bool> {
            const Value c = call.yield({a, b});
            if (interrupted(call)) return std::nullopt;
            if (!c.is_numeric()) {
                argument_error("comparison of {} with {} failed", ruby_class(a), ruby_class(b));
            }
            return c.as_number() > 0;
        });
    return finished ? items : std::vector<Value>();
}

Value sort_array(const Call& call) {
    return list(call, sorted(call, {call[0].as_array().begin(), call[0].as_array().end()}));
}

std::vector<Value> character_values(const Value& string) {
    std::vector<Value> out;
    for (auto c : split_characters(string.as_string()))
        out.push_back(Value::string(c).in_encoding(string.is_bytes()));
    return out;
}
Value joined(const Call& call, const std::vector<Value>& items) {
    value::JoinedText out;
    for (const Value& v : items) out.append(v);
    return text(call, out);
}

Value sort_string(const Call& call) {
    return joined(call, sorted(call, character_values(call[0])));
}

std::vector<Value> unique_of(const Call& call, const std::vector<Value>& items) {
    std::vector<Value> out;
    HashBuilder seen(call.arena());
    for (const Value& v : items) {
        const Value key = call.block ? call.yield({v}) : v;
        if (interrupted(call)) return {};
        if (seen.find(key)) continue;
        seen.set(key, Value::boolean(true));
        out.push_back(v);
    }
    return out;
}

Value unique_string(const Call& call) {
    return joined(call, unique_of(call, character_values(call[0])));
}
Value unique_items(const Call& call) {
    return list(call, unique_of(call, elements(call, call[0])));
}
Value unique_hash(const Call& call) {
    struct Group {
        std::vector<Value> keys, values;
    };
    std::vector<Group> groups;
    HashBuilder index(call.arena());
    for (const auto& e : call[0].as_hash()) {
        const Value key = call.block ? call.yield({e.value}) : e.value;
        if (interrupted(call)) return Value::undef();
        const Value* at = index.find(key);
        std::size_t i = groups.size();
        if (at) {
            i = static_cast<std::size_t>(at->as_integer());
        } else {
            index.set(key, Value::integer(static_cast<std::int64_t>(i)));
            groups.emplace_back();
        }
        groups[i].keys.push_back(e.key);
        auto& seen = groups[i].values;
        if (std::none_of(seen.begin(), seen.end(),
                         [&](const Value& v) { return value::equal(v, e.value); })) {
            seen.push_back(e.value);
        }
    }
    HashBuilder out(call.arena());
    for (const auto& g : groups) out.set(list(call, g.keys), list(call, g.values));
    return out.build();
}

Value unwrap_sensitive(const Call& call) {
    return call.block ? call.yield({call[0].unwrap()}) : call[0].unwrap();
}
Value unwrap_any(const Call& call) { return call.block ? call.yield({call[0]}) : call[0]; }

const Builtin kFunctions[] = {
    {"empty",
     "True for collections, strings and binaries without content, and for undef.",
     {{"Collection coll", empty_collection},
      {"Sensitive[String] str", empty_sensitive},
      {"String str", empty_string},
      {"Numeric num", empty_numeric},
      {"Binary bin", empty_string},
      {"Undef x", empty_undef}}},
    {"flatten", "One flat array of all arguments.", {{"Any *args", flatten}}},
    {"keys", "The keys of a hash.", {{"Hash hsh", keys}}},
    {"values", "The values of a hash.", {{"Hash hsh", values}}},
    {"length",
     "Number of elements, entries, characters or bytes.",
     {{"Collection arg", length}, {"String arg", length}, {"Binary arg", length}}},
    {"size", "The same as `length`.", {{"Variant[Collection, String, Binary] arg", length}}},
    {"dig",
     "The value found by a path of keys and indexes.",
     {{"Optional[Collection] data, Any *arg", dig}}},
    {"get",
     "The value found by a dotted path, or a default.",
     {{"Any value, String dotted_string, Any default_value?, Callable[1,1] &block?", get}}},
    {"getvar",
     "The value of a variable, optionally followed by a dotted path.",
     {{"Pattern[/\\A(?:::)?(?:[a-z]\\w*::)*[a-z_]\\w*(?:\\.|\\Z)/] get_string, Any default_value?, "
       "Callable[1,1] &block?",
       getvar},
      {"String get_string, Any default_value?, Callable &block?", getvar_mismatch, true}}},
    {"group_by",
     "A hash from each result of the block to the elements with that result.",
     {{"Collection collection, Callable[1,1] &block >> Hash", group_by<false>},
      {"Array array, Callable[2,2] &block >> Hash", group_by<true>},
      {"Collection collection, Callable[2,2] &block >> Hash", group_by<true>}}},
    {"partition",
     "The elements the block accepts and those it does not.",
     {{"Collection collection, Callable[1,1] &block >> Tuple[Array, Array]", partition<false>},
      {"Array array, Callable[2,2] &block >> Tuple[Array, Array]", partition<true>},
      {"Collection collection, Callable[2,2] &block >> Tuple[Array, Array]", partition<true>}}},
    {"sort",
     "Sorts an array or the characters of a string.",
     {{"String string_value, Callable[2,2] &block?", sort_string},
      {"Array array_value, Callable[2,2] &block?", sort_array}}},
    {"unique",
     "Drops repeated elements; a hash is grouped by equal values.",
     {{"String string, Callable[String] &block?", unique_string},
      {"Hash hash, Callable[Any] &block?", unique_hash},
      {"Array array, Callable[Any] &block?", unique_items},
      {"Iterable iterable, Callable[Any] &block?", unique_items}}},
    {"unwrap",
     "The value inside a Sensitive, or the result of a block that receives it.",
     {{"Sensitive arg, Callable &block?", unwrap_sensitive},
      {"Any arg, Callable &block?", unwrap_any}}},
};

}  // namespace

std::span<const Builtin> collection_functions() { return kFunctions; }

}  // namespace bunraku::function
