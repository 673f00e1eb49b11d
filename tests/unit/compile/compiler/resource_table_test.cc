// SPDX-License-Identifier: Apache-2.0
// Tests the data structures of a compile separately: the resource table, pending overrides, and
// defaults of scopes.
#include "compile/compiler/resource_table.h"

#include <gtest/gtest.h>

#include "compile/compiler/overrides.h"
#include "compile/compiler/scopes.h"
#include "core/base/diagnostic.h"
#include "core/value/build.h"
#include "language/function/table.h"

namespace bunraku::compiler {
namespace {

class ResourceTableTest : public testing::Test {
protected:
    ResourceTableTest() {
        environment::Spec spec;
        spec.code = "";
        spec.modulepath_given = true;
        environment_ = *environment::Environment::open(spec, log_);
        in_ = std::make_unique<evaluator::Interpreter>(arena_, log_, function::builtin_functions(),
                                                       evaluator::Hosts{}, evaluator::Options{});
        definitions_ = std::make_unique<Definitions>(*environment_, arena_, log_);
        types_ =
            std::make_unique<ResourceTypes>(*environment_, *definitions_, tags_, *in_, nullptr);
        table_ = std::make_unique<ResourceTable>(arena_, *types_);
    }
    Resource& make(std::string_view type, std::string_view title,
                   std::initializer_list<Param> params = {}) {
        Resource& r = table_->allocate();
        r.type = types_->find(type);
        r.title = title;
        for (const auto& p : params) r.params.push_back(p);
        return r;
    }
    std::string error(Resource& r) {
        try {
            table_->add(r);
            return "none";
        } catch (const base::PuppetError& e) {
            return e.message();
        }
    }
    static Param param(std::string_view name, std::string_view text) {
        return {.name = name, .value = Value::string(text)};
    }

    base::MemorySink log_;
    base::Arena arena_;
    TagTable tags_{arena_};
    std::shared_ptr<const environment::Environment> environment_;
    std::unique_ptr<evaluator::Interpreter> in_;
    std::unique_ptr<Definitions> definitions_;
    std::unique_ptr<ResourceTypes> types_;
    std::unique_ptr<ResourceTable> table_;
};

TEST_F(ResourceTableTest, FindsByTitleNameAliasAndSpelling) {
    Resource& file = make("file", "/a", {param("alias", "other")});
    Resource& named = make("file", "short", {param("path", "/b")});
    table_->add(file);
    table_->add(named);
    EXPECT_EQ(table_->find("File", "/a"), &file);
    EXPECT_EQ(table_->find("file", "/a/"), &file);
    EXPECT_EQ(table_->find("::File", "other"), &file);
    EXPECT_EQ(table_->find("File", "/b"), &named);
    EXPECT_EQ(table_->find("File", "/c"), nullptr);
    EXPECT_EQ(table_->find_reference("File[short]"), &named);
    EXPECT_THROW(table_->find_reference("File"), base::PuppetError);
    EXPECT_EQ(table_->find_by_name(make("file", "third", {param("path", "/b")})), &named);
    EXPECT_EQ(table_->find_by_name(make("file", "third", {param("path", "/d")})), nullptr);
    ASSERT_EQ(table_->all().size(), 2U);
    EXPECT_EQ(table_->all()[1], &named);
    EXPECT_EQ(table_->of_type("File").size(), 2U);
    EXPECT_EQ(table_->of_type("User").size(), 0U);
    ASSERT_EQ(table_->aliases(file).size(), 1U);
    EXPECT_EQ(table_->aliases(file)[0], "other");
    EXPECT_TRUE(table_->consistent());
}

TEST_F(ResourceTableTest, RefusesDuplicates) {
    table_->add(make("file", "/a"));
    EXPECT_EQ(error(make("file", "/a")),
              "Duplicate declaration: File[/a] is already declared; cannot redeclare");
    EXPECT_EQ(error(make("file", "x", {param("path", "/a")})),
              "Cannot alias File[x] to [\"/a\"]; resource [\"File\", \"/a\"] already declared");
}

TEST_F(ResourceTableTest, ReportsBrokenEdge) {
    Resource& outer = make("file", "/a");
    Resource& inner = make("file", "/a/b");
    table_->add(outer);
    table_->add(inner);
    table_->add_edge(outer, inner);
    table_->add_edge(outer, inner);
    EXPECT_EQ(outer.contains.size(), 1U);
    EXPECT_TRUE(table_->consistent());
    outer.contains.clear();
    EXPECT_FALSE(table_->consistent());
}

TEST_F(ResourceTableTest, OverridesWaitForTheirResource) {
    Overrides overrides;
    Resource& one = make("file", "/a");
    Resource& two = make("file", "/a");
    Resource& other = make("user", "u");
    overrides.add(one);
    overrides.add(other);
    overrides.add(two);
    EXPECT_EQ(overrides.waiting(), (std::vector<std::string>{"File[/a]", "File[/a]", "User[u]"}));
    EXPECT_EQ(overrides.take(make("file", "/a")), (std::vector<Resource*>{&one, &two}));
    EXPECT_TRUE(overrides.take(make("file", "/a")).empty());
    EXPECT_TRUE(overrides.take(make("file", "/b")).empty());
    EXPECT_EQ(overrides.waiting(), (std::vector<std::string>{"User[u]"}));
}

TEST_F(ResourceTableTest, InnerDefaultsOverrideAndKeepOrder) {
    Scopes scopes;
    Scope& top = in_->top_scope();
    Scope& inner = *in_->new_scope(evaluator::ScopeKind::Class, &top);
    inner.dynamic_parent = &top;
    scopes.set_default(top, "File", param("mode", "0644"));
    scopes.set_default(top, "File", param("owner", "root"));
    scopes.set_default(inner, "File", param("group", "g"));
    scopes.set_default(inner, "File", param("mode", "0600"));
    EXPECT_THROW(scopes.set_default(inner, "File", param("mode", "0")), base::PuppetError);
    const auto type = types_->find("file");
    std::string seen;
    for (const auto& p : Scopes::defaults(&inner, type))
        seen += std::string(p.name) + "=" + std::string(p.value.as_string()) + " ";
    EXPECT_EQ(seen, "mode=0600 owner=root group=g ");
    EXPECT_EQ(Scopes::defaults(&top, type).size(), 2U);
    EXPECT_TRUE(Scopes::defaults(&inner, types_->find("user")).empty());
    EXPECT_TRUE(Scopes::is_default(&inner, "File", "owner", Value::string("root")));
    EXPECT_FALSE(Scopes::is_default(&inner, "File", "owner", Value::string("g")));
    scopes.of(inner).every_type.push_back({.name = "noop", .value = Value::boolean(true)});
    EXPECT_EQ(Scopes::defaults(&inner, types_->find("user")).size(), 1U);
    EXPECT_EQ(Scopes::resource(&inner), nullptr);
    EXPECT_EQ(Scopes::resource(nullptr), nullptr);
}

}  // namespace
}  // namespace bunraku::compiler
