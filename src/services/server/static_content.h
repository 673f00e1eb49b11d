// Static catalogs: what a catalog says of its files is decided while it is compiled, and their
// contents stay as they were then, whatever becomes of the modules (docs/design/0105).
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "language/environment/environment.h"
#include "resources/catalog/catalog.h"
#include "services/server/catalog_cache.h"
#include "services/server/file_serving.h"

namespace bunraku::server {

/// Contents by digest, and by code id the paths that a catalog calls them. Thread-safe.
class StaticContent {
public:
    /// `folder` is made when it is first needed.
    StaticContent(std::string folder, FileMounts& files)
        : folder_(std::move(folder)), files_(files) {}

    struct Inlined {
        std::string code_id;  ///< empty: the catalog has no file of a module
        /// `,"metadata":{..},"recursive_metadata":{..}`, each only where there is any: the end of
        /// the catalog's JSON.
        std::string json;
        /// Files and folders that it says something of, and what was in their place before.
        std::vector<SeenPath> seen;
    };
    /// What an agent has to know of the files that come from modules (Puppet 8.11,
    /// indirector/catalog/compiler.rb): `checksums` are the kinds that it knows, best first, with
    /// dots between. A file that cannot be kept is left to be asked for. Throws where no kind of
    /// checksum is known to both.
    Inlined inline_files(const catalog::Catalog& catalog,
                         const environment::Environment& environment, std::string_view checksums,
                         base::LogSink& log);

    /// A path of a `content_uri`, and the digest that it ends with ("~sha256-..").
    struct Address {
        std::string_view path, digest;  ///< digest: empty in catalogs of earlier versions
    };
    static Address address_of(std::string_view content_path);
    /// Returns the SHA-256 of the content that a catalog means: the address has it, else the list
    /// of its code id. nullopt: nobody here can tell.
    std::optional<std::string> digest_of(const std::string& code_id, const Address& address) const;
    /// Returns where the content with this digest is cached; nullopt: nowhere.
    std::optional<std::string> find(std::string_view digest);
    /// The same after a search in `places`: the first file with this digest is copied to the cache.
    std::optional<std::string> find_among(const std::string& digest,
                                          const std::vector<std::string>& places);

    /// Forgets code ids that no catalog had for `seconds`, and contents that none names any more.
    void clean(std::int64_t seconds, base::LogSink& log);

private:
    base::Result<void> keep(const std::string& digest, const std::string& from);
    base::Result<void> keep_list(const std::string& code_id, const std::string& list);
    std::string content_path(std::string_view digest) const;
    std::string list_path(std::string_view code_id) const;

    std::string folder_;
    FileMounts& files_;
    std::shared_mutex cleaning_;  ///< shared: somebody keeps contents that no list names yet
    std::mutex mutex_;
    std::set<std::string> contents_;                          ///< digests that are on disk
    std::map<std::string, std::int64_t, std::less<>> lists_;  ///< code ids there, marked when
};

}  // namespace bunraku::server
