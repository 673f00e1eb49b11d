// SPDX-License-Identifier: Apache-2.0
// Client for API v3 of a forge, used by `module install`.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "modules/module/names.h"
#include "modules/module/resolve.h"
#include "net/http/client.h"

namespace bunraku::value {
class Value;
}

namespace bunraku::module {

class ForgeTrust;

struct ForgeClientOptions {
    std::string url;            ///< setting module_repository
    std::string authorization;  ///< setting forge_authorization
    std::string module_groups;
    std::string user_agent = "PMT/1.1.1 (v3; Bunraku)";
    std::string ca_file;
    std::string trust_store;  ///< setting ssl_trust_store
    http::ProxyRules proxies;
    /// number of attempts if the forge is overloaded (429, 502 to 504) or a response is truncated
    int attempts = 1;
    std::shared_ptr<ForgeTrust> trust;  ///< requirements for releases; may be null
    std::function<bool()> stopped;      ///< returns true to abort running requests
};

/// The connection of one thread to a forge. Errors are Puppet's texts of several lines.
class ForgeClient {
public:
    explicit ForgeClient(ForgeClientOptions options);
    const std::string& url() const { return options_.url; }
    /// Returns the URL for display, without its password.
    std::string shown_url() const;

    /// Returns all releases of a module from all pages. Skips releases with unusable metadata and
    /// adds a warning for each.
    base::Result<std::vector<RemoteModule>> releases(const std::string& name,
                                                     std::vector<std::string>* warnings);
    /// Returns the current release according to the module's page. Returns nullopt if the forge has
    /// no such page or no release is current.
    base::Result<std::optional<RemoteModule>> current(const std::string& name);
    /// Fetches the archive of a release by name and version in one request. The error's code is the
    /// HTTP status.
    base::Result<std::string> archive(const std::string& name, const std::string& version);
    /// Fetches the archive and verifies its checksum.
    base::Result<std::string> download(const RemoteModule& release);
    /// Checks whether these bytes may be installed as the release. They were fetched from this
    /// forge or read from a cache.
    base::Result<void> vouch(const ReleaseName& release, std::string_view bytes);

    struct Found {
        std::string full_name, author, version, summary;
        std::vector<std::string> tags;
    };
    /// Returns the modules that match. 0 for `most` means all of them.
    base::Result<std::vector<Found>> search(const std::string& words, std::size_t most = 0);
    /// Returns at most `most` modules of an author.
    base::Result<std::vector<Found>> modules_of(const std::string& author, std::size_t most);

private:
    base::Result<std::string> get(const std::string& path, std::uint64_t limit);
    base::Result<void> pages(std::string path,
                             const std::function<base::Result<void>(const value::Value&)>& each,
                             const std::function<bool()>& enough = {});
    base::Result<std::vector<Found>> found_modules(const std::string& query, std::size_t most);
    ForgeClientOptions options_;
    http::Client client_;
};

}  // namespace bunraku::module
