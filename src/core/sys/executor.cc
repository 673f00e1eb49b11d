// SPDX-License-Identifier: Apache-2.0
#include "core/sys/executor.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <thread>

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "core/sys/watch.h"

namespace bunraku::sys {

bool Executor::post_until(TimePoint deadline, Task task, Task late) {
    return post([this, deadline, task = std::move(task), late = std::move(late)]() mutable {
        now() > deadline ? late() : task();
    });
}

namespace {

class ThreadExecutor final : public Executor {
public:
    explicit ThreadExecutor(ExecutorOptions options) : options_(std::move(options)) {
        options_.threads = std::max(1, options_.threads);
        if (options_.eager <= 0) options_.eager = options_.threads;
    }
    ~ThreadExecutor() override { stop(); }

    TimePoint now() override { return std::chrono::steady_clock::now(); }
    bool post(Task task) override { return add(std::move(task), options_.limit); }
    bool post_more(Task task) override { return add(std::move(task), 0); }
    Timer post_after(Duration delay, Task task) override;
    bool cancel(Timer timer) override;
    std::size_t waiting() const override { return waiting_.load(std::memory_order_relaxed); }
    void stop() override;

private:
    using Due = std::pair<TimePoint, Timer>;
    bool add(Task task, std::size_t limit);
    bool need_thread();
    void collect_due();
    void run(Task task);
    void work(std::unique_lock<std::mutex>& lock);
    bool stand_by(std::unique_lock<std::mutex>& lock);
    bool wait_idle(std::unique_lock<std::mutex>& lock, bool used);
    void leave(std::unique_lock<std::mutex>& lock);

