// SPDX-License-Identifier: Apache-2.0
#include "support.h"

namespace bunraku::store {
namespace {

using catalog::CollectorQuery;
using catalog::Value;
using Kind = CollectorQuery::Kind;
using Query = std::unique_ptr<CollectorQuery>;

Query eq(const char* attribute, Value v) {
    return CollectorQuery::compare(Kind::Equal, attribute, v);
}
Query ne(const char* attribute, Value v) {
    return CollectorQuery::compare(Kind::NotEqual, attribute, v);
}
Query both(Query a, Query b) { return CollectorQuery::join(Kind::And, std::move(a), std::move(b)); }
Query either(Query a, Query b) {
    return CollectorQuery::join(Kind::Or, std::move(a), std::move(b));
}
Value s(const char* text) { return Value::string(text); }

class Exported : public testing::Test {
protected:
    Exported() : store(open_store(folder / "s", {.key_file = folder / "keys/store.key"})) {
        put("a", R"({"type":"Host","title":"one","tags":["host","x","café"],"exported":true,
             "parameters":{"ip":"10.0.0.1","n":5,"list":["p","q"],"flag":true,"h":{"b":1,"a":2}}},
            {"type":"Host","title":"plain","tags":["x"],"parameters":{"ip":"10.0.0.1"}},
            {"type":"File","title":"f","tags":["x"],"exported":true})");
        put("b", R"({"type":"Host","title":"two","tags":["host","y"],"exported":true,
             "parameters":{"ip":"10.0.0.2","n":"5","list":"p","secret":"s","ref":"File[/x]"},
             "sensitive_parameters":["secret"]})");
        put("c", R"({"type":"Host","title":"Three","tags":["host","x","y"],"exported":true})");
    }
    void put(const char* node, const char* resources) {
        auto got = store->replace_catalog(node, 1, catalog_of(node, resources));
        ASSERT_TRUE(got) << got.error().message;
    }
    TempFolder folder;
    std::unique_ptr<Store> store;
    base::Arena arena;
};

TEST_F(Exported, Queries) {
    value::HashBuilder hash(arena);
    hash.set("a", Value::integer(2));
    hash.set("b", Value::integer(1));
    Value list[] = {s("p"), s("q")}, tags[] = {s("X"), s("nothing")};
    struct {
        const char* text;
        Query query;
        const char* expected;
    } cases[] = {
        {"all", nullptr, "a:one b:two c:Three"},
        {"title ==", eq("title", s("two")), "b:two"},
        {"titles have a case", eq("title", s("three")), ""},
        {"title !=", ne("title", s("two")), "a:one c:Three"},
        {"tag ==", eq("tag", s("x")), "a:one c:Three"},
        {"tags have no case", eq("tag", s("X")), "a:one c:Three"},
        {"tag outside ASCII", eq("tag", s("café")), "a:one"},
        {"one of several tags", eq("tag", Value::array(tags)), "a:one c:Three"},
        {"tag !=", ne("tag", s("x")), "b:two"},
        {"unknown tag", eq("tag", s("z")), ""},
        {"parameter ==", eq("ip", s("10.0.0.1")), "a:one"},
        {"parameters have a case", eq("ip", s("10.0.0.1 ")), ""},
        {"parameter !=, absent ones included", ne("ip", s("10.0.0.1")), "b:two c:Three"},
        {"a number is no string", eq("n", Value::integer(5)), "a:one"},
        {"a string is no number", eq("n", s("5")), "b:two"},
        {"boolean", eq("flag", Value::boolean(true)), "a:one"},
        {"hash, whatever its order", eq("h", hash.build()), "a:one"},
        {"array", eq("list", Value::array(list)), "a:one"},
        {"member of an array, or equal", eq("list", s("p")), "a:one b:two"},
        {"an array differs from its members", ne("list", s("p")), "a:one c:Three"},
        {"reference as text", eq("ref", s("File[/x]")), "b:two"},
        {"undef: absent", eq("ip", Value::undef()), "c:Three"},
        {"not undef: present", ne("ip", Value::undef()), "a:one b:two"},
        {"secrets are not asked for", eq("secret", s("s")), ""},
        {"and", both(eq("tag", s("x")), eq("ip", s("10.0.0.1"))), "a:one"},
        {"or", either(eq("title", s("two")), eq("ip", s("10.0.0.1"))), "a:one b:two"},
        {"nested", both(either(eq("tag", s("x")), eq("tag", s("y"))), ne("title", s("two"))),
         "a:one c:Three"},
        {"or of ands",
         either(both(eq("tag", s("x")), eq("tag", s("y"))),
                both(eq("tag", s("y")), ne("n", s("5")))),
         "c:Three"},
        {"SQL stays text", eq("title", s("x' OR '1'='1")), ""},
        {"a number is no tag", eq("tag", Value::integer(1)),
         "error: Cannot transform a number to a tag"},
    };
    for (auto& c : cases) EXPECT_EQ(found(*store, "Host", c.query.get()), c.expected) << c.text;
    EXPECT_EQ(found(*store, "Host", eq("tag", s("x")).get(), "a"), "c:Three");
    EXPECT_EQ(found(*store, "File", eq("tag", s("x")).get()), "a:f");
}

