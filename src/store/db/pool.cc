// SPDX-License-Identifier: Apache-2.0
#include "store/db/pool.h"

#include <chrono>

#include "core/base/assert.h"

namespace bunraku::store {

Pool::Lease::~Lease() {
    if (db_) pool_->give_back(std::move(db_));
    BUNRAKU_ASSERT(!db_);
}

Result<Pool::Lease> Pool::take() {
    std::unique_lock lock(mutex_);
    if (!free_.wait_for(lock, std::chrono::seconds(10),
                        [&] { return !idle_.empty() || open_ < most_; })) {
        return base::failure("All connections to the database are busy",
                             static_cast<int>(Failure::Retry));
    }
    while (!idle_.empty()) {
        BUNRAKU_ASSERT(open_ > 0 && idle_.size() <= open_);
        std::unique_ptr<Database> db = std::move(idle_.back());
        idle_.pop_back();
        if (db->healthy()) return Lease(this, std::move(db));
        --open_;
    }
    ++open_;
    BUNRAKU_ASSERT(open_ <= most_);
    lock.unlock();
    auto opened = Database::open(where_, Database::Access::Read, 10000, limits_);
    if (opened && !(*opened)->postgresql()) {
        auto set = (*opened)->execute("PRAGMA cache_size = -8192");
        if (!set) opened = std::unexpected(set.error());
    }
    if (!opened) {
        lock.lock();
        BUNRAKU_ASSERT(open_ > 0);
        --open_;
        free_.notify_one();
        return std::unexpected(std::move(opened).error());
    }
    return Lease(this, std::move(*opened));
}

void Pool::give_back(std::unique_ptr<Database> db) {
    // The next user must not inherit the time limit of the last query.
    bool good = db->healthy() && db->set_time_limit(0);
    std::lock_guard lock(mutex_);
    BUNRAKU_ASSERT(idle_.size() < open_ && open_ <= most_);
    if (good) {
        idle_.push_back(std::move(db));
    } else {
        --open_;
    }
    free_.notify_one();
}

}  // namespace bunraku::store