    ExecutorOptions options_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Task> tasks_;
    std::map<Due, Task> timers_;
    std::vector<std::thread> threads_;
    std::vector<std::thread> ended_;  ///< threads that left, to be joined
    std::atomic<std::size_t> waiting_{0};
    std::size_t idle_ = 0;
    std::uint64_t started_ = 0;  ///< number of tasks
    bool standby_ = false;       ///< whether a thread waits for a stall
    std::condition_variable stall_;
    Timer next_timer_ = 1;
    bool stopping_ = false;
};

bool ThreadExecutor::add(Task task, std::size_t limit) {
    {
        std::lock_guard lock(mutex_);
        if (stopping_ || (limit > 0 && tasks_.size() >= limit)) return false;
        tasks_.push_back(std::move(task));
        if (!need_thread()) {
            tasks_.pop_back();
            return false;
        }
        BUNRAKU_ASSERT(!threads_.empty() && !tasks_.empty());
        BUNRAKU_ASSERT(limit == 0 || tasks_.size() <= limit);
        waiting_.store(tasks_.size(), std::memory_order_relaxed);
    }
    wake_.notify_one();
    return true;
}

/// Returns false if there is no thread and none can be started.
bool ThreadExecutor::need_thread() {
    const auto most = static_cast<std::size_t>(options_.threads);
    BUNRAKU_ASSERT(threads_.size() <= most && idle_ <= most);
    const bool all = threads_.size() >= most;
    const bool waits = threads_.size() >= static_cast<std::size_t>(options_.eager);
    if (all || (waits && standby_) || tasks_.size() + (timers_.empty() ? 0 : 1) <= idle_)
        return true;
    try {
        threads_.emplace_back([this, waits] {
            std::unique_lock lock(mutex_);
            if (!waits || stand_by(lock)) work(lock);
            leave(lock);
        });
        standby_ = standby_ || waits;
    } catch (const std::exception&) {
        // The existing threads will run the task.
    }
    return !threads_.empty();
}

Executor::Timer ThreadExecutor::post_after(Duration delay, Task task) {
    Timer timer = 0;
    {
        std::lock_guard lock(mutex_);
        if (stopping_) return 0;
        timer = next_timer_++;
        BUNRAKU_ASSERT(timer != 0 && timer < next_timer_);
        const auto [at, added] = timers_.emplace(Due{now() + delay, timer}, std::move(task));
        BUNRAKU_ASSERT(added);
        if (!need_thread()) {
            timers_.erase(at);
            return 0;
        }
    }
    wake_.notify_one();
    return timer;
}

bool ThreadExecutor::cancel(Timer timer) {
    Task dropped;  // destroyed after the lock is released
    std::lock_guard lock(mutex_);
    auto at = std::find_if(timers_.begin(), timers_.end(),
                           [&](const auto& t) { return t.first.second == timer; });
    if (at == timers_.end()) return false;
    dropped = std::move(at->second);
    timers_.erase(at);
    return true;
}

void ThreadExecutor::collect_due() {
    if (timers_.empty()) return;
    TimePoint time = now();
    while (!timers_.empty() && timers_.begin()->first.first <= time) {
        tasks_.push_back(std::move(timers_.begin()->second));
        timers_.erase(timers_.begin());
    }
    BUNRAKU_ASSERT(timers_.empty() || timers_.begin()->first.first > time);
    waiting_.store(tasks_.size(), std::memory_order_relaxed);
    // The thread that is awake takes one of the tasks itself.
    if (tasks_.size() > 1 && need_thread()) wake_.notify_all();
}

void ThreadExecutor::run(Task task) {
    std::string error;
    try {
        task();
        return;
    } catch (const std::exception& e) {
        error = e.what();
    } catch (...) {
        error = "unknown exception";
    }
    try {
        if (options_.error) options_.error(error);
    } catch (...) {
        // The error cannot be reported.
    }
}

/// Waits until a stall, and then returns true. Returns false if there are no more tasks.
bool ThreadExecutor::stand_by(std::unique_lock<std::mutex>& lock) {
    BUNRAKU_ASSERT(standby_);
    for (std::uint64_t seen = started_ + 1; !tasks_.empty() && seen != started_;) {
        seen = started_;
        stall_.wait_for(lock, kStall, [this] { return stopping_; });
    }
    standby_ = false;
    return !tasks_.empty();
}

void ThreadExecutor::work(std::unique_lock<std::mutex>& lock) {
    bool used = false;  // whether tasks may have left memory
    for (;;) {
        collect_due();
        if (!tasks_.empty()) {
            Task task = std::move(tasks_.front());
            tasks_.pop_front();
            ++started_;
            used = true;
            waiting_.store(tasks_.size(), std::memory_order_relaxed);
            // If this task stalls, another thread must run the next one.
            if (!tasks_.empty() && options_.eager < options_.threads) (void)need_thread();
            lock.unlock();
            run(std::move(task));
            lock.lock();
            continue;
        }
        if (stopping_) return;
        if (wait_idle(lock, used)) continue;
        if (idle_ > 0) return;
        lock.unlock();
        base::release_memory();
        lock.lock();
        used = false;
    }
}

/// Waits for a notification or a timer. Returns false if the thread should end or release its
/// memory, because nothing has happened for a long time.
bool ThreadExecutor::wait_idle(std::unique_lock<std::mutex>& lock, bool used) {
    const TimePoint never = TimePoint::max();
    const TimePoint timer = timers_.empty() ? never : timers_.begin()->first.first;
    const TimePoint patience = used || idle_ > 0 ? now() + options_.idle : never;
    ++idle_;
    BUNRAKU_ASSERT(idle_ <= static_cast<std::size_t>(options_.threads));
    const TimePoint until = std::min(timer, patience);
    bool expired = false;
    if (until == never) {
        wake_.wait(lock);
    } else {
        expired = wake_.wait_until(lock, until) == std::cv_status::timeout && until == patience;
    }
    BUNRAKU_ASSERT(lock.owns_lock() && idle_ > 0);
    --idle_;
    return !expired || !tasks_.empty() || stopping_;
}

/// Ends this thread. Joins those that ended before it, because a thread keeps its stack until then.
void ThreadExecutor::leave(std::unique_lock<std::mutex>& lock) {
    BUNRAKU_ASSERT(lock.owns_lock());
    std::vector<std::thread> before;
    if (!stopping_) {
        before.swap(ended_);
        const auto me = std::ranges::find(threads_, std::this_thread::get_id(),
                                          [](const std::thread& t) { return t.get_id(); });
        BUNRAKU_ASSERT(me != threads_.end());
        ended_.push_back(std::move(*me));
        threads_.erase(me);
        // Another thread waits for the first timer from now on.
        if (!timers_.empty()) wake_.notify_one();
    }
    lock.unlock();
    for (std::thread& t : before) t.join();
}

void ThreadExecutor::stop() {
    std::map<Due, Task> dropped;
    std::vector<std::thread> threads;
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
        collect_due();
        dropped.swap(timers_);
        threads.swap(threads_);
        for (std::thread& t : ended_) threads.push_back(std::move(t));
        ended_.clear();
    }
    wake_.notify_all();
    stall_.notify_all();
    for (std::thread& t : threads) {
        // A task that stopped its own executor would wait for itself.
        BUNRAKU_ASSERT(t.get_id() != std::this_thread::get_id());
        t.join();
    }
    BUNRAKU_ASSERT(threads.empty() || tasks_.empty());
}

class Machine final : public Runtime {
public:
    std::int64_t now_ns() override { return clock_->now_ns(); }
    std::int64_t monotonic_ns() override { return clock_->monotonic_ns(); }
    void sleep_ns(std::int64_t ns) override { clock_->sleep_ns(ns); }
    std::unique_ptr<Executor> executor(ExecutorOptions options) override {
        return std::make_unique<ThreadExecutor>(std::move(options));
    }
    std::unique_ptr<Watch> watch(std::vector<std::string> paths,
                                 std::function<void()> changed) override {
        return watch_with_thread(std::move(paths), std::move(changed));
    }
    int cores() override {
        return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    }

private:
    bool wait(Condition& condition, std::unique_lock<std::mutex>& lock,
              TimePoint deadline) override {
        BUNRAKU_ASSERT(lock.owns_lock());
        if (deadline == Condition::kForever) {
            native(condition).wait(lock);
            return true;
        }
        return native(condition).wait_until(lock, deadline) == std::cv_status::no_timeout;
    }
    void notify(Condition& condition, bool all) override {
        all ? native(condition).notify_all() : native(condition).notify_one();
    }
    std::unique_ptr<Clock> clock_ = make_real_clock();
};

}  // namespace

Runtime& machine() {
    static Machine machine;
    return machine;
}

}  // namespace bunraku::sys
