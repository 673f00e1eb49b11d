// SPDX-License-Identifier: Apache-2.0
// The environments of one process. Each is opened once, shared by all compiles, and reopened when
// its files change or its time to live expires.
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

/// A cache of environments by name. Thread-safe. A snapshot that a compile still uses stays
/// unchanged until the compile releases it.
class Snapshots {
public:
    struct Options {
        /// Options for all environments; `name` and `directory` are set for each one.
        Spec spec;
        /// The setting environment_timeout, which environment.conf may override. "0" means that
        /// every compile checks the files. "unlimited" means that the environment lasts until
        /// clear(). Any other value is the time after the last use during which the files are not
        /// checked.
        std::string timeout = "0";
        bool own_timeouts = true;  ///< True if environment.conf may set the timeout.
        /// True if an environment without a folder is an error, as on a server.
        bool directory_required = true;
        /// Returns another version of the environment, whose parsed files the first opening reuses.
        /// May be empty, and may return null.
        std::function<std::shared_ptr<const Environment>(std::string_view name)> previous;
        /// A monotonic clock; if empty, the system's clock is used.
        std::function<std::int64_t()> now_seconds;
    };
    explicit Snapshots(Options options) : options_(std::move(options)) {}

    /// Returns the environment with the present state of its files. The error of a missing one is
    /// Puppet's: "Could not find a directory environment named 'x' anywhere in the path: ...", with
    /// code 404. Warnings of opening are logged once.
    base::Result<std::shared_ptr<const Environment>> get(std::string_view name, base::LogSink& log);
    /// Returns the environment as it was last opened, without a check of its files. Null if it is
    /// not open, or is being opened.
    std::shared_ptr<const Environment> known(std::string_view name);
    /// Removes one environment (or all). Compiles that are under way are not affected.
    void clear(std::string_view name);
    void clear();
    /// Returns the names of the environments that have a folder, sorted.
    std::vector<std::string> list() const;
    /// Returns how many times an environment was opened; used by counters.
    std::uint64_t opened() const;

private:
    struct Entry {
        std::mutex mutex;  // Held while the environment is opened.
        std::shared_ptr<const Environment> environment;
        std::optional<std::int64_t> ttl;  // nullopt means unlimited.
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
