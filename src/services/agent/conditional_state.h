// What an agent remembers of its last catalog, so that it can ask whether it is still right without
// sending its facts (docs/design/0106).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/sys/file_system.h"
#include "net/http/client.h"

namespace bunraku::agent {

struct ConditionalState {
    std::string server;              ///< "HOST:PORT"
    std::string asked;               ///< the environment that the agent is set to
    std::string environment;         ///< the one its catalog is of
    std::string etag;                ///< as the server wrote it
    std::string plugins;             ///< stands for all plugins of the environment
    std::vector<std::string> facts;  ///< the paths of those that count
    std::int64_t reported_ns = 0;    ///< when the server got all facts
    /// What the server calls the last whole report, and what that has in common with those that
    /// differ in times alone (apply::report_identity); empty: it has none.
    std::string report, report_identity;

    /// The memory in a file; nullopt: there is none, or it is not understood.
    static std::optional<ConditionalState> load(sys::FileSystem& files, const std::string& path);
    base::Result<void> save(sys::FileSystem& files, const std::string& path) const;
    /// Takes what an answer with a catalog says; false: its server keeps no catalogs.
    bool take(const http::ClientResponse& answer);
};

}  // namespace bunraku::agent
