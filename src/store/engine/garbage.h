// Removing what nobody needs any more, in steps so small that nobody waits for them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "store/db/writer.h"

namespace bunraku::store {

struct ContentRemoval {
    std::size_t removed = 0;
    bool more = false;  ///< candidates are left
};
/// Looks at up to `limit` candidates, in a transaction of its own. Resources that were lost after
/// `until` stay: catalogs that were have them.
Result<ContentRemoval> remove_content(Writer& writer, std::size_t limit, std::int64_t until);

struct Lifetimes {
    std::int64_t node_ttl_ms = 7LL * 86400 * 1000;         ///< 0: nodes never expire
    std::int64_t node_purge_ttl_ms = 14LL * 86400 * 1000;  ///< 0: never purged
    std::int64_t report_ttl_ms = 14LL * 86400 * 1000;      ///< 0: kept for ever
    std::int64_t resource_events_ttl_ms = 0;               ///< 0: as long as the reports
    std::int64_t catalog_history_ttl_ms = kHistoryTtl;     ///< 0: what was is not kept
};

/// What a step has done: nodes, reports or events, as its name says.
struct GcStep {
    std::size_t done = 0;
    bool more = false;  ///< it is worth another one
};

// Each is one step in a transaction of its own that touches a few thousand rows at most: others get
// their turn between two.
Result<GcStep> expire_nodes(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                            std::size_t limit);
/// Their reports go first, some in each step; then up to `limit` nodes themselves.
Result<GcStep> purge_nodes(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                           std::size_t limit);
Result<GcStep> purge_reports(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                             std::size_t limit);
Result<GcStep> purge_events(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                            std::size_t limit);
/// Versions of catalogs and facts that nobody may ask for any more.
Result<GcStep> purge_versions(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                              std::size_t limit);
/// Some of the node's reports, so that little is left for purge_node. Unknown: nothing is done.
Result<GcStep> purge_reports_of(Writer& writer, std::string_view certname);

/// Paths, sets of tags, of fact names and of kinds of resources, places, environments and producers
/// that nothing uses. Finding them may take a while, which is why it is done with a connection that
/// only reads; purging looks again at what is new since then.
struct UnusedNames {
    std::vector<std::int64_t> paths, tag_sets, name_sets, kind_sets, places, environments,
        producers;
    std::int64_t newest_report = 0;
    bool empty() const {
        return paths.empty() && tag_sets.empty() && name_sets.empty() && kind_sets.empty() &&
               places.empty() && environments.empty() && producers.empty();
    }
};
Result<UnusedNames> unused_names(Database& reader, std::size_t limit);
Result<std::size_t> purge_names(Writer& writer, const UnusedNames& names);

}  // namespace bunraku::store
