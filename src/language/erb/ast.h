// SPDX-License-Identifier: Apache-2.0
// The syntax tree of the Ruby subset that templates can run natively.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/arena.h"
#include "core/base/symbol.h"
#include "core/regex/regex.h"
#include "language/erb/value.h"

namespace bunraku::erb {

// Methods that native templates can call on objects. A call to a name that is not listed falls back
// to Ruby.
// clang-format off
#define BUNRAKU_ERB_METHODS(X) \
    X(abs, "abs") X(all, "all?") X(any, "any?") X(append, "append") X(assoc, "assoc") \
    X(at, "at") X(basename, "basename") X(between, "between?") X(bytesize, "bytesize") \
    X(call_function, "call_function") X(captures, "captures") X(capitalize, "capitalize") X(casecmp, "casecmp") \
    X(casecmp_p, "casecmp?") X(ceil, "ceil") X(center, "center") X(chars, "chars") \
    X(chomp, "chomp") X(chop, "chop") X(class_, "class") X(clear, "clear") X(clone, "clone") \
    X(collect, "collect") X(collect_bang, "collect!") X(collect_concat, "collect_concat") \
    X(compact, "compact") X(compact_bang, "compact!") X(concat, "concat") X(count, "count") \
    X(delete_, "delete") X(delete_at, "delete_at") X(delete_if, "delete_if") \
    X(delete_prefix, "delete_prefix") X(delete_suffix, "delete_suffix") X(detect, "detect") \
    X(dig, "dig") X(dirname, "dirname") X(divmod, "divmod") X(downcase, "downcase") \
    X(downto, "downto") X(drop, "drop") X(dup, "dup") X(each, "each") X(each_char, "each_char") \
    X(each_index, "each_index") X(each_key, "each_key") X(each_line, "each_line") \
    X(each_pair, "each_pair") X(each_slice, "each_slice") X(each_value, "each_value") \
    X(each_with_index, "each_with_index") X(each_with_object, "each_with_object") \
    X(empty, "empty?") X(end_with, "end_with?") X(entries, "entries") X(eql, "eql?") \
    X(escape, "escape") X(even, "even?") X(except, "except") X(exist, "exist?") \
    X(fetch, "fetch") X(filter, "filter") X(filter_map, "filter_map") X(find, "find") \
    X(find_all, "find_all") X(find_index, "find_index") X(first, "first") \
    X(flat_map, "flat_map") X(flatten, "flatten") X(flatten_bang, "flatten!") X(floor, "floor") \
    X(freeze, "freeze") X(generate, "generate") X(group_by, "group_by") X(gsub, "gsub") X(gsub_bang, "gsub!") \
    X(has_key, "has_key?") X(has_value, "has_value?") X(include_, "include?") X(index, "index") \
    X(inject, "inject") X(insert, "insert") X(inspect, "inspect") X(instance_of, "instance_of?") \
    X(invert, "invert") X(is_a, "is_a?") X(join, "join") X(key, "key") X(key_p, "key?") \
    X(keys, "keys") X(kind_of, "kind_of?") X(last, "last") X(length, "length") X(lines, "lines") \
    X(ljust, "ljust") X(lookupvar, "lookupvar") X(lstrip, "lstrip") X(map, "map") \
    X(map_bang, "map!") X(match, "match") X(match_p, "match?") X(max, "max") X(max_by, "max_by") \
    X(member, "member?") X(merge, "merge") X(merge_bang, "merge!") X(min, "min") \
    X(min_by, "min_by") X(modulo, "modulo") X(negative, "negative?") X(next_, "next") \
    X(nil, "nil?") X(none, "none?") X(odd, "odd?") X(one, "one?") X(ord, "ord") \
    X(partition, "partition") X(pop, "pop") X(positive, "positive?") X(pred, "pred") \
    X(prepend, "prepend") X(pretty_generate, "pretty_generate") X(product, "product") X(push, "push") X(reduce, "reduce") X(reject, "reject") \
    X(reject_bang, "reject!") X(replace, "replace") X(respond_to, "respond_to?") \
    X(reverse, "reverse") X(reverse_each, "reverse_each") X(rindex, "rindex") X(rjust, "rjust") \
    X(rotate, "rotate") X(round, "round") X(rpartition, "rpartition") X(rstrip, "rstrip") \
    X(scan, "scan") X(select, "select") X(select_bang, "select!") X(setvar, "setvar") \
    X(shift, "shift") X(size, "size") X(slice, "slice") X(sort, "sort") X(sort_bang, "sort!") \
    X(sort_by, "sort_by") X(split, "split") X(squeeze, "squeeze") X(start_with, "start_with?") \
    X(store, "store") X(strip, "strip") X(sub, "sub") X(sub_bang, "sub!") X(succ, "succ") \
    X(sum, "sum") X(swapcase, "swapcase") X(take, "take") X(times, "times") X(to_a, "to_a") \
    X(to_f, "to_f") X(to_h, "to_h") X(to_hash, "to_hash") X(to_i, "to_i") X(to_int, "to_int") \
    X(to_json, "to_json") X(to_s, "to_s") X(to_str, "to_str") X(to_sym, "to_sym") X(tr, "tr") \
    X(to_yaml, "to_yaml") X(transform_keys, "transform_keys") X(transform_values, "transform_values") \
    X(transpose, "transpose") X(truncate, "truncate") X(uniq, "uniq") X(uniq_bang, "uniq!") \
    X(unshift, "unshift") X(unwrap, "unwrap") X(upcase, "upcase") X(update, "update") \
    X(upto, "upto") X(value_p, "value?") X(values, "values") X(values_at, "values_at") \
    X(with_index, "with_index") X(zero, "zero?") X(zip, "zip")
// clang-format on

/// Methods and operators.
enum class M : std::uint16_t {
    none_such,
#define X(id, name) id,
    BUNRAKU_ERB_METHODS(X)
#undef X
    // Operators.
    op_add,
    op_sub,
    op_mul,
    op_div,
    op_mod,
    op_pow,
    op_shl,
    op_shr,
    op_and,
    op_or,
    op_xor,
    op_eq,
    op_ne,
    op_lt,
    op_le,
    op_gt,
    op_ge,
    op_cmp,
    op_match,
    op_nmatch,
    op_index,
    op_neg,
};

M method_of(std::string_view name);
std::string_view method_name(M method);

/// Functions without a receiver.
enum class K : std::uint8_t {
    Array,
    Integer,
    Float,
    String,
    format,
    has_variable,
    raise,
    require,
    file
};

enum class N : std::uint8_t {
    Nil,
    True,
    False,
    Int,
    Float,
    Str,     ///< text
    DStr,    ///< list
    Sym,     ///< text
    Array,   ///< list
    Hash,    ///< list: key, value, ..
    Range,   ///< a, b; flag: exclusive
    Regex,   ///< regex
    DRegex,  ///< list; slot: options
    Group,   ///< $1: slot
    IVar,    ///< slot
    LVar,    ///< slot
    Const,   ///< text
    Scope,
    Assign,    ///< a = b
    OpAssign,  ///< a op= b: method
    OrAssign,
    AndAssign,
    Multi,  ///< list = a
    Not,
    And,
    Or,
    Defined,    ///< a
    If,         ///< a ? b : c
    While,      ///< a, b; flag: until
    For,        ///< list in a do b
    Case,       ///< a; list: When..; b: else
    When,       ///< list -> b
    Seq,        ///< list
    Call,       ///< a.method(list) block; flag: &.
    Kernel,     ///< kernel(list)
    Function,   ///< scope.function_text(list)
    Define,     ///< def: functions[slot]
    LocalCall,  ///< a call of functions[slot](list)
    Return,     ///< a or null
    Next,       ///< a or null
    Break,      ///< a or null
    Text,       ///< text
    Output,     ///< a
};

struct Node;

struct Block {
    struct Parameter {
        int slot = -1;                           ///< -1 for a nested or unnamed parameter.
        std::span<const Parameter> nested = {};  ///< (a, b)
    };
    std::span<const Parameter> parameters;
    std::span<const int> locals;  ///< Slots that are set to nil at each entry.
    const Node* body = nullptr;
    M symbol = M::none_such;  ///< &:name
};

struct Node {
    N kind = N::Nil;
    K kernel{};
    M method = M::none_such;
    bool flag = false;
    std::uint32_t line = 0;
    int slot = 0;
    const Node* a = nullptr;
    const Node* b = nullptr;
    const Node* c = nullptr;
    std::span<const Node* const> list;
    const Block* block = nullptr;
    std::string_view text;
    /// For @facts['os']['family'], the node of @facts has the following keys here, separated by
    /// NULs. The expression reads nothing else of the variable.
    std::string_view below;
    union {
        std::int64_t i = 0;
        double f;
    };
    const regex::Regex* regex = nullptr;
};

/// A method that the template defines.
struct Function {
    std::span<const int> parameters;  ///< slots
    int first = 0, last = 0;          ///< All its slots: [first, last).
    const Node* body = nullptr;
};

/// A template that runs natively. Immutable and shared by compiles.
class Program {
public:
    const Node* body = nullptr;
    std::vector<base::Symbol> variables;  ///< Names of the @variables, by slot.
    int locals = 0;                       ///< Number of slots of local variables.
    std::vector<Function> functions;
    base::Arena arena{4 * 1024};
    std::vector<std::shared_ptr<const regex::Regex>> regexes;
};

/// Parses the Ruby code of a template. Returns null if the code is outside of the subset; `reason`
/// then names the construct and its line.
std::shared_ptr<const Program> parse(std::string_view source, std::string& reason);

}  // namespace bunraku::erb
