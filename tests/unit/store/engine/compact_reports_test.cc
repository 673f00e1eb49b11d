// SPDX-License-Identifier: Apache-2.0
// Reports as short rows: what they cost on disk, and that they are read as they were sent.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "backends.h"
#include "store/db/command.h"
#include "store/engine/query_engine.h"
#include "store/query/ast.h"
#include "wide_reports.h"

namespace bunraku::store {

namespace {

constexpr std::int64_t kBegin = 1'700'000'000'000;
constexpr std::int64_t kInterval = 30LL * 60 * 1000;
constexpr int kNodes = 10;

std::string time_of(std::int64_t ms, std::string_view fraction) {
    const std::int64_t s = (ms - kBegin) / 1000;
    return fmt::format("2023-11-{:02}T{:02}:{:02}:{:02}.{}+00:00", 14 + s / 86400, s / 3600 % 24,
                       s / 60 % 60, s % 60, fraction);
}

/// Pseudo-random digits, the same in every run.
class Digits {
public:
    std::uint64_t below(std::uint64_t n) {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return (state_ >> 33) % n;
    }
    std::string hex(int digits) {
        std::string out;
        for (int i = 0; i < digits; ++i) out += "0123456789abcdef"[below(16)];
        return out;
    }

private:
    std::uint64_t state_ = 1;
};

/// The report of an agent with 600 resources, in the form that a server sends to the store.
std::string report_of(int node, int run, bool changed, Digits& digits) {
    const std::int64_t at =
        kBegin + run * kInterval + node * 1000 + static_cast<int>(digits.below(999));
    auto seconds = [&](int most) {
        return fmt::format("{}.{:09}", digits.below(most), digits.below(1'000'000'000));
    };
    std::string metrics, events, logs;
    auto metric = [&](std::string_view category, std::string_view name, std::string_view value) {
        metrics += fmt::format(R"({}{{"category":"{}","name":"{}","value":{}}})",
                               metrics.empty() ? "" : ",", category, name, value);
    };
    for (const char* name : {"changed", "corrective_change", "failed", "failed_to_restart",
                             "out_of_sync", "restarted", "scheduled", "skipped", "total"}) {
        const bool moves = changed && (name == std::string_view("changed") || name[0] == 'o');
        metric("resources", name, name[0] == 't' ? "600" : moves ? "3" : "0");
    }
    for (const char* name : {"config_retrieval", "catalog_application", "total"}) {
        metric("time", name, seconds(3));
    }
    metric("changes", "total", changed ? "3" : "0");
    for (const char* name : {"failure", "success", "total"}) {
        metric("events", name, changed && name[0] != 'f' ? "3" : "0");
    }
    auto log = [&](std::string_view source, std::string_view message, std::string_view file) {
        logs += fmt::format(
            R"({}{{"file":{},"level":"notice","line":{},"message":"{}","source":"{}","tags":)"
            R"(["notice"],"time":"{}"}})",
            logs.empty() ? "" : ",", file, file == "null" ? "null" : "37", message, source,
            time_of(at, fmt::format("{:09}", digits.below(1'000'000'000))));
    };
    for (int i = 0; changed && i < 3; ++i) {
        const std::string title = fmt::format("/etc/service/conf.d/{:02}-site.conf", i);
        const std::string file =
            R"("/etc/puppetlabs/code/environments/production/modules/service/manifests/site.pp")";
        const std::string from = "{sha256}" + digits.hex(64), to = "{sha256}" + digits.hex(64);
        const std::string message =
            fmt::format("content changed '{}' to '{}' (corrective)", from, to);
        events += fmt::format(
            R"({}{{"skipped":false,"timestamp":"{}","resource_type":"File","resource_title":"{}",)"
            R"("file":{},"line":37,"containment_path":["Stage[main]","Service::Site",)"
            R"("Service::Site::Fragment[{}]","File[{}]"],"corrective_change":true,"events":[)"
            R"({{"status":"success","timestamp":"{}","property":"content","name":"content_changed",)"
            R"("new_value":"{}","old_value":"{}","message":"{}","corrective_change":true}}]}})",
            events.empty() ? "" : ",", time_of(at, "123"), title, file, title, title,
            time_of(at, "123"), to, from, message);
        log(fmt::format("/Stage[main]/Service::Site/Service::Site::Fragment[{}]/File[{}]/content",
                        title, title),
            message, file);
    }
    log("Puppet", fmt::format("Applied catalog in 0.{:02} seconds", digits.below(100)), "null");
    auto uuid = [](const std::string& hex) {
        return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                           hex.substr(16, 4), hex.substr(20));
    };
    return fmt::format(
        R"({{"certname":"node{:03}.example.com","environment":"production","puppet_version":"8.10.0",)"
        R"("report_format":12,"configuration_version":"1700000000","start_time":"{}","end_time":"{}",)"
        R"("producer_timestamp":"{}","producer":"server.example.com","status":"{}","noop":false,)"
        R"("noop_pending":false,"corrective_change":{},"transaction_uuid":"{}","catalog_uuid":"{}",)"
        R"("code_id":"c0de","job_id":null,"cached_catalog_status":"not_used","metrics":[{}],)"
        R"("logs":[{}],"resources":[{}]}})",
        node, time_of(at, fmt::format("{:03}", at % 1000)),
        time_of(at + 1000, fmt::format("{:03}", digits.below(1000))),
        time_of(at + 2000, fmt::format("{:03}", digits.below(1000))),
        changed ? "changed" : "unchanged", changed, uuid(digits.hex(32)),
        uuid(fmt::format("{:032x}", node)), metrics, logs, events);
}

class CompactReports : public OnWriter {
protected:
    static CommandHeader header(int node, std::int64_t received) {
        return {CommandKind::StoreReport, 8, fmt::format("node{:03}.example.com", node), received,
                0};
    }
    void put(int node, int run, const std::string& body) {
        auto prepared = prepare_command(header(node, kBegin + run * kInterval + 5000), body, {});
        ASSERT_TRUE(prepared) << prepared.error().message;
        auto applied = (*prepared)->apply(*writer_);
        ASSERT_TRUE(applied) << applied.error().message;
        ASSERT_EQ(*applied, Applied::Stored);
    }
    /// Stores `runs` reports of each node.
    void put_runs(int runs, bool changed) {
        for (int i = 0; i < runs; ++i, ++run_) {
            auto transaction = writer_->begin();
            ASSERT_TRUE(transaction);
            for (int node = 0; node < kNodes; ++node) {
                put(node, run_, report_of(node, run_, changed, digits_));
            }
            ASSERT_TRUE(transaction->commit());
        }
    }
    std::int64_t number(const std::string& sql) {
        auto s = writer_->db().prepare_once(sql);
        return s && s->step().value_or(false) ? s->integer(0) : -1;
    }
    std::int64_t bytes() {
        if (!writer_->postgresql()) {
            return number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
        }
        return number(
            "SELECT sum(pg_total_relation_size(t::regclass))::bigint FROM unnest(ARRAY['reports',"
            " 'report_kinds', 'report_data', 'resource_events']) t");
    }
    /// Returns the bytes that a report needs once its node has sent others.
    double bytes_per_report(bool changed) {
        constexpr int kRuns = 200;
        put_runs(50, changed);
        const std::int64_t before = bytes();
        put_runs(kRuns, changed);
        return static_cast<double>(bytes() - before) / (kRuns * kNodes);
    }
    int run_ = 0;
    Digits digits_;
};
BUNRAKU_ON_BACKENDS(CompactReports);

TEST_P(CompactReports, UnchangedReportIsSmall) {
    const double each = bytes_per_report(false);
    RecordProperty("bytes", fmt::format("{:.0f}", each));
    // The rows of the indexes take half of it; see docs/design/0265-compact-reports.md.
    EXPECT_LT(each, writer_->postgresql() ? 380 : 230);
    EXPECT_EQ(number("SELECT count(*) FROM report_kinds"), kNodes);
    EXPECT_EQ(number("SELECT count(*) FROM report_data"), 0);
}

TEST_P(CompactReports, ChangedReportIsSmall) {
    const double each = bytes_per_report(true);
    RecordProperty("bytes", fmt::format("{:.0f}", each));
    // Three events, each with two checksums in its values, its message and its log.
    EXPECT_LT(each, writer_->postgresql() ? 5200 : 3600);
    EXPECT_EQ(number("SELECT count(*) FROM report_kinds"), kNodes);
}

TEST_P(CompactReports, TextsAreReadAsSent) {
    const std::string metrics =
        R"([{"category":"time","name":"a1","value":1.5e-07},{"category":"time","name":"b","value":)"
        R"(-0.25},{"category":"time","name":"c","value":0.10000000000000001},{"category":"x","name":)"
        R"("total","value":600}])";
    const std::string logs =
        R"([{"file":"/a1.pp","level":"info","line":7,"message":"v1.2.3 at 10:11:12, \"5\" \\6 )"
        R"(\u0007 7é -8-9-","source":"S","tags":["t1","2"],"time":)"
        R"("2023-11-14T22:13:20.123456789+00:00"}])";
    const std::string event =
        R"({"skipped":false,"timestamp":"2023-11-14T22:13:20.000Z","resource_type":"A",)"
        R"("resource_title":"b","file":null,"line":null,"containment_path":[],"corrective_change":)"
        R"(false,"events":[{"status":"success","timestamp":"2023-11-14T22:13:20.000Z","property":)"
        R"("p","name":"n","new_value":"1","old_value":"2","message":"m","corrective_change":false}]})";
    std::vector<std::string> bodies;
    for (int i = 0; i < 4; ++i) {
        std::string body = report_of(1, i, false, digits_);
        const std::size_t at = body.find("\"metrics\"");
        body = body.substr(0, at) + R"("metrics":)" + metrics + R"(,"logs":)" + logs +
               R"(,"resources":[)" + (i % 2 ? event : "") + "]}";
        auto transaction = writer_->begin();
        ASSERT_TRUE(transaction);
        put(1, i, body);
        ASSERT_TRUE(transaction->commit());
    }
    constexpr const char* kTexts[] = {
        "reports[metrics, logs]{ order by start_time }",
        "reports[hash, status, type, environment, producer, puppet_version, report_format, noop,"
        " noop_pending, transaction_uuid, catalog_uuid, code_id, job_id, cached_catalog_status,"
        " configuration_version, receive_time, end_time, producer_timestamp, resource_events]"
        "{ order by start_time }",
        "events[report, configuration_version, environment, new_value]{ order by report }",
        "nodes[latest_report_status, latest_report_hash, report_environment, latest_report_noop]{}",
        "reports[count()]{ status = 'unchanged' and transaction_uuid ~ '-' }",
        "reports[status, count()]{ group by status }"};
    auto ask = [&] {
        std::vector<std::string> out;
        QueryEngine engine(where_);
        for (const char* text : kTexts) out.push_back(engine.run_text(text).value_or("failed"));
        return out;
    };
    const std::vector<std::string> answers = ask();
    // Every report has the same texts, in the order of keys in which PuppetDB shows them.
    const auto rows = query::read_query_json(answers[0]);
    ASSERT_EQ(rows.size(), 4U);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(query::to_json(*rows[i].find("logs")->find("data"), true),
                  query::to_json(query::read_query_json(logs), true));
        EXPECT_EQ(rows[i].find("metrics")->find("data")->size(), 4U);
    }
    EXPECT_EQ(number("SELECT count(*) FROM report_data"), 2);
    EXPECT_EQ(number("SELECT count(*) FROM report_kinds"), 2);
    // A store of schema 10 with the same reports gives the same answers.
    auto done = writer_->db().execute(
        wide_reports(writer_->db().backend()) +
        "DROP INDEX catalog_places_generation; ALTER TABLE catalog_places DROP COLUMN generation;"
        " UPDATE store_meta SET value = 10 WHERE name = 'schema';" +
        (writer_->postgresql() ? "" : " PRAGMA user_version = 10"));
    ASSERT_TRUE(done) << done.error().message;
    writer_.reset();
    auto opened = Writer::open(where_, {});
    ASSERT_TRUE(opened) << opened.error().message;
    writer_ = std::move(*opened);
    EXPECT_EQ(ask(), answers);
    EXPECT_EQ(number("SELECT count(*) FROM report_data"), 4);
    // Migrated reports are counted together with new ones.
    auto transaction = writer_->begin();
    ASSERT_TRUE(transaction);
    put(1, 9, report_of(1, 9, false, digits_));
    ASSERT_TRUE(transaction->commit());
    EXPECT_EQ(number("SELECT sum(reports) FROM report_counts"), 5);
}

}  // namespace

}  // namespace bunraku::store
