// Work that is done when its time comes: queues with a clock. In production threads and the
// machine's clock; in tests one thread, and time that passes when everybody waits
// (sys/simulation.h). Code above does not see which: it waits through a Condition, sleeps through
// the Runtime, and starts no thread.
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

/// Of the clock that only goes forward, as its Runtime has it.
using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

struct ExecutorOptions {
    int threads = 1;        ///< so many tasks at a time; threads come when they are needed
    std::size_t limit = 0;  ///< so many may wait; 0: any number
    std::string name = {};  ///< for logs and simulations
    /// Told what a task has thrown. Whatever it was, the others go on.
    std::function<void(const std::string&)> error = {};
};

/// A queue of tasks. They are begun in the order they came; a timer's task comes when it is due.
class Executor {
public:
    using Task = std::move_only_function<void()>;
    using Timer = std::uint64_t;

    virtual ~Executor() = default;
    virtual TimePoint now() = 0;
    /// False: `limit` tasks wait already, or the executor ends.
    virtual bool post(Task task) = 0;
    /// What goes on with work that was taken before: refused only where the executor ends.
    virtual bool post_more(Task task) = 0;
    /// 0: the executor ends. Timers count for no limit.
    virtual Timer post_after(Duration delay, Task task) = 0;
    /// False: it has begun already, or is over.
    virtual bool cancel(Timer timer) = 0;
    /// Tasks that wait for a thread.
    virtual std::size_t waiting() const = 0;
    /// Takes nothing more, drops the timers that are not due yet, runs what waits, and comes back
    /// when all is done. Not to be called by one of its own tasks.
    virtual void stop() = 0;

    /// post(), where the work is not worth beginning after `deadline`: `late` is run instead.
    bool post_until(TimePoint deadline, Task task, Task late);
};

class Condition;

/// Listens to files for as long as it lives; see Runtime::watch().
class Watch {
public:
    Watch() = default;
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    virtual ~Watch() = default;
};

/// Where executors come from, and what time it is.
class Runtime : public Clock {
public:
    virtual std::unique_ptr<Executor> executor(ExecutorOptions options) = 0;
    /// Threads that run at a time; at least one.
    virtual int cores() = 0;
    /// `changed` is called, on whatever thread, when what stands at one of the paths (in it, of a
    /// folder) may have become another since the watch began or was called last: after kWatchPause,
    /// as files that belong together are written one by one, or each kLookPause where nothing can
    /// be heard. It must not wait, nor end the watch.
    virtual std::unique_ptr<Watch> watch(std::vector<std::string> paths,
                                         std::function<void()> changed) = 0;
    static constexpr Duration kWatchPause = std::chrono::seconds(1);
    static constexpr Duration kLookPause = std::chrono::seconds(5);
    TimePoint now() { return TimePoint(std::chrono::nanoseconds(monotonic_ns())); }
    /// Milliseconds since the epoch.
    std::int64_t now_ms() { return now_ns() / 1'000'000; }
    void sleep(Duration time) { sleep_ns(std::chrono::nanoseconds(time).count()); }

protected:
    friend class Condition;
    /// One wait, `lock` being held before and after. False: time is over.
    virtual bool wait(Condition& condition, std::unique_lock<std::mutex>& lock,
                      TimePoint deadline) = 0;
    virtual void notify(Condition& condition, bool all) = 0;
    static std::condition_variable& native(Condition& condition BUNRAKU_LIFETIMEBOUND);
    static std::vector<void*>& waiters(Condition& condition BUNRAKU_LIFETIMEBOUND);
};

/// A condition variable of its runtime.
class Condition {
public:
    static constexpr TimePoint kForever = TimePoint::max();

    explicit Condition(Runtime& runtime) : runtime_(runtime) {}
    Condition(const Condition&) = delete;
    Condition& operator=(const Condition&) = delete;

    void notify_one() { runtime_.notify(*this, false); }
    void notify_all() { runtime_.notify(*this, true); }

    /// May come back for no reason; false: time is over.
    bool wait_once(std::unique_lock<std::mutex>& lock, TimePoint deadline) {
        return runtime_.wait(*this, lock, deadline);
    }
    template <class Ready>
    void wait(std::unique_lock<std::mutex>& lock, Ready ready) {
        while (!ready()) runtime_.wait(*this, lock, kForever);
    }
    /// What `ready` says in the end.
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
    std::condition_variable native_;  ///< of threads
    std::vector<void*> waiters_;      ///< of a simulation
};

inline std::condition_variable& Runtime::native(Condition& condition) { return condition.native_; }
inline std::vector<void*>& Runtime::waiters(Condition& condition) { return condition.waiters_; }

/// Threads and the machine's clock. The only place where the store, the server and HTTP get
/// threads from.
Runtime& machine();

}  // namespace bunraku::sys
