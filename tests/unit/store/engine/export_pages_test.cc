// SPDX-License-Identifier: Apache-2.0
// Lists of exported resources, on both backends.
#include "store/engine/export_pages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

#include "backends.h"
#include "store/engine/exports.h"

namespace bunraku::store {
namespace {

class ExportPages : public OnWriter {
protected:
    void put(const std::string& node, const std::string& title, const std::string& tag) {
        put_catalog(
            *writer_, node,
            fmt::format(R"({{"certname":"{}","version":"1","environment":"prod",)"
                        R"("transaction_uuid":null,"catalog_uuid":null,"code_id":null,)"
                        R"("producer":"pm","producer_timestamp":"2023-01-01T00:00:00.000Z",)"
                        R"("edges":[],"resources":[{{"type":"Host","title":"{}","exported":true,)"
                        R"("file":"/site.pp","line":7,"tags":["{}"],"parameters":{{}}}}]}})",
                        node, title, tag),
            1);
    }
    void collect(const std::string& node, std::vector<std::string> names) {
        auto done = remember_collections(*writer_, node, names);
        ASSERT_TRUE(done) << done.error().message;
    }
    /// Returns "title@node:1,2" for each row.
    std::string list(ExportFilter filter) {
        filter.type = "Host";
        auto found = list_exports(writer_->db(), filter);
        if (!found) return found.error().message;
        std::string out;
        for (const auto& row : found->rows)
            out += fmt::format("{}{}@{}:{}", out.empty() ? "" : " ", row.title, row.certname,
                               fmt::join(row.collected, ","));
        return out;
    }
};
BUNRAKU_ON_BACKENDS(ExportPages);

TEST_P(ExportPages, ListsWhoCollectsWhat) {
    put("a", "h1", "x");
    put("b", "h1", "y");
    put("c", "h2", "z");
    EXPECT_EQ(list({}), "h1@a: h1@b: h2@c:");
    collect("m1", {R"(Host ["=","tag","x"])"});
    collect("m2", {R"(Host ["=","tag","x"])", R"(Host ["=","title","h1"])", "Other"});
    for (const char* node : {"m3", "m4", "m5"}) collect(node, {"Host ?"});
    EXPECT_EQ(list({}), "h1@a:1,2 h1@b:2 h2@c:");
    EXPECT_EQ(list({.orphans = true}), "h2@c:");
    EXPECT_EQ(list({.most = 1}), "h1@a:1,2");
    EXPECT_EQ(list({.after_title = "h1", .after_node = "a"}), "h1@b:2 h2@c:");
    EXPECT_EQ(list({.after_title = "h1", .after_node = "b"}), "h2@c:");
    auto found = list_exports(writer_->db(), {.type = "Host"});
    ASSERT_TRUE(found);
    ASSERT_EQ(found->collectors.size(), 3U);
    EXPECT_EQ(found->collectors[0].query, "?");
    EXPECT_FALSE(found->collectors[0].evaluated);
    EXPECT_EQ(found->collectors[1].query, R"(["=","tag","x"])");
    EXPECT_EQ(found->collectors[1].nodes, 2);
}

TEST_P(ExportPages, CountsTypes) {
    put("a", "h1", "x");
    put("b", "h1", "y");
    collect("m1", {"Host", "Other"});
    auto types = exported_types(writer_->db());
    ASSERT_TRUE(types) << types.error().message;
    std::string out;
    for (const auto& t : *types)
        out += fmt::format("{} {} {} {};", t.type, t.nodes, t.resources, t.collectors);
    EXPECT_EQ(out, "Host 2 2 1;Other 0 0 1;");
}

}  // namespace
}  // namespace bunraku::store
