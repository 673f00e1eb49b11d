// SPDX-License-Identifier: Apache-2.0
// Reads the durations of resources and the skipped resources from the log of a run.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "services/console/catalog_graph.h"
#include "services/console/visit.h"

namespace bunraku::console {

/// Returns "File[/etc/motd]" for the source "/Stage[main]/Web/File[/etc/motd]" of a log line, or an
/// empty text if the source is not a resource.
std::string_view resource_of_source(std::string_view source);

/// Resources that were skipped because others failed.
struct SkipCause {
    std::string cause;                 ///< the resource that failed
    std::vector<std::string> skipped;  ///< in the order of the log
};
/// Returns the causes in the order of the log.
std::vector<SkipCause> skip_causes(const Rows& logs);

/// Seconds by resource. The log has them if the agent's setting evaltrace is true.
using ResourceTimes = std::map<std::string, double, std::less<>>;
ResourceTimes resource_times(const Rows& logs);

/// The longest chain of resources that had to wait for each other: no agent could be faster.
struct CriticalPath {
    std::vector<std::uint32_t> resources;  ///< positions in the graph, only those that took time
    double seconds = 0;
};
CriticalPath critical_path(const CatalogGraph& graph, const ResourceTimes& times);

}  // namespace bunraku::console
