// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/changes.h"

#include <gtest/gtest.h>

#include "core/value/build.h"

namespace bunraku::insight {
namespace {

using catalog::Catalog;
using value::Value;

/// A catalog of a few resources; containment follows from the order.
class CatalogOf {
public:
    CatalogOf() { catalog_.arena = std::make_shared<base::Arena>(); }
    CatalogOf& add(std::string type, std::string title,
                   std::vector<std::pair<std::string, std::string>> parameters = {}) {
        catalog::Resource r;
        r.ref = {std::move(type), std::move(title)};
        for (auto& [name, text] : parameters)
            r.parameters.push_back({name, value::make_string(*catalog_.arena, text)});
        catalog_.resources.push_back(std::move(r));
        return *this;
    }
    CatalogOf& contains(std::uint32_t container, std::uint32_t inner) {
        catalog_.edges.push_back({container, inner});
        return *this;
    }
    const Catalog& get() const { return catalog_; }

private:
    Catalog catalog_;
};

TEST(Changes, FindsCyclesThroughContainers) {
    const auto& naming = catalog::plain_naming();
    CatalogOf none;
    none.add("A", "1", {{"before", "B[2]"}}).add("B", "2", {{"before", "C[3]"}}).add("C", "3");
    EXPECT_EQ(dependency_cycle(none.get(), naming), "");
    CatalogOf plain;
    plain.add("B", "1", {{"before", "A[2]"}}).add("A", "2", {{"notify", "B[1]"}});
    EXPECT_EQ(dependency_cycle(plain.get(), naming), "A[2] => B[1] => A[2]");
    CatalogOf self;
    self.add("A", "1", {{"require", "A[1]"}});
    EXPECT_EQ(dependency_cycle(self.get(), naming), "A[1] => A[1]");
    // Resources in a class precede resources that require the class.
    CatalogOf contained;
    contained.add("Class", "C")
        .add("A", "1", {{"require", "B[2]"}})
        .add("B", "2", {{"require", "Class[C]"}})
        .contains(0, 1);
    EXPECT_EQ(dependency_cycle(contained.get(), naming), "A[1] => Class[C] => B[2] => A[1]");
    CatalogOf fine;
    fine.add("Class", "C").add("A", "1").add("B", "2", {{"require", "Class[C]"}}).contains(0, 1);
    EXPECT_EQ(dependency_cycle(fine.get(), naming), "");
}

TEST(Changes, ReportsDifferences) {
    CatalogOf before, after;
    before.add("File", "/a", {{"mode", "0644"}, {"owner", "root"}}).add("File", "/b");
    after.add("File", "/a", {{"mode", "0600"}, {"owner", "root"}}).add("File", "/c");
    std::string out;
    for (const auto& c : changes(before.get(), after.get(), catalog::plain_naming(), {}))
        out += std::string(kind_name(c.kind)) + " " + c.reference + " " + c.parameter + " " +
               c.before + " " + c.after + "\n";
    EXPECT_EQ(out,
              "removed File[/b]   \nadded File[/c]   \nchanged File[/a] mode \"0644\" \"0600\"\n");
}

TEST(Changes, HidesSecrets) {
    CatalogOf before, after;
    auto secret = [](CatalogOf& of, const char* text) {
        of.add("File", "/a");
        auto& catalog = const_cast<Catalog&>(of.get());
        catalog.resources[0].parameters.push_back(
            {"content",
             value::make_sensitive(*catalog.arena, value::make_string(*catalog.arena, text))});
    };
    secret(before, "old");
    secret(after, "new");
    const auto found = changes(before.get(), after.get(), catalog::plain_naming(), {});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].sensitive);
    EXPECT_EQ(found[0].before, "\"(sensitive)\"");
    EXPECT_EQ(found[0].after, "\"(sensitive)\"");
}

}  // namespace
}  // namespace bunraku::insight
