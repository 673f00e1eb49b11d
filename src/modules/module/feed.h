// Reading other repositories: a v3 forge page by page, a Pulp tree with modules.json, or a
// PULP_MANIFEST; over http(s):// or from file://, where a plain folder of archives will do too.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/shown_url.h"
#include "core/value/value.h"
#include "modules/module/names.h"
#include "modules/module/tarball.h"
#include "net/http/client.h"

namespace bunraku::module {

struct FeedOptions {
    /// Its credentials go to the origin of `home` alone, whatever addresses a listing names.
    http::ClientOptions client;
    std::string home;  ///< the feed's own address
    int attempts = 1;  ///< for answers that are cut, or say that the time is bad (429, 503, ..)
    std::uint64_t max_listing = 64U << 20;  ///< bytes of one page or list
    std::uint64_t max_tarball = 256U << 20;
    std::uint64_t max_pages = 50000;
    std::uint64_t max_releases = 2000000;
};

/// One thread's way to an upstream; connections are kept.
class Fetcher {
public:
    explicit Fetcher(const FeedOptions& options);
    /// The body of a 200; an error has the status in `code` (0: no answer at all; ECANCELED:
    /// stopped; EFBIG: longer than `limit`).
    /// With `resume`, an answer that was cut is gone on with where it ended: for what is checked by
    /// its digest.
    base::Result<std::string> get(const std::string& url, std::uint64_t limit, bool resume = false);
    const FeedOptions& options() const { return options_; }

private:
    /// What has come of an answer, and the mark by which the rest of the same is asked for.
    struct Partial {
        std::string body, validator;
    };
    base::Result<std::string> get_once(const std::string& url, std::uint64_t limit,
                                       std::string* retry_after, Partial* partial);
    bool at_home(const std::string& url) const;
    bool stopped() const { return options_.client.stopped && options_.client.stopped(); }
    FeedOptions options_;
    std::string origin_;   ///< of home
    http::Client client_;  ///< with the credentials
    http::Client away_;    ///< without
};

/// Takes user and password out of a URL: they become the client's authorization (where it has
/// none), and what is left may be shown.
std::string take_credentials(const std::string& url, http::ClientOptions& client);
using base::shown_text;
using base::shown_url;

/// A release that a feed offers.
struct Offer {
    ReleaseName name;
    /// Where its tarball is; the second is tried where the first is not found.
    std::string url, other_url;
    std::string sha256, md5;               ///< empty: not said
    std::uint64_t size = 0;                ///< 0: not said
    std::int64_t created = 0;              ///< seconds since the epoch; 0: not said
    std::vector<Dependency> dependencies;  ///< of a v3 forge's answers
};

/// Everything the feed offers (or what its search gives for any of `queries`). `complaint` gets a
/// sentence for each entry that is left out because it is malformed. Fails where the listing is
/// broken, does not end, or is no listing at all.
base::Result<std::vector<Offer>> list_feed(Fetcher& fetcher, const std::string& feed,
                                           const std::vector<std::string>& queries,
                                           const std::function<void(const std::string&)>& warn);

/// What a v3 forge at `base` has of one module. Empty: it does not know it.
base::Result<std::vector<Offer>> list_module(Fetcher& fetcher, const std::string& base,
                                             const ModuleName& module,
                                             const std::function<void(const std::string&)>& warn);

/// The tarball of an offer, checked against what was promised of it.
base::Result<std::string> fetch_offer(Fetcher& fetcher, const Offer& offer);

/// Walks the pages of a v3 listing that begins with `path` ("/v3/modules?limit=100") below `base`:
/// `each` with every result, as long as it gives true. Bounded against pages that never end.
base::Result<void> walk_pages(Fetcher& fetcher, const std::string& base, std::string path,
                              const std::function<bool(const value::Value&)>& each);

/// `base` without its path: "https://host:8443".
std::string origin_of(std::string_view url);
/// A link of a v3 answer below `base`; absolute links must be http(s). Empty: not acceptable.
std::string link_url(const std::string& base, std::string_view link);

/// The text under `key`; empty where there is none.
std::string_view text_at(const value::Value& object, std::string_view key);

}  // namespace bunraku::module
