// SPDX-License-Identifier: Apache-2.0
// Constructors of Array, Hash, Timestamp and Timespan.
#include <chrono>
#include <deque>
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/base/work_limit.h"
#include "core/value/build.h"
#include "language/types/internal.h"
#include "language/types/iterator.h"
#include "language/types/new_internal.h"
#include "language/types/time_format.h"

namespace bunraku::types {

using base::PuppetError;
using value::Entry;
using value::HashBuilder;
using value::Kind;

namespace {

Value array_of_pairs(Context& ctx, const value::HashRep& hash) {
    const auto out = ctx.arena.array<Value>(hash.size());
    std::size_t i = 0;
    for (const Entry& e : hash) out[i++] = value::make_array(ctx.arena, {e.key, e.value});
    return Value::array(out);
}

Value array_from(Context& ctx, Args args) {
    const Value& from = args[0];
    switch (from.kind()) {
        case Kind::Array: return from;
        case Kind::Hash: return array_of_pairs(ctx, from.as_hash());
        case Kind::Binary: {
            const auto out = ctx.arena.array<Value>(from.as_string().size());
            for (std::size_t i = 0; i < out.size(); ++i) {
                out[i] = Value::integer(static_cast<unsigned char>(from.as_string()[i]));
            }
            return Value::array(out);
        }
        default: {
            const Iterator* it = iterable_on(ctx, from);
            if (it == nullptr) throw PuppetError(cannot_convert(ctx, from, "Array"));
            return to_array(ctx, *it);
        }
    }
}

Value array_wrapped(Context& ctx, Args args) {
    return args[0].is_array() ? args[0] : value::make_array(ctx.arena, {args[0]});
}

std::string array_mismatch(Context& ctx, Args args) {
    return fmt::format("Value of type {} cannot be converted to Array",
                       generalize(ctx, infer(ctx, args[0]))->to_string());
}

Value hash_from_tuples(Context& ctx, Args args) {
    HashBuilder out(ctx.arena, args[0].as_array().size());
    for (const Value& pair : args[0].as_array()) out.set(pair.as_array()[0], pair.as_array()[1]);
    return out.build();
}

/// A tree under construction. A node becomes modifiable when a path leads into it.
class Tree {
public:
    explicit Tree(Context& ctx) : ctx_(ctx) {}

    struct Node {
        enum { Leaf, Hash, Array } shape = Leaf;
        Value leaf;
        std::vector<std::pair<Value, Node*>> entries;  ///< for arrays, the keys are unused
        Node* find(const Value& key) {
            for (auto& [k, child] : entries) {
                if (value::equal(k, key)) return child;
            }
            return nullptr;
        }
    };

    Node* make(const Value& v) {
        Node& n = nodes_.emplace_back();
        n.leaf = v;
        return &n;
    }
    Node* make_hash() {
        Node* n = make({});
        n->shape = Node::Hash;
        return n;
    }
    /// Expands a leaf that is an array or a hash.
    void open(Node* n) {
        if (n->shape != Node::Leaf) return;
        if (n->leaf.is_array()) {
            n->shape = Node::Array;
            for (const Value& item : n->leaf.as_array()) n->entries.push_back({{}, make(item)});
        } else if (n->leaf.is_hash()) {
            n->shape = Node::Hash;
            for (const Entry& e : n->leaf.as_hash()) n->entries.push_back({e.key, make(e.value)});
        }
    }
    Node* child(Node* n, const Value& key) {
        open(n);
        if (n->shape == Node::Array) {
            return key.is_integer() ? element(n, key.as_integer()) : wrong(n);
        }
        if (n->shape != Node::Hash) return wrong(n);
        if (Node* found = n->find(key)) return found;
        Node* made = make_hash();
        n->entries.push_back({key, made});
        return made;
    }
    void set(Node* n, const Value& key, Node* v) {
        open(n);
        if (n->shape == Node::Array) {
            if (!key.is_integer()) wrong(n);
            const std::int64_t i = key.as_integer();
            if (i < 0 || i > 1'000'000) wrong(n);
            while (n->entries.size() <= static_cast<std::size_t>(i))
                n->entries.push_back({{}, make({})});
            n->entries[static_cast<std::size_t>(i)].second = v;
            return;
        }
        if (n->shape != Node::Hash) wrong(n);
        for (auto& [k, child] : n->entries) {
            if (value::equal(k, key)) {
                child = v;
                return;
            }
        }
        n->entries.push_back({key, v});
    }
    /// Checks `depth`, because a path may be longer than the maximum depth of a value.
    Value build(const Node* n, unsigned depth = 0) {
        base::step();
        if (depth > value::kMaxDepth) value::too_deep();
        if (n->shape == Node::Leaf) return n->leaf;
        if (n->shape == Node::Array) {
            const auto out = ctx_.arena.array<Value>(n->entries.size());
            for (std::size_t i = 0; i < out.size(); ++i) {
                out[i] = build(n->entries[i].second, depth + 1);
            }
            return Value::array(out);
        }
        HashBuilder out(ctx_.arena, n->entries.size());
        for (const auto& [k, child] : n->entries) out.set(k, build(child, depth + 1));
        return out.build();
    }

private:
    Node* element(Node* n, std::int64_t i) {
        if (i < 0) i += static_cast<std::int64_t>(n->entries.size());
        if (i < 0 || i >= static_cast<std::int64_t>(n->entries.size())) wrong(n);
        return n->entries[static_cast<std::size_t>(i)].second;
    }
    [[noreturn]] Node* wrong(const Node*) {
        throw PuppetError("a path of the tree contains a value that is not an array or a hash");
    }

