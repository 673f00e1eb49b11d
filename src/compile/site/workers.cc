// SPDX-License-Identifier: Apache-2.0
#include "compile/site/workers.h"

#include <algorithm>
#include <utility>

namespace bunraku::site {

Workers::Workers(std::size_t threads, std::size_t queue)
    : most_(threads ? threads : std::max(1U, std::thread::hardware_concurrency())),
      queue_(std::max<std::size_t>(1, queue)) {}

void Workers::finish() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    work_.notify_all();
    threads_.clear();
}

void Workers::add(std::function<void()> work) {
    waiting_.push_back(std::move(work));
    if (waiting_.size() > idle_ && threads_.size() < most_)
        threads_.emplace_back([this] { run(); });
    work_.notify_one();
}

void Workers::post(std::function<void()> work) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [this] { return waiting_.size() < queue_; });
    add(std::move(work));
}

bool Workers::try_post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= queue_) return false;
    add(std::move(work));
    return true;
}

void Workers::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        ++idle_;
        work_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
        --idle_;
        if (waiting_.empty()) return;
        auto work = std::move(waiting_.front());
        waiting_.pop_front();
        not_full_.notify_one();
        lock.unlock();
        work();
        work = nullptr;  // destroy what it captured outside of the lock
        lock.lock();
    }
}

}  // namespace bunraku::site
