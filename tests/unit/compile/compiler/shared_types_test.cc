// SPDX-License-Identifier: Apache-2.0
// Tests which parameter types all compiles of one environment state share. Sharing must not change
// the results or the reads of a compile.
#include "compile/compiler/shared_types.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <thread>

#include "compile/compiler/compile.h"
#include "core/value/value.h"
#include "resources/catalog/agent_json.h"
#include "unit/language/environment/memory_files.h"

namespace bunraku::compiler {
namespace {

const probe::MemoryFiles::Texts kModules = {
    {"/e/modules/a/types/kind.pp", "type A::Kind = Enum[x, y]"},
    {"/e/modules/a/types/kinds.pp", "type A::Kinds = Array[A::Kind]"},
    {"/e/modules/a/types/tree.pp", "type A::Tree = Variant[Integer, Array[A::Tree]]"},
    {"/e/modules/a/types/mixed.pp", "type A::Mixed = Variant[A::Kind, Array[A::Mixed]]"},
    {"/e/modules/a/types/one.pp", "type A::One = Variant[Integer, Array[A::Other]]"},
    {"/e/modules/a/types/other.pp", "type A::Other = Variant[String, Array[A::One]]"},
    {"/e/modules/a/types/car.pp", "type A::Car = Object[{attributes => {wheels => Integer}}]"},
    {"/e/modules/a/types/set.pp",
     "type A::Set = TypeSet[{pcore_version => '1.0.0', types => {B => Integer}}]"},
    {"/e/modules/a/types/broken.pp", "type A::Broken = Array["},
    {"/e/modules/a/types/misnamed.pp", "type A::Else = Integer"},
    {"/e/modules/a/types/lost.pp", "type A::Lost = A::Nowhere"},
    {"/e/modules/a/types/self.pp", "type A::Self = A::Self"},
};

class SharedTypesTest : public testing::Test {
protected:
    std::shared_ptr<const environment::Environment> open(const std::string& manifest) {
        environment::Spec spec;
        spec.directory = "/e";
        auto texts = kModules;
        texts["/e/manifests/site.pp"] = manifest;
        spec.files = std::make_shared<probe::MemoryFiles>(texts);
        return *environment::Environment::open(spec, log_);
    }
    /// Returns the type of each parameter, for example "Integer", or "own" if the class's types are
    /// not shared.
    std::string shared(const environment::Environment& environment) {
        const auto file = environment.main_manifests().at(0);
        const auto& node =
            syntax::to<syntax::HostClassDefinition>(file->tree->program->definitions[0]);
        const auto types = SharedTypes::of(environment);
        const auto* made = types->parameters(node, node.parameters, nullptr, file);
        EXPECT_EQ(types->parameters(node, node.parameters, nullptr, file), made);
        if (!made) return "own";
        std::string out;
        for (const auto& check : made->table.checks)
            out += (out.empty() ? "" : " ") + (check.type ? check.type->to_string() : "-");
        return out;
    }
    /// Returns the class's parameter in the catalog, or the error.
    std::string compile_in(std::shared_ptr<const environment::Environment> environment,
                           environment::Trace* trace = nullptr) {
        base::NullSink log;
        Request request;
        request.environment = std::move(environment);
        request.arena = std::make_shared<base::Arena>();
        request.log = &log;
        request.trace = trace;
        SystemInputs inputs("e", "n", [](std::string_view) { return std::nullopt; });
        request.inputs = &inputs;
        request.node.name = "n";
        try {
            const auto catalog = compile(request).catalog;
            for (const auto& r : catalog->resources)
                if (r.ref.title == "C") return value::to_source(r.parameters.at(0).value);
            return "no class";
        } catch (const base::PuppetError& error) {
            return error.message();
        }
    }
    base::MemorySink log_;
};

TEST_F(SharedTypesTest, SharesOnlyTypesThatDependOnTheEnvironment) {
    static constexpr std::pair<const char*, const char*> kCases[] = {
        {"Integer $p", "Integer"},
        {"$p, Integer[1, 2] $q", "- Integer[1, 2]"},
        {"Optional[Array[Pattern[/a/]]] $p", "Optional[Array[Pattern[/a/]]]"},
        {"Struct[{a => Integer, Optional[b] => String[1]}] $p",
         "Struct[{'a' => Integer, Optional['b'] => String[1]}]"},
        {"Hash[String, Variant[Integer[-1, default], Boolean]] $p",
         "Hash[String, Variant[Integer[-1], Boolean]]"},
        {"A::Kind $p", "A::Kind = Enum['x', 'y']"},
        {"A::Kinds $p, Array[A::Kinds] $q",
         "A::Kinds = Array[A::Kind = Enum['x', 'y']] Array[A::Kinds]"},
        {"Type[A::Kind] $p", "Type[A::Kind]"},
        {"Sensitive[String] $p, Callable $q", "Sensitive[String] Callable"},
        // The result depends on which alias is resolved first, or is known only when the type is
        // used.
        {"A::Tree $p", "own"},
        {"A::Mixed $p", "own"},
        {"A::One $p", "own"},
        {"A::Other $p", "own"},
        {"A::Self $p", "own"},
        {"Integer $p, Array[A::Tree] $q", "own"},
        {"A::Car $p", "own"},
        {"A::Set $p", "own"},
        {"A::Set::B $p", "own"},
        {"Init[Integer] $p", "own"},
        // Only a compile can resolve these types or must report an error for them.
        {"File $p", "own"},
        {"A::Nowhere $p", "own"},
        {"A::Lost $p", "own"},
        {"A::Broken $p", "own"},
        {"A::Misnamed $p", "own"},
        {"Enum[$facts] $p", "own"},
        {"Array[Integer, String] $p", "own"},
    };
    for (const auto& [parameters, expected] : kCases) {
        const auto environment = open(fmt::format("class c({}) {{ }}", parameters));
        EXPECT_EQ(shared(*environment), expected) << parameters;
    }
}

TEST_F(SharedTypesTest, EveryCompileHasTheSameCatalogAndReads) {
    static constexpr std::pair<const char*, const char*> kCases[] = {
        {"class c(A::Kinds $p) { } class { 'c': p => [x] }", "['x']"},
        {"class c(A::Kinds $p) { } class { 'c': p => [z] }",
         "Error while evaluating a Resource Statement, Class[C]: parameter 'p' index 0 expects a "
         "match for A::Kind = Enum['x', 'y'], got 'z'"},
        {"class c(A::Tree $p) { } class { 'c': p => [1, [2]] }", "[1, [2]]"},
        // A type that the compile itself defines has priority.
        {"class c(A::Kinds $p) { } class { 'c': p => [7] } type A::Kind = Integer", "[7]"},
        {"class c(A::Nowhere $p) { } class { 'c': p => 1 }", "Resource type not found: A::Nowhere"},
    };
    for (const auto& [manifest, expected] : kCases) {
        const auto environment = open(manifest);
        environment::Trace first(environment->reads()), second(environment->reads());
        EXPECT_EQ(compile_in(environment, &first), expected) << manifest;
        EXPECT_EQ(compile_in(environment, &second), expected) << manifest;
        EXPECT_EQ(first.pack(), second.pack()) << manifest;
    }
    // Both the compile that creates a shared type and a later compile that reuses it record the
    // files of the type as read.
    const auto environment = open("class c(A::Kinds $p) { } class { 'c': p => [x] }");
    for (int i = 0; i < 2; ++i) {
        environment::Trace trace(environment->reads());
        compile_in(environment, &trace);
        std::set<std::string> files;
        for (const auto& [item, _] : trace.items())
            if (item.kind == environment::Read::File) files.emplace(item.name);
        EXPECT_TRUE(files.contains("/e/modules/a/types/kind.pp")) << i;
        EXPECT_TRUE(files.contains("/e/modules/a/types/kinds.pp")) << i;
        EXPECT_FALSE(files.contains("/e/modules/a/types/tree.pp")) << i;
    }
}

TEST_F(SharedTypesTest, ThreadsCreateEachTypeOnce) {
    // A recursive type of one compile can contain shared types.
    const auto environment = open(
        "class c(A::Kinds $p, A::Tree $q) { a($p) } class { 'c': p => [x], q => [1] } "
        "function a(A::Mixed $m, Array[A::Kind] $k = [y]) >> A::Kinds { $m }");
    std::vector<std::thread> threads;
    std::vector<std::string> answers(8);
    for (auto& answer : answers)
        threads.emplace_back([&] {
            for (int i = 0; i < 20; ++i) answer = compile_in(environment);
        });
    for (auto& thread : threads) thread.join();
    for (const auto& answer : answers) EXPECT_EQ(answer, "['x']");
}

TEST_F(SharedTypesTest, CatalogKeepsTypesAlive) {
    auto environment = open("class c(Type $p = A::Kind) { } include c");
    base::NullSink log;
    Request request;
    request.environment = environment;
    request.arena = std::make_shared<base::Arena>();
    request.log = &log;
    SystemInputs inputs("e", "n", [](std::string_view) { return std::nullopt; });
    request.inputs = &inputs;
    request.node.name = "n";
    const auto catalog = compile(request).catalog;
    request = {};
    environment = nullptr;
    for (const auto& r : catalog->resources) {
        if (r.ref.title != "C") continue;
        EXPECT_EQ(value::to_source(r.parameters.at(0).value), "A::Kind = Enum['x', 'y']");
    }
}

}  // namespace
}  // namespace bunraku::compiler
