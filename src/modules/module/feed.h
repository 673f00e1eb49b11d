// SPDX-License-Identifier: Apache-2.0
// Reads other repositories: a v3 forge page by page, a Pulp tree with modules.json, or a
// PULP_MANIFEST. The address is http(s):// or file://. For file://, a plain folder of archives is
// accepted too.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/shown_url.h"
#include "modules/module/names.h"
#include "modules/module/tarball.h"
#include "net/http/client.h"

namespace bunraku::value {
class Value;
}

namespace bunraku::module {

struct FeedOptions {
    /// Its credentials are sent only to the origin of `home`, whatever addresses a listing
    /// contains.
    http::ClientOptions client;
    std::string home;  ///< address of the feed
    /// number of attempts after truncated responses or temporary errors (429, 503, ...)
    int attempts = 1;
    std::uint64_t max_listing = 64U << 20;  ///< maximum bytes of one page or list
    std::uint64_t max_tarball = 256U << 20;
    std::uint64_t max_pages = 50000;
    std::uint64_t max_releases = 2000000;
};

/// The connection of one thread to an upstream. Connections are reused.
class Fetcher {
public:
    explicit Fetcher(const FeedOptions& options);
    /// Returns the body of a response with status 200. The error's `code` is the HTTP status, 0
    /// without a response, ECANCELED if stopped, or EFBIG if the body is longer than `limit`. With
    /// `resume`, a truncated response is continued where it ended. Use this only if the content is
    /// verified by its digest.
    base::Result<std::string> get(const std::string& url, std::uint64_t limit, bool resume = false);
    const FeedOptions& options() const { return options_; }

private:
    /// The received part of a response, and the validator for requesting the rest.
    struct Partial {
        std::string body, validator;
    };
    base::Result<std::string> get_once(const std::string& url, std::uint64_t limit,
                                       std::string* retry_after, Partial* partial);
    bool at_home(const std::string& url) const;
    bool stopped() const { return options_.client.stopped && options_.client.stopped(); }
    FeedOptions options_;
    std::string origin_;   ///< origin of `home`
    http::Client client_;  ///< client with the credentials
    http::Client away_;    ///< client without the credentials
};

/// Removes the user and password from a URL and sets them as the client's authorization, unless it
/// has one. Returns the rest of the URL, which is safe to display.
std::string take_credentials(const std::string& url, http::ClientOptions& client);
using base::shown_text;
using base::shown_url;

/// A release in a feed.
struct Offer {
    ReleaseName name;
    /// Address of the archive, and an alternative if the first one does not exist.
    std::string url, other_url;
    std::string sha256, md5;               ///< empty if unknown
    std::uint64_t size = 0;                ///< 0 if unknown
    std::int64_t created = 0;              ///< seconds since the epoch; 0 if unknown
    std::vector<Dependency> dependencies;  ///< from the responses of a v3 forge
};

/// Returns all releases of the feed, or those that its search returns for any of `queries`. Calls
/// `warn` with a sentence for each malformed entry that is skipped. Fails if the listing is broken,
/// does not end, or is not a listing.
base::Result<std::vector<Offer>> list_feed(Fetcher& fetcher, const std::string& feed,
                                           const std::vector<std::string>& queries,
                                           const std::function<void(const std::string&)>& warn);

/// Returns the releases of one module at the v3 forge `base`. Empty if the forge does not know the
/// module.
base::Result<std::vector<Offer>> list_module(Fetcher& fetcher, const std::string& base,
                                             const ModuleName& module,
                                             const std::function<void(const std::string&)>& warn);

/// Returns the archive of an offer, after checking its size and digest.
base::Result<std::string> fetch_offer(Fetcher& fetcher, const Offer& offer);

/// Reads the pages of a v3 listing that begins at `path` ("/v3/modules?limit=100") below `base`.
/// Calls `each` with every result until it returns false. The number of pages is bounded.
base::Result<void> walk_pages(Fetcher& fetcher, const std::string& base, std::string path,
                              const std::function<bool(const value::Value&)>& each);

/// Returns `base` without its path: "https://host:8443".
std::string origin_of(std::string_view url);
/// Resolves a link of a v3 response below `base`. Absolute links must be http(s). Returns an empty
/// string if the link is not acceptable.
std::string link_url(const std::string& base, std::string_view link);

/// Returns the string under `key`, or an empty string.
std::string_view text_at(const value::Value& object, std::string_view key);

}  // namespace bunraku::module
