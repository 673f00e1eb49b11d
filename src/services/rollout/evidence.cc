// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/evidence.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/base/arena.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "resources/catalog/diff.h"
#include "store/engine/history.h"
#include "store/engine/runs.h"

namespace bunraku::rollout {

using base::Result;
using store::Database;

namespace {

constexpr std::size_t kMostRuns = 30, kMostEvents = 5000, kRunsBefore = 5;

std::string resource_of(const store::RunEvent& event) {
    return fmt::format("{}[{}]", event.type, event.title);
}

std::vector<JudgedEvent> judged_events(const std::vector<store::RunEvent>& events) {
    std::vector<JudgedEvent> out;
    for (const store::RunEvent& event : events) {
        if (event.status == "audit" || event.status == "skipped") continue;
        out.push_back({.resource = resource_of(event),
                       .property = event.property,
                       .failed = event.status == "failure",
                       .noop = event.status == "noop",
                       .corrective = event.corrective});
    }
    return out;
}

/// Reports whether the metrics of a report count skipped resources.
bool skips_resources(const std::string& metrics) {
    base::Arena arena(metrics.size() + 1024);
    const auto data = value::parse_json(arena, metrics);
    if (!data || !data->is_array()) return false;
    return std::ranges::any_of(data->as_array(), [](const value::Value& one) {
        const value::Value* number = at(one, "value");
        return text_at(one, "category") == "resources" && text_at(one, "name") == "skipped" &&
               number && number->is_numeric() && number->as_number() > 0;
    });
}

Result<JudgedRun> judged_run(Database& db, const store::RunRow& row) {
    JudgedRun out{.report = row.hash_text(),
                  .transaction = {},
                  .start = row.start,
                  .failed = row.status == store::RunStatus::Failed,
                  .noop = row.noop,
                  .events = {}};
    if (const auto run = BUNRAKU_TRY(store::find_run(db, out.report))) {
        out.transaction = run->transaction_uuid;
        out.cached_on_failure = run->cached_catalog_status == "on_failure";
        out.received = run->received;
    }
    out.skipped = skips_resources(BUNRAKU_TRY(store::run_data(db, row.id)).metrics);
    out.events = judged_events(BUNRAKU_TRY(store::run_events(db, row, kMostEvents)));
    return out;
}

/// Adds what the runs before the move say. `runs` are newest first.
void add_history(JudgedNode& node) {
    std::map<std::string, int> changes;
    std::size_t seen = 0;
    for (const JudgedRun& run : node.runs) {
        if (run.received >= node.moved || seen == kRunsBefore) continue;
        if (seen++ == 0) {
            node.run_failed_before = run.failed;
            for (const JudgedEvent& event : run.events)
                if (event.failed) node.failed_before.insert(event.resource);
        }
        std::set<std::string> once;
        for (const JudgedEvent& event : run.events) {
            if (event.failed || event.noop) continue;
            once.insert(event.property.empty() ? event.resource
                                               : event.resource + " " + event.property);
        }
        for (const std::string& key : once) ++changes[key];
    }
    for (const auto& [key, count] : changes)
        if (count >= 2) node.habitual.insert(key);
}

std::int64_t usual_gap(const std::vector<JudgedRun>& runs, std::int64_t moved) {
    std::vector<std::int64_t> starts, gaps;
    for (const JudgedRun& run : runs)
        if (run.received < moved) starts.push_back(run.start);
    std::ranges::sort(starts);
    for (std::size_t i = 1; i < starts.size(); ++i) gaps.push_back(starts[i] - starts[i - 1]);
    if (gaps.empty()) return 0;
    std::ranges::sort(gaps);
    return gaps[gaps.size() / 2];
}

/// Reports whether a resource's new content must be written in the next full run.
bool must_write(const catalog::Catalog& catalog, const std::string& reference) {
    for (const catalog::Resource& resource : catalog.resources) {
        if (fmt::format("{}[{}]", resource.ref.type, resource.ref.title) != reference) continue;
        return std::ranges::none_of(resource.parameters, [](const auto& parameter) {
            return parameter.name == "replace" || parameter.name == "noop" ||
                   parameter.name == "schedule" || parameter.name == "checksum";
        });
    }
    return false;
}

/// Adds the difference between the node's catalogs before and after the move.
Result<void> add_catalogs(Database& db, const Plan& plan, const PlannedNode& planned,
                          JudgedNode& node) {
    const auto versions = BUNRAKU_TRY(store::catalog_versions(db, planned.name));
    if (versions.empty() || versions.front().valid_from < node.moved) return {};
    // Without these catalogs, the plan alone says what may change.
    const auto before = store::catalog_at(db, planned.name, node.moved - 1);
    const auto after = store::catalog_at(db, planned.name, INT64_MAX);
    if (!before || !*before || !after || !*after) return {};
    const catalog::Catalog& present = (*after)->catalog;
    const auto difference = catalog::diff((*before)->catalog, present,
                                          {.tags = false, .containers = false, .classes = false});
    for (const auto* list : {&difference.added, &difference.removed})
        for (const catalog::Ref& ref : *list)
            node.expected.insert(fmt::format("{}[{}]", ref.type, ref.title));
    for (const catalog::ResourceChange& change : difference.changed)
        node.expected.insert(fmt::format("{}[{}]", change.ref.type, change.ref.title));
    for (const auto index : planned.groups) {
        const PlannedGroup& group = plan.groups[index];
        const std::string reference = with_identity(group.reference, planned);
        const bool content = group.kind == "changed" && group.parameter == "content" &&
                             reference.starts_with("File[");
        if (content && !node.failed_before.contains(reference) && must_write(present, reference))
            node.required.insert(reference + " content");
    }
    return {};
}

}  // namespace

Result<JudgedNode> read_evidence(Database& db, const Plan& plan, const PlannedNode& planned,
                                 const store::NodeVersion& row, std::int64_t now) {
    JudgedNode out{.moved = row.since, .transaction = row.transaction, .now = now};
    // Custom types and facts may change anything, and nothing is known about other nodes.
    out.any_change = planned.groups.empty();
    for (const auto index : planned.groups) {
        const PlannedGroup& group = plan.groups[index];
        if (group.kind == "plugins") out.any_change = true;
        out.expected.insert(with_identity(group.reference, planned));
    }
    const auto node = BUNRAKU_TRY(store::find_node(db, planned.name));
    if (!node) return out;
    for (const auto& run :
         BUNRAKU_TRY(store::runs_of_node(db, node->run.node, INT64_MAX, kMostRuns)))
        out.runs.push_back(BUNRAKU_TRY(judged_run(db, run)));
    add_history(out);
    out.usual_gap = usual_gap(out.runs, out.moved);
    BUNRAKU_TRY_VOID(add_catalogs(db, plan, planned, out));
    return out;
}

Result<bool> fails_newly(Database& db, const std::string& certname, std::int64_t since) {
    const auto node = BUNRAKU_TRY(store::find_node(db, certname));
    if (!node) return false;
    const auto runs = BUNRAKU_TRY(store::runs_of_node(db, node->run.node, INT64_MAX, 10));
    bool failed = false;
    for (const store::RunRow& run : runs) {
        if (run.end >= since) {
            failed = failed || run.status == store::RunStatus::Failed;
        } else {
            return failed && run.status != store::RunStatus::Failed;
        }
    }
    return failed;
}

}  // namespace bunraku::rollout
