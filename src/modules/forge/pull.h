// SPDX-License-Identifier: Apache-2.0
// Pull-through repositories. The server looks up requested modules upstream and stores their
// descriptions in the repository. It fetches and stores an archive when a client requests it.
//
// Clients may request any name, and an upstream may be slow or unresponsive, so all waiting is
// bounded. Concurrent requests for the same thing share one upstream request. The number of
// requests per upstream and the number of waiting threads are limited. An unresponsive upstream is
// not contacted for a while. Known modules are answered immediately and refreshed in the
// background.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "modules/forge/service.h"

namespace bunraku::forge {

/// Reason for a failed upstream request, as the status of the response to the client.
enum class PullFailure : int {
    NotThere = 404,  ///< the upstream does not have it
    Bad = 502,       ///< the upstream's response is unusable
    Busy = 503,      ///< too many requests are waiting, or the upstream is paused after a timeout
    Silent = 504,
};

/// The requests in progress to all upstreams.
class Upstreams {
public:
    using Work = std::function<base::Result<void>()>;
    /// Runs `work`, or waits for the thread that already runs it for the same `key`. Fails
    /// immediately with code Busy if the upstream is paused after a timeout or too many threads are
    /// waiting. If `patient` is false, also fails with Busy instead of waiting for another thread.
    base::Result<void> ask(const std::string& upstream, const std::string& key, bool patient,
                           const Work& work);
    /// Reports whether the last request to the upstream timed out. The next one then gets a shorter
    /// timeout.
    bool doubtful(const std::string& upstream);

private:
    using Clock = std::chrono::steady_clock;
    struct Flight {
        bool done = false;
        base::Result<void> result;
    };
    struct Upstream {
        int asking = 0, waiting = 0;
        int silences = 0;  ///< consecutive timeouts
        Clock::time_point closed_until;
        std::map<std::string, std::shared_ptr<Flight>> flights;
    };
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, Upstream> upstreams_;
};

/// A cache of the upstreams' recent results for modules.
class PullMemory {
public:
    struct Statement {
        bool found = false;
        std::optional<base::Error> error;  ///< set if the response was missing or unusable
    };
    void store_result(const std::string& key, Statement statement,
                      std::chrono::milliseconds valid_for);
    /// Returns the cached result. Returns nullopt if there is none that is valid for at least
    /// `margin` longer; the caller should then ask the upstream.
    std::optional<Statement> cached_result(const std::string& key,
                                           std::chrono::milliseconds margin);

private:
    using Clock = std::chrono::steady_clock;
    struct Entry {
        Statement statement;
        Clock::time_point until;
    };
    std::mutex mutex_;
    std::map<std::string, Entry> entries_;
};

/// Refreshes modules that are known but stale, in the background, after the clients have got the
/// stale result.
class Refresher {
public:
    explicit Refresher(ForgeService& service) : service_(service) {}
    ~Refresher() { end(); }
    Refresher(const Refresher&) = delete;
    void want(const std::string& repository, const module::ModuleName& module);
    /// Waits for the threads to end. Further calls do nothing.
    void end();
    /// True if running requests must end soon.
    bool ending() const { return ending_; }

private:
    void run();
    ForgeService& service_;
    std::atomic<bool> ending_{false};
    std::mutex mutex_;
    std::condition_variable wanted_;
    std::deque<std::pair<std::string, module::ModuleName>> queue_;
    std::set<std::string> queued_;  ///< queued or being refreshed
    int idle_ = 0;
    std::vector<std::thread> threads_;
};

struct ForgeService::Pull {
    explicit Pull(ForgeService& service) : refresher(service) {}
    Upstreams upstreams;
    PullMemory memory;
    Refresher refresher;  ///< last member, because its threads use the others
};

}  // namespace bunraku::forge
