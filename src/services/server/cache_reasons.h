// SPDX-License-Identifier: Apache-2.0
// Records, for each node, why the last catalog was compiled, or that it was cached.
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
    bool served = false;  ///< true if the catalog was cached
    /// reason for a compile; empty if the catalog was cached
    std::string reason;
    std::vector<std::string> details;  ///< changed inputs, or inputs that prevent caching
    std::int64_t at_ns = 0;            ///< wall-clock time
    std::uint64_t served_total = 0, compiled_total = 0;  ///< counts since the server started
};

/// Decisions of a limited number of nodes. Thread-safe.
class CacheReasons {
public:
    void served(const std::string& node, const std::string& environment);
    /// Records that the catalog must be compiled. An empty `reason` leaves the reason from the last
    /// not_cached() unchanged.
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

/// Describes a read for users: "fact mountpoints (keys)", "file /etc/motd", "command /bin/date".
std::string read_text(const environment::ReadTable::Item& read);

}  // namespace bunraku::server
