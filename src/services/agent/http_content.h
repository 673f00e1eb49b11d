// SPDX-License-Identifier: Apache-2.0
// Content from web servers: `source => 'https://..'`.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "core/config/settings.h"
#include "net/http/client.h"
#include "resources/apply/content_source.h"

namespace bunraku::agent {

/// Reads a file's metadata from the headers of a HEAD request: checksums from X-Checksum-Sha256,
/// -Sha1, -Md5 and Content-MD5, or if requested the entity tag, otherwise the modification time. If
/// the server refuses HEAD (403, 405), requests one byte instead. Owners are unknown, and folders
/// cannot be listed (Puppet 8.11, file_serving/http_metadata). Each address is requested only once.
class HttpContent final : public apply::ContentSource {
public:
    /// `stopped` cancels requests in progress.
    HttpContent(const config::Settings& settings, std::string user_agent,
                std::function<bool()> stopped);
    base::Result<std::optional<apply::ContentMetadata>> metadata(
        const std::string& uri, const apply::ContentQuery& query) override;
    base::Result<std::optional<std::vector<apply::ContentMetadata>>> search(
        const std::string& uri, const apply::ContentSearch& search) override;
    base::Result<std::unique_ptr<sys::Reader>> open(const std::string& uri) override;

private:
    /// Maps "sha256" to "{sha256}..". Empty optional values mean that the file does not exist.
    using Checksums = std::map<std::string, std::string>;
    base::Result<std::optional<Checksums>> ask(const std::string& uri);
    http::Client& client();

    const config::Settings& settings_;
    std::string user_agent_;
    std::function<bool()> stopped_;
    std::unique_ptr<http::Client> client_;
    std::map<std::string, Checksums> known_;
};

}  // namespace bunraku::agent
