// SPDX-License-Identifier: Apache-2.0
// stdlib's functions on arrays. Messages and results are those of module version 8.5.0.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "core/regex/regex.h"
#include "language/environment/trace.h"
#include "language/function/stdlib_support.h"
#include "language/function/stdlib_usual.h"

namespace bunraku::function {
namespace {

using value::Kind;

/// Throws the error of stdlib's 3.x functions for a wrong number of arguments.
void expect_at_least(const Call& call, std::string_view name, std::size_t n) {
    if (call.size() < n)
        argument_error("{}(): Wrong number of arguments given ({} for {})", name, call.size(), n);
}
void expect_exactly(const Call& call, std::string_view name, std::size_t n) {
    if (call.size() != n)
        argument_error("{}(): Wrong number of arguments given ({} for {})", name, call.size(), n);
}
/// Like expect_exactly, but the message has no parentheses around the numbers. The module uses both
/// forms.
void expect_bare(const Call& call, std::string_view name, std::size_t n) {
    if (call.size() != n)
        argument_error("{}(): Wrong number of arguments given {} for {}", name, call.size(), n);
}

/// Converts like Ruby's Kernel#Array.
std::vector<Value> as_list(const Call& call, const Value& v) {
    if (v.is_undef()) return {};
    if (v.is_array()) return {v.as_array().begin(), v.as_array().end()};
    if (v.is_hash()) return elements(call, v);
    return {v};
}

Value any2array(const Call& call) {
    if (call.size() == 1) {
        const Value& only = call[0];
        if (only.is_array()) return only;
        if (only.is_string() && only.as_string().empty()) return list(call, {});
        if (only.is_hash()) {
            std::vector<Value> out;
            for (const auto& e : only.as_hash()) {
                out.push_back(e.key);
                out.push_back(e.value);
            }
            return list(call, out);
        }
    }
    return value::make_array(call.arena(), call.args);
}

Value concat(const Call& call) {
    if (call.size() < 2)
        argument_error("concat(): Wrong number of arguments given ({} for < 2)", call.size());
    if (!call[0].is_array()) argument_error("concat(): Requires array to work with");
    std::vector<Value> out;
    for (const Value& v : call.args) {
        if (v.is_array())
            out.insert(out.end(), v.as_array().begin(), v.as_array().end());
        else
            out.push_back(v);
    }
    return list(call, out);
}

Value count(const Call& call) {
    if (call.size() > 2)
        argument_error("count(): Wrong number of arguments given {} for 1 or 2.", call.size());
    if (!call[0].is_array() && !call[0].is_hash())
        argument_error("undefined method `count' for {}:{}", inspect(call[0]), ruby_class(call[0]));
    std::int64_t n = 0;
    const bool by_item = call.at(1).truthy();
    for (const Value& v : elements(call, call[0])) {
        if (by_item)
            n += ruby_equal(v, call[1]);
        else
            n += !v.is_undef() && !(v.is_string() && v.as_string().empty());
    }
    return Value::integer(n);
}

Value delete_(const Call& call) {
    expect_bare(call, "delete", 2);
    const std::vector<Value> removed = as_list(call, call[1]);
    if (call[0].is_array()) {
        std::vector<Value> out;
        for (const Value& v : call[0].as_array()) {
            if (std::none_of(removed.begin(), removed.end(),
                             [&](const Value& g) { return ruby_equal(v, g); }))
                out.push_back(v);
        }
        return list(call, out);
    }
    if (call[0].is_hash()) {
        value::HashBuilder out(call.arena());
        for (const auto& e : call[0].as_hash())
            if (!contains(removed, e.key)) out.set(e.key, e.value);
        return out.build();
    }
    if (!call[0].is_string() && !removed.empty()) {
        argument_error(
            "delete(): First argument must be an Array, String, or Hash. Given an argument of "
            "class {}.",
            ruby_class(call[0]));
    }
    if (!call[0].is_string()) return call[0];
    std::string s(call[0].as_string());
    for (const Value& g : removed) {
        if (!g.is_string())
            argument_error("wrong argument type {} (expected Regexp)", ruby_class(g));
        s = replace_all(s, g.as_string(), "");
    }
    return text(call, s, call[0]);
}

Value delete_at(const Call& call) {
    expect_at_least(call, "delete_at", 2);
    if (!call[0].is_array()) argument_error("delete_at(): Requires array to work with");
    if (call[1].is_string() && !regex_match("^\\d+$", call[1].as_string()))
        argument_error("delete_at(): You must provide non-negative numeric index");
    auto items = std::vector<Value>(call[0].as_array().begin(), call[0].as_array().end());
    std::int64_t index = to_integer(call[1]);
    const auto size = static_cast<std::int64_t>(items.size());
    if (index > size - 1) argument_error("delete_at(): Given index exceeds size of array given");
    if (index < 0) index += size;
    if (index >= 0) items.erase(items.begin() + index);
    return list(call, items);
}

Value delete_regex(const Call& call) {
    expect_bare(call, "delete_regex", 2);
    Value remaining = call[0];
    for (const Value& item : as_list(call, call[1])) {
        const std::string pattern = "\\b" + ruby_to_s(item) + "\\b";
        auto hit = [&](const Value& v) {
            return v.is_string() && regex_match(pattern, v.as_string());
        };
        if (remaining.is_array()) {
            std::vector<Value> out;
            for (const Value& v : remaining.as_array())
                if (!hit(v)) out.push_back(v);
            remaining = list(call, out);
        } else if (remaining.is_hash()) {
            value::HashBuilder out(call.arena());
            for (const auto& e : remaining.as_hash())
                if (!hit(e.key)) out.set(e.key, e.value);
            remaining = out.build();
        } else if (remaining.is_string()) {
            argument_error("undefined method `reject!' for {}:String", inspect(remaining));
        } else {
            argument_error(
                "delete_regex(): First argument must be an Array, Hash, or String. Given an "
                "argument of class {}.",
                ruby_class(remaining));
        }
    }
    return remaining;
}

Value delete_undef_values(const Call& call) {
    if (call.size() == 0)
        argument_error("delete_undef_values(): Wrong number of arguments given (0)");
    if (call[0].is_array()) {
        std::vector<Value> out;
        for (const Value& v : call[0].as_array())
            if (!v.is_undef()) out.push_back(v);
        return list(call, out);
    }
    if (!call[0].is_hash()) {
        argument_error("delete_undef_values(): expected an array or hash, got {} type  {} ",
                       ruby_to_s(call[0]), ruby_class(call[0]));
    }
    value::HashBuilder out(call.arena());
    for (const auto& e : call[0].as_hash())
        if (!e.value.is_undef()) out.set(e.key, e.value);
    return out.build();
}

Value delete_values(const Call& call) {
    if (call.size() != 2)
        argument_error("delete_values(): Wrong number of arguments given ({} of 2)", call.size());
    if (!call[0].is_hash()) {
        argument_error(
            "delete_values(): First argument must be a Hash. Given an argument of class {}.",
            ruby_class(call[0]));
    }
    value::HashBuilder out(call.arena());
    for (const auto& e : call[0].as_hash())
        if (!ruby_equal(call[1], e.value)) out.set(e.key, e.value);
    return out.build();
}

Value difference_(const Call& call) {
    expect_exactly(call, "difference", 2);
    if (!call[0].is_array() || !call[1].is_array())
        argument_error("difference(): Requires 2 arrays");
    return list(call, difference(call[0].as_array(), call[1].as_array()));
}

Value intersection(const Call& call) {
    expect_exactly(call, "intersection", 2);
    if (!call[0].is_array() || !call[1].is_array()) {
        argument_error("intersection(): Requires 2 arrays, got {} and {}", ruby_class(call[0]),
                       ruby_class(call[1]));
    }
    const auto only_here = difference(call[0].as_array(), call[1].as_array());
    return list(call, unique(difference(call[0].as_array(), only_here)));
}

Value union_(const Call& call) {
    if (call.size() < 2)
        argument_error("union(): Wrong number of arguments given ({} for < 2)", call.size());
    std::vector<Value> all;
    for (const Value& v : call.args) {
        if (!v.is_array()) argument_error("union(): Every parameter must be an array");
        all.insert(all.end(), v.as_array().begin(), v.as_array().end());
    }
    return list(call, unique(all));
}

Value member(const Call& call) {
    expect_at_least(call, "member", 2);
    if (!call[0].is_array()) argument_error("member(): Requires array to work with");
    if (!call[1].is_string() && !call[1].is_integer() && !call[1].is_array())
        argument_error("member(): Item to search for must be a string, fixnum, or array");
    const auto items = as_list(call, call[1]);
    if (items.empty())
        argument_error("member(): You must provide item to search for within array given");
    return Value::boolean(difference(items, call[0].as_array()).empty());
}

const regex::Regex& pattern_argument(const Call& call, const Value& v) {
    if (!v.is_string() && !v.is(Kind::Regexp))
        argument_error("no implicit conversion of {} into String",
                       v.is_undef() ? "nil" : ruby_class(v));
    return pattern_of(call, v);
}
template <bool kKeep>
Value select_matching(const Call& call) {
    expect_bare(call, kKeep ? "grep" : "reject", 2);
    if (!call[0].is_array() && !call[0].is_hash())
        argument_error("undefined method `{}' for {}:{}", kKeep ? "grep" : "reject",
                       inspect(call[0]), ruby_class(call[0]));
    const regex::Regex& pattern = pattern_argument(call, call[1]);
    std::vector<Value> out;
    for (const Value& v : elements(call, call[0]))
        if ((v.is_string() && pattern.matches(v.as_string())) == kKeep) out.push_back(v);
    return list(call, out);
}

// --- range ---

/// Computes String#succ for ASCII text.
std::string successor(std::string s) {
    auto alnum = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    if (s.empty()) return s;
    if (std::none_of(s.begin(), s.end(), alnum)) {
        for (std::size_t i = s.size(); i-- > 0;)
            if (++s[i] != 0) return s;
        return '\x01' + s;
    }
    std::size_t last = s.size();
    for (std::size_t i = s.size(); i-- > 0;) {
        if (!alnum(s[i])) {
            if (last == s.size()) continue;
            // A separator between letters and digits stops a carry only if its left side contains
            // no letter or digit.
            if (std::none_of(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(i), alnum)) break;
            continue;
        }
        last = i;
        if (s[i] == '9') {
            s[i] = '0';
        } else if (s[i] == 'z') {
            s[i] = 'a';
        } else if (s[i] == 'Z') {
            s[i] = 'A';
        } else {
            ++s[i];
            return s;
        }
    }
    const char first = s[last];
    s.insert(last, 1, first == '0' ? '1' : first);
    return s;
}

constexpr std::size_t kMostRange = 1'000'000;

std::vector<Value> integer_range(std::int64_t start, std::int64_t stop, bool exclusive,
                                 std::int64_t step) {
    std::vector<Value> out;
    for (std::int64_t i = start; exclusive ? i < stop : i <= stop;) {
        out.push_back(Value::integer(i));
        if (out.size() == kMostRange || __builtin_add_overflow(i, step, &i)) break;
    }
    return out;
}

/// Computes the range of String#upto.
std::vector<Value> text_range(const Call& call, const std::string& start, const std::string& stop,
                              bool exclusive, std::int64_t step) {
    std::vector<Value> out;
    std::int64_t n = 0;
    auto take = [&](std::string_view s) {
        if (n++ % step == 0) out.push_back(text(call, s));
        return out.size() < kMostRange;
    };
    if (start.size() == 1 && stop.size() == 1 && !(start[0] & 0x80) && !(stop[0] & 0x80)) {
        for (int c = start[0]; exclusive ? c < stop[0] : c <= stop[0]; ++c) {
            const char one = static_cast<char>(c);
            take(std::string_view(&one, 1));
        }
        return out;
    }
    const int order = start.compare(stop);
    if (order > 0 || (exclusive && order == 0)) return out;
    const std::string after = successor(stop);
    std::string current = start;
    while (current != after) {
        const bool last = current == stop;
        if (exclusive && last) break;
        if (!take(current) || last) break;
        current = successor(std::move(current));
        if (current.size() > stop.size() || current.empty()) break;
    }
    return out;
}

Value range(const Call& call) {
    if (call.size() == 0) argument_error("range(): Wrong number of arguments given (0 for 1)");
    std::string start, stop;
    std::int64_t step = 1;
    bool exclusive = false;
    if (call.size() > 1) {
        start = ruby_to_s(call[0]);
        stop = ruby_to_s(call[1]);
        if (call.size() > 2) {
            step = to_integer(call[2]);
            if (step == std::numeric_limits<std::int64_t>::min()) ++step;
            step = std::abs(step);
            if (step == 0)
                argument_error(
                    "range(): 3rd arg (step size) must be a non zero integer (e.g. 1 or -1)");
        }
    } else {
        if (!call[0].is_string())
            argument_error("undefined method `match' for {}:{}", inspect(call[0]),
                           ruby_class(call[0]));
        const auto compiled = regex::Regex::cached("^(\\w+)(\\.\\.\\.?|\\-)(\\w+)$");
        const auto m = (*compiled)->search(call[0].as_string());
        if (!m) {
            if (regex_match("^.+$", call[0].as_string()))
                argument_error("range(): Unable to compute range from the value: {}",
                               call[0].as_string());
            argument_error("range(): Unknown range format: {}", call[0].as_string());
        }
        start = m->group(call[0].as_string(), 1);
        stop = m->group(call[0].as_string(), 3);
        exclusive = m->group(call[0].as_string(), 2) == "...";
    }
    if (regex_match("^\\d+$", start)) {
        const Value to = call.size() > 1 ? call[1] : Value::string(stop);
        return list(
            call, integer_range(to_integer(Value::string(start)), to_integer(to), exclusive, step));
    }
    return list(call, text_range(call, start, stop, exclusive, step));
}

Value values_at(const Call& call) {
    expect_at_least(call, "values_at", 2);
    if (!call[0].is_array()) argument_error("values_at(): Requires array to work with");
    const auto items = call[0].as_array();
    std::vector<Value> indices;
    flatten_into(indices, call.args.subspan(1, 1));
    if (indices.empty())
        argument_error("values_at(): You must provide at least one positive index to collect");
    const auto size = static_cast<std::int64_t>(items.size());
    const auto compiled = regex::Regex::cached("^(\\d+)(\\.\\.\\.?|\\-)(\\d+)$");
    std::vector<Value> out;
    auto take = [&](std::int64_t i) {
        if (!items[static_cast<std::size_t>(i)].is_undef())
            out.push_back(items[static_cast<std::size_t>(i)]);
    };
    for (const Value& index : indices) {
        const std::string s = ruby_to_s(index);
        if (const auto m = (*compiled)->search(s)) {
            const std::int64_t start = to_integer(Value::string(m->group(s, 1)));
            const std::int64_t stop = to_integer(Value::string(m->group(s, 3)));
            if (start > stop)
                argument_error(
                    "values_at(): Stop index in given indices range is smaller than the start "
                    "index");
            if (stop > size - 1)
                argument_error("values_at(): Stop index in given indices range exceeds array size");
            const std::int64_t end = m->group(s, 2) == "..." ? stop : stop + 1;
            for (std::int64_t i = start; i < end; ++i) take(i);
            continue;
        }
        if (!regex_match("^\\d+$", s)) argument_error("values_at(): Unknown format of given index");
        const std::int64_t i = to_integer(Value::string(s));
        if (i > size - 1) argument_error("values_at(): Given index exceeds array size");
        take(i);
    }
    return list(call, out);
}

Value zip(const Call& call) {
    expect_at_least(call, "zip", 2);
    if (!call[0].is_array() || !call[1].is_array())
        argument_error("zip(): Requires array to work with");
    const bool flat = call.at(2).truthy() && str2bool(call[2]);
    const auto a = call[0].as_array(), b = call[1].as_array();
    std::vector<Value> out;
    for (std::size_t i = 0; i < a.size(); ++i)
        out.push_back(
            value::make_array(call.arena(), {a[i], i < b.size() ? b[i] : Value::undef()}));
    if (!flat) return list(call, out);
    std::vector<Value> all;
    flatten_into(all, out);
    return list(call, all);
}

template <bool kFront>
Value affix(const Call& call) {
    constexpr std::string_view kName = kFront ? "prefix" : "suffix";
    expect_at_least(call, kName, 1);
    if (!call[0].is_array() && !call[0].is_hash())
        argument_error("{}(): expected first argument to be an Array or a Hash, got {}", kName,
                       inspect(call[0]));
    const Value added = call.at(1);
    if (added.truthy() && !added.is_string())
        argument_error("{}(): expected second argument to be a String, got {}", kName,
                       inspect(added));
    const Value word = added.is_string() ? added : Value::string("");
    auto joined = [&](const Value& v) {
        value::JoinedText out;
        if (kFront) out.append(word);
        append_to_s(out, v);
        if (!kFront) out.append(word);
        return text(call, out);
    };
    if (call[0].is_array()) {
        std::vector<Value> out;
        for (const Value& v : call[0].as_array()) out.push_back(joined(v));
        return list(call, out);
    }
    value::HashBuilder out(call.arena());
    for (const auto& e : call[0].as_hash()) out.set(joined(e.key), e.value);
    return out.build();
}

Value clamp(const Call& call) {
    std::vector<Value> flat;
    flatten_into(flat, call.args);
    if (flat.size() != 3) argument_error("clamp(): Wrong number of arguments, need three to clamp");
    // A limit may be beyond 64 bits if the result is not.
    std::vector<NearestInteger> numbers;
    for (const Value& v : flat) {
        if (v.is_string() && !regex_match("^\\d+$", v.as_string()))
            argument_error("clamp(): Required explicit numeric ({}:String)", v.as_string());
        if (v.is_hash()) argument_error("clamp(): The Hash type is not allowed ({})", ruby_to_s(v));
        numbers.push_back(nearest_integer(v));
    }
    std::sort(numbers.begin(), numbers.end());
    if (numbers[1].beyond != 0) {
        argument_error("clamp(): the result is outside the range of Integer");
    }
    return Value::integer(numbers[1].n);
}

Value reverse(const Call& call) {
    expect_at_least(call, "reverse", 1);
    if (call[0].is_array()) {
        std::vector<Value> out(call[0].as_array().rbegin(), call[0].as_array().rend());
        return list(call, out);
    }
    if (!call[0].is_string())
        argument_error("reverse(): Requires either array or string to work with");
    auto parts = split_characters(call[0].as_string());
    std::string out;
    for (auto it = parts.rbegin(); it != parts.rend(); ++it) out += *it;
    return text(call, out, call[0]);
}

Value shuffle(const Call& call) {
    expect_at_least(call, "shuffle", 1);
    if (!call[0].is_array() && !call[0].is_string())
        argument_error("shuffle(): Requires either array or string to work with");
    struct Bits {
        using result_type = std::uint32_t;
        static constexpr result_type min() { return 0; }
        static constexpr result_type max() { return ~result_type{0}; }
        result_type operator()() const { return require_inputs(call).random_bits(); }
        const Call& call;
    };
    const Bits random{call};
    if (call[0].is_array()) {
        std::vector<Value> out(call[0].as_array().begin(), call[0].as_array().end());
        std::shuffle(out.begin(), out.end(), random);
        return list(call, out);
    }
    auto parts = split_characters(call[0].as_string());
    std::shuffle(parts.begin(), parts.end(), random);
    std::string out;
    for (const auto part : parts) out += part;
    return text(call, out, call[0]);
}

const Builtin kFunctions[] = {
    {"any2array",
     "Converts any value to an array.",
     {{"", any2array}},
     false,
     -1,
     {},
     usual::collection},
    {"concat",
     "Appends arrays and values to an array.",
     {{"", concat}},
     false,
     -1,
     {},
     usual::data},
    {"count",
     "Counts the elements that equal a value, or all that are not empty.",
     {{"", count}},
     false,
     -2,
     {},
     usual::collection},
    {"delete",
     "Removes elements, keys or substrings.",
     {{"", delete_}},
     false,
     -1,
     {},
     usual::collection},
    {"delete_at",
     "Removes the element at an index.",
     {{"", delete_at}},
     false,
     -1,
     {},
     usual::element},
    {"delete_regex",
     "Removes the elements or keys that match an expression.",
     {{"", delete_regex}},
     false,
     -1,
     {},
     usual::data},
    {"delete_undef_values",
     "Removes undef values.",
     {{"", delete_undef_values}},
     false,
     -1,
     {},
     usual::collection},
    {"delete_values",
     "Removes the entries of a hash that have a value.",
     {{"", delete_values}},
     false,
     -1,
     {},
     usual::data},
    {"difference",
     "The elements of an array that another does not have.",
     {{"", difference_}},
     false,
     -1},
    {"intersection",
     "The elements that two arrays share.",
     {{"", intersection}},
     false,
     -1,
     {},
     usual::arrays},
    {"union",
     "All elements of several arrays, each once.",
     {{"", union_}},
     false,
     -1,
     {},
     usual::arrays},
    {"member",
     "True if an array has one or all of the values.",
     {{"", member}},
     false,
     -1,
     {},
     usual::collection},
    {"grep",
     "The elements that match a regular expression.",
     {{"", select_matching<true>}},
     false,
     -1,
     {},
     usual::matching},
    {"reject",
     "The elements that do not match a regular expression.",
     {{"", select_matching<false>}},
     false,
     -1,
     {},
     usual::matching},
    {"range",
     "An array of numbers or strings between two ends.",
     {{"", range}},
     false,
     -1,
     {},
     usual::range},
    {"values_at",
     "The elements at indices and index ranges.",
     {{"", values_at}},
     false,
     -1,
     {},
     usual::collection},
    {"zip", "Pairs the elements of two arrays.", {{"", zip}}, false, -1},
    {"prefix",
     "Puts a prefix before every element or key.",
     {{"", affix<true>}},
     false,
     -1,
     {},
     usual::data},
    {"suffix",
     "Appends a suffix to every element or key.",
     {{"", affix<false>}},
     false,
     -1,
     {},
     usual::data},
    {"clamp", "The middle one of three numbers.", {{"", clamp}}, false, -2},
    {"reverse", "Reverses an array or a string.", {{"", reverse}}, false, -1},
    {"shuffle", "Puts an array or a string in random order.", {{"", shuffle}}, false, -1},
};

}  // namespace

std::span<const Builtin> stdlib_array_functions() { return kFunctions; }

}  // namespace bunraku::function
