// Content of the web: `source => 'https://..'`.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "core/config/settings.h"
#include "net/http/client.h"
#include "resources/apply/content_source.h"

namespace bunraku::agent {

/// What is known of a file before it is fetched are the headers of a HEAD request: checksums in
/// X-Checksum-Sha256, -Sha1, -Md5 and Content-MD5, else the time of its last change. Where HEAD is
/// refused (403, 405) one byte is asked for. Whose it is nobody knows, and nothing can be listed
/// (Puppet 8.11, file_serving/http_metadata). Each address is asked about once.
class HttpContent final : public apply::ContentSource {
public:
    /// `stopped` ends what is under way.
    HttpContent(const config::Settings& settings, std::string user_agent,
                std::function<bool()> stopped);
    base::Result<std::optional<apply::ContentMetadata>> metadata(
        const std::string& uri, const apply::ContentQuery& query) override;
    base::Result<std::optional<std::vector<apply::ContentMetadata>>> search(
        const std::string& uri, const apply::ContentSearch& search) override;
    base::Result<std::unique_ptr<sys::Reader>> open(const std::string& uri) override;

private:
    /// "sha256" -> "{sha256}..". None: there is nothing.
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
