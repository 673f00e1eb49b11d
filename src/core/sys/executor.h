// SPDX-License-Identifier: Apache-2.0
// Task queues with timers. In production they use threads and the machine's clock. In tests they
// use one thread, and time advances when all tasks wait (testing/simulation.h). The code above does
// not depend on the difference: it waits with a Condition, sleeps with the Runtime, and starts no
// threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/lifetime.h"
#include "core/sys/clock.h"

namespace bunraku::sys {

/// A time of the Runtime's monotonic clock.
using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

struct ExecutorOptions {
    int threads = 1;        ///< maximum number of tasks that run at once; threads start on demand
    std::size_t limit = 0;  ///< maximum number of waiting tasks; 0 means unlimited
    std::string name = {};  ///< for logs and simulations
    /// Receives the message of an exception that a task throws. Other tasks are not affected. May
    /// be empty.
    std::function<void(const std::string&)> error = {};
    /// Further threads start only while no task has started for kStall, because each thread has
    /// memory of its own; 0 means all start at once.
    int eager = 0;
    /// Threads that have had no task for this time end, except for one, whose unused memory returns
    /// to the system.
    Duration idle = std::chrono::seconds(10);
};

/// A queue of tasks. Tasks start in the order of posting; a timer's task is posted when it is due.
class Executor {
public:
    using Task = std::move_only_function<void()>;
    using Timer = std::uint64_t;
    static constexpr Duration kStall = std::chrono::milliseconds(100);

    virtual ~Executor() = default;
    virtual TimePoint now() = 0;
    /// Returns false if `limit` tasks are waiting already, or if the executor is stopping.
    virtual bool post(Task task) = 0;
    /// Posts a task that continues earlier work. Returns false only if the executor is stopping.
    virtual bool post_more(Task task) = 0;
    /// Posts a task after a delay. Returns 0 if the executor is stopping. Timers do not count
    /// towards the limit.
    virtual Timer post_after(Duration delay, Task task) = 0;
    /// Returns false if the task has already started or ended.
    virtual bool cancel(Timer timer) = 0;
    /// Number of tasks that wait for a thread.
    virtual std::size_t waiting() const = 0;
    /// Refuses new tasks, drops timers that are not due, runs the waiting tasks, and returns when
    /// all have ended. A task of this executor must not call it.
    virtual void stop() = 0;

    /// Posts a task that runs only if it starts before `deadline`. Otherwise `late` runs instead.
    bool post_until(TimePoint deadline, Task task, Task late);
};

class Condition;

/// Watches files during its lifetime; see Runtime::watch().
class Watch {
public:
    Watch() = default;
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    virtual ~Watch() = default;
};

/// A factory for executors, and a clock.
class Runtime : public Clock {
public:
    virtual std::unique_ptr<Executor> executor(ExecutorOptions options) = 0;
    /// Number of threads that can run at once; at least 1.
    virtual int cores() = 0;
    /// Calls `changed`, on any thread, when one of the paths may have changed since the start of
    /// the watch or the last call. A change in a folder counts as a change of the folder.
    ///
    /// The call comes after kWatchPause, because related files are written one after the other. If
    /// the system cannot report changes, it comes every kLookPause. `changed` must not block and
    /// must not end the watch.
    virtual std::unique_ptr<Watch> watch(std::vector<std::string> paths,
                                         std::function<void()> changed) = 0;
    static constexpr Duration kWatchPause = std::chrono::seconds(1);
    static constexpr Duration kLookPause = std::chrono::seconds(5);
    TimePoint now() { return TimePoint(std::chrono::nanoseconds(monotonic_ns())); }
    /// Returns milliseconds since the epoch.
    std::int64_t now_ms() { return now_ns() / 1'000'000; }
    void sleep(Duration time) { sleep_ns(std::chrono::nanoseconds(time).count()); }

protected:
    friend class Condition;
    /// Waits once. `lock` is held before and after. Returns false on timeout.
    virtual bool wait(Condition& condition, std::unique_lock<std::mutex>& lock,
                      TimePoint deadline) = 0;
    virtual void notify(Condition& condition, bool all) = 0;
    static std::condition_variable& native(Condition& condition BUNRAKU_LIFETIMEBOUND);
    static std::vector<void*>& waiters(Condition& condition BUNRAKU_LIFETIMEBOUND);
};

/// A condition variable for any Runtime.
class Condition {
public:
    static constexpr TimePoint kForever = TimePoint::max();

    explicit Condition(Runtime& runtime) : runtime_(runtime) {}
    Condition(const Condition&) = delete;
    Condition& operator=(const Condition&) = delete;

    void notify_one() { runtime_.notify(*this, false); }
    void notify_all() { runtime_.notify(*this, true); }

    /// Waits once; may return spuriously. Returns false on timeout.
    bool wait_once(std::unique_lock<std::mutex>& lock, TimePoint deadline) {
        return runtime_.wait(*this, lock, deadline);
    }
    template <class Ready>
    void wait(std::unique_lock<std::mutex>& lock, Ready ready) {
        while (!ready()) runtime_.wait(*this, lock, kForever);
    }
    /// Returns the last result of `ready`.
    template <class Ready>
    bool wait_until(std::unique_lock<std::mutex>& lock, TimePoint deadline, Ready ready) {
        while (!ready()) {
            if (!runtime_.wait(*this, lock, deadline)) return ready();
        }
        return true;
    }
    template <class Ready>
    bool wait_for(std::unique_lock<std::mutex>& lock, Duration timeout, Ready ready) {
        if (ready()) return true;
        TimePoint now = runtime_.now();
        return wait_until(lock, timeout < kForever - now ? now + timeout : kForever, ready);
    }

private:
    friend class Runtime;
    Runtime& runtime_;
    std::condition_variable native_;  ///< used with threads
    std::vector<void*> waiters_;      ///< used in a simulation
};

inline std::condition_variable& Runtime::native(Condition& condition) { return condition.native_; }
inline std::vector<void*>& Runtime::waiters(Condition& condition) { return condition.waiters_; }

/// Returns the runtime with threads and the machine's clock. The store, the server and HTTP obtain
/// threads only from it.
Runtime& machine();

}  // namespace bunraku::sys
