#include "store/db/replica.h"

#include <algorithm>
#include <utility>

#include "store/db/support.h"

namespace bunraku::store {

namespace {

std::int64_t steady(sys::Runtime& runtime) { return now_us(runtime) / 1000; }

/// What has failed is opened anew the next time.
template <class Ask>
Result<std::int64_t> asked(std::unique_ptr<Database>& db, const Ask& ask) {
    Result<std::int64_t> out = ask(*db);
    if (!out) db.reset();
    return out;
}

}  // namespace

Result<std::int64_t> ReplicaWatch::beat() {
    if (!there_) there_ = BUNRAKU_TRY(Database::open(primary_, false, 10000));
    return asked(there_, [](Database& db) -> Result<std::int64_t> {
        // No standby is waited for.
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
    if (!here_) here_ = BUNRAKU_TRY(Database::open_replica(replica_));
    return asked(here_, [](Database& db) -> Result<std::int64_t> {
        Statement s = BUNRAKU_TRY(db.prepare("SELECT value FROM store_meta WHERE name = 'beat'"));
        return BUNRAKU_TRY(s.step()) ? s.integer(0) : 0;
    });
}

Result<void> ReplicaWatch::look() {
    std::int64_t at = steady(runtime_);
    auto mine = beat();
    if (mine) {
        std::lock_guard lock(mutex_);
        // After a fail-over to a standby that had not all, the count begins lower again.
        while (!beats_.empty() && beats_.back().number >= *mine) beats_.pop_back();
        beats_.push_back({*mine, at});
        constexpr std::size_t kMostBeats = 100'000;
        if (beats_.size() > kMostBeats) beats_.pop_front();
    }
    runtime_.sleep(std::chrono::milliseconds(50));  // as long as its way takes
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
    silent_ = false;
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
