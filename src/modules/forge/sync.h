// Bringing a repository's working set in line with a feed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "modules/forge/forge_store.h"
#include "modules/module/feed.h"

namespace bunraku::forge {

/// A module that a mirror is to have.
struct SyncRequest {
    module::ModuleName module;
    std::string range;  ///< a version, a range, "latest", or empty: all of it
};
/// The forge modules of a Puppetfile.
base::Result<std::vector<SyncRequest>> requests_of_puppetfile(const std::string& path);
/// What `wishes` mean at the v3 forge `base`: exact versions as they are, of ranges the newest that
/// fits; with dependencies, of each what fits and is newest. `latest` as in SyncOptions.
base::Result<std::vector<module::Offer>> offers_for(
    module::Fetcher& fetcher, const std::string& base, const std::vector<SyncRequest>& requests,
    bool with_dependencies, int latest, const std::function<void(const std::string&)>& warn);
/// The newest `count` of each module.
std::vector<module::Offer> newest_of_each(std::vector<module::Offer> offers, int count);

struct SyncOptions {
    std::string feed;
    std::vector<std::string> queries;   ///< only what the feed's search gives for any of these
    std::vector<SyncRequest> requests;  ///< only these; the feed must be a v3 forge
    bool with_dependencies = false;     ///< of what is wished for or found
    int latest = 0;                     ///< of each module the newest so many; 0: all
    bool remove_missing = false;        ///< mirror: what the feed lacks goes
    bool force = false;                 ///< even where that is everything
    bool signatures = false;            ///< those that archives have come too
    std::string root;  ///< root.json of the feed's signed metadata; empty: not asked
    int parallel = 4;  ///< downloads at a time
    module::FeedOptions access;
    /// Called on the caller's thread only.
    std::function<void(std::uint64_t done, std::uint64_t total)> progress;
    std::function<void(const std::string&)> warn;
    std::function<bool()> stopped;  ///< true: finish early, what was stored stays
};

struct SyncResult {
    std::uint64_t offered = 0, present = 0, fetched = 0, removed = 0, failed = 0;
    bool stopped = false;
};

/// Downloads what the working set lacks, checks and stores it release by release: a run that is cut
/// is continued by the next one. Fails where the feed cannot be read; single releases that are
/// refused are counted and complained about, the others are stored.
base::Result<SyncResult> sync(ForgeStore& forge_store, const std::string& repository,
                              const SyncOptions& options);

}  // namespace bunraku::forge
