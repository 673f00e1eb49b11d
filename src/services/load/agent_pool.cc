// SPDX-License-Identifier: Apache-2.0
#include "services/load/agent_pool.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fmt/format.h>
#include <mutex>
#include <optional>

#include "core/base/assert.h"

namespace bunraku::load {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr sys::Duration kTick = std::chrono::seconds(1);
/// Interval at which the pool checks whether it must stop.
constexpr sys::Duration kLook = std::chrono::milliseconds(200);

/// Delay after a failed run, so that an unavailable server is not overloaded.
constexpr sys::Duration kBreath = std::chrono::milliseconds(200);

sys::Duration seconds(std::int64_t n) { return std::chrono::seconds(n); }

}  // namespace

std::string numbered_name(std::string_view pattern, std::size_t number, std::size_t most) {
    const auto digits = std::to_string(number);
    const auto width = std::to_string(most).size();
    const auto padded = std::string(width - std::min(width, digits.size()), '0') + digits;
    const auto place = pattern.find("{}");
    if (place == std::string_view::npos) return std::string(pattern) + padded;
    return std::string(pattern.substr(0, place)) + padded + std::string(pattern.substr(place + 2));
}

struct AgentPool::Impl {
    Impl(const AgentProfile& m, AgentPoolOptions o)
        : profile(m), options(std::move(o)), all_done(runtime()) {
        if (options.at_a_time == 0) options.at_a_time = options.interval_seconds > 0 ? 256 : 10;
        options.at_a_time = std::max<std::size_t>(1, std::min(options.at_a_time, options.agents));
        BUNRAKU_ASSERT(options.at_a_time >= 1);
        schedules.resize(options.agents);
        for (std::size_t i = 0; i < options.agents; ++i) {
            schedules[i].left = options.runs;
            agents.push_back(std::make_unique<Agent>(
                profile, numbered_name(options.names, i + 1, options.agents), i, options.seed));
        }
    }

    /// The schedule of an agent. Only the agent's own task uses it.
    struct Schedule {
        sys::TimePoint due;
        std::uint64_t left = 0;
    };

    sys::Runtime& runtime() const { return profile.network.runtime(); }
    bool stopped() const { return ended || (profile.stopped && profile.stopped()); }
    void executor() {
        work =
            runtime().executor({.threads = static_cast<int>(options.at_a_time), .name = "agents"});
    }
    /// Waits until all agents have finished, and reports progress meanwhile.
    void wait(sys::TimePoint begin, sys::TimePoint end);
    void agent_finished() {
        std::lock_guard lock(mutex);
        BUNRAKU_ASSERT(waiting > 0 && waiting <= agents.size());
        if (--waiting == 0) all_done.notify_all();
    }
    void begin(std::size_t i, sys::Duration delay) {
        BUNRAKU_ASSERT(i < schedules.size() && agents.size() == schedules.size());
        schedules[i].due = runtime().now() + delay;
        const bool taken = delay.count() > 0
                               ? work->post_after(delay, [this, i] { run_agent(i); }) != 0
                               : work->post_more([this, i] { run_agent(i); });
        if (!taken) agent_finished();
    }
    void run_agent(std::size_t i);

    const AgentProfile& profile;
    AgentPoolOptions options;
    std::vector<std::unique_ptr<Agent>> agents;
    std::vector<Schedule> schedules;
    std::unique_ptr<sys::Executor> work;
    std::mutex mutex;
    sys::Condition all_done;
    std::size_t waiting = 0;
    std::atomic<bool> ended{false};
    bool interrupted = false;
};

void AgentPool::Impl::wait(sys::TimePoint begin, sys::TimePoint end) {
    auto next_tick = begin + kTick;
    std::unique_lock lock(mutex);
    while (waiting > 0) {
        const auto now = runtime().now();
        if (now >= end) break;
        if (stopped()) {
            interrupted = true;
            break;
        }
        if (now >= next_tick) {
            next_tick = now + kTick;
            const double passed = std::chrono::duration<double>(now - begin).count();
            lock.unlock();
            if (options.tick && !options.tick(passed)) ended = interrupted = true;
            lock.lock();
        }
        all_done.wait_once(lock, std::min(now + kLook, end));
    }
    lock.unlock();
    ended = true;
}

