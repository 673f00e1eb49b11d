// The environments of one process: each opened once, shared by all compiles, and opened anew when
// its files changed or its time is over.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "language/environment/environment.h"

namespace bunraku::environment {

/// Thread-safe. Environments know nothing of each other; a snapshot that somebody still compiles
/// with stays as it is until it is dropped.
class Snapshots {
public:
    struct Options {
        /// What all environments have in common; `name` and `directory` are left to each.
        Spec spec;
        /// The setting environment_timeout; environment.conf may say otherwise. "0": the files are
        /// looked at for every compile. "unlimited": until clear(). A time: so long as it is asked
        /// for again within that time.
        std::string timeout = "0";
        bool own_timeouts = true;  ///< environment.conf counts
        /// An environment without folder is an error, as for a server.
        bool directory_required = true;
        std::function<std::int64_t()> now_seconds;  ///< monotonic; empty: the system's
    };
    explicit Snapshots(Options options) : options_(std::move(options)) {}

    /// The environment as its files are now. The error of a missing one is Puppet's: "Could not
    /// find a directory environment named 'x' anywhere in the path: ...", with code 404. What
    /// opening warns of is logged once.
    base::Result<std::shared_ptr<const Environment>> get(std::string_view name, base::LogSink& log);
    /// Forgets one (or every) environment; compiles under way keep theirs.
    void clear(std::string_view name);
    void clear();
    /// Names of the environments that have a folder, sorted.
    std::vector<std::string> list() const;
    /// How many times an environment was opened, for counters.
    std::uint64_t opened() const;

private:
    struct Entry {
        std::mutex mutex;  // held while the environment is opened
        std::shared_ptr<const Environment> environment;
        std::optional<std::int64_t> ttl;  // nullopt: unlimited
        std::int64_t touched = 0;
    };
    class Once;
    std::shared_ptr<Entry> entry(std::string_view name);
    base::Result<void> open(Entry& entry, std::string_view name, base::LogSink& log);
    std::int64_t now() const;

    const Options options_;
    mutable std::mutex mutex_;
    std::map<std::string, std::shared_ptr<Entry>, std::less<>> entries_;
    std::set<std::string> logged_;
    std::uint64_t opened_ = 0;
};

}  // namespace bunraku::environment
