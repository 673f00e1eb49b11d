// SPDX-License-Identifier: Apache-2.0
// Reading runs for the console, on both backends.
#include "store/engine/runs.h"

#include <fmt/format.h>

#include "backends.h"
#include "store/db/command.h"

namespace bunraku::store {
namespace {

class Runs : public OnWriter {
protected:
    Database& db() { return writer_->db(); }
    void put(const std::string& node, const std::string& status, const std::string& time,
             bool corrective) {
        const std::string body = fmt::format(
            R"({{"certname":"{0}","puppet_version":"8","report_format":12,"configuration_version":)"
            R"("c","start_time":"{2}","end_time":"{2}","producer_timestamp":"{2}","producer":null,)"
            R"("environment":"e","transaction_uuid":null,"catalog_uuid":null,"code_id":"abc",)"
            R"("status":"{1}","cached_catalog_status":null,"noop":false,"noop_pending":false,)"
            R"("corrective_change":{3},"metrics":[],"logs":[],"resources":[{{"timestamp":"{2}",)"
            R"("resource_type":"File","resource_title":"/1","skipped":false,"file":"/m","line":3,)"
            R"("containment_path":["C"],"corrective_change":{3},"events":[{{"status":"{4}",)"
            R"("timestamp":"{2}","property":"mode","name":null,"new_value":"a","old_value":"b",)"
            R"("message":"m","corrective_change":{3}}}]}}]}})",
            node, status, time, corrective, status == "failed" ? "failure" : "success");
        auto report = prepare_command({CommandKind::StoreReport, 8, node, 1, 0}, body, {});
        ASSERT_TRUE(report) << report.error().message;
        auto transaction = writer_->begin();
        ASSERT_TRUE(transaction);
        ASSERT_TRUE((*report)->apply(*writer_));
        ASSERT_TRUE(transaction->commit());
    }
};

TEST_P(Runs, AreReadWithTheirEvents) {
    put("n1", "changed", "2026-01-01T00:00:00Z", true);
    put("n1", "failed", "2026-01-01T00:31:00Z", false);
    put_facts(*writer_, "n2", R"({"role":"web"})", 1);
    const auto nodes = active_nodes(db()).value();
    ASSERT_EQ(nodes.size(), 2u);
    EXPECT_EQ(nodes[0].certname, "n1");
    EXPECT_EQ(nodes[0].run.status, RunStatus::Failed);
    EXPECT_EQ(nodes[0].run.code, "abc");
    EXPECT_EQ(nodes[1].run.id, 0);
    EXPECT_EQ(environment_names(db()).value().at(nodes[0].run.environment), "e");
    EXPECT_EQ(find_node(db(), "n2").value()->certname, "n2");
    EXPECT_FALSE(find_node(db(), "none").value());
    const auto node = nodes[0].run.node;
    EXPECT_EQ(count_runs(db(), node).value(), 2);
    EXPECT_EQ(last_report_id(db()).value(), nodes[0].run.id);
    EXPECT_EQ(runs_after(db(), 0, 10).value().size(), 2u);
    const auto runs = runs_of_node(db(), node, INT64_MAX, 10).value();
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].id, nodes[0].run.id);
    EXPECT_TRUE(runs[1].corrective);
    EXPECT_EQ(runs_of_node(db(), node, runs[0].start, 10).value().size(), 1u);

    const auto slots = run_counts(db(), 0, runs[0].id).value();
    ASSERT_EQ(slots.size(), 2u);
    EXPECT_EQ(slots[0].corrected, 1);
    EXPECT_EQ(slots[1].failed, 1);
    EXPECT_EQ(slots[1].begin - slots[0].begin, kRunSlot);
    EXPECT_EQ(run_counts(db(), 0, runs[1].id).value().size(), 1u);

    const auto run = find_run(db(), runs[0].hash_text()).value();
    ASSERT_TRUE(run);
    EXPECT_EQ(run->certname, "n1");
    EXPECT_EQ(run->environment, "e");
    EXPECT_FALSE(find_run(db(), "00").value());
    EXPECT_EQ(run_data(db(), run->row.id).value().logs, "[]");
    const auto events = run_events(db(), run->row, "failure", 10).value();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].title, "/1");
    EXPECT_EQ(events[0].new_value, "\"a\"");
    EXPECT_EQ(events[0].line, 3);
    EXPECT_EQ(run_events(db(), run->row, 10).value().size(), 1u);
    const auto drift = drift_of_node(db(), node, 0, 10).value();
    ASSERT_EQ(drift.size(), 1u);
    EXPECT_EQ(drift[0].times, 1);
    EXPECT_EQ(drift[0].report, runs[1].hash);
    EXPECT_EQ(first_failure(db(), "File", "/1").value()->code, "abc");
    EXPECT_FALSE(first_failure(db(), "File", "/2").value());
    EXPECT_EQ(run_after(db(), runs[1]).value()->hash, runs[0].hash);
    EXPECT_FALSE(run_after(db(), runs[0]).value());
    EXPECT_EQ(fact_values(db(), "role").value().at(nodes[1].run.node), "\"web\"");
}

BUNRAKU_ON_BACKENDS(Runs);

}  // namespace
}  // namespace bunraku::store
