// SPDX-License-Identifier: Apache-2.0
// A deterministic simulation on one thread, in virtual time. The same seed gives the same run.
//
// Every task is a fiber with its own stack, so that code that waits (for a connection, a response,
// a lock) is the production code. Waiting lets other tasks run. The seed decides which of the ready
// tasks runs next. When all tasks wait, time jumps to the next timer. Work itself takes no time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/sys/executor.h"

namespace bunraku::sys {

struct SimulationOptions {
    /// start of the wall clock, since the epoch
    std::int64_t begins_at_ns = 1'700'000'000'000'000'000;
    /// per fiber; pages are allocated on use
    std::size_t stack_bytes = 1 << 20;
    bool keep_events = true;
    bool reports_file_changes = false;  ///< true if the test calls file_changed() for every change
};

/// A simulated runtime. The thread that made it may also wait; the simulation runs meanwhile.
class Simulation final : public Runtime {
public:
    explicit Simulation(std::uint64_t seed, SimulationOptions options = {});
    ~Simulation() override;

    std::int64_t now_ns() override;
    std::int64_t monotonic_ns() override;
    /// Lets other tasks run. Zero yields once.
    void sleep_ns(std::int64_t ns) override;
    std::unique_ptr<Executor> executor(ExecutorOptions options) override;
    int cores() override;
    std::unique_ptr<Watch> watch(std::vector<std::string> paths,
                                 std::function<void()> changed) override;

    /// From the outer thread: runs the simulation for this time.
    void run_for(Duration time) { sleep(time); }
    /// From the outer thread: runs until `ready` returns true. Returns false on timeout.
    bool run_until(const std::function<bool()>& ready, Duration timeout);

    /// Sets the wall clock forward or back.
    void step_clock(Duration by);
    /// Advances time without running any task, as if the process had been stopped. Timers that were
    /// due meanwhile run late.
    void leap(Duration time);

    /// Notifies watches that the file at `path` was changed, created or removed.
    void file_changed(std::string_view path);

    /// Returns a random number below `most`, drawn from the seed.
    std::uint64_t random(std::uint64_t most);
    /// Returns true with a probability of `millionths` in a million.
    bool chance(std::uint32_t millionths) { return random(1'000'000) < millionths; }

    /// Records an event with the time since the start: "12.345 ms agent-3: connected".
    void note(std::string_view event);
    const std::vector<std::string>& events() const;
    /// Number of started tasks and expired timers. Waiting tasks do not count.
    std::uint64_t turns() const;
    /// Returns the digest of all events, stored or not.
    std::uint64_t events_digest() const;

    struct Impl;

private:
    bool wait(Condition& condition, std::unique_lock<std::mutex>& lock,
              TimePoint deadline) override;
    void notify(Condition& condition, bool all) override;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::sys
