// SPDX-License-Identifier: Apache-2.0
#include "services/console/fleet.h"

#include <algorithm>

#include "core/base/assert.h"
#include "language/types/factory.h"

namespace bunraku::console {

using base::Result;
using store::NodeRow;
using store::RunRow;

namespace {

/// Reports within this distance below the newest id are read again.
constexpr std::int64_t kLateReports = 1000;
/// More new reports than this are not applied one by one; all nodes are read again instead.
constexpr std::size_t kMostNew = 50'000;
constexpr std::size_t kMostGroupings = 16;
constexpr std::int64_t kGroupingMs = 60'000;

void count_run(std::vector<store::RunCounts>& slots, const RunRow& run) {
    const auto begin = run.end / store::kRunSlot * store::kRunSlot;
    auto at = std::ranges::lower_bound(slots, begin, {}, &store::RunCounts::begin);
    if (at == slots.end() || at->begin != begin) at = slots.insert(at, {.begin = begin});
    at->add(run);
}

void forget_before(std::vector<store::RunCounts>& slots, std::int64_t since) {
    std::erase_if(slots, [&](const auto& slot) { return slot.begin + store::kRunSlot <= since; });
}

}  // namespace

std::string_view Fleet::environment(const RunRow& run) const {
    const auto it = environments.find(run.environment);
    return it == environments.end() ? std::string_view() : it->second;
}

const NodeRow* Fleet::find(std::string_view certname) const {
    const auto it = std::ranges::lower_bound(nodes, certname, {}, &NodeRow::certname);
    return it == nodes.end() || it->certname != certname ? nullptr : &*it;
}

StateCounts Fleet::count(const Viewer& viewer, std::int64_t now_ms) const {
    StateCounts out;
    for (const NodeRow& node : nodes)
        if (viewer.sees(environment(node.run))) out.add(state_of(node.run, now_ms));
    return out;
}

std::string_view Grouping::of(const NodeRow& node) const {
    const auto it = values.find(node.run.node);
    return it == values.end() ? std::string_view() : it->second;
}

void FleetWatch::put(std::shared_ptr<const Fleet> fleet) {
    const std::lock_guard lock(mutex_);
    fleet_ = std::move(fleet);
}

Result<std::shared_ptr<const Fleet>> FleetWatch::load(const Fleet* before) {
    auto db = BUNRAKU_TRY(store_->reader());
    auto out = std::make_shared<Fleet>();
    // The id is read first, so that reports that arrive meanwhile are read again.
    out->last_report = BUNRAKU_TRY(store::last_report_id(*db));
    out->nodes = BUNRAKU_TRY(store::active_nodes(*db));
    // The database may sort by other rules than bytes.
    std::ranges::sort(out->nodes, {}, &NodeRow::certname);
    out->environments = BUNRAKU_TRY(store::environment_names(*db));
    if (before) {
        // The counts contain exactly the reports up to the earlier id.
        out->last_report = before->last_report;
        out->slots = before->slots;
        out->counted = before->counted;
    }
    return std::shared_ptr<const Fleet>(std::move(out));
}

Result<std::shared_ptr<const Fleet>> FleetWatch::advance(std::shared_ptr<const Fleet> from,
                                                         std::vector<RunRow>& news) {
    std::vector<RunRow> runs;
    {
        auto db = BUNRAKU_TRY(store_->reader());
        runs = BUNRAKU_TRY(store::runs_after(*db, from->last_report - kLateReports, kMostNew));
    }
    const bool first = recent_.empty();
    std::unordered_set<std::int64_t> seen;
    for (const RunRow& run : runs) seen.insert(run.id);
    std::erase_if(runs, [&](const RunRow& run) {
        // The first load has read everything up to the last report.
        return first ? run.id <= from->last_report : recent_.contains(run.id);
    });
    recent_.merge(seen);
    if (runs.empty()) return from;
    news = runs;
    auto out = std::make_shared<Fleet>(*from);
    std::unordered_map<std::int64_t, NodeRow*> by_id;
    by_id.reserve(out->nodes.size());
    for (NodeRow& node : out->nodes) by_id.emplace(node.run.node, &node);
    bool unknown = runs.size() == kMostNew;
    for (RunRow& run : runs) {
        out->last_report = std::max(out->last_report, run.id);
        if (out->counted) count_run(out->slots, run);
        unknown |= !out->environments.contains(run.environment);
        const auto it = by_id.find(run.node);
        if (it == by_id.end()) {
            unknown = true;  // a new or reactivated node
        } else if (run.end >= it->second->run.end) {
            it->second->run = std::move(run);
        }
    }
    forget_before(out->slots, runtime_.now_ms() - kDayMs);
    std::erase_if(recent_, [&](std::int64_t id) { return id < out->last_report - kLateReports; });
    if (!unknown) return std::shared_ptr<const Fleet>(std::move(out));
    return load(out.get());
}

/// The caller holds the lock.
void FleetWatch::add_news(const Fleet& fleet, const std::vector<RunRow>& runs) {
    if (runs.empty()) return;
    std::unordered_map<std::int64_t, const NodeRow*> by_id;
    by_id.reserve(fleet.nodes.size());
    for (const NodeRow& node : fleet.nodes) by_id.emplace(node.run.node, &node);
    for (const RunRow& run : runs) {
        const auto it = by_id.find(run.node);
        if (it == by_id.end()) continue;
        news_.push_back({++newest_news_, it->second->certname, std::string(fleet.environment(run)),
                         run.hash_text(), state_of_run(run), run.end});
        if (news_.size() > kMostNews) news_.pop_front();
    }
}

std::uint64_t FleetWatch::newest_news() const {
    const std::lock_guard lock(mutex_);
    return newest_news_;
}

std::optional<std::vector<RunNews>> FleetWatch::news_after(std::uint64_t number) const {
    const std::lock_guard lock(mutex_);
    if (number < newest_news_ && (news_.empty() || news_.front().number > number + 1))
        return std::nullopt;
    std::vector<RunNews> out;
    for (const RunNews& run : news_)
        if (run.number > number) out.push_back(run);
    return out;
}

Result<void> FleetWatch::count_day() {
    std::shared_ptr<const Fleet> from;
    {
        const std::lock_guard lock(mutex_);
        from = fleet_;
    }
    BUNRAKU_ASSERT(from);
    auto db = BUNRAKU_TRY(store_->reader());
    auto slots = BUNRAKU_TRY(store::run_counts(*db, runtime_.now_ms() - kDayMs, from->last_report));
    // Runs that arrived during the count are added one by one.
    auto later = BUNRAKU_TRY(store::runs_after(*db, from->last_report, kMostNew));
    const std::lock_guard refreshing(refresh_);
    const std::lock_guard lock(mutex_);
    auto out = std::make_shared<Fleet>(*fleet_);
    for (const RunRow& run : later)
        if (run.id <= out->last_report) count_run(slots, run);
    out->slots = std::move(slots);
    out->counted = true;
    fleet_ = std::move(out);
    return {};
}

void FleetWatch::reload_later() {
    if (reloading_.exchange(true)) return;
    const bool posted = aside_.post([this] {
        bool counted = true;
        {
            const std::lock_guard refreshing(refresh_);
            std::shared_ptr<const Fleet> before;
            {
                const std::lock_guard lock(mutex_);
                before = fleet_;
            }
            counted = before->counted;
            if (auto loaded = load(before.get())) put(std::move(*loaded));
        }
        if (!counted) (void)count_day();
        reloading_ = false;
    });
    if (!posted) reloading_ = false;
}

Result<std::shared_ptr<const Fleet>> FleetWatch::current(bool* stale) {
    const auto now = runtime_.now_ms();
    std::unique_lock refreshing(refresh_, std::defer_lock);
    std::shared_ptr<const Fleet> known;
    bool reload = false;
    {
        const std::lock_guard lock(mutex_);
        known = fleet_;
        if (known && now - advanced_ms_ < kFreshMs) return known;
        reload = known && (now - loaded_ms_ >= kReloadMs || !known->counted);
        if (reload) loaded_ms_ = now;
    }
    // Only one request reads the store. Others get the last state, unless there is none.
    if (known && !refreshing.try_lock()) return known;
    if (!known) refreshing.lock();
    {
        // Another request may have advanced the fleet meanwhile.
        const std::lock_guard lock(mutex_);
        known = fleet_;
    }
    std::vector<RunRow> news;
    auto next = known ? advance(known, news) : load(nullptr);
    if (!next) {
        if (!known) return next;
        if (stale) *stale = true;
        return known;
    }
    {
        const std::lock_guard lock(mutex_);
        if (!fleet_) loaded_ms_ = now;
        fleet_ = *next;
        add_news(**next, news);
        advanced_ms_ = now;
    }
    refreshing.unlock();
    if (reload || !known) reload_later();
    return next;
}

Result<std::shared_ptr<const Grouping>> FleetWatch::grouping(std::string_view fact) {
    const auto now = runtime_.now_ms();
    {
        const std::lock_guard lock(mutex_);
        const auto it = groupings_.find(fact);
        if (it != groupings_.end() && now - it->second.made_ms < kGroupingMs)
            return it->second.grouping;
    }
    auto out = std::make_shared<Grouping>();
    if (fact == "environment") {
        const auto fleet = BUNRAKU_TRY(current());
        for (const NodeRow& node : fleet->nodes)
            out->values.emplace(node.run.node, fleet->environment(node.run));
    } else if (fact.starts_with(kClassGrouping)) {
        auto db = BUNRAKU_TRY(store_->reader());
        out->values = BUNRAKU_TRY(store::class_values(
            *db, types::capitalize_segments(fact.substr(kClassGrouping.size()))));
    } else {
        auto db = BUNRAKU_TRY(store_->reader());
        out->values = BUNRAKU_TRY(store::fact_values(*db, fact));
        for (auto& [node, json] : out->values) {
            // A text without its quotes; other values as JSON.
            if (json.size() >= 2 && json.starts_with('"') && json.find('\\') == std::string::npos)
                json = json.substr(1, json.size() - 2);
        }
    }
    const std::lock_guard lock(mutex_);
    if (groupings_.size() >= kMostGroupings) groupings_.clear();
    return groupings_.insert_or_assign(std::string(fact), CachedGrouping{std::move(out), now})
        .first->second.grouping;
}

}  // namespace bunraku::console
