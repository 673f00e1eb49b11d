// SPDX-License-Identifier: Apache-2.0
// Tests old versions of catalogs, on both backends.
#include "store/engine/history.h"

#include <fmt/format.h>

#include "backends.h"
#include "store/db/command.h"
#include "store/engine/fact_history.h"
#include "store/engine/garbage.h"

namespace bunraku::store {
namespace {

std::string resource_of(std::string_view title, int mode) {
    return fmt::format(
        R"({{"type":"File","title":"{}","exported":false,"tags":["file"],"file":"/m.pp","line":3,)"
        R"("parameters":{{"mode":"{}"}}}})",
        title, mode);
}

std::string catalog_of_second(int second, std::string_view resources) {
    return fmt::format(
        R"({{"certname":"n","version":"v{0}","environment":"prod","transaction_uuid":null,)"
        R"("catalog_uuid":null,"code_id":"c{0}","producer":"p","producer_timestamp":)"
        R"("1970-01-01T00:00:{0:02}Z","resources":[{1}],"edges":[]}})",
        second, resources);
}

class History : public OnBackend {
protected:
    void SetUp() override {
        OnBackend::SetUp();
        if (IsSkipped()) return;
        auto writer = Writer::open(where_, {});
        ASSERT_TRUE(writer) << writer.error().message;
        writer_ = std::move(*writer);
    }
    void put(int second, const std::string& resources) {
        put_catalog(*writer_, "n", catalog_of_second(second, resources), second);
    }
    /// Returns "File[/a] 600, .."; "nothing" if no version is known.
    std::string at(std::int64_t time) {
        auto found = catalog_at(writer_->db(), "n", time);
        if (!found) return found.error().message;
        if (!*found) return "nothing";
        std::string out = (*found)->version.version + ":";
        for (const auto& r : (*found)->catalog.resources) {
            out += fmt::format(" {}={}", r.ref.title, r.parameters.at(0).value.as_string());
        }
        return out;
    }
    std::string log() {
        auto all = catalog_versions(writer_->db(), "n");
        if (!all) return all.error().message;
        std::string out;
        for (const auto& v : *all) {
            out += fmt::format("{}{}-{} +{} -{}{}", out.empty() ? "" : ", ", v.valid_from,
                               v.valid_until ? std::to_string(*v.valid_until) : "", v.added,
                               v.removed, v.first ? " first" : "");
        }
        return out;
    }
    std::unique_ptr<Writer> writer_;
};
BUNRAKU_ON_BACKENDS(History);

TEST_P(History, FindsCatalogByTime) {
    put(10, resource_of("/a", 600) + "," + resource_of("/b", 600));
    put(20, resource_of("/a", 600) + "," + resource_of("/b", 640));
    put(25, resource_of("/a", 600) + "," + resource_of("/b", 640));
    put(30, resource_of("/b", 600) + "," + resource_of("/c", 600));
    put(40, resource_of("/a", 600) + "," + resource_of("/b", 600));
    // A catalog that is older than the current one does not become a version.
    put(35, resource_of("/z", 600));
    EXPECT_EQ(log(), "40000- +1 -1, 30000-40000 +2 -2, 20000-30000 +1 -1, 10000-20000 +2 -0 first");
    EXPECT_EQ(at(9'999), "nothing");
    EXPECT_EQ(at(10'000), "v10: /a=600 /b=600");
    EXPECT_EQ(at(19'999), "v10: /a=600 /b=600");
    EXPECT_EQ(at(29'000), "v20: /a=600 /b=640");
    EXPECT_EQ(at(30'000), "v30: /b=600 /c=600");
    EXPECT_EQ(at(INT64_MAX), "v40: /a=600 /b=600");
    EXPECT_TRUE(catalog_versions(writer_->db(), "nobody")->empty());
    EXPECT_FALSE(*catalog_at(writer_->db(), "nobody", 1));
}

TEST_P(History, RetainsContentOfOldVersions) {
    put(10, resource_of("/a", 600));
    put(20, resource_of("/a", 640));
    ASSERT_TRUE(remove_content(*writer_, 100, now_ms() - kHistoryTtl));
    EXPECT_EQ(at(15'000), "v10: /a=600");
    Lifetimes lifetimes;
    lifetimes.catalog_history_ttl_ms = 1000;
    // The first version was current until 20 and must be available until 21.
    EXPECT_EQ(purge_versions(*writer_, lifetimes, 20'999, 100)->done, 0U);
    EXPECT_EQ(purge_versions(*writer_, lifetimes, 21'000, 100)->done, 1U);
    EXPECT_EQ(log(), "20000- +1 -1 first");
    EXPECT_EQ(at(15'000), "nothing");
    EXPECT_EQ(at(20'000), "v20: /a=640");
    EXPECT_EQ(remove_content(*writer_, 100, INT64_MAX)->removed, 1U);
    EXPECT_EQ(at(20'000), "v20: /a=640");
}

TEST_P(History, DoesNotGuessChangesByOtherPrograms) {
    put(10, resource_of("/a", 600));
    put(20, resource_of("/a", 640));
    ASSERT_TRUE(writer_->db().execute("DELETE FROM catalog_versions WHERE valid_from = 20000"));
    EXPECT_EQ(at(15'000), "The catalogs of n before a change by another program are not available");
    put(30, resource_of("/a", 644));
    EXPECT_EQ(at(30'000), "v30: /a=644");
    EXPECT_EQ(at(15'000), "The catalogs of n before a change by another program are not available");
}

TEST_P(History, DriftCountsCorrectiveChanges) {
    auto report = [&](std::string_view node, int hour, std::string_view title, bool corrective) {
        const std::string time = fmt::format("1970-01-01T{:02}:30:00Z", hour);
        const std::string body = fmt::format(
            R"({{"certname":"{0}","puppet_version":"8","report_format":12,)"
            R"("configuration_version":"c","start_time":"{1}","end_time":"{1}",)"
            R"("producer_timestamp":"{1}","producer":null,"environment":"e",)"
            R"("transaction_uuid":null,"catalog_uuid":null,"code_id":null,)"
            R"("cached_catalog_status":null,"status":"changed","noop":false,)"
            R"("noop_pending":false,"corrective_change":{3},"metrics":[],"logs":[],)"
            R"("resources":[{{"timestamp":"{1}","resource_type":"File","resource_title":"{2}",)"
            R"("skipped":false,"file":null,"line":null,"containment_path":["C"],)"
            R"("corrective_change":{3},"events":[{{"status":"success","timestamp":"{1}",)"
            R"("property":"mode","name":null,"new_value":"a","old_value":"b","message":"m",)"
            R"("corrective_change":{3}}}]}}]}})",
            node, time, title, corrective);
        auto prepared =
            prepare_command({CommandKind::StoreReport, 8, std::string(node), 1, 0}, body, {});
        ASSERT_TRUE(prepared) << prepared.error().message;
        auto transaction = writer_->begin();
        ASSERT_TRUE(transaction && (*prepared)->apply(*writer_) && transaction->commit());
    };
    report("n", 1, "/a", true);
    report("n", 2, "/a", true);
    report("m", 2, "/a", true);
    report("m", 3, "/b", true);
    report("m", 4, "/z", false);
    auto ask = [&](std::string_view by, std::int64_t since) {
        return drift_json(writer_->db(), *drift_by(by), since, 10).value_or("failed");
    };
    EXPECT_EQ(ask("resource", 0),
              R"([{"resource_type":"File","resource_title":"/a","corrections":3,"nodes":2,)"
              R"("last":"1970-01-01T02:30:00.000Z"},{"resource_type":"File","resource_title":)"
              R"("/b","corrections":1,"nodes":1,"last":"1970-01-01T03:30:00.000Z"}])");
    EXPECT_EQ(ask("node", 3 * 3'600'000),
              R"([{"certname":"m","corrections":1,"last":"1970-01-01T03:30:00.000Z"}])");
    EXPECT_EQ(ask("hour", 2 * 3'600'000),
              R"([{"hour":"1970-01-01T03:00:00.000Z","corrections":1,"nodes":1,"last":)"
              R"("1970-01-01T03:30:00.000Z"},{"hour":"1970-01-01T02:00:00.000Z",)"
              R"("corrections":2,"nodes":2,"last":"1970-01-01T02:30:00.000Z"}])");
    EXPECT_EQ(ask("flapping", 0), R"([{"certname":"n","resource":"File[/a]","runs":2,"last":)"
                                  R"("1970-01-01T02:30:00.000Z"}])");
}

TEST_P(History, FindsOldFactsByTime) {
    auto put_at = [&](int second, std::string_view values) {
        const std::string body =
            fmt::format(R"({{"certname":"n","environment":"e","producer":"p","producer_timestamp":)"
                        R"("1970-01-01T00:00:{:02}Z","values":{}}})",
                        second, values);
        auto prepared = prepare_command({CommandKind::ReplaceFacts, 5, "n", 1, 0}, body, {});
        ASSERT_TRUE(prepared) << prepared.error().message;
        auto transaction = writer_->begin();
        ASSERT_TRUE(transaction);
        auto applied = (*prepared)->apply(*writer_);
        ASSERT_TRUE(applied) << applied.error().message;
        ASSERT_TRUE(transaction->commit());
    };
    auto facts = [&](std::int64_t time) {
        auto past = facts_at(writer_->db(), "n", time);
        if (!past) return past.error().message;
        return *past ? past_facts_json("n", **past) : "nothing";
    };
    put_at(10, R"({"os":{"name":"Debian"},"kernel":"Linux","uptime":"1 day"})");
    put_at(20, R"({"os":{"name":"Debian"},"kernel":"Linux","uptime":"2 days"})");
    put_at(30, R"({"os":{"name":"Debian"},"kernel":"Linux","role":"web"})");
    put_at(40, R"({"os":{"name":"Devuan"},"role":"db"})");
    put_at(35, R"({"role":"older"})");
    auto all = facts_versions(writer_->db(), "n");
    ASSERT_TRUE(all) << all.error().message;
    EXPECT_EQ(facts_versions_json(*all),
              R"([{"valid_from":"1970-01-01T00:00:40.000Z","valid_until":null,"changed":)"
              R"(["kernel","os","role"],"first":false},{"valid_from":)"
              R"("1970-01-01T00:00:30.000Z","valid_until":"1970-01-01T00:00:40.000Z","changed":)"
              R"(["role"],"first":false},{"valid_from":"1970-01-01T00:00:10.000Z",)"
              R"("valid_until":"1970-01-01T00:00:30.000Z","changed":[],"first":true}])");
    EXPECT_EQ(facts(9'000), "nothing");
    auto values = [&](std::int64_t time) {
        const std::string text = facts(time);
        std::string out = text.substr(std::min(text.find("\"facts\""), text.size()));
        std::erase(out, ' ');  // in PostgreSQL's JSON format
        return out;
    };
    EXPECT_EQ(values(25'000), R"("facts":{"kernel":"Linux","os":{"name":"Debian"}}})");
    EXPECT_EQ(values(30'000), R"("facts":{"kernel":"Linux","os":{"name":"Debian"},"role":"web"}})");
    EXPECT_EQ(values(40'000), R"("facts":{"os":{"name":"Devuan"},"role":"db"}})");
    Lifetimes lifetimes;
    lifetimes.catalog_history_ttl_ms = 1000;
    EXPECT_EQ(purge_versions(*writer_, lifetimes, 41'000, 100)->done, 2U);
    EXPECT_EQ(facts(30'000), "nothing");
    EXPECT_EQ(values(41'000), R"("facts":{"os":{"name":"Devuan"},"role":"db"}})");
}

TEST_P(History, StoresNoHistoryWhenDisabled) {
    ASSERT_TRUE(keep_history_for(*writer_, 0));
    put(10, resource_of("/a", 600));
    put(20, resource_of("/a", 640));
    EXPECT_EQ(log(), "");
    EXPECT_EQ(remove_content(*writer_, 100, now_ms())->removed, 1U);
    Lifetimes none;
    none.catalog_history_ttl_ms = 0;
    ASSERT_TRUE(keep_history_for(*writer_, 1000));
    put(30, resource_of("/a", 600));
    EXPECT_EQ(log(), "30000- +1 -1 first");
    EXPECT_EQ(purge_versions(*writer_, none, 1, 100)->done, 1U);
}

}  // namespace
}  // namespace bunraku::store
