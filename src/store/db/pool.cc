#include "store/db/pool.h"

#include <chrono>

namespace bunraku::store {

Pool::Lease::~Lease() {
    if (db_) pool_->give_back(std::move(db_));
}

Result<Pool::Lease> Pool::take() {
    std::unique_lock lock(mutex_);
    if (!free_.wait_for(lock, std::chrono::seconds(10),
                        [&] { return !idle_.empty() || open_ < most_; })) {
        return base::failure("All connections to the database are busy",
                             static_cast<int>(Failure::Retry));
    }
    while (!idle_.empty()) {
        std::unique_ptr<Database> db = std::move(idle_.back());
        idle_.pop_back();
        if (db->healthy()) return Lease(this, std::move(db));
        --open_;
    }
    ++open_;
    lock.unlock();
    auto opened = Database::open(where_, true, 10000);
    if (opened && !(*opened)->postgresql()) {
        auto set = (*opened)->execute("PRAGMA cache_size = -8192");
        if (!set) opened = std::unexpected(set.error());
    }
    if (!opened) {
        lock.lock();
        --open_;
        free_.notify_one();
        return std::unexpected(std::move(opened).error());
    }
    return Lease(this, std::move(*opened));
}

void Pool::give_back(std::unique_ptr<Database> db) {
    // Nobody inherits the limit of another's query.
    bool good = db->healthy() && db->set_time_limit(0);
    std::lock_guard lock(mutex_);
    if (good) {
        idle_.push_back(std::move(db));
    } else {
        --open_;
    }
    free_.notify_one();
}

}  // namespace bunraku::store
