// SPDX-License-Identifier: Apache-2.0
// The versions of environments on this server. Each request of a run is answered from the version
// with which the run began (docs/design/0400).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/site/request.h"
#include "core/config/settings.h"
#include "language/environment/files.h"
#include "language/environment/trace.h"
#include "services/server/version_authority.h"

namespace bunraku::server {

/// A version of an environment, shown at the environment's own path. Immutable.
struct PlacedVersion {
    std::string name;       ///< as in VersionAuthority
    std::string folder;     ///< absolute, without links
    site::Sources sources;  ///< for compiles and for opening the environment

    /// Sets the part of `to` that belongs to the version.
    void place(site::Sources& to) const;
};

/// The part that a request has in a run.
enum class RunStep : std::uint8_t {
    Begins,     ///< the first request of a run that needs a version; the node may change it
    Continues,  ///< belongs to the run under way; if none is known, it begins one
    Looks,      ///< belongs to no run, but gets the version of a run under way
};

/// Finds the version for each request. An environment has versions if its folder is a link, as
/// `bunraku deploy` creates it. Thread-safe.
class EnvironmentVersions {
public:
    /// Reads of the link go through `files`, whose moment() avoids a system call for each request.
    /// `forget` is called for versions whose memory shall be freed.
    EnvironmentVersions(const config::Settings& settings,
                        std::shared_ptr<const environment::Files> files,
                        std::shared_ptr<VersionAuthority> authority,
                        std::function<void(const PlacedVersion&)> forget);

    /// Returns the version to which the environment's link points. Returns null if the environment
    /// has no versions or does not exist.
    std::shared_ptr<const PlacedVersion> base(const std::string& environment);

    /// Returns the version for a request of a run. A request that names a transaction begins that
    /// run, whatever `step` says, unless the run is known. Returns null if the environment has no
    /// versions. Throws Unavailable if the version of the run cannot be known or no longer exists.
    std::shared_ptr<const PlacedVersion> of(const NodeRun& run, RunStep step);

    VersionAuthority& authority() { return *authority_; }

    /// Forgets all versions, so that their files are read again.
    void clear();

private:
    struct Environment {
        std::mutex mutex;
        /// Files::moment() before the link was looked at
        std::optional<std::uint64_t> moment;
        std::string path;                           ///< the environment's own path
        std::shared_ptr<const PlacedVersion> base;  ///< null if there are no versions
        std::shared_ptr<environment::ReadTable> reads;
        struct Live {
            std::shared_ptr<const PlacedVersion> version;
            std::optional<std::uint64_t> moment;  ///< when its folder was last seen
        };
        std::vector<Live> live;  ///< most recently used first
    };
    struct Found {
        std::shared_ptr<Environment> environment;   ///< null if there is none
        std::shared_ptr<const PlacedVersion> base;  ///< null if it has no versions
    };
    Found find(const std::string& name);
    void look(Environment& environment, const std::string& name);
    std::string own_path(const std::string& name) const;
    std::shared_ptr<const PlacedVersion> live(Environment& environment, const std::string& name);
    std::shared_ptr<const PlacedVersion> place(Environment& environment, std::string name,
                                               std::string folder);
    std::shared_ptr<const PlacedVersion> begin(Environment& environment, const NodeRun& run);

    const config::Settings& settings_;
    const std::shared_ptr<const environment::Files> files_;
    const std::shared_ptr<VersionAuthority> authority_;
    const std::function<void(const PlacedVersion&)> forget_;
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<Environment>, std::less<>> environments_;
};

}  // namespace bunraku::server
