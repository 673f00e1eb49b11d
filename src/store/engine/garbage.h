// SPDX-License-Identifier: Apache-2.0
// Removal of unused data, in steps small enough not to delay other writers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "store/db/writer.h"

namespace bunraku::store {

struct ContentRemoval {
    std::size_t removed = 0;
    bool more = false;  ///< true if more candidates are left
};
/// Examines up to `limit` candidates in a separate transaction. Keeps resources that were lost
/// after `until`, because earlier catalogs contain them.
Result<ContentRemoval> remove_content(Writer& writer, std::size_t limit, std::int64_t until);

struct Lifetimes {
    std::int64_t node_ttl_ms = 7LL * 86400 * 1000;         ///< 0 means that nodes never expire
    std::int64_t node_purge_ttl_ms = 14LL * 86400 * 1000;  ///< 0 means never
    std::int64_t report_ttl_ms = 14LL * 86400 * 1000;      ///< 0 means unlimited
    std::int64_t resource_events_ttl_ms = 0;               ///< 0 means as long as the reports
    std::int64_t catalog_history_ttl_ms = kHistoryTtl;     ///< 0 means that no history is stored
};

/// The result of a step: the number of nodes, reports or events, depending on the function.
struct GcStep {
    std::size_t done = 0;
    bool more = false;  ///< true if another step is useful
};

// Each of these functions runs one step in a separate transaction. A step changes a few thousand
// rows at most, so that other writers can run between two steps.
Result<GcStep> expire_nodes(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                            std::size_t limit);
/// Removes the reports of purged nodes first, some in each step, then up to `limit` of the nodes.
Result<GcStep> purge_nodes(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                           std::size_t limit);
Result<GcStep> purge_reports(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                             std::size_t limit);
Result<GcStep> purge_events(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                            std::size_t limit);
/// Removes versions of catalogs and facts that are older than the retention time, and resources
/// that were declared again before that time (see undeclared.h).
Result<GcStep> purge_versions(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                              std::size_t limit);
/// Removes some of the node's reports, so that little is left for purge_node(). Does nothing if the
/// node is unknown.
Result<GcStep> purge_reports_of(Writer& writer, std::string_view certname);

/// Unused paths, sets (of tags, fact names and resource kinds), source locations, environments and
/// producers. The search may be slow, so it uses a read-only connection. The removal checks again
/// for changes made since the search.
struct UnusedNames {
    std::vector<std::int64_t> paths, tag_sets, name_sets, kind_sets, places, environments,
        producers;
    std::int64_t newest_kind = 0;
    std::int64_t generation = 0;  ///< of the store's content, before the search
    bool empty() const {
        return paths.empty() && tag_sets.empty() && name_sets.empty() && kind_sets.empty() &&
               places.empty() && environments.empty() && producers.empty();
    }
};
/// Begins a search, and returns a number that marks the source locations that writers use during
/// the search (Writer::next_search). With 0, the removal reads all of them.
Result<std::int64_t> begin_search(Writer& writer);
Result<UnusedNames> unused_names(Database& reader, std::size_t limit, std::int64_t generation = 0);
Result<std::size_t> purge_names(Writer& writer, const UnusedNames& names);

}  // namespace bunraku::store
