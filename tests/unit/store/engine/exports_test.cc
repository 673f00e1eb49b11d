// SPDX-License-Identifier: Apache-2.0
// Tests two nodes that export resources with the same name, on both backends. The clash is reported
// only if a node collects both.
#include "store/engine/exports.h"

#include <fmt/format.h>
#include <memory>

#include "backends.h"

namespace bunraku::store {

namespace {

constexpr std::int64_t kNow = 1'700'000'000'000;

std::string host(std::string_view tag, std::string_view ip) {
    return fmt::format(
        R"({{"type":"Host","title":"h","exported":true,"file":"/site.pp","line":7,)"
        R"("tags":["host","{}"],"parameters":{{"ip":"{}","host_aliases":["one","two"]}}}})",
        tag, ip);
}

class ExportClashes : public OnWriter {
protected:
    void SetUp() override {
        OnWriter::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        put("a", host("x", "192.0.2.1"));
    }
    /// Stores a catalog of `node` that contains only this resource.
    void put(const std::string& node, const std::string& resource) {
        put_catalog(*writer_, node,
                    R"({"certname":")" + node +
                        R"(","version":"1","environment":"prod","transaction_uuid":null,)"
                        R"("catalog_uuid":null,"code_id":null,"producer":"pm",)"
                        R"("producer_timestamp":"2023-01-01T00:00:00.000Z","edges":[],)"
                        R"("resources":[)" +
                        resource + "]}",
                    kNow);
    }
    /// Returns the clashes of a catalog of `node` that contains only this resource.
    std::string clashes(std::string_view node, const std::string& resource) {
        auto found = ExportChecker(writer_->db()).clashes(node, catalog_of(node, resource));
        if (!found) return found.error().message;
        std::string out;
        for (const ExportClash& clash : *found) out += clash.text();
        return out;
    }
    void collect(std::vector<std::string> names) {
        auto done = remember_collections(*writer_, "m", names);
        ASSERT_TRUE(done) << done.error().message;
    }
};
BUNRAKU_ON_BACKENDS(ExportClashes);

constexpr std::string_view kReported =
    "A duplicate resource was found while collecting exported resources, with the type and title"
    " Host[h]: exported by a at (file: /site.pp, line: 7) and exported by b at (file: /site.pp,"
    " line: 7), collected by m";

TEST_P(ExportClashes, ReportedOnlyIfNodeCollectsBoth) {
    EXPECT_EQ(clashes("b", host("x", "192.0.2.2")), "");
    collect({"Host"});
    EXPECT_EQ(clashes("b", host("x", "192.0.2.2")), kReported);
    EXPECT_EQ(clashes("a", host("x", "192.0.2.2")), "") << "its own of before";
    collect({R"(Host ["=","tag","x"])", R"(Other)"});
    EXPECT_EQ(clashes("b", host("x", "192.0.2.2")), kReported);
    EXPECT_EQ(clashes("b", host("y", "192.0.2.2")), "");
    collect({R"(Host ["=","ip","192.0.2.1"])"});
    EXPECT_EQ(clashes("b", host("x", "192.0.2.2")), "");
    EXPECT_EQ(clashes("b", host("x", "192.0.2.1")), kReported);
    collect({R"(Host ["and",["=","host_aliases","two"],["!=","title","other"]])"});
    EXPECT_EQ(clashes("b", host("x", "192.0.2.2")), kReported);
    collect({"Host ?"});
    EXPECT_EQ(clashes("b", host("x", "192.0.2.2")), "") << "what cannot be asked again";
    collect({});
    EXPECT_EQ(clashes("b", host("x", "192.0.2.2")), "");
}

TEST_P(ExportClashes, MapContainsBothSides) {
    collect({R"(Host ["=","tag","x"])"});
    auto map = exports_json(writer_->db());
    ASSERT_TRUE(map) << map.error().message;
    EXPECT_EQ(*map, R"({"exported":[{"type":"Host","nodes":1,"resources":1}],"collected":[{"type":)"
                    R"("Host","certname":"m","query":["=","tag","x"]}],"clashes":[]})");
    put("b", host("x", "192.0.2.2"));
    map = exports_json(writer_->db());
    ASSERT_TRUE(map) << map.error().message;
    EXPECT_NE(map->find(R"("clashes":[{"type":"Host","title":"h","exporters":[{"certname":"a",)"
                        R"("file":"/site.pp","line":7},{"certname":"b","file":"/site.pp",)"
                        R"("line":7}],"collectors":["m"]}]})"),
              std::string::npos)
        << *map;
}

}  // namespace

}  // namespace bunraku::store
