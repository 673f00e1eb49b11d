#include "http/pool.h"

namespace bunraku::http {

void Pool::start(int threads) {
    for (int i = 0; i < threads; i++) threads_.emplace_back([this] { work(); });
}

void Pool::start_on_demand(int most) { most_ = static_cast<std::size_t>(most); }

bool Pool::submit(Task task, std::uint32_t limit) {
    {
        std::lock_guard lock(mutex_);
        if (stopping_ || (limit && tasks_.size() >= limit)) return false;
        tasks_.push_back(std::move(task));
        waiting_.store(static_cast<std::uint32_t>(tasks_.size()), std::memory_order_relaxed);
        if (threads_.size() < most_ && tasks_.size() > idle_) {
            threads_.emplace_back([this] { work(); });
        }
    }
    wake_.notify_one();
    return true;
}

void Pool::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        ++idle_;
        wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
        --idle_;
        if (tasks_.empty()) return;
        Task task = std::move(tasks_.front());
        tasks_.pop_front();
        waiting_.store(static_cast<std::uint32_t>(tasks_.size()), std::memory_order_relaxed);
        lock.unlock();
        task();
        task = nullptr;
        lock.lock();
    }
}

void Pool::stop() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    for (auto& t : threads_)
        if (t.joinable()) t.join();
    threads_.clear();
}

}  // namespace bunraku::http
