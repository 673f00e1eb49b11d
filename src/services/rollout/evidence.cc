// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/evidence.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/arena.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "resources/catalog/diff.h"
#include "store/engine/created_resources.h"
#include "store/engine/fact_history.h"
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
        const auto change = event.status == "success"
                                ? store::existence_change(event.type, event.property,
                                                          event.old_value, event.new_value)
                                : store::Existence::Same;
        out.push_back({.resource = resource_of(event),
                       .property = event.property,
                       .failed = event.status == "failure",
                       .noop = event.status == "noop",
                       .corrective = event.corrective,
                       .created = change == store::Existence::Created,
                       .removed = change == store::Existence::Removed});
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

Result<JudgedRun> judged_run(Database& db, const store::RunRow& row, std::string_view environment) {
    JudgedRun out{.id = row.id,
                  .report = row.hash_text(),
                  .transaction = {},
                  .start = row.start,
                  .end = row.end,
                  .received = row.received,
                  .failed = row.status == store::RunStatus::Failed,
                  .noop = row.noop,
                  .events = {}};
    if (const auto run = BUNRAKU_TRY(store::find_run(db, out.report))) {
        out.transaction = run->transaction_uuid;
        out.cached_on_failure = run->cached_catalog_status == "on_failure";
        out.elsewhere = !run->environment.empty() && run->environment != environment;
    }
    out.skipped = skips_resources(BUNRAKU_TRY(store::run_data(db, row.id)).metrics);
    out.events = judged_events(BUNRAKU_TRY(store::run_events(db, row, kMostEvents)));
    return out;
}

bool is_within(const std::vector<Period>& periods, std::int64_t time) {
    return std::ranges::any_of(
        periods, [&](const Period& one) { return time >= one.from && time <= one.until; });
}

