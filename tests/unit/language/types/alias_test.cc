// SPDX-License-Identifier: Apache-2.0
// Tests aliases that refer to each other and to themselves, iterators, and input that must not
// crash.
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "core/value/build.h"
#include "language/syntax/ast.h"
#include "language/syntax/parser.h"
#include "language/types/factory.h"
#include "language/types/iterator.h"

using namespace bunraku;
using value::Value;

namespace {

/// Loads aliases from texts like "type A = ..".
class Aliases : public types::Loader {
public:
    explicit Aliases(types::Context& ctx) : ctx_(ctx) {}
    void define(const std::string& name, const std::string& expr) {
        trees_.push_back(syntax::parse("", expr));
        found_[name] = types::make_type_alias(ctx_, name, trees_.back()->program->body, this);
    }
    const types::Type* find_type(std::string_view name) override {
        const auto it = found_.find(std::string(name));
        return it == found_.end() ? nullptr : it->second;
    }

private:
    types::Context& ctx_;
    std::map<std::string, const types::Type*> found_;
    std::vector<std::shared_ptr<const syntax::Tree>> trees_;
};

struct AliasTest : testing::Test {
    base::Arena arena;
    types::Context ctx{arena, nullptr};
    Aliases aliases{ctx};
    AliasTest() { ctx.loader = &aliases; }

