// SPDX-License-Identifier: Apache-2.0
#include "store/db/replica.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"
#include "store/db/support.h"

namespace bunraku::store {

namespace {

std::int64_t steady(sys::Runtime& runtime) { return now_us(runtime) / 1000; }

/// Runs `ask`. After a failure, closes the connection so that the next call opens a new one.
template <class Ask>
Result<std::int64_t> asked(std::unique_ptr<Database>& db, const Ask& ask) {
    Result<std::int64_t> out = ask(*db);
    if (!out) db.reset();
    return out;
}

}  // namespace

Result<std::int64_t> ReplicaWatch::beat() {
    if (!primary_db_)
        primary_db_ =
            BUNRAKU_TRY(Database::open(primary_, Database::Access::ReadWrite, 10000, limits_));
    return asked(primary_db_, [](Database& db) -> Result<std::int64_t> {
        // The commit does not wait for a standby.
        Transaction transaction =
            BUNRAKU_TRY(Transaction::begin(db, "BEGIN; SET LOCAL synchronous_commit = local"));
        std::int64_t number = 0;
        {
            Statement s = BUNRAKU_TRY(
                db.prepare("INSERT INTO store_meta (name, value) VALUES ('beat', 1)"
                           " ON CONFLICT (name) DO UPDATE SET value = store_meta.value + 1"
                           " RETURNING value"));
            if (BUNRAKU_TRY(s.step())) number = s.integer(0);
        }
        BUNRAKU_TRY_VOID(transaction.commit());
        return number;
    });
}

Result<std::int64_t> ReplicaWatch::seen() {
    if (!replica_db_) replica_db_ = BUNRAKU_TRY(Database::open_replica(replica_, limits_));
    return asked(replica_db_, [](Database& db) -> Result<std::int64_t> {
        Statement s = BUNRAKU_TRY(db.prepare("SELECT value FROM store_meta WHERE name = 'beat'"));
        return BUNRAKU_TRY(s.step()) ? s.integer(0) : 0;
    });
}

Result<void> ReplicaWatch::look() {
    std::int64_t at = steady(runtime_);
    auto mine = beat();
    if (mine) {
        std::lock_guard lock(mutex_);
        // After a failover to a standby that lacked some beats, the counter restarts at a lower
        // number.
        while (!beats_.empty() && beats_.back().number >= *mine) beats_.pop_back();
        BUNRAKU_ASSERT(beats_.empty() || beats_.back().at <= at);
        beats_.push_back({*mine, at});
        constexpr std::size_t kMostBeats = 100'000;
        if (beats_.size() > kMostBeats) beats_.pop_front();
        BUNRAKU_ASSERT(beats_.size() <= kMostBeats && beats_.back().number == *mine);
    }
    runtime_.sleep(std::chrono::milliseconds(50));  // Time for the beat to reach the standby.
    std::int64_t reached = BUNRAKU_TRY(seen());
    {
        std::lock_guard lock(mutex_);
        for (const Heartbeat& b : beats_) {
            if (b.number <= reached) fresh_at_ = std::max(fresh_at_.load(), b.at);
        }
        while (!beats_.empty() && beats_.front().at < at - most_lag_ms_ &&
               beats_.front().number <= reached) {
            beats_.pop_front();
        }
    }
    if (!mine) return std::unexpected(std::move(mine).error());
    failed_ = false;
    return {};
}

std::int64_t ReplicaWatch::age_ms() const {
    std::int64_t fresh = fresh_at_;
    return fresh < 0 ? -1 : steady(runtime_) - fresh;
}

bool ReplicaWatch::near(std::int64_t beat) const {
    const std::int64_t oldest = steady(runtime_) - most_lag_ms_;
    std::lock_guard lock(mutex_);
    auto first = std::find_if(beats_.begin(), beats_.end(),
                              [&](const Heartbeat& b) { return b.at >= oldest; });
    return first != beats_.end() && beat >= first->number;
}

bool ReplicaWatch::usable() const {
    std::int64_t age = age_ms();
    return age >= 0 && age <= most_lag_ms_;
}

}  // namespace bunraku::store
