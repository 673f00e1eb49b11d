// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/compile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compile/compiler/naming.h"
#include "compile/compiler/plain_data.h"
#include "core/base/symbol.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/types/runtime_object.h"
#include "resources/catalog/agent_json.h"

namespace bunraku::compiler {
namespace {

using value::Value;

/// Returns exported resources of other nodes from a list and records the queries.
class FakeStore : public ExportedSource {
public:
    base::Result<std::vector<ExportedResource>> find(std::string_view type,
                                                     const CollectorQuery* query,
                                                     std::string_view except_certname, base::Arena&,
                                                     const value::TypedFactory&) override {
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
    // The compiler sends the query once, even if the collector runs several times.
    EXPECT_EQ(c.store.asked, (std::vector<std::string>{"Notify? not n"}));
}

TEST(Compile, RubyObjectsAffectOnlyTheirCatalog) {
    Compile with, without;
    const auto theirs = with.run("notify { 'a': message => 'x' } notify { 'b': message => ['y'] }");
    const auto other = without.run("notify { 'a': message => Timespan(1) }");
    for (auto& resource : theirs->resources) {
        if (resource.ref.title != "b") continue;
        const Value object = types::make_runtime_object(*with.arena, "Some::Class", "some text", 7);
        resource.parameters[0].value = value::make_array(*with.arena, {object});
    }
    EXPECT_TRUE(holds_runtime_objects(*theirs));
    EXPECT_FALSE(holds_runtime_objects(*other));
    base::MemorySink log;
    const auto plain = without_runtime_objects(*theirs, evaluator::Strict::Warning, log);
    EXPECT_FALSE(holds_runtime_objects(plain));
    for (const auto& resource : plain.resources) {
        if (resource.ref.title == "b") {
            EXPECT_EQ(value::to_json(resource.parameters[0].value), R"(["some text"])");
        }
    }
    ASSERT_EQ(log.records.size(), 1u);
    EXPECT_EQ(log.records[0].message,
              "Notify[b]['message'][0] contains a Some::Class value. It will be converted to the "
              "String 'some text'");
    EXPECT_TRUE(holds_runtime_objects(*theirs));
}

TEST(Compile, FunctionsNameCodeWithoutAFile) {
    Compile c;
    const auto catalog = c.run("create_resources(notify, {'a' => {}})\nnotify { 'b': }");
    EXPECT_EQ(catalog->find("Notify", "a")->file, "unknown");
    EXPECT_EQ(catalog->find("Notify", "b")->file, "");
    EXPECT_EQ(
        c.error("create_resources(notify, {'a' => {}})\nnotify { 'a': }"),
        "Evaluation Error: Error while evaluating a Resource Statement, Duplicate declaration: "
        "Notify[a] is already declared at (file: unknown, line: 1); cannot redeclare (line: 2) "
        "(line: 2, column: 1)");
}

TEST(Compile, DuplicateErrorNamesBothDeclarations) {
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

TEST(Compile, OwnExportsAreVirtualUntilCollected) {
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

TEST(Compile, ErrorsOutsideExpressionsHaveNoPrefix) {
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

TEST(Compile, EvaluatesSeveralTextsInOneScope) {
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

// A value cannot be nested too deeply for any use, because creating such a value fails. Puppet 8.11
// reports "stack level too deep" too, but at the use (see docs/design/0019).
TEST(Compile, LimitsNestingOfValues) {
    const char* const makes[] = {
        "[$m]",
        "[1, $m, 2]",
        "{ 'k' => $m }",
        "{ $m => 1 }",
        "Sensitive([$m])",
        "$m << [$m]",
        "[$m] + [1]",
        "{ 'a' => 1 } + { 'b' => $m }",
        "Deferred('f', [$m])",
        "Array[$m ? { Type => $m, default => Any }]",
        "Optional[Array[$m ? { Type => $m, default => Any }]]",
        "Init[Array, [$m]]",
        "[$m].map |$x| { [$x] }",
        "$m.then |$x| { [$x] }",
        "Hash([[1, $m]])",
        "Array({ 1 => $m })",
        "[1, 2].reduce($m) |$a, $b| { [$a] }",
        "[$m].filter |$x| { true }",
        "zip([1], [$m])",
        "merge({ 'a' => 1 }, { 'b' => $m })",
        "[[$m], 1].slice(2)",
        "Object[{ constants => { 'c' => $m } }]",
        "Struct[{ 'a' => $m ? { Type => $m, default => Any } }]",
        "Callable[[$m ? { Type => $m, default => Any }], Any]",
        "tree_each($m =~ Collection ? { true => $m, default => [$m] }).then |$x| { [$m] }",
    };
    const char* const uses[] = {
        "notify { 'a': message => $x }",
        "notify { 'a': require => $x }",
        "notify { 'a': tag => $x }",
        "notice($x.flatten)",
        "notice($x)",
        "notice($x == $x)",
        "notice(\"${x}\")",
        "notice($x =~ Data)",
        "notice(type($x))",
        "notice(String($x, '%#p'))",
        "class c($p) { notify { \"${p}\": } } class { 'c': p => $x }",
        "define d(Array[Any] $p) { } d { 'a': p => $x }",
        "$h = { $x => 1 } notice($h[$x])",
        "include $x",
        "notice($x.unique, $x.length)",
        "$x.each |$y| { notice($y) }",
    };
    for (const char* make : makes) {
        for (const char* use : uses) {
            const auto code =
                fmt::format("$x = Integer[1, 200000].reduce([]) |$m, $i| {{ {} }}\n{}", make, use);
            Compile c;
            const auto error = c.error(code);
            EXPECT_NE(error.find("stack level too deep"), std::string::npos) << code << "\n"
                                                                             << error;
            // creating the value fails, so one use is enough
            if (use != uses[0] && make != makes[0]) break;
        }
    }
}

// All of these also work in Puppet 8.11, at 900 levels.
TEST(Compile, AcceptsDeepValuesBelowLimit) {
    for (const char* use :
         {"notify { 'a': message => $x }", "notice($x.flatten)", "notice($x == $x)",
          "notice(\"${x}\")", "notice(type($x) =~ Type)", "notice(String($x))",
          "$h = { 'a' => $x[0] } notice($h['a'] == $x[0])", "notice($x.unique.length)",
          "class c($p) { } class { 'c': p => $x }", "notice($x[0, 1])",
          "function f($n, $v) { if $n > 0 { f($n - 1, $v) } else { $v == $v } } notice(f(500, "
          "$x))"}) {
        Compile c;
        EXPECT_EQ(
            c.error(fmt::format("$x = Integer[1, 900].reduce([]) |$m, $i| {{ [$m] }}\n{}", use)),
            "no error")
            << use;
    }
    // Repeated nesting and unnesting does not increase the depth.
    Compile c;
    EXPECT_EQ(
        c.error("$x = Integer[1, 20000].reduce([1]) |$m, $i| { [$m, 1][1, 1] }\n"
                "if $x != [1] { fail('no') }\n"
                "$y = Integer[1, 20000].reduce({}) |$m, $i| { { 'a' => $m } + { 'a' => 1 } }\n"
                "if $y != { 'a' => 1 } { fail('no') }"),
        "no error");
}

// docs/design/0001: clients that send facts, parameters or data must not be able to create symbols.
TEST(Compile, ExternalNamesCreateNoSymbols) {
    Compile c;
    auto& a = *c.arena;
    value::HashBuilder facts(a), inner(a), parameters(a);
    facts.set("stranger_fact_one", Value::integer(1));
    facts.set("known_fact", Value::integer(2));
    inner.set("stranger_inner", Value::integer(1));
    facts.set("inner", inner.build());
    facts.set("text", Value::string("stranger_text"));
    parameters.set("stranger_parameter", Value::integer(3));
    c.request.node.facts = facts.build();
    c.request.node.parameters = parameters.build();
    c.request.node.variables = {{"stranger_variable", Value::integer(4)},
                                {"stranger_class::leaf", Value::integer(5)}};
    EXPECT_EQ(c.error("$joined = ['stranger', 'fact', 'one'].reduce |$m, $i| { \"${m}_${i}\" }\n"
                      "if $known_fact != 2 or $::known_fact != 2 { fail('known') }\n"
                      "if getvar($joined) != 1 { fail('by text') }\n"
                      "if getvar(\"::${joined}\") != 1 { fail('of top scope') }\n"
                      "$f = $facts['text']\n"
                      "if defined(\"\\$${f}\") { fail('there is none') }\n"
                      "if getvar(\"settings::${f}\") { fail('nor a setting') }\n"
                      "if defined($f) or defined(Class[$f]) { fail('nor a function or class') }\n"
                      "if \"${Class[$f]}\" != 'Class[stranger_text]' { fail(\"${Class[$f]}\") }\n"),
              "no error")
        << "facts are variables of top scope";
    for (const char* name : {"stranger_fact_one", "stranger_parameter", "stranger_variable",
                             "stranger_inner", "stranger_text"})
        EXPECT_FALSE(base::Symbol::find(name)) << name;
}

/// The texts of Puppet 8.10 for code that has no file. The lines of both definitions are told.
TEST(Compile, SecondDefinitions) {
    const std::string rt = "Attempt to redefine entity 'http://puppet.com/2016.1/runtime/type/a'. ";
    const std::pair<const char*, std::string> cases[] = {
        {"class a {}\nclass a {}",
         "Class 'a' is already defined (line: 1); cannot redefine (line: 2)"},
        {"class a {}\nnode a {}",
         "Class 'a' is already defined (line: 1); cannot be redefined as a node (line: 2)"},
        {"class a {}\ndefine a {}",
         "'a' is already defined (line: 1) as a class; cannot redefine as a definition (line: 2)"},
        {"node a {}\nnode a {}",
         "Node 'a' is already defined (line: 1); cannot redefine (line: 2)"},
        {"node a {}\nclass a {}",
         "Node 'a' is already defined (line: 1); cannot be redefined as a class (line: 2)"},
        {"define a {}\nclass a {}",
         "Definition 'a' is already defined (line: 1); cannot be redefined as a class (line: 2)"},
        {"define a {}\ndefine a {}", rt + "Originally set at string:?line=1&pos=1."},
        {"define a {}\ntype A = String", rt + "Originally set at string:?line=1&pos=1."},
        {"type A = String\ndefine a {}", "no error"},
    };
    for (const auto& [code, text] : cases) EXPECT_EQ(Compile().error(code), text) << code;
}

}  // namespace
}  // namespace bunraku::compiler
