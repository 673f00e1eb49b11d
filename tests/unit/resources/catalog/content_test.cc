// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "resources/catalog/content_hash.h"
#include "resources/catalog/diff.h"
#include "resources/catalog/document.h"
#include "resources/catalog/index.h"
#include "resources/catalog/json_text.h"
#include "support.h"

namespace bunraku::catalog {
namespace {

constexpr std::string_view kHead = R"({"name":"n","version":1,"environment":"e","resources":)";

Catalog with(std::string_view resources, std::string_view edges = "[]",
             std::string_view classes = "[]") {
    return catalog_of(std::string(kHead) + std::string(resources) + ",\"edges\":" +
                      std::string(edges) + ",\"classes\":" + std::string(classes) + "}");
}

std::string hash_of(const Catalog& c) { return codec::to_hex(catalog_hash(c, *relations(c))); }

TEST(ContentHash, OnlyContentCounts) {
    const std::string base = hash_of(with(
        R"([{"type":"A","title":"x","tags":["t"],"line":1,"parameters":{"p":{"a":1,"b":2},"q":1}},
            {"type":"B","title":"y"}])",
        R"([{"source":"A[x]","target":"B[y]"}])"));
    EXPECT_EQ(base.size(), 40U);
    const std::pair<const char*, bool> cases[] = {
        {R"([{"type":"B","title":"y"},
             {"type":"A","title":"x","tags":["t"],"line":1,
              "parameters":{"q":1,"p":{"b":2,"a":1}}}])",
         true},
        {R"([{"type":"A","title":"x","tags":["t"],"line":2,"parameters":{"p":{"a":1,"b":2},"q":1}},
            {"type":"B","title":"y"}])",
         false},
        {R"([{"type":"A","title":"x","tags":["t"],"line":1,"parameters":{"p":{"a":1,"b":3},"q":1}},
            {"type":"B","title":"y"}])",
         false},
        {R"([{"type":"A","title":"x","tags":["u"],"line":1,"parameters":{"p":{"a":1,"b":2},"q":1}},
            {"type":"B","title":"y"}])",
         false},
        {R"([{"type":"A","title":"x","tags":["t"],"line":1,"exported":true,
              "parameters":{"p":{"a":1,"b":2},"q":1}},{"type":"B","title":"y"}])",
         false},
    };
    for (auto& [resources, same] : cases) {
        EXPECT_EQ(hash_of(with(resources, R"([{"source":"A[x]","target":"B[y]"}])")) == base, same)
            << resources;
    }
    Catalog other = with(R"([{"type":"A","title":"x","tags":["t"],"line":1,
        "parameters":{"p":{"a":1,"b":2},"q":1}},{"type":"B","title":"y"}])");
    EXPECT_NE(hash_of(other), base);  // without an edge
}

TEST(Diff, Everything) {
    Catalog before = with(
        R"([{"type":"Class","title":"a"},{"type":"Class","title":"b"},
            {"type":"F","title":"same","line":1,"parameters":{"x":{"a":1,"b":2}}},
            {"type":"F","title":"gone"},
            {"type":"F","title":"new values","tags":["t","u"],"exported":true,
             "parameters":{"a":1,"b":2,"s":"old"},"sensitive_parameters":["s"]}])",
        R"([{"source":"Class[A]","target":"F[new values]"}])", R"(["a","b"])");
    Catalog after = with(
        R"([{"type":"Class","title":"a"},{"type":"Class","title":"b"},
            {"type":"F","title":"same","line":2,"parameters":{"x":{"b":2,"a":1}}},
            {"type":"F","title":"come"},
            {"type":"F","title":"new values","tags":["u","v"],"exported":false,
             "parameters":{"b":3,"c":[],"s":"new"},"sensitive_parameters":["s"]}])",
        R"([{"source":"Class[B]","target":"F[new values]"}])", R"(["b","c"])");
    CatalogDiff d = diff(before, after);
    EXPECT_EQ(d.added, (std::vector<Ref>{{"F", "come"}}));
    EXPECT_EQ(d.removed, (std::vector<Ref>{{"F", "gone"}}));
    EXPECT_EQ(d.classes_added, std::vector<std::string>{"c"});
    EXPECT_EQ(d.classes_removed, std::vector<std::string>{"a"});
    ASSERT_EQ(d.changed.size(), 1U);
    const ResourceChange& c = d.changed[0];
    EXPECT_EQ(c.ref.to_string(), "F[new values]");
    EXPECT_EQ(c.tags_added, std::vector<std::string>{"v"});
    EXPECT_EQ(c.tags_removed, std::vector<std::string>{"t"});
    EXPECT_EQ(c.exported, (std::pair{true, false}));
    EXPECT_EQ(c.container, (std::pair<std::string, std::string>{"Class[A]", "Class[B]"}));
    std::string changes;
    for (const ParameterChange& p : c.parameters) {
        changes += p.name + " " + p.before.value_or("-") + " " + p.after.value_or("-") +
                   (p.sensitive ? " secret" : "") + "; ";
    }
    EXPECT_EQ(changes, "a 1 -; b 2 3; c - []; s \"old\" \"new\" secret; ");
    EXPECT_TRUE(diff(before, before).empty());
    EXPECT_EQ(diff(before, after, {.places = true}).changed.size(), 2U);
}

