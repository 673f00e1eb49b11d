// SPDX-License-Identifier: Apache-2.0
// Work of pages that takes longer than a request: comparisons of code and the use of code by nodes.
// One job runs at a time, with a low priority, so that agents do not wait for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/sys/executor.h"

namespace bunraku::console {

/// A piece of work with a result that pages show. A page derives from it.
class Job {
public:
    enum class State : std::uint8_t { Waiting, Running, Done, Failed, Stopped };
    virtual ~Job() = default;

    State state() const { return state_.load(); }
    bool ended() const { return state() >= State::Done; }
    /// Returns the reason of Failed or Stopped.
    std::string problem() const;
    /// Returns when the job ended, in milliseconds since the epoch.
    std::int64_t ended_ms() const { return ended_ms_.load(); }
    /// Returns how many of all nodes the job has examined.
    std::size_t done() const { return done_.load(); }
    std::size_t all() const { return all_.load(); }

protected:
    /// Does the work, on the thread of the jobs. Ends soon after a request to stop.
    virtual base::Result<void> run(const std::stop_token& stop) = 0;
    /// Reports progress. A job is stopped if it takes too long or no page requests it any more.
    void progress(std::size_t done, std::size_t all);

private:
    friend class JobRunner;
    void end(State state, std::string problem);
    void request_stop(std::string reason);

    std::atomic<State> state_{State::Waiting};
    std::atomic<std::size_t> done_{0}, all_{0};
    std::atomic<std::int64_t> ended_ms_{0}, asked_ms_{0}, began_ms_{0};
    std::stop_source stop_;
    mutable std::mutex mutex_;
    std::string problem_, stop_reason_;
    std::set<std::string, std::less<>> viewers_;  ///< protected by the runner's mutex
    sys::Runtime* runtime_ = nullptr;
};

/// Runs jobs, and caches them with their results. Thread-safe.
class JobRunner {
public:
    /// The unfinished jobs of all viewers.
    static constexpr std::size_t kMostWaiting = 8;
    /// Finished jobs that are cached. The least recently requested one is dropped first.
    static constexpr std::size_t kMostCached = 16;
    static constexpr std::int64_t kMostTimeMs = 15LL * 60 * 1000;
    /// A job is stopped if no page requests it for this time.
    static constexpr std::int64_t kAbandonedMs = 5LL * 60 * 1000;
    /// A finished result is not used for longer.
    static constexpr std::int64_t kMostAgeMs = 60LL * 60 * 1000;
    /// A failed job may be started again after this time.
    static constexpr std::int64_t kRetryMs = 30'000;

    explicit JobRunner(sys::Runtime& runtime) : runtime_(runtime) {}
    ~JobRunner() { stop(); }
    JobRunner(const JobRunner&) = delete;
    JobRunner& operator=(const JobRunner&) = delete;

    /// Returns the job with this key, or starts the one that `make` returns. The key begins with
    /// the kind of the job and a blank. A viewer has one unfinished job of a kind: an earlier one
    /// is stopped, unless another viewer waits for it too. Fails if too many jobs wait.
    base::Result<std::shared_ptr<Job>> find_or_start(
        std::string_view viewer, const std::string& key,
        const std::function<std::shared_ptr<Job>()>& make);
    /// Returns the job with this key, or null.
    std::shared_ptr<Job> find(const std::string& key);
    /// Returns the jobs of a kind that are Done and not too old, without counting as a use.
    std::vector<std::shared_ptr<Job>> done(std::string_view kind);
    /// Stops the viewer's unfinished job with this key, unless another viewer waits for it. A
    /// finished one is dropped, so that the next request starts it again.
    void drop(std::string_view viewer, const std::string& key);
    /// Stops all jobs, and waits for their end.
    void stop();

private:
    void run(const std::shared_ptr<Job>& job);
    void leave(Job& job, std::string_view viewer, std::string reason);
    bool is_outdated(const Job& job) const;
    void forget_oldest();

    sys::Runtime& runtime_;
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<Job>> jobs_;
    std::unique_ptr<sys::Executor> executor_;  ///< created with the first job
    bool stopping_ = false;
};

}  // namespace bunraku::console
