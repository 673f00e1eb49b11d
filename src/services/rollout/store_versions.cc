// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/store_versions.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/sys/disk.h"

namespace bunraku::rollout {

using base::failure;
using base::Result;
using server::NodeRun;

namespace {

/// Returned with 503, so that agents try again.
constexpr int kUnknownVersion = 503;

std::chrono::milliseconds lease_of(std::int64_t lease) {
    return std::chrono::milliseconds(lease - kLeaseMargin);
}

/// Reports whether `epoch` is still the present one and all servers know its targets, until the
/// caller's transaction ends. `now` becomes the time of the database.
Result<bool> is_known_by_all(store::Database& db, const LeaseClock& clock, std::int64_t epoch,
                             Lease lease, std::int64_t& now) {
    const auto epochs = BUNRAKU_TRY(store::lock_epochs(db, store::EpochLock::Share));
    now = BUNRAKU_TRY(store::database_time(db));
    const VersionTable table{.epoch = epochs.present,
                             .joined = epochs.joined,
                             .environments = {},
                             .servers = BUNRAKU_TRY(store::rollout_servers(db))};
    return table.epoch == epoch && table.known_by_all(clock, lease);
}

}  // namespace

StoreVersions::StoreVersions(std::shared_ptr<store::Service> service, sys::Runtime& runtime,
                             std::string marker, std::shared_ptr<server::VersionAuthority> runs)
    : service_(std::move(service)),
      runtime_(runtime),
      marker_(std::move(marker)),
      runs_(std::move(runs)),
      marked_(sys::disk().exists(marker_)),
      lease_clock_(runtime) {}

void StoreVersions::base(std::string_view environment, std::string_view version) {
    {
        const std::lock_guard lock(mutex_);
        bases_.insert_or_assign(std::string(environment), std::string(version));
    }
    runs_->base(environment, version);
}

Result<void> StoreVersions::move_base(std::string_view environment, std::string_view version) {
    return runs_->move_base(environment, version);
}

std::string StoreVersions::base_of(std::string_view environment) const {
    const auto at = bases_.find(environment);
    return at == bases_.end() ? std::string() : at->second;
}

void StoreVersions::remember_row(const store::NodeVersion& row) {
    table_.environments[row.environment].nodes.insert_or_assign(row.certname, row);
    if (reloading_ > 0) written_.push_back(row);
}

std::string StoreVersions::key_of(std::string_view environment, std::string_view node) {
    return fmt::format("{}\n{}", environment, node);
}

std::optional<std::string> StoreVersions::target(std::string_view environment,
                                                 std::string_view node) const {
    const std::lock_guard lock(mutex_);
    return table_.target(environment, node);
}

void StoreVersions::remember_transaction(const NodeRun& run) {
    if (run.transaction.empty()) return;
    constexpr std::size_t kMost = 500'000;
    if (transactions_.size() >= kMost) transactions_.clear();
    Transactions& known = transactions_[key_of(run.environment, run.node)];
    if (known.knows(run.transaction)) return;
    known.before = std::move(known.last);
    known.last = run.transaction;
}

std::optional<std::string> StoreVersions::recorded_version(const NodeRun& run) const {
    const auto at = table_.environments.find(run.environment);
    if (at == table_.environments.end()) return std::nullopt;
    const auto row = at->second.nodes.find(run.node);
    if (row != at->second.nodes.end()) return row->second.version;
    const bool member = at->second.rollout && at->second.rollout->waves->contains(run.node);
    return member ? std::optional(at->second.rollout->row.from) : std::nullopt;
}

std::string StoreVersions::present_version(const NodeRun& run, std::string_view base) const {
    return recorded_version(run).value_or(std::string(base));
}

bool StoreVersions::several_servers() const {
    return std::ranges::count_if(table_.servers,
                                 [](const auto& server) { return !server.forgotten; }) > 1;
}

std::optional<base::Error> StoreVersions::without_lease(std::string_view environment,
                                                        std::string_view node) const {
    const auto unknown = [&] {
        return base::Error{
            fmt::format("The version of environment '{}' for {} is not known, because the store "
                        "does not answer",
                        environment, node),
            kUnknownVersion};
    };
    if (!loaded_) return marked_ ? std::optional(unknown()) : std::nullopt;
    if (!several_servers()) return std::nullopt;
    const auto at = table_.environments.find(environment);
    if (at == table_.environments.end()) return std::nullopt;
    const EnvironmentVersions& versions = at->second;
    bool moved = versions.nodes.contains(node) || versions.tries.contains(node);
    bool member = moved;
    if (versions.rollout) {
        const auto wave = versions.rollout->waves->find(node);
        if (wave != versions.rollout->waves->end()) {
            member = true;
            moved = moved || has_new_version(position_of(versions.rollout->row), wave->second);
        }
    }
    if (!member) return std::nullopt;
    const auto lease = lease_of(moved ? kBackLease : kForwardLease);
    if (!contact_ || runtime_.now() - contact_->time > lease) return unknown();
    // Other servers may have waited longer than this one has measured.
    const std::chrono::milliseconds by_wall(runtime_.now_ms() - contact_->wall_ms);
    return by_wall > lease ? std::optional(unknown()) : std::nullopt;
}

Result<std::string> StoreVersions::begin(const NodeRun& run, std::string_view version) {
    std::unique_lock lock(mutex_);
    if (auto error = without_lease(run.environment, run.node)) {
        ++figures_.refused;
        return std::unexpected(std::move(*error));
    }
    // Another server may have moved the node since this one read the table.
    BUNRAKU_TRY_VOID(refresh(run, lock));
    const auto target = table_.target(run.environment, run.node);
    const std::string wanted = target.value_or(std::string(version));
    // If there is a target, `version` is the target. A node with a try but without a row has the
    // base.
    const std::string base = target ? base_of(run.environment) : std::string();
    std::string out = present_version(run, base.empty() ? version : base);
    const auto seen = transactions_.find(key_of(run.environment, run.node));
    const bool known = seen != transactions_.end() && seen->second.knows(run.transaction);
    if (out != wanted && !known && (!run.implied || is_idle(run)))
        out = BUNRAKU_TRY(move(run, out, wanted, lock));
    remember_transaction(run);
    NodeRun begun = run;
    begun.recorded = recorded_version(run).has_value();
    lock.unlock();
    return runs_->begin(begun, out);
}

bool StoreVersions::moved_elsewhere(const NodeRun& run, std::string_view version) const {
    const auto at = table_.environments.find(run.environment);
    if (at == table_.environments.end()) return false;
    const auto row = at->second.nodes.find(run.node);
    return row != at->second.nodes.end() && row->second.version != version;
}

Result<void> StoreVersions::refresh(const NodeRun& run, std::unique_lock<std::mutex>& lock) {
    BUNRAKU_ASSERT(lock.owns_lock());
    if (!several_servers()) return {};
    const std::string base = base_of(run.environment);
    const auto target = table_.target(run.environment, run.node);
    if (present_version(run, base) == target.value_or(base)) return {};
    lock.unlock();
    const auto row = [&]() -> Result<std::optional<store::NodeVersion>> {
        auto db = BUNRAKU_TRY(service_->reader());
        return store::node_version(*db, run.environment, run.node);
    }();
    lock.lock();
    if (!row) {
        ++figures_.refused;
        return failure(row.error().message, kUnknownVersion);
    }
    if (*row) remember_row(**row);
    return {};
}

bool StoreVersions::is_idle(const NodeRun& run) const {
    const auto at = table_.environments.find(run.environment);
    if (at == table_.environments.end()) return false;
    const auto row = at->second.nodes.find(run.node);
    return row != at->second.nodes.end() && row->second.idle && row->second.epoch > 0 &&
           row->second.epoch == table_.epoch;
}

Result<std::string> StoreVersions::move(const NodeRun& run, const std::string& before,
                                        const std::string& target,
                                        std::unique_lock<std::mutex>& lock) {
    BUNRAKU_ASSERT(lock.owns_lock() && before != target);
    ++figures_.asked;
    const auto at = table_.environments.find(run.environment);
    if (at == table_.environments.end()) return target;
    const EnvironmentVersions& versions = at->second;
    const auto known = versions.nodes.find(run.node);
    const std::string expected = known == versions.nodes.end() ? "" : known->second.version;
    const Lease lease = table_.lease(run.environment, run.node, target);
    const bool alone = !several_servers();
    const std::int64_t epoch = table_.epoch;
    store::NodeVersion wanted{.certname = std::string(run.node),
                              .environment = std::string(run.environment),
                              .version = target,
                              .previous = before,
                              .transaction = std::string(run.transaction)};
    lock.unlock();
    std::optional<store::NodeVersion> stored;
    const auto done = service_->with_writer([&](store::Writer& writer) -> Result<void> {
        auto transaction = BUNRAKU_TRY(store::Transaction::begin(writer.db()));
        // A node takes its target only if no server can still believe an older one.
        if (!BUNRAKU_TRY(is_known_by_all(writer.db(), lease_clock_, epoch, lease, wanted.since))) {
            stored =
                BUNRAKU_TRY(store::node_version(writer.db(), wanted.environment, wanted.certname));
            return {};
        }
        stored = BUNRAKU_TRY(store::move_node(writer, wanted, expected));
        return transaction.commit();
    });
    lock.lock();
    if (!done) {
        // A single server knows all moves, so the node can keep its version.
        if (alone) return before;
        ++figures_.refused;
        return failure(done.error().message, kUnknownVersion);
    }
    if (!stored) return before;
    remember_row(*stored);
    return stored->version;
}

Result<std::optional<std::string>> StoreVersions::current(std::string_view environment,
                                                          std::string_view node) {
    {
        const std::lock_guard lock(mutex_);
        if (auto error = without_lease(environment, node)) {
            ++figures_.refused;
            return std::unexpected(std::move(*error));
        }
    }
    auto run = BUNRAKU_TRY(runs_->current(environment, node));
    NodeRun implied{.environment = environment, .node = node, .implied = true, .recorded = true};
    std::optional<std::string> version;
    {
        std::unique_lock lock(mutex_);
        BUNRAKU_TRY_VOID(refresh(implied, lock));
        // The run that this server knows has ended if another server has since moved the node or
        // received its report.
        const bool ended =
            several_servers() && run && (moved_elsewhere(implied, *run) || is_idle(implied));
        if (run && !ended) return run;
        // The run may have begun with another server, or before this one started. Then it has the
        // version that the node had.
        version = recorded_version(implied);
        if (!version || is_idle(implied)) return std::nullopt;
    }
    return std::optional(BUNRAKU_TRY(runs_->begin(implied, *version)));
}

void StoreVersions::catalog(const NodeRun& run) {
    runs_->catalog(run);
    if (run.transaction.empty()) return;
    std::unique_lock lock(mutex_);
    remember_transaction(run);
    const auto at = table_.environments.find(run.environment);
    if (at == table_.environments.end()) return;
    const auto row = at->second.nodes.find(run.node);
    if (row == at->second.nodes.end() || row->second.idle || !row->second.transaction.empty())
        return;
    row->second.transaction = run.transaction;
    lock.unlock();
    // Without it, the judge orders reports by their arrival.
    (void)service_->with_writer([&](store::Writer& writer) {
        return store::set_transaction(writer, run.environment, run.node, run.transaction);
    });
}

void StoreVersions::idle(const NodeRun& run) {
    const auto under_way = [&] {
        const auto found = runs_->current(run.environment, run.node);
        return found && *found;
    };
    const bool before = under_way();
    runs_->idle(run);
    // Reports of other runs change nothing.
    if (!before || under_way()) return;
    std::unique_lock lock(mutex_);
    const auto at = table_.environments.find(run.environment);
    if (at == table_.environments.end()) return;
    const EnvironmentVersions& versions = at->second;
    const std::string base = base_of(run.environment);
    const std::string present = present_version(run, base);
    const std::string wanted = table_.target(run.environment, run.node).value_or(base);
    const bool due = !present.empty() && !wanted.empty() && present != wanted;
    const auto row = versions.nodes.find(run.node);
    const bool missing = row == versions.nodes.end();
    if (due ? is_idle(run) : missing || row->second.idle) return;
    const Lease lease = table_.lease(run.environment, run.node, wanted);
    const std::int64_t epoch = table_.epoch;
    store::NodeVersion node{.certname = std::string(run.node),
                            .environment = std::string(run.environment),
                            .version = present,
                            .previous = present};
    lock.unlock();
    std::optional<store::NodeVersion> stored;
    const auto done = service_->with_writer([&](store::Writer& writer) -> Result<void> {
        auto transaction = BUNRAKU_TRY(store::Transaction::begin(writer.db()));
        const bool known =
            BUNRAKU_TRY(is_known_by_all(writer.db(), lease_clock_, epoch, lease, node.since));
        // Some agents do not show in their requests where a run begins. Such an agent moves with
        // the first request after this report. Unless all servers know that the node is due, that
        // request may be the second one of its run.
        if (due && known) node.epoch = epoch;
        if (missing) BUNRAKU_TRY(store::move_node(writer, node, ""));
        stored = BUNRAKU_TRY(store::set_idle(writer, node));
        return transaction.commit();
    });
    lock.lock();
    if (done && stored) remember_row(*stored);
}

Result<void> StoreVersions::reload() {
    const Contact begun{.time = runtime_.now(), .wall_ms = runtime_.now_ms()};
    VersionTable earlier;
    {
        const std::lock_guard lock(mutex_);
        ++reloading_;
        for (const auto& [name, versions] : table_.environments)
            earlier.environments[name].rollout = versions.rollout;
    }
    auto read = [&]() -> Result<VersionTable> {
        auto db = BUNRAKU_TRY(service_->reader());
        return read_table(*db, &earlier);
    }();
    const std::lock_guard lock(mutex_);
    --reloading_;
    if (!read) {
        if (reloading_ == 0) written_.clear();
        return std::unexpected(read.error());
    }
    table_ = std::move(*read);
    observe_servers(lease_clock_, table_.servers);
    for (const auto& row : written_)
        table_.environments[row.environment].nodes.insert_or_assign(row.certname, row);
    if (reloading_ == 0) written_.clear();
    loaded_ = true;
    reloaded_ = begun;
    if (!marked_ && !table_.environments.empty())
        marked_ = sys::disk().replace(marker_, "", {.mode = 0600}).has_value();
    return {};
}

bool StoreVersions::is_marked() const {
    const std::lock_guard lock(mutex_);
    return marked_ || table_.environments.empty();
}

void StoreVersions::renew_leases() {
    const std::lock_guard lock(mutex_);
    contact_ = reloaded_;
}

bool StoreVersions::has_ended_try(std::int64_t now_ms) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(table_.environments, [&](const auto& environment) {
        return std::ranges::any_of(environment.second.tries,
                                   [&](const auto& one) { return one.second.ends <= now_ms; });
    });
}