    const types::Type* type(const std::string& text) { return types::parse_type(ctx, text); }
    bool takes(const std::string& to, const std::string& from) {
        return types::is_assignable(ctx, type(to), type(from));
    }
    Value value(const std::string& text) {
        trees.push_back(syntax::parse("", text));
        return types::interpret_any(ctx, trees.back()->program->body);
    }
    std::vector<std::shared_ptr<const syntax::Tree>> trees;
};

TEST_F(AliasTest, TextAndExpansion) {
    aliases.define("Port", "Integer[1,65535]");
    aliases.define("Tree", "Hash[String,Variant[String,Tree]]");
    EXPECT_EQ(type("Port")->to_string(), "Port = Integer[1, 65535]");
    EXPECT_EQ(type("Array[Port]")->to_string(), "Array[Port]");
    EXPECT_EQ(types::to_alias_expanded_string(type("Array[Port]")),
              "Array[Port = Integer[1, 65535]]");
    EXPECT_EQ(type("Tree")->to_string(), "Tree = Hash[String, Variant[String, Tree]]");
    EXPECT_EQ(types::describe_mismatch(ctx, "x", type("Port"), Value::integer(0)),
              "x expects a Port = Integer[1, 65535] value, got Integer[0, 0]");
}

TEST_F(AliasTest, SelfRecursion) {
    aliases.define("Tree", "Hash[String,Variant[String,Tree]]");
    aliases.define("Wood", "Hash[String,Variant[String,Wood]]");
    aliases.define("Ints", "Variant[Integer,Array[Ints]]");
    EXPECT_TRUE(takes("Tree", "Wood"));
    EXPECT_TRUE(takes("Tree", "Hash[String,String]"));
    EXPECT_FALSE(takes("Tree", "Hash[String,Integer]"));
    EXPECT_FALSE(takes("Tree", "Ints"));
    EXPECT_TRUE(types::is_instance(ctx, type("Tree"), value("{a=>{b=>{c=>'x'}}}")));
    EXPECT_FALSE(types::is_instance(ctx, type("Tree"), value("{a=>{b=>{c=>1}}}")));
    EXPECT_TRUE(types::is_instance(ctx, type("Ints"), value("[1,[2,[3,[]]]]")));
    EXPECT_FALSE(types::is_instance(ctx, type("Ints"), value("[1,[2,['a']]]")));
}

TEST_F(AliasTest, MutualRecursionAndNoRealType) {
    aliases.define("A", "Variant[B,String]");
    aliases.define("B", "Variant[A,Integer]");
    EXPECT_TRUE(takes("A", "Integer"));
    EXPECT_TRUE(takes("A", "String"));
    EXPECT_FALSE(takes("A", "Float"));
    aliases.define("X", "X");
    EXPECT_THROW(type("X"), base::PuppetError);
    aliases.define("Y", "Variant[Z]");
    aliases.define("Z", "Variant[Y]");
    try {
        type("Y");
        FAIL();
    } catch (const base::PuppetError& e) {
        EXPECT_NE(e.message().find("cannot be resolved to a real type"), std::string::npos)
            << e.message();
    }
    aliases.define("O", "Optional[Array[O]]");
    aliases.define("P", "Optional[Array[P]]");
    EXPECT_TRUE(takes("O", "P"));
}

TEST_F(AliasTest, DataAndRichData) {
    EXPECT_TRUE(takes("Data", "Array[Hash[String,Integer]]"));
    EXPECT_FALSE(takes("Data", "Array[Regexp]"));
    EXPECT_TRUE(takes("RichData", "Array[Regexp]"));
    EXPECT_TRUE(takes("RichData", "Data"));
    EXPECT_TRUE(types::is_instance(ctx, type("Data"), value("{a=>[1,undef,{b=>true}]}")));
    EXPECT_FALSE(types::is_instance(ctx, type("Data"), value("{a=>[/x/]}")));
    EXPECT_EQ(type("Data")->to_string(), "Data");
}

TEST_F(AliasTest, DepthIsBounded) {
    std::string text;
    for (int i = 0; i < 400; ++i) text += "Array[";
    text += "Integer";
    for (int i = 0; i < 400; ++i) text += ']';
    EXPECT_TRUE(takes(text, text));
}

std::string list(types::Context& ctx, const types::Iterator* it) {
    return it ? value::to_text(types::to_array(ctx, *it)) : "none";
}

TEST_F(AliasTest, Iterators) {
    const auto on = [&](const std::string& text) { return types::iterable_on(ctx, value(text)); };
    struct Case {
        const char* source;
        const char* forward;
        const char* backward;
        const char* in_twos;
    };
    const Case cases[] = {
        {"3", "[0, 1, 2]", "[2, 1, 0]", "[0, 2]"},
        {"0", "[]", "[]", "[]"},
        {"'añb'", "[a, ñ, b]", "[b, ñ, a]", "[a, b]"},
        {"[1,2,3]", "[1, 2, 3]", "[3, 2, 1]", "[1, 3]"},
        {"{a=>1,b=>2}", "[[a, 1], [b, 2]]", "[[b, 2], [a, 1]]", "[[a, 1]]"},
        {"Integer[1,4]", "[1, 2, 3, 4]", "[4, 3, 2, 1]", "[1, 3]"},
        {"Enum[b,a]", "[a, b]", "[b, a]", "[a]"},
        {"Integer", "none", "", ""},
        {"1.5", "none", "", ""},
    };
    for (const Case& c : cases) {
        const types::Iterator* it = on(c.source);
        EXPECT_EQ(list(ctx, it), c.forward) << c.source;
        if (!it) continue;
        EXPECT_EQ(list(ctx, it->reversed(ctx)), c.backward) << c.source;
        EXPECT_EQ(list(ctx, it->stepped(ctx, 2)), c.in_twos) << c.source;
    }
    // If the steps go backwards, Puppet 8.11 may omit the last element.
    EXPECT_EQ(list(ctx, on("Integer[0,9]")->reversed(ctx)->stepped(ctx, 4)), "[9, 5]");
    EXPECT_EQ(list(ctx, on("Integer[0,9]")->stepped(ctx, 4)->reversed(ctx)), "[8, 4, 0]");
    std::string text;
    on("[1,2]")->print(text);
    EXPECT_EQ(text, "Iterator[Integer]-Value");
}

TEST_F(AliasTest, TreeIterator) {
    const Value tree = value("[1,{a=>[2,3]},[]]");
    const auto walk = [&](types::TreeOptions options) {
        return list(ctx, types::tree_iterator(ctx, tree, options));
    };
    EXPECT_EQ(walk({.include_containers = false}), "[[[0], 1], [[1, a, 0], 2], [[1, a, 1], 3]]");
    EXPECT_EQ(walk({.include_root = false, .include_values = false}),
              "[[[1], {a => [2, 3]}], [[1, a], [2, 3]], [[2], []]]");
    EXPECT_EQ(walk({.breadth_first = true, .include_root = false}),
              "[[[0], 1], [[1], {a => [2, 3]}], [[2], []], [[1, a], [2, 3]], [[1, a, 0], 2], "
              "[[1, a, 1], 3]]");
    EXPECT_THROW(walk({.include_containers = false, .include_values = false}), base::PuppetError);
}

}  // namespace
