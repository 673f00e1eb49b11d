// SPDX-License-Identifier: Apache-2.0
// Synchronization of a repository's working set with a feed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "modules/forge/forge_store.h"
#include "modules/module/feed.h"

namespace bunraku::forge {

/// A module to mirror.
struct SyncRequest {
    module::ModuleName module;
    std::string range;  ///< a version, a range, "latest", or empty for all versions
};
/// Returns the forge modules of a Puppetfile.
base::Result<std::vector<SyncRequest>> requests_of_puppetfile(const std::string& path);
/// Returns the releases that `requests` select at the v3 forge `base`: exact versions as given, and
/// the newest match of each range. With dependencies, also the newest match of each dependency.
/// `latest` is the same as in SyncOptions.
base::Result<std::vector<module::Offer>> offers_for(
    module::Fetcher& fetcher, const std::string& base, const std::vector<SyncRequest>& requests,
    bool with_dependencies, int latest, const std::function<void(const std::string&)>& warn);
/// Returns the newest `count` releases of each module.
std::vector<module::Offer> newest_of_each(std::vector<module::Offer> offers, int count);

struct SyncOptions {
    std::string feed;
    /// if not empty, only modules that the feed's search finds for any of these
    std::vector<std::string> queries;
    std::vector<SyncRequest> requests;  ///< if not empty, only these; the feed must be a v3 forge
    /// true to include the dependencies of the selected modules
    bool with_dependencies = false;
    int latest = 0;               ///< number of newest releases of each module; 0 means all
    bool remove_missing = false;  ///< mirror mode: removes releases that the feed lacks
    bool force = false;           ///< true to remove even if that removes everything
    bool signatures = false;      ///< true to fetch the signatures of the archives too
    /// root.json of the feed's signed metadata; if empty, the metadata is not used
    std::string root;
    int parallel = 4;  ///< number of concurrent downloads
    module::FeedOptions access;
    /// Called only on the caller's thread.
    std::function<void(std::uint64_t done, std::uint64_t total)> progress;
    std::function<void(const std::string&)> warn;
    std::function<bool()> stopped;  ///< returns true to stop early; stored releases remain
};

struct SyncResult {
    std::uint64_t offered = 0, present = 0, fetched = 0, removed = 0, failed = 0;
    bool stopped = false;
};

/// Downloads the releases that the working set lacks, and checks and stores them one by one. The
/// next run continues an interrupted one. Fails if the feed cannot be read. A refused release is
/// counted and reported; the others are stored.
base::Result<SyncResult> sync(ForgeStore& forge_store, const std::string& repository,
                              const SyncOptions& options);

}  // namespace bunraku::forge
