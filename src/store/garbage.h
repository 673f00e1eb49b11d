// Removing what nobody needs any more, in steps so small that nobody waits for them.
#pragma once

#include <cstdint>
#include <string_view>

#include "store/writer.h"

namespace bunraku::store {

struct ContentRemoval {
    std::size_t removed = 0;
    bool more = false;  ///< candidates are left
};
/// Looks at up to `limit` candidates, in a transaction of its own.
Result<ContentRemoval> remove_content(Writer& writer, std::size_t limit);

struct Lifetimes {
    std::int64_t node_ttl_ms = 7LL * 86400 * 1000;         ///< 0: nodes never expire
    std::int64_t node_purge_ttl_ms = 14LL * 86400 * 1000;  ///< 0: never purged
    std::int64_t report_ttl_ms = 14LL * 86400 * 1000;      ///< 0: kept for ever
    std::int64_t resource_events_ttl_ms = 0;               ///< 0: as long as the reports
};

// Each is one step in a transaction of its own and gives how many rows it took; as many as `limit`
// means that there may be more.
Result<std::size_t> expire_nodes(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                                 std::size_t limit);
Result<std::size_t> purge_nodes(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                                std::size_t limit);
Result<std::size_t> purge_reports(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                                  std::size_t limit);
Result<std::size_t> purge_events(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                                 std::size_t limit);
/// Paths, environments and producers that nothing uses.
Result<std::size_t> purge_names(Writer& writer, std::size_t limit);

}  // namespace bunraku::store