    Context& ctx_;
    std::deque<Node> nodes_;
};

Value array_as_hash(Context& ctx, const Value& v) {
    if (!v.is_array()) return v;
    HashBuilder out(ctx.arena, v.as_array().size());
    std::int64_t i = 0;
    for (const Value& item : v.as_array()) {
        out.set(Value::integer(i++), array_as_hash(ctx, item));
    }
    return out.build();
}

Value hash_from_tree(Context& ctx, Args args) {
    if (args.size() < 2) return hash_from_tuples(ctx, args);
    const bool all_hashes = args[1].as_string() == "hash_tree";
    Tree tree(ctx);
    Tree::Node* root = tree.make_hash();
    for (const Value& pair : args[0].as_array()) {
        const auto path = pair.as_array()[0].as_array();
        const Value& v = pair.as_array()[1];
        if (path.empty()) {
            if (v.is_array()) {
                std::int64_t i = 0;
                for (const Value& item : v.as_array()) {
                    tree.set(root, Value::integer(i++), tree.make(item));
                }
            } else if (v.is_hash()) {
                for (const Entry& e : v.as_hash()) tree.set(root, e.key, tree.make(e.value));
            } else {
                throw PuppetError(
                    fmt::format("no implicit conversion of {} into Hash", ruby_class_name(v)));
            }
            continue;
        }
        Tree::Node* n = root;
        for (const Value& key : path.first(path.size() - 1)) n = tree.child(n, key);
        tree.set(n, path.back(), tree.make(all_hashes ? array_as_hash(ctx, v) : v));
    }
    return tree.build(root);
}

Value hash_from_list(Context& ctx, std::span<const Value> list) {
    if (list.size() % 2 != 0) throw PuppetError("odd number of arguments for Hash");
    HashBuilder out(ctx.arena, list.size() / 2);
    for (std::size_t i = 0; i < list.size(); i += 2) out.set(list[i], list[i + 1]);
    return out.build();
}

Value hash_from(Context& ctx, Args args) {
    const Value& from = args[0];
    if (from.is_array()) return hash_from_list(ctx, from.as_array());
    if (from.is_hash()) return from;
    if (const Iterator* it = iterable_on(ctx, from)) {
        return hash_from_list(ctx, to_array(ctx, *it).as_array());
    }
    throw PuppetError(fmt::format("Value of type {} cannot be converted to Hash",
                                  generalize(ctx, infer(ctx, from))->to_string()));
}

value::Nanoseconds to_nanoseconds(const Value& seconds) {
    if (seconds.is_float()) return seconds_to_nanoseconds(seconds.as_float());
    return add_nanoseconds(0, static_cast<value::Nanoseconds>(seconds.as_integer()) * kNsPerSecond);
}

std::vector<std::string_view> formats_of(const Value& v) {
    std::vector<std::string_view> out;
    if (v.is_string()) {
        out.push_back(v.as_string());
    } else if (v.is_array()) {
        for (const Value& f : v.as_array()) out.push_back(f.as_string());
        // A single format in an array has the message for a list.
        if (out.size() == 1) out.push_back(out[0]);
    }
    return out;
}

Value at(Args args, std::size_t i) { return i < args.size() ? args[i] : Value::undef(); }
Value entry(const Value& hash, std::string_view key) {
    const Value* v = hash.as_hash().find(key);
    return v != nullptr ? *v : Value::undef();
}

Value timestamp_now(Context& ctx, Args) {
    if (ctx.clock_read != nullptr) ctx.clock_read();
    using std::chrono::duration_cast;
    using std::chrono::nanoseconds;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return Value::timestamp(duration_cast<nanoseconds>(now).count());
}
Value timestamp_from_seconds(Context&, Args args) {
    return value::make_timestamp(to_nanoseconds(args[0]));
}
Value timestamp_of(const Value& text, const Value& format, const Value& timezone) {
    const auto formats = formats_of(format);
    std::string_view zone;
    if (timezone.is_string() && timezone.as_string() != "default") zone = timezone.as_string();
    return value::make_timestamp(parse_timestamp(text.as_string(), formats, zone));
}
Value timestamp_from_string(Context&, Args args) {
    return timestamp_of(args[0], at(args, 1), at(args, 2));
}
Value timestamp_from_hash(Context&, Args args) {
    return timestamp_of(entry(args[0], "string"), entry(args[0], "format"),
                        entry(args[0], "timezone"));
}

Value timespan_from_seconds(Context&, Args args) {
    return value::make_timespan(to_nanoseconds(args[0]));
}
Value timespan_from_string(Context&, Args args) {
    return value::make_timespan(parse_timespan(args[0].as_string(), formats_of(at(args, 1))));
}
Value timespan_from_string_hash(Context&, Args args) {
    return value::make_timespan(
        parse_timespan(entry(args[0], "string").as_string(), formats_of(entry(args[0], "format"))));
}
Value timespan_from_args(Context&, Args args) {
    const auto n = [&](std::size_t i) {
        const Value v = at(args, i);
        return v.is_integer() ? v.as_integer() : 0;
    };
    return value::make_timespan(
        timespan_from_fields(false, n(0), n(1), n(2), n(3), n(4), n(5), n(6)));
}
Value timespan_from_hash(Context&, Args args) {
    const auto n = [&](std::string_view key) {
        const Value v = entry(args[0], key);
        return v.is_integer() ? v.as_integer() : 0;
    };
    return value::make_timespan(timespan_from_fields(
        entry(args[0], "negative").truthy(), n("days"), n("hours"), n("minutes"), n("seconds"),
        n("milliseconds"), n("microseconds"), n("nanoseconds")));
}

}  // namespace

Constructor array_constructor() {
    return {
        "new_array",
        {},
        {{.parameters = {{"Variant[Array,Hash,Binary,Iterable]", "from"},
                         {"Boolean[false]", "wrap", true}},
          .make = array_from},
         {.parameters = {{"Any", "from"}, {"Boolean[true]", "wrap"}}, .make = array_wrapped},
         {.parameters = {{"Any", "from"}, {"Boolean", "wrap", true}}, .mismatch = array_mismatch}}};
}

Constructor hash_constructor() {
    return {"new_hash",
            {{"KeyValueArray", "Array[Tuple[Any,Any],1]"},
             {"TreeArray", "Array[Tuple[Array,Any],1]"},
             {"NewHashOption", "Enum[tree, hash_tree]"}},
            {{.parameters = {{"TreeArray", "from"}, {"NewHashOption", "build_option", true}},
              .make = hash_from_tree},
             {.parameters = {{"KeyValueArray", "from"}}, .make = hash_from_tuples},
             {.parameters = {{"Any", "from"}}, .make = hash_from}}};
}

Constructor timestamp_constructor() {
    return {
        "new_timestamp",
        {{"Formats", "Variant[String[2],Array[String[2], 1]]"}},
        {{.parameters = {}, .make = timestamp_now},
         {.parameters = {{"Variant[Integer,Float]", "seconds"}}, .make = timestamp_from_seconds},
         {.parameters = {{"String[1]", "string"},
                         {"Formats", "format", true},
                         {"String[1]", "timezone", true}},
          .make = timestamp_from_string},
         {.parameters = {{"Struct[{string => String[1], Optional[format] => Formats, "
                          "Optional[timezone] => String[1]}]",
                          "hash_arg"}},
          .make = timestamp_from_hash}}};
}

Constructor timespan_constructor() {
    return {
        "new_timespan",
        {{"Formats", "Variant[String[2],Array[String[2], 1]]"}},
        {{.parameters = {{"Variant[Integer,Float]", "seconds"}}, .make = timespan_from_seconds},
         {.parameters = {{"String[1]", "string"}, {"Formats", "format", true}},
          .make = timespan_from_string},
         {.parameters = {{"Integer", "days"},
                         {"Integer", "hours"},
                         {"Integer", "minutes"},
                         {"Integer", "seconds"},
                         {"Integer", "milliseconds", true},
                         {"Integer", "microseconds", true},
                         {"Integer", "nanoseconds", true}},
          .make = timespan_from_args},
         {.parameters = {{"Struct[{string => String[1], Optional[format] => Formats}]",
                          "hash_arg"}},
          .make = timespan_from_string_hash},
         {.parameters = {{"Struct[{Optional[negative] => Boolean, Optional[days] => Integer, "
                          "Optional[hours] => Integer, Optional[minutes] => Integer, "
                          "Optional[seconds] => Integer, Optional[milliseconds] => Integer, "
                          "Optional[microseconds] => Integer, Optional[nanoseconds] => Integer}]",
                          "hash_arg"}},
          .make = timespan_from_hash}}};
}

}  // namespace bunraku::types