TEST_F(Exported, RefusesDeepQueries) {
    Query q = eq("title", s("x"));
    for (int i = 0; i < 5000; ++i) q = either(eq("title", s("y")), std::move(q));
    EXPECT_EQ(found(*store, "Host", q.get()), "error: The collector's query is nested too deeply");
    // Unlinks the chain manually: a destructor that recurses 5,000 times works, but not one that
    // recurses a million times.
}

TEST_F(Exported, FindsLongValues) {
    std::string text(100000, 'x');
    put("d",
        (R"({"type":"Host","title":"long","exported":true,"parameters":{"t":")" + text + R"("}})")
            .c_str());
    EXPECT_EQ(found(*store, "Host", eq("t", Value::string(text)).get()), "d:long");
    text.back() = 'y';
    EXPECT_EQ(found(*store, "Host", eq("t", Value::string(text)).get()), "");
}

/// A resource reference of the type system, which belongs to a higher layer.
class Reference : public value::Extension {
public:
    bool equal(const value::Extension& other) const override { return this == &other; }
    std::uint64_t hash() const override { return 1; }
    void print(std::string& out) const override { out += "File['/x']"; }
    Value to_rich_data(base::Arena& a) const override {
        value::HashBuilder hash(a);
        hash.set("__ptype", Value::string("Pcore::ResourceType"));
        hash.set("type_name", Value::string("file"));
        hash.set("title", Value::string("/x"));
        return hash.build();
    }
    Value value() const {
        return Value::type(
            reinterpret_cast<const types::Type*>(static_cast<const value::Extension*>(this)));
    }
};

TEST_F(Exported, ReturnsDeclaredValues) {
    Reference reference;
    catalog::Catalog c;
    c.arena = std::make_shared<base::Arena>();
    c.name = "e";
    catalog::Resource& r = c.resources.emplace_back();
    r.ref = {"Host", "rich"};
    r.exported = true;
    r.virtual_ = true;
    r.tags = {"b", "a"};
    r.file = "/m.pp";
    r.line = 7;
    Value items[] = {reference.value(), Value::integer(1)};
    r.parameters = {
        {"z", Value::default_value()},
        {"ref", reference.value()},
        {"list", Value::array(items)},
        {"secret", value::make_sensitive(*c.arena, Value::string("s"))},
        {"none", Value::undef()},
        {"re", value::make_regexp(*c.arena, "a.b")},
        {"a", Value::floating(1.0)},
    };
    auto stored = store->replace_catalog("e", 1, c);
    ASSERT_TRUE(stored) << stored.error().message;
    EXPECT_EQ(found(*store, "Host", eq("ref", reference.value()).get()), "b:two e:rich");
    EXPECT_EQ(found(*store, "Host", eq("list", reference.value()).get()), "e:rich");
    EXPECT_EQ(found(*store, "Host", eq("ref", s("File[/x]")).get()), "b:two e:rich");

    // With a type factory, references become types again; without it, they stay strings.
    for (bool typed : {false, true}) {
        value::TypedFactory factory = [&](std::string_view ptype, const Value&) {
            EXPECT_EQ(ptype, "Pcore::ResourceType");
            return reference.value();
        };
        auto q = eq("title", s("rich"));
        auto got = store->find_exported("Host", q.get(), "", arena,
                                        typed ? factory : value::TypedFactory());
        ASSERT_TRUE(got) << got.error().message;
        ASSERT_EQ(got->size(), 1U);
        const catalog::Resource& back = (*got)[0].resource;
        EXPECT_EQ((*got)[0].certname, "e");
        EXPECT_EQ(back.ref, r.ref);
        EXPECT_EQ(back.tags, r.tags);
        EXPECT_EQ(back.file, "/m.pp");
        EXPECT_EQ(back.line, 7);
        EXPECT_TRUE(back.exported);
        EXPECT_TRUE(back.virtual_);
        std::string names;
        for (const catalog::Parameter& p : back.parameters) names += p.name + " ";
        EXPECT_EQ(names, "z ref list secret re a ");
        EXPECT_TRUE(back.parameter("z")->is_default());
        EXPECT_TRUE(back.parameter("secret")->is(value::Kind::Sensitive));
        EXPECT_EQ(back.parameter("secret")->unwrap().as_string(), "s");
        EXPECT_TRUE(back.parameter("re")->is(value::Kind::Regexp));
        EXPECT_TRUE(back.parameter("a")->is_float());
        EXPECT_EQ(back.parameter("ref")->is_type(), typed);
        if (!typed) {
            EXPECT_EQ(back.parameter("ref")->as_string(), "File[/x]");
        }
        EXPECT_EQ(back.parameter("list")->as_array()[0].is_type(), typed);
    }
}

}  // namespace
}  // namespace bunraku::store
