// Pull-through repositories: what clients ask for is looked up upstream, described in the
// repository, and its tarball fetched and kept when somebody wants it.
//
// Anybody may ask for any name, and an upstream may be slow or silent, so nothing here is waited
// for without bounds: equal questions are asked once, few at a time of one upstream, few may wait;
// and a silent upstream is left alone for a while. What is known already is answered at once, and
// asked for again behind that.
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

/// Why nothing came from upstream, as the status of our own answer.
enum class PullFailure : int {
    NotThere = 404,  ///< upstream says so
    Bad = 502,       ///< what it sent is of no use
    Busy = 503,      ///< too many wait for it already, or it was silent just now
    Silent = 504,
};

/// The questions under way to all upstreams.
class Upstreams {
public:
    using Work = std::function<base::Result<void>()>;
    /// Runs `work`, or waits for the one who runs it for the same `key`. Error code Busy at once
    /// where the upstream was silent lately or enough wait for it; and, unless `patient`, wherever
    /// somebody else would have to be waited for.
    base::Result<void> ask(const std::string& upstream, const std::string& key, bool patient,
                           const Work& work);
    /// Was its last answer none? Then the next one is not waited for long.
    bool doubtful(const std::string& upstream);

private:
    using Clock = std::chrono::steady_clock;
    struct Flight {
        bool done = false;
        base::Result<void> result;
    };
    struct Upstream {
        int asking = 0, waiting = 0;
        int silences = 0;  ///< one after the other
        Clock::time_point closed_until;
        std::map<std::string, std::shared_ptr<Flight>> flights;
    };
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, Upstream> upstreams_;
};

/// What upstreams said of modules lately.
class PullMemory {
public:
    struct Statement {
        bool found = false;
        std::optional<base::Error> error;  ///< no answer, or none of use
    };
    void learn(const std::string& key, Statement said, std::chrono::milliseconds good_for);
    /// Nullopt: it is time to ask (again). `margin`: it must hold for so much longer.
    std::optional<Statement> recall(const std::string& key, std::chrono::milliseconds margin);

private:
    using Clock = std::chrono::steady_clock;
    struct Entry {
        Statement said;
        Clock::time_point until;
    };
    std::mutex mutex_;
    std::map<std::string, Entry> entries_;
};

/// Asks upstreams for what is known but no longer fresh, behind the backs of those who got what was
/// known.
class Refresher {
public:
    explicit Refresher(ForgeService& service) : service_(service) {}
    ~Refresher() { end(); }
    Refresher(const Refresher&) = delete;
    void want(const std::string& repository, const module::ModuleName& module);
    /// Waits for its threads; more than once it does nothing.
    void end();
    /// True: what is under way has to come to its end.
    bool ending() const { return ending_; }

private:
    void run();
    ForgeService& service_;
    std::atomic<bool> ending_{false};
    std::mutex mutex_;
    std::condition_variable wanted_;
    std::deque<std::pair<std::string, module::ModuleName>> queue_;
    std::set<std::string> queued_;  ///< waiting or under way
    int idle_ = 0;
    std::vector<std::thread> threads_;
};

struct ForgeService::Pull {
    explicit Pull(ForgeService& service) : refresher(service) {}
    Upstreams upstreams;
    PullMemory memory;
    Refresher refresher;  ///< its threads use the others
};

}  // namespace bunraku::forge
