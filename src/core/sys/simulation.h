// A whole world on one thread, in virtual time: what a seed gives, it gives again.
//
// Every task is a fiber with a stack of its own, so that code that waits (for a connection, an
// answer, a turn) is the code of production: waiting leaves the thread to the others. Which of
// those that could go on does so is drawn by the seed. When all of them wait, time jumps to what is
// due next; work itself takes none.
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
    std::int64_t begins_at_ns = 1'700'000'000'000'000'000;  ///< of the epoch
    std::size_t stack_bytes = 1 << 20;                      ///< of a fiber; taken as it is used
    bool keep_events = true;
    bool reports_file_changes = false;  ///< somebody calls file_changed() for every change
};

/// The thread that made it may wait too: the world goes on meanwhile.
class Simulation final : public Runtime {
public:
    explicit Simulation(std::uint64_t seed, SimulationOptions options = {});
    ~Simulation() override;

    std::int64_t now_ns() override;
    std::int64_t monotonic_ns() override;
    /// Others go on; zero gives them a turn.
    void sleep_ns(std::int64_t ns) override;
    std::unique_ptr<Executor> executor(ExecutorOptions options) override;
    int cores() override;
    std::unique_ptr<Watch> watch(std::vector<std::string> paths,
                                 std::function<void()> changed) override;

    /// From outside: goes on for so long.
    void run_for(Duration time) { sleep(time); }
    /// From outside: goes on until `ready`; false: time is over.
    bool run_until(const std::function<bool()>& ready, Duration timeout);

    /// The clock of the epoch is put forward, or back.
    void step_clock(Duration by);
    /// Time passes in which nobody runs, as if the process had been stopped: what was due meanwhile
    /// is late.
    void leap(Duration time);

    /// Watches hear that what stands at `path` has changed, is there now, or is gone.
    void file_changed(std::string_view path);

    /// Below `most`; drawn by the seed.
    std::uint64_t random(std::uint64_t most);
    /// True so many times of a million.
    bool chance(std::uint32_t millionths) { return random(1'000'000) < millionths; }

    /// What happened, with the time since the beginning: "12.345 ms agent-3: connected".
    void note(std::string_view event);
    const std::vector<std::string>& events() const;
    /// Tasks that were begun and timers that came: what waits costs nothing.
    std::uint64_t turns() const;
    /// Of all events, kept or not.
    std::uint64_t events_digest() const;

    struct Impl;

private:
    bool wait(Condition& condition, std::unique_lock<std::mutex>& lock,
              TimePoint deadline) override;
    void notify(Condition& condition, bool all) override;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::sys
