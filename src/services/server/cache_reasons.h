// Why the catalogs of nodes are compiled or given from the cache: the last decision for each node.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compiler/change.h"
#include "language/environment/trace.h"

namespace bunraku::server {

/// The last decision about a node's catalog.
struct CacheDecision {
    std::string environment;
    bool served = false;               ///< from the cache
    std::string reason;                ///< why it was compiled; empty: it was served
    std::vector<std::string> details;  ///< what changed, or what keeps it from being cached
    std::int64_t at_ns = 0;            ///< of the wall clock
    std::uint64_t served_total = 0, compiled_total = 0;  ///< since the server started
};

/// Thread-safe; of a bounded number of nodes.
class CacheReasons {
public:
    void served(const std::string& node, const std::string& environment);
    /// Records that the catalog has to be compiled. An empty `reason` keeps the one that the last
    /// compile recorded by not_cached().
    void compiled(const std::string& node, const std::string& environment, std::string reason,
                  std::vector<std::string> details = {});
    /// Records why the catalog that was just compiled cannot be cached.
    void not_cached(const std::string& node, std::string reason,
                    std::vector<std::string> details = {});
    std::optional<CacheDecision> find(const std::string& node) const;

private:
    CacheDecision* slot(const std::string& node);

    mutable std::mutex mutex_;
    std::map<std::string, CacheDecision, std::less<>> nodes_;
};

/// Returns a read for people: "fact mountpoints (keys)", "file /etc/motd", "command /bin/date".
std::string read_text(const environment::ReadTable::Item& read);

}  // namespace bunraku::server
