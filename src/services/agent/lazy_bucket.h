// SPDX-License-Identifier: Apache-2.0
// The filebucket of a server for runs that otherwise need no server (`apply`). It connects at the
// first use, with the machine's existing certificate.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "services/agent/server_content.h"
#include "services/agent/server_link.h"

namespace bunraku::agent {

class LazyBucket final : public apply::BucketServer {
public:
    /// All arguments except `user_agent` must outlive the object.
    LazyBucket(const config::Settings& settings, base::LogSink& log, sys::System& system,
               std::string user_agent)
        : settings_(settings), log_(log), system_(system), user_agent_(std::move(user_agent)) {}
    base::Result<bool> has(const Key& key) override;
    base::Result<void> save(const Key& key, const std::string& path,
                            const std::string& content) override;
    base::Result<std::optional<std::string>> content(const Key& key) override;

private:
    /// Connects unless that was done before. An error is returned again at each use.
    base::Result<ServerBucket*> bucket();

    const config::Settings& settings_;
    base::LogSink& log_;
    sys::System& system_;
    std::string user_agent_;
    std::unique_ptr<ServerLink> link_;
    std::optional<ServerBucket> bucket_;
    std::optional<base::Error> failure_;
};

}  // namespace bunraku::agent
