// SPDX-License-Identifier: Apache-2.0
// All kinds of values have the same maximum depth, so functions that traverse them may recurse.
#include <functional>
#include <gtest/gtest.h>

#include "core/base/diagnostic.h"
#include "core/value/build.h"
#include "core/value/merge.h"
#include "core/value/rich_data.h"
#include "core/value/value.h"

namespace bunraku::value {
namespace {

using Wrap = std::function<Value(base::Arena&, const Value&)>;

const struct {
    const char* name;
    Wrap wrap;
} kWraps[] = {
    {"array", [](base::Arena& a, const Value& v) { return make_array(a, {v}); }},
    {"not the first",
     [](base::Arena& a, const Value& v) {
         return make_array(a, {Value::integer(1), v, Value::string("x")});
     }},
    {"hash",
     [](base::Arena& a, const Value& v) {
         HashBuilder out(a);
         out.set("k", v);
         return out.build();
     }},
    {"large hash",
     [](base::Arena& a, const Value& v) {
         HashBuilder out(a);
         for (int i = 0; i < 20; ++i) out.set(Value::integer(i), Value::integer(i));
         out.set("k", v);
         return out.build();
     }},
    {"key of a hash",
     [](base::Arena& a, const Value& v) {
         HashBuilder out(a);
         out.set(v, Value::undef());
         return out.build();
     }},
    {"merged",
     [](base::Arena& a, const Value& v) {
         HashBuilder left(a), right(a);
         left.set("a", Value::undef());
         right.set("b", v);
         return merged(a, left.build().as_hash(), right.build().as_hash());
     }},
    {"Sensitive", [](base::Arena& a, const Value& v) { return make_sensitive(a, v); }},
};

Value nested(base::Arena& arena, const Wrap& wrap, unsigned depth) {
    Value v = Value::integer(1);
    for (unsigned i = 0; i < depth; ++i) v = wrap(arena, v);
    return v;
}

std::string error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const base::PuppetError& e) {
        return e.message();
    }
    return "none";
}

TEST(Depth, IsTrackedAndBounded) {
    for (const auto& [name, wrap] : kWraps) {
        SCOPED_TRACE(name);
        base::Arena arena;
        EXPECT_EQ(nested(arena, wrap, 3).depth(), 3u);
        const Value deepest = nested(arena, wrap, kMaxDepth);
        EXPECT_EQ(deepest.depth(), kMaxDepth);
        EXPECT_EQ(error_of([&] { wrap(arena, deepest); }), "stack level too deep");
    }
}

TEST(Depth, IsZeroForScalars) {
    base::Arena arena;
    EXPECT_EQ(Value::undef().depth(), 0u);
    EXPECT_EQ(Value::string("x").depth(), 0u);
    EXPECT_EQ(Value::array({}).depth(), 1u);
    EXPECT_EQ(HashBuilder(arena).build().depth(), 1u);
    // If a deep element is replaced, only its replacement counts.
    HashBuilder left(arena), right(arena);
    left.set("a", nested(arena, kWraps[0].wrap, 10));
    right.set("a", Value::integer(1));
    EXPECT_EQ(left.build().depth(), 11u);
    EXPECT_EQ(merged(arena, left.build().as_hash(), right.build().as_hash()).depth(), 1u);
    left.set("a", Value::integer(1));
    EXPECT_EQ(left.build().depth(), 1u);
}

TEST(Depth, DeepestValueCanBeTraversed) {
    for (const auto& [name, wrap] : kWraps) {
        SCOPED_TRACE(name);
        base::Arena arena, other;
        const Value v = nested(arena, wrap, kMaxDepth), same = nested(arena, wrap, kMaxDepth);
        EXPECT_TRUE(equal(v, same));
        EXPECT_EQ(hash_of(v), hash_of(same));
        EXPECT_FALSE(to_text(v).empty());
        EXPECT_FALSE(to_source(v).empty());
        EXPECT_FALSE(to_json(v).empty());
        EXPECT_FALSE(to_pretty_json(v).empty());
        const Value copy = deep_copy(other, v);
        EXPECT_EQ(copy.depth(), kMaxDepth);
        EXPECT_TRUE(equal(v, copy));
    }
}

TEST(Depth, OfDocuments) {
    for (const auto& [open, close] : {std::pair("[", "]"), std::pair("{\"a\":", "}")}) {
        const auto document = [&, o = open, c = close](unsigned depth) {
            std::string text;
            for (unsigned i = 0; i < depth; ++i) text += o;
            text += "1";
            for (unsigned i = 0; i < depth; ++i) text += c;
            return text;
        };
        base::Arena arena;
        const auto deepest = parse_json(arena, document(kMaxDepth));
        ASSERT_TRUE(deepest) << deepest.error().message;
        EXPECT_EQ(deepest->depth(), kMaxDepth);
        const auto deeper = parse_json(arena, document(kMaxDepth + 1));
        ASSERT_FALSE(deeper);
        EXPECT_TRUE(deeper.error().message.starts_with("nested too deeply"))
            << deeper.error().message;
    }
}

TEST(Depth, RichDataNestsDeeperThanItsValue) {
    base::Arena arena;
    const Value sensitive = nested(arena, kWraps[6].wrap, kMaxDepth);
    EXPECT_EQ(to_rich_data(arena, nested(arena, kWraps[6].wrap, kMaxDepth / 2)).depth(),
              kMaxDepth / 2);
    const Value keys = nested(arena, kWraps[4].wrap, kMaxDepth);
    EXPECT_EQ(error_of([&] { to_rich_data(arena, keys); }), "stack level too deep");
    (void)sensitive;
}

}  // namespace
}  // namespace bunraku::value