/// Runs an agent once and schedules its next run.
void AgentPool::Impl::run_agent(std::size_t i) {
    BUNRAKU_ASSERT(i < agents.size());
    if (stopped()) return agent_finished();
    auto& place = schedules[i];
    auto& agent = *agents[i];
    if (options.interval_seconds > 0 && runtime().now() > place.due + kTick)
        profile.figures.late.add();
    profile.figures.running.add(1);
    const auto outcome = agent.run();
    profile.figures.running.add(-1);
    if (outcome == Agent::Outcome::Stopped) return agent_finished();
    if (outcome == Agent::Outcome::PutOff) return begin(i, seconds(agent.wait_seconds()));
    BUNRAKU_ASSERT(options.runs == 0 || (place.left > 0 && place.left <= options.runs));
    if (options.runs > 0 && --place.left == 0) return agent_finished();
    if (options.interval_seconds == 0)
        return begin(i, outcome == Agent::Outcome::Failed ? kBreath : sys::Duration(0));
    // The interval starts at the scheduled time, so that a delay does not accumulate.
    const auto due = place.due + seconds(options.interval_seconds);
    auto delay = std::max(due - runtime().now(), sys::Duration(0));
    if (options.splay_seconds > 0)
        delay += std::chrono::nanoseconds(
            agent.rng().below(static_cast<std::uint64_t>(options.splay_seconds * kSecond)));
    begin(i, std::max(delay, sys::Duration(std::chrono::milliseconds(1))));
}

AgentPool::AgentPool(const AgentProfile& profile, AgentPoolOptions options)
    : impl_(std::make_unique<Impl>(profile, std::move(options))) {}
AgentPool::~AgentPool() = default;

std::vector<std::unique_ptr<Agent>>& AgentPool::agents() { return impl_->agents; }
bool AgentPool::interrupted() const { return impl_->interrupted; }

base::Result<void> AgentPool::prepare() {
    auto& s = *impl_;
    std::optional<base::Error> first;
    s.executor();
    s.waiting = s.agents.size();
    for (auto& agent : s.agents) {
        const bool taken = s.work->post_more([&s, &first, &agent = *agent] {
            if (!s.stopped()) {
                auto files = s.options.certificate(agent.name());
                if (files) {
                    agent.ssl = std::move(*files);
                } else {
                    std::lock_guard lock(s.mutex);
                    if (!first)
                        first =
                            base::Error{fmt::format("{}: {}", agent.name(), files.error().message),
                                        files.error().code};
                    s.ended = true;
                }
            }
            s.agent_finished();
        });
        if (!taken) s.agent_finished();
    }
    s.wait(s.runtime().now(), sys::TimePoint::max());
    s.work->stop();
    s.ended = false;
    if (first) return std::unexpected(*first);
    if (s.stopped() || s.interrupted) return base::failure("stopped", ECANCELED);
    return {};
}

double AgentPool::run() {
    auto& s = *impl_;
    s.executor();
    s.waiting = s.agents.size();
    const auto begin = s.runtime().now();
    const auto interval = s.options.interval_seconds * kSecond;
    for (std::size_t i = 0; i < s.agents.size(); ++i) {
        // The first runs are spread over the interval, as in a real fleet.
        const auto delay =
            interval / static_cast<std::int64_t>(s.agents.size()) * static_cast<std::int64_t>(i);
        s.begin(i, std::chrono::nanoseconds(delay));
    }
    s.wait(begin, s.options.duration_seconds > 0 ? begin + seconds(s.options.duration_seconds)
                                                 : sys::TimePoint::max());
    // Runs in progress are completed and counted.
    s.work->stop();
    return std::chrono::duration<double>(s.runtime().now() - begin).count();
}

}  // namespace bunraku::load
