// SPDX-License-Identifier: Apache-2.0
// The state of an agent's last catalog. With it, the agent can ask the server whether the catalog
// is still valid without sending its facts (docs/design/0106).
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
    std::string asked;               ///< environment in the agent's settings
    std::string environment;         ///< environment of its catalog
    std::string etag;                ///< as received from the server
    std::string plugins;             ///< fingerprint of all plugins of the environment
    std::vector<std::string> facts;  ///< paths of the facts that the catalog depends on
    std::int64_t reported_ns = 0;    ///< time at which the server received all facts
    /// The server's name for the last complete report, and the part of it that does not depend on
    /// times (apply::report_identity). Empty if there is none.
    std::string report, report_identity;

    /// Loads the state from a file. Returns nullopt if the file does not exist or is invalid.
    static std::optional<ConditionalState> load(sys::FileSystem& files, const std::string& path);
    base::Result<void> save(sys::FileSystem& files, const std::string& path) const;
    /// Reads the state from the headers of a response with a catalog. Returns false if the server
    /// does not support conditional requests.
    bool take(const http::ClientResponse& answer);
};

}  // namespace bunraku::agent
