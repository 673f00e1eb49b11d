// SPDX-License-Identifier: Apache-2.0
#include "sim/rollout_texts.h"

#include <fmt/format.h>
#include <vector>

#include "resources/catalog/wire_time.h"

namespace bunraku::sim {

namespace {

struct Event {
    std::string_view path, property;
    bool failed = false, corrective = false;
};

std::vector<Event> events_of(const RunOfNode& run) {
    std::vector<Event> events;
    const bool is_new = run.version == kNew;
    if (is_new && run.kind == Kind::FailsToCompile) return events;
    if (run.moved && !run.first_ever) {
        events.push_back({"/etc/app", "content"});
        if (run.os == "b") events.push_back({"/etc/b", "content"});
    }
    // A run changes a property once. If it had drifted as well, the change would count as
    // corrective.
    const bool changes_mode = is_new && run.kind == Kind::Unpredicted && run.moved;
    if (run.drifted && !changes_mode) events.push_back({"/etc/other", "mode", false, true});
    if (!is_new) return events;
    switch (run.kind) {
        case Kind::FailsOnTheNode: events.push_back({"/etc/app", "ensure", true}); break;
        case Kind::FailsOnOneOs:
            if (run.os == "b") events.push_back({"/etc/b", "ensure", true});
            break;
        case Kind::Unpredicted:
            if (changes_mode) events.push_back({"/etc/other", "mode"});
            break;
        case Kind::NotIdempotent:
            if (!run.moved) events.push_back({"/etc/app", "content"});
            break;
        case Kind::BreaksTheSecondRun:
            if (run.runs_of_version > 1) events.push_back({"/etc/app", "ensure", true});
            break;
        default: break;
    }
    return events;
}

}  // namespace

std::string catalog_text(const RunOfNode& run) {
    const bool is_new = run.version == kNew;
    std::string resources;
    const auto add = [&](std::string_view path, std::string_view content, std::string_view mode) {
        resources += fmt::format(
            R"({}{{"type":"File","title":"{}","aliases":[],"exported":false,"file":null,)"
            R"("line":null,"tags":["file"],"parameters":{{"content":"{}","mode":"{}"}}}})",
            resources.empty() ? "" : ",", path, content, mode);
    };
    add("/etc/app", is_new ? "2" : "1", "0644");
    if (run.os == "b") add("/etc/b", is_new ? "2" : "1", "0644");
    const bool mode = is_new && run.kind == Kind::Unpredicted && run.changes_a_mode;
    add("/etc/other", "1", mode ? "0600" : "0644");
    return fmt::format(
        R"({{"certname":"{}","version":"1","environment":"production","transaction_uuid":null,)"
        R"("catalog_uuid":null,"code_id":null,"producer_timestamp":"{}","producer":null,)"
        R"("edges":[],"resources":[{}],"job_id":null}})",
        run.node, catalog::format_wire_time(run.now_ms), resources);
}

std::string report_text(const RunOfNode& run) {
    std::string resources;
    bool failed = false, changed = false;
    const auto now = catalog::format_wire_time(run.now_ms);
    for (const Event& event : events_of(run)) {
        failed |= event.failed;
        changed |= !event.failed;
        resources += fmt::format(
            R"({}{{"resource_type":"File","resource_title":"{}","file":null,"line":null,)"
            R"("timestamp":"{}","skipped":false,"containment_path":[],"corrective_change":{},)"
            R"("events":[{{"status":"{}","timestamp":"{}","property":"{}","name":"x",)"
            R"("new_value":"1","old_value":"0","message":"x","corrective_change":{}}}]}})",
            resources.empty() ? "" : ",", event.path, now, event.corrective,
            event.failed ? "failure" : "success", now, event.property, event.corrective);
    }
    const bool cached = run.version == kNew && run.kind == Kind::FailsToCompile;
    return fmt::format(
        R"({{"certname":"{0}","puppet_version":"8","report_format":12,)"
        R"("configuration_version":"c","start_time":"{1}","end_time":"{2}",)"
        R"("producer_timestamp":"{2}","producer":null,"environment":"production",)"
        R"("transaction_uuid":"{3}","catalog_uuid":null,"code_id":null,"job_id":null,)"
        R"("cached_catalog_status":"{4}","status":"{5}","noop":false,"noop_pending":false,)"
        R"("corrective_change":false,"logs":[],"metrics":[],"resources":[{6}],"type":"agent"}})",
        run.node, catalog::format_wire_time(run.started_ms), now, run.transaction,
        cached ? "on_failure" : "not_used",
        failed    ? "failed"
        : changed ? "changed"
                  : "unchanged",
        resources);
}

std::string facts_text(std::string_view node, std::string_view value, std::int64_t now_ms) {
    return fmt::format(R"({{"certname":"{}","environment":"production","producer_timestamp":"{}",)"
                       R"("producer":null,"values":{{"role":"{}"}}}})",
                       node, catalog::format_wire_time(now_ms), value);
}

}  // namespace bunraku::sim