std::int64_t StoreVersions::last_seen() const {
    const std::lock_guard lock(mutex_);
    std::int64_t out = 0;
    for (const store::RolloutServer& server : table_.servers) out = std::max(out, server.seen);
    return out;
}

VersionTable StoreVersions::table() const {
    const std::lock_guard lock(mutex_);
    return table_;
}

void StoreVersions::set_returned(ReturnedNodes nodes) {
    const std::lock_guard lock(mutex_);
    returned_ = std::move(nodes);
}

std::vector<std::int64_t> StoreVersions::returned(std::string_view environment,
                                                  std::string_view node) const {
    const std::lock_guard lock(mutex_);
    return returned_.rollouts_of(environment, node, runtime_.now_ms());
}

bool StoreVersions::has_removals(std::string_view environment, std::string_view node) const {
    return !returned(environment, node).empty();
}

StoreVersions::Figures StoreVersions::figures() const {
    const std::lock_guard lock(mutex_);
    return figures_;
}

double StoreVersions::due() const {
    const std::lock_guard lock(mutex_);
    std::int64_t out = 0;
    for (const auto& [name, versions] : table_.environments) {
        if (!versions.rollout) continue;
        for (const auto& [node, wave] : *versions.rollout->waves) {
            const auto row = versions.nodes.find(node);
            const auto target = table_.target(name, node);
            const std::string& version =
                row == versions.nodes.end() ? versions.rollout->row.from : row->second.version;
            out += target && *target != version ? 1 : 0;
        }
    }
    return static_cast<double>(out);
}

}  // namespace bunraku::rollout