/// Adds the evidence of the runs before the move and outside of `rollouts`. `runs` are newest
/// first.
void add_history(JudgedNode& node, const std::vector<Period>& rollouts) {
    std::map<std::string, int> changes;
    std::size_t seen = 0;
    for (const JudgedRun& run : node.runs) {
        if (run.elsewhere || seen == kRunsBefore || !is_before_move(node, run)) continue;
        if (is_within(rollouts, run.received)) continue;
        if (seen++ == 0) {
            node.run_failed_before = run.failed;
            for (const JudgedEvent& event : run.events)
                if (event.failed) node.failed_before.insert(event.resource);
        }
        std::set<std::string> once;
        for (const JudgedEvent& event : run.events) {
            if (event.failed || event.noop || event.corrective) continue;
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

/// Reports whether a group of the plan predicts a difference of a resource. `parameter` is empty
/// for a resource that was added or removed.
bool is_planned(const Plan& plan, const PlannedNode& planned, std::string_view kind,
                const std::string& reference, std::string_view parameter) {
    return std::ranges::any_of(planned.groups, [&](std::uint32_t index) {
        const PlannedGroup& group = plan.groups[index];
        if (with_identity(group.reference, planned) != reference) return false;
        if (group.kind == "content") return kind == "changed";
        // A parameter that is a hash is listed with its keys.
        return group.kind == kind && group.parameter.starts_with(parameter);
    });
}

using Difference = std::pair<std::string, std::string>;  ///< "Type[title]" and parameter

std::vector<Difference> changed_parameters(const catalog::CatalogDiff& difference) {
    std::vector<Difference> out;
    for (const auto& change : difference.changed)
        for (const auto& parameter : change.parameters)
            out.emplace_back(change.ref.to_string(), parameter.name);
    return out;
}

constexpr catalog::DiffOptions kCompared{.tags = false, .containers = false, .classes = false};

/// Returns the parameters that differed in two of the last catalogs before the move. The clock or
/// another outside value may change them. Changes in earlier rollouts do not count, because the
/// node may have moved to their version and back.
Result<std::set<Difference>> restless_parameters(Database& db, const std::string& certname,
                                                 std::int64_t moved,
                                                 const std::vector<Period>& rollouts) {
    constexpr int kMost = 4;
    std::map<Difference, int> counts;
    std::optional<store::PastCatalog> newer;
    std::int64_t time = moved - 1;
    for (int i = 0; i <= kMost; ++i) {
        auto older = BUNRAKU_TRY(store::catalog_at(db, certname, time));
        if (!older) break;
        if (newer && !is_within(rollouts, newer->version.valid_from)) {
            for (auto& one :
                 changed_parameters(catalog::diff(older->catalog, newer->catalog, kCompared)))
                ++counts[std::move(one)];
        }
        time = older->version.valid_from - 1;
        newer = std::move(older);
    }
    std::set<Difference> out;
    for (const auto& [key, count] : counts)
        if (count >= 2) out.insert(key);
    return out;
}

/// Returns a difference between two catalogs that the plan does not contain.
Result<std::string> unplanned_difference(Database& db, const Plan& plan, const PlannedNode& planned,
                                         const catalog::Catalog& before,
                                         const catalog::Catalog& after, std::int64_t moved,
                                         const std::vector<Period>& rollouts) {
    const auto difference = catalog::diff(before, after, kCompared);
    const auto whole = [&](const std::vector<catalog::Ref>& refs,
                           std::string_view kind) -> Result<std::string> {
        for (const catalog::Ref& ref : refs) {
            if (is_planned(plan, planned, kind, ref.to_string(), "")) continue;
            // Resources that other nodes export come and go with these nodes.
            if (BUNRAKU_TRY(store::is_exported(db, ref.type, ref.title))) continue;
            return fmt::format("{} was {} in the catalog, which the plan does not predict",
                               ref.to_string(), kind);
        }
        return std::string();
    };
    if (auto found = BUNRAKU_TRY(whole(difference.added, "added")); !found.empty()) return found;
    if (auto found = BUNRAKU_TRY(whole(difference.removed, "removed")); !found.empty())
        return found;
    std::optional<std::set<Difference>> restless;
    for (const auto& change : difference.changed) {
        for (const auto& parameter : change.parameters) {
            const std::string reference = change.ref.to_string();
            if (is_planned(plan, planned, "changed", reference, parameter.name)) continue;
            if (BUNRAKU_TRY(store::is_exported(db, change.ref.type, change.ref.title))) continue;
            if (!restless)
                restless = BUNRAKU_TRY(restless_parameters(db, planned.name, moved, rollouts));
            if (restless->contains({reference, parameter.name})) continue;
            return fmt::format("{} {} changed in the catalog, which the plan does not predict",
                               reference, parameter.name);
        }
    }
    return std::string();
}

/// Compares the first catalog after the move with the prediction, if nothing but the new version
/// can be the cause of a difference.
Result<void> add_unplanned(Database& db, const Plan& plan, const PlannedNode& planned,
                           const store::NodeVersion& row, const EvidenceTimes& times,
                           const std::vector<store::CatalogVersion>& versions, JudgedNode& node) {
    const auto facts = plan.made == 0 ? std::vector<std::string>()
                                      : BUNRAKU_TRY(changed_facts(db, planned.name, plan.made));
    if (!facts.empty()) {
        node.note = fmt::format("Facts have changed since the plan: {}", fmt::join(facts, ", "));
        return {};
    }
    const bool varies = std::ranges::any_of(
        plan.unpredictable, [&](const auto& one) { return one.name == planned.name; });
    const bool ran_before = std::ranges::any_of(node.runs, [&](const JudgedRun& run) {
        return run.received < node.moved && !run.elsewhere && run.start > times.base_since;
    });
    if (plan.made == 0 || node.any_change || varies || row.previous != plan.from.version ||
        times.base_since == 0 || !ran_before)
        return {};
    std::int64_t first = 0;
    for (const auto& version : versions)  // newest first
        if (version.valid_from >= node.moved) first = version.valid_from;
    const auto before = BUNRAKU_TRY(store::catalog_at(db, planned.name, node.moved - 1));
    const auto after = BUNRAKU_TRY(store::catalog_at(db, planned.name, first));
    if (!before || !after) return {};
    for (const auto* one : {&*before, &*after})
        if (!one->version.environment.empty() && one->version.environment != plan.environment)
            return {};
    node.unplanned = BUNRAKU_TRY(unplanned_difference(db, plan, planned, before->catalog,
                                                      after->catalog, node.moved, times.rollouts));
    return {};
}

/// Adds the difference between the node's catalogs before and after the move.
Result<void> add_catalogs(Database& db, const Plan& plan, const PlannedNode& planned,
                          const store::NodeVersion& row, const EvidenceTimes& times,
                          JudgedNode& node) {
    const auto versions = BUNRAKU_TRY(store::catalog_versions(db, planned.name));
    if (versions.empty() || versions.front().valid_from < node.moved) return {};
    BUNRAKU_TRY_VOID(add_unplanned(db, plan, planned, row, times, versions, node));
    // Without these catalogs, the plan alone says what may change.
    const auto before = store::catalog_at(db, planned.name, node.moved - 1);
    const auto after = store::catalog_at(db, planned.name, INT64_MAX);
    if (!before || !*before || !after || !*after) return {};
    const catalog::Catalog& present = (*after)->catalog;
    const auto difference = catalog::diff((*before)->catalog, present, kCompared);
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

const JudgedRun* KnownRuns::find(std::int64_t id) const {
    const auto at = runs_.find(id);
    return at == runs_.end() ? nullptr : &at->second;
}

void KnownRuns::add(const JudgedRun& run) {
    constexpr std::size_t kMost = 30'000;  // the last runs of 1,000 nodes
    if (runs_.size() >= kMost) runs_.clear();
    // A run with many events would need much memory.
    constexpr std::size_t kMostEventsKept = 50;
    if (run.events.size() <= kMostEventsKept) runs_.insert_or_assign(run.id, run);
}

Result<std::vector<JudgedRun>> read_runs(Database& db, std::string_view certname,
                                         std::string_view environment, std::int64_t since,
                                         KnownRuns& known) {
    std::vector<JudgedRun> out;
    const auto node = BUNRAKU_TRY(store::find_node(db, certname));
    if (!node) return out;
    for (const auto& run :
         BUNRAKU_TRY(store::runs_of_node(db, node->run.node, INT64_MAX, kMostRuns))) {
        if (run.received < since) break;
        if (const JudgedRun* before = known.find(run.id)) {
            out.push_back(*before);
            continue;
        }
        out.push_back(BUNRAKU_TRY(judged_run(db, run, environment)));
        known.add(out.back());
    }
    return out;
}

Result<JudgedNode> read_evidence(Database& db, const Plan& plan, const PlannedNode& planned,
                                 const store::NodeVersion& row, const EvidenceTimes& times,
                                 KnownRuns& known) {
    JudgedNode out{.moved = row.since,
                   .transaction = row.transaction,
                   .now = times.now,
                   .outages = times.outages};
    // Custom types and facts may change anything, and nothing is known about other nodes.
    out.any_change = planned.groups.empty();
    for (const auto index : planned.groups) {
        const PlannedGroup& group = plan.groups[index];
        if (group.kind == "plugins") out.any_change = true;
        out.expected.insert(with_identity(group.reference, planned));
    }
    out.runs = BUNRAKU_TRY(read_runs(db, planned.name, plan.environment, 0, known));
    add_history(out, times.rollouts);
    out.usual_gap = usual_gap(out.runs, out.moved);
    BUNRAKU_TRY_VOID(add_catalogs(db, plan, planned, row, times, out));
    return out;
}

Result<std::vector<Period>> earlier_rollouts(Database& db, const store::RolloutRow& row) {
    // A run of the previous version that began in the rollout may end after it.
    constexpr std::int64_t kLongestRun = 3'600'000;
    constexpr std::int64_t kMost = 20;
    std::vector<Period> out;
    for (const auto& other :
         BUNRAKU_TRY(store::list_rollouts(db, row.environment, store::Which::All, kMost + 1))) {
        if (other.id >= row.id) continue;
        out.push_back({.from = other.started, .until = other.since + kLongestRun});
    }
    return out;
}

Result<std::vector<std::string>> changed_facts(Database& db, const std::string& certname,
                                               std::int64_t since) {
    constexpr int kVersionsBefore = 5;
    std::map<std::string, int> before;
    std::set<std::string> after;
    int seen = 0;
    for (const auto& version : BUNRAKU_TRY(store::facts_versions(db, certname))) {
        if (version.valid_from > since) {
            after.insert(version.changed.begin(), version.changed.end());
        } else if (seen++ < kVersionsBefore) {
            for (const std::string& name : version.changed) ++before[name];
        }
    }
    std::vector<std::string> out;
    for (const std::string& name : after)
        if (before[name] < 2) out.push_back(name);
    return out;
}

Result<bool> fails_newly(Database& db, const std::string& certname, std::int64_t since) {
    const auto node = BUNRAKU_TRY(store::find_node(db, certname));
    if (!node) return false;
    const auto runs = BUNRAKU_TRY(store::runs_of_node(db, node->run.node, INT64_MAX, 10));
    bool failed = false;
    for (const store::RunRow& run : runs) {
        if (run.received >= since) {
            failed = failed || run.status == store::RunStatus::Failed;
        } else {
            return failed && run.status != store::RunStatus::Failed;
        }
    }
    return failed;
}

}  // namespace bunraku::rollout
