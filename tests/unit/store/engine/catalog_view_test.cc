// SPDX-License-Identifier: Apache-2.0
// The newest catalog as a graph, and the exports of a node, on both backends.
#include "store/engine/catalog_view.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

#include "backends.h"
#include "store/engine/node_exports.h"
#include "store/engine/runs.h"

namespace bunraku::store {
namespace {

class CatalogViews : public OnWriter {
protected:
    Database& db() { return writer_->db(); }
    void put(const std::string& node, const std::string& resources, const std::string& edges) {
        put_catalog(
            *writer_, node,
            fmt::format(
                R"({{"certname":"{}","version":"1","environment":"production",)"
                R"("transaction_uuid":null,"catalog_uuid":"2f3a1a6e-7bd3-4c1e-9d6a-000000000001","code_id":"c1",)"
                R"("producer":"p","producer_timestamp":"2023-01-01T00:00:00Z",)"
                R"("edges":[{}],"resources":[{}]}})",
                node, edges, resources),
            1);
    }
    static std::string resource(const std::string& type, const std::string& title, bool exported,
                                const std::string& value = "1") {
        return fmt::format(R"({{"type":"{}","title":"{}","exported":{},"tags":[],"file":"/m.pp",)"
                           R"("line":4,"parameters":{{"v":"{}"}}}})",
                           type, title, exported, value);
    }
    static std::string edge(const std::string& source, const std::string& target,
                            const std::string& relationship) {
        return fmt::format(R"({{"source":{{"type":"Class","title":"{}"}},"target":{{"type":"File",)"
                           R"("title":"{}"}},"relationship":"{}"}})",
                           source, target, relationship);
    }
    std::int64_t id_of(const std::string& node) {
        return find_node(db(), node).value().value().run.node;
    }
};

TEST_P(CatalogViews, ResourcesAndRelations) {
    put_facts(*writer_, "none", R"({"a":1})", 1);
    EXPECT_FALSE(catalog_view(db(), id_of("none")).value());
    put("n1",
        resource("File", "/b", false) + "," + resource("Class", "A", false) + "," +
            resource("File", "/a", true),
        edge("A", "/a", "contains") + "," + edge("A", "/b", "contains") + "," +
            edge("A", "/b", "notifies"));
    const auto view = catalog_view(db(), id_of("n1")).value();
    ASSERT_TRUE(view);
    EXPECT_EQ(view->environment, "production");
    EXPECT_EQ(view->code_id, "c1");
    EXPECT_EQ(view->catalog_uuid, "2f3a1a6e-7bd3-4c1e-9d6a-000000000001");
    EXPECT_EQ(view->time, 1672531200000);
    std::vector<std::string> names;
    for (const auto& entry : view->resources) names.push_back(entry.reference());
    EXPECT_EQ(names, (std::vector<std::string>{"Class[A]", "File[/a]", "File[/b]"}));
    EXPECT_TRUE(view->resources[1].exported);
    EXPECT_FALSE(view->resources[2].exported);
    EXPECT_EQ(view->resources[2].file, "/m.pp");
    EXPECT_EQ(view->resources[2].line, 4);
    using catalog::Relationship;
    auto relations = view->relations;
    std::ranges::sort(relations, {},
                      [](const auto& r) { return std::tuple(r.source, r.target, r.kind); });
    EXPECT_EQ(relations, (std::vector<catalog::Relation>{{0, 1, Relationship::Contains},
                                                         {0, 2, Relationship::Contains},
                                                         {0, 2, Relationship::Notifies}}));
}

TEST_P(CatalogViews, ExportsOfANode) {
    put("n1", resource("Sshkey", "n1", true) + "," + resource("Sshkey", "n2", false), "");
    put("n2", resource("Sshkey", "n2", true) + "," + resource("Sshkey", "n1", false, "other"), "");
    const auto exported = exported_by(db(), id_of("n1"), 10).value();
    ASSERT_EQ(exported.size(), 1u);
    EXPECT_EQ(exported[0].title, "n1");
    EXPECT_EQ(exported[0].line, 4);
    const auto collected = collected_by(db(), id_of("n1"), 10).value();
    ASSERT_EQ(collected.size(), 1u);
    EXPECT_EQ(collected[0].title, "n2");
    EXPECT_EQ(collected[0].exporter, "n2");
    EXPECT_EQ(environment_names(db()).value().at(collected[0].environment), "production");
    EXPECT_EQ(catalog_environment(db(), id_of("n1")).value(), collected[0].environment);
    // n2 has overridden a parameter, so its collector must be known.
    EXPECT_TRUE(collected_by(db(), id_of("n2"), 10).value().empty());
    {
        auto s = db().prepare(
            "INSERT INTO exported_collections (certname_id, type, name)"
            " VALUES (?, 'Sshkey', 'Sshkey ')");
        ASSERT_TRUE(s);
        s->bind(id_of("n2"));
        ASSERT_TRUE(s->run());
    }
    EXPECT_EQ(collected_by(db(), id_of("n2"), 10).value().size(), 1u);
    EXPECT_TRUE(collected_by(db(), id_of("n2"), 0).value().empty());
}

BUNRAKU_ON_BACKENDS(CatalogViews);

}  // namespace
}  // namespace bunraku::store
