// The client side of API v3: what `module install` asks a forge.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/value/value.h"
#include "modules/module/names.h"
#include "modules/module/resolve.h"
#include "net/http/client.h"

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
    int attempts = 1;  ///< where the forge is overloaded (429, 502 to 504) or cuts an answer
    std::shared_ptr<ForgeTrust> trust;  ///< what is demanded of releases; null: nothing is
    std::function<bool()> stopped;      ///< true: what is under way is given up
};

/// One thread's connection to a forge. Errors are Puppet's texts of several lines.
class ForgeClient {
public:
    explicit ForgeClient(ForgeClientOptions options);
    const std::string& url() const { return options_.url; }
    /// As shown to people: the password of the URL is hidden.
    std::string shown_url() const;

    /// All releases of a module, over all pages. Releases whose metadata cannot be used are left
    /// out with a warning.
    base::Result<std::vector<RemoteModule>> releases(const std::string& name,
                                                     std::vector<std::string>* warnings);
    /// The release that a module's page calls the current one; nullopt: the forge has no such
    /// page, or none is current.
    base::Result<std::optional<RemoteModule>> current(const std::string& name);
    /// The archive of a release of which nothing else is known, in one request. The error's code is
    /// the forge's status.
    base::Result<std::string> archive(const std::string& name, const std::string& version);
    /// The archive, its checksum verified.
    base::Result<std::string> download(const RemoteModule& release);
    /// Is this release, whose bytes came from here or out of a cache, one that may be installed?
    base::Result<void> vouch(const ReleaseName& release, std::string_view bytes);

    struct Found {
        std::string full_name, author, version, summary;
        std::vector<std::string> tags;
    };
    base::Result<std::vector<Found>> search(const std::string& words);

private:
    base::Result<std::string> get(const std::string& path, std::uint64_t limit);
    base::Result<void> pages(std::string path,
                             const std::function<base::Result<void>(const value::Value&)>& each);
    ForgeClientOptions options_;
    http::Client client_;
};

}  // namespace bunraku::module