TEST(Index, FindsByTitleAndAlias) {
    Catalog c = with(R"([{"type":"File","title":"t","parameters":{"path":"/p","alias":"al"}},
        {"type":"File","title":"/d/"},{"type":"Exec","title":"e","parameters":{"command":"c"}},
        {"type":"File","title":"al2"},
        {"type":"Package","title":"p","parameters":{"name":"q","alias":"r"}}])");
    Index index(c, &kNaming);
    struct {
        const char *type, *title;
        int expected;
    } cases[] = {
        {"File", "t", 0},    {"File", "/p", 0},  {"File", "/p//", 0}, {"File", "al", 0},
        {"File", "/d", 1},   {"File", "/d/", 1}, {"Exec", "c", -1},   {"Exec", "e", 2},
        {"Exec", "t", -1},   {"File", "", -1},   {"File", "/", -1},   {"Package", "q", -1},
        {"Package", "r", 4},
    };
    for (auto& t : cases) {
        auto got = index.resolve(t.type, t.title);
        EXPECT_EQ(got ? static_cast<int>(*got) : -1, t.expected) << t.type << t.title;
    }
    EXPECT_FALSE(index.by_title("File", "al"));
}

TEST(Document, References) {
    struct {
        const char *text, *type, *title;
    } cases[] = {
        {"File[/x]", "File", "/x"}, {"A::B[c[d]]", "A::B", "c[d]"}, {"A[\n]", "A", "\n"},
        {"A[]", nullptr, nullptr},  {"A", nullptr, nullptr},        {"[x]", nullptr, nullptr},
        {"A]x[", nullptr, nullptr}, {"", nullptr, nullptr},         {"A[x", nullptr, nullptr},
    };
    for (auto& c : cases) {
        std::string_view type, title;
        bool ok = split_reference(c.text, &type, &title);
        EXPECT_EQ(ok, c.type != nullptr) << c.text;
        if (ok && c.type) {
            EXPECT_EQ(type, c.type);
            EXPECT_EQ(title, c.title);
        }
    }
}

TEST(JsonText, FirstInvalidByte) {
    const std::pair<std::string, std::size_t> cases[] = {
        {"", std::string::npos},
        {"abc\xc3\xa9", std::string::npos},
        {"\xf0\x9f\x98\x80", std::string::npos},
        {"a\x80", 1},
        {"a\xc3", 1},
        {"\xe0\x80\x80", 0},
        {"\xf4\x90\x80\x80", 0},
        {"\xf8\x88\x80\x80\x80", 0},
        {"\xed\xbf\xbf", 0},
        {"ab\xfe", 2},
    };
    for (auto& [text, at] : cases) EXPECT_EQ(codec::first_invalid_utf8(text), at);
}

}  // namespace
}  // namespace bunraku::catalog
