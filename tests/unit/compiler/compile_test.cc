#include "compiler/compile.h"

#include <gtest/gtest.h>

#include "catalog/agent_json.h"
#include "compiler/naming.h"
#include "value/build.h"
#include "value/rich_data.h"

namespace bunraku::compiler {
namespace {

using value::Value;

/// What other nodes export, as a list; remembers what was asked.
class FakeStore : public ExportedSource {
public:
    base::Result<std::vector<ExportedResource>> find(std::string_view type,
                                                     const CollectorQuery* query,
                                                     std::string_view except_certname,
                                                     base::Arena&) override {
        asked.push_back(std::string(type) + (query ? "?" : "") + " not " +
                        std::string(except_certname));
        if (!failure.empty()) return base::failure(failure);
        return found;
    }
    std::vector<ExportedResource> found;
    std::vector<std::string> asked;
    std::string failure;
};

struct Compile {
    base::MemorySink log;
    FakeStore store;
    std::shared_ptr<base::Arena> arena = std::make_shared<base::Arena>();
    Request request;
    std::unique_ptr<SystemInputs> inputs;

    Compile() { request.options.storeconfigs = true; }

    std::shared_ptr<catalog::Catalog> run(const std::string& code) {
        environment::Spec spec;
        spec.code = code;
        spec.modulepath_given = true;
        request.environment = *environment::Environment::open(spec, log);
        request.arena = arena;
        request.log = &log;
        inputs = std::make_unique<SystemInputs>(
            "production", "n", [](std::string_view) { return std::optional<std::string>(); });
        request.inputs = inputs.get();
        request.node.name = "n";
        request.services.exported = &store;
        return compile(request).catalog;
    }
    std::string error(const std::string& code) {
        try {
            run(code);
        } catch (const base::PuppetError& e) {
            return e.full_text();
        }
        return "no error";
    }
    void exports(const std::string& node, const std::string& title, const std::string& message) {
        ExportedResource r;
        r.certname = node;
        r.resource.ref = {"Notify", title};
        r.resource.parameters.push_back({"message", value::make_string(*arena, message)});
        r.resource.tags = {"notify", "far"};
        r.resource.exported = true;
        store.found.push_back(std::move(r));
    }
};

TEST(Compile, CollectsFromTheStore) {
    Compile c;
    c.exports("a", "x", "hello");
    auto catalog = c.run("Notify <<| tag == 'far' |>> { withpath => true }");
    const auto* r = catalog->find("Notify", "x");
    ASSERT_NE(r, nullptr);
    EXPECT_FALSE(r->exported);
    EXPECT_FALSE(r->virtual_);
    EXPECT_EQ(r->parameter("message")->as_string(), "hello");
    EXPECT_TRUE(r->parameter("withpath")->as_boolean());
    EXPECT_EQ(r->tags, (std::vector<std::string>{"notify", "x", "far", "class"}));
    // Asked once, however often the collector ran.
    EXPECT_EQ(c.store.asked, (std::vector<std::string>{"Notify? not n"}));
}

TEST(Compile, DuplicatesNameBothSides) {
    Compile two;
    two.exports("a", "x", "1");
    two.exports("b", "x", "2");
    EXPECT_EQ(two.error("Notify <<| |>>"),
              "A duplicate resource was found while collecting exported resources, with the type "
              "and title Notify[x]: exported by a and exported by b");
    Compile own;
    own.exports("a", "x", "1");
    EXPECT_EQ(own.error("notify { 'x': }\nNotify <<| |>>"),
              "A duplicate resource was found while collecting exported resources, with the type "
              "and title Notify[x]: declared on n at (line: 1) and exported by a");
    Compile unreachable;
    unreachable.store.failure = "it is gone";
    EXPECT_EQ(unreachable.error("Notify <<| |>>"),
              "Could not retrieve exported resources of type Notify: it is gone");
}

TEST(Compile, OwnExportsStayUntilCollected) {
    Compile c;
    auto catalog = c.run("@@notify { 'x': }\n@notify { 'y': }");
    ASSERT_NE(catalog->find("Notify", "x"), nullptr);
    EXPECT_TRUE(catalog->find("Notify", "x")->exported);
    EXPECT_TRUE(catalog->find("Notify", "x")->virtual_);
    EXPECT_EQ(catalog->find("Notify", "y"), nullptr);
    Compile collected;
    catalog = collected.run("@@notify { 'x': }\nNotify <<| |>>");
    EXPECT_TRUE(catalog->find("Notify", "x")->exported);
    EXPECT_FALSE(catalog->find("Notify", "x")->virtual_);
}

TEST(Compile, ErrorsOutsideOfExpressionsAreBare) {
    struct Row {
        std::string code, error;
    };
    const Row rows[] = {
        {"notify { 'a': require => Notify['b'] }",
         "Could not find resource 'Notify[b]' in parameter 'require' (line: 1)"},
        {"realize Notify['b']", "Failed to realize virtual resources Notify[b]"},
        {"Notify['b'] { message => 'x' }", "Could not find resource(s) Notify[b] for overriding"},
        {"node 'other' { }", "Could not find node statement with name 'default' or 'n'"},
        {"define d { d { \"${title}x\": } }\nd { 'a': }",
         "Somehow looped more than 1000 times while evaluating host catalog"},
    };
    for (const Row& row : rows) {
        Compile c;
        EXPECT_EQ(c.error(row.code), row.error) << row.code;
    }
}

TEST(Compile, EvaluatesTextsInOneScope) {
    Compile c;
    environment::Spec spec;
    spec.no_manifest = true;
    c.request.environment = *environment::Environment::open(spec, c.log);
    c.request.arena = c.arena;
    c.request.log = &c.log;
    c.inputs = std::make_unique<SystemInputs>(
        "production", "n", [](std::string_view) { return std::optional<std::string>(); });
    c.request.inputs = c.inputs.get();
    c.request.node.name = "n";
    c.request.node.variables = {{"a::b", Value::integer(20)}};
    auto v = evaluate(c.request,
                      {"$x = 1", "function f($y) { $y + 1 }", "type T = Integer", "f($x) + $a::b"},
                      "", false);
    ASSERT_TRUE(v.is_integer());
    EXPECT_EQ(v.as_integer(), 22);
}

}  // namespace
}  // namespace bunraku::compiler
