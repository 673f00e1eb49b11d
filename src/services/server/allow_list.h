// SPDX-License-Identifier: Apache-2.0
// The client certificates that may use the server: PuppetDB's certificate-allowlist.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>

#include "core/base/result.h"
#include "net/http/message.h"

namespace bunraku::server {

class AllowList {
public:
    /// Reads a file with one common name per line. Empty lines and comments after "#" are ignored.
    static base::Result<std::shared_ptr<AllowList>> read(const std::string& path);
    base::Result<void> reload();
    /// Returns a response with PuppetDB's text if the client is not allowed, else nullopt.
    std::optional<http::Response> refusal(const http::Request& request) const;

private:
    using Names = std::unordered_set<std::string>;
    static base::Result<std::shared_ptr<const Names>> read_names(const std::string& path);
    std::string path_;
    mutable std::mutex mutex_;
    std::shared_ptr<const Names> names_;
};

}  // namespace bunraku::server
