// SPDX-License-Identifier: Apache-2.0
// Static catalogs: the metadata of a catalog's files is determined while it is compiled. Their
// contents are cached, and later changes of the modules do not affect them (docs/design/0105).
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

/// A cache of contents by digest, and, by code id, of the paths under which a catalog refers to
/// them. Thread-safe.
class StaticContent {
public:
    /// Larger files are not copied to the cache; agents request them without a static catalog.
    static constexpr std::uint64_t kMaxSize = 64 << 20;

    /// `folder` is created on first use.
    StaticContent(std::string folder, FileMounts& files)
        : folder_(std::move(folder)), files_(files) {}

    struct Inlined {
        std::string code_id;  ///< empty if the catalog has no files of modules
        /// The end of the catalog's JSON, `,"metadata":{..},"recursive_metadata":{..}`. Empty
        /// members are omitted.
        std::string json;
        /// The files and folders that it describes, with the stamps recorded before they were read.
        std::vector<SeenPath> seen;
    };
    /// Returns the metadata of files from modules (Puppet 8.11, indirector/catalog/compiler.rb).
    /// `checksums` lists the kinds that the agent supports, best first, separated by dots. A file
    /// that cannot be cached is omitted, so that the agent requests it. Throws if the agent and the
    /// server have no checksum kind in common.
    Inlined inline_files(const catalog::Catalog& catalog,
                         const environment::Environment& environment, std::string_view checksums,
                         base::LogSink& log);

    /// A path of a `content_uri`, and the digest at its end ("~sha256-..").
    struct Address {
        std::string_view path, digest;  ///< digest is empty in catalogs of earlier versions
    };
    static Address address_of(std::string_view content_path);
    /// Returns the SHA-256 of the content that a catalog refers to, according to the address or
    /// else to the list of its code id. Returns nullopt if it is unknown.
    std::optional<std::string> digest_of(const std::string& code_id, const Address& address) const;
    /// Returns the path of the cached content with this digest, or nullopt if it is not cached.
    std::optional<std::string> find(std::string_view digest);
    /// Does the same, but also searches `places`: copies the first file with this digest to the
    /// cache.
    std::optional<std::string> find_among(const std::string& digest,
                                          const std::vector<std::string>& places);

    /// Adds a content of another server to the cache and returns its path. Fails if `digest` is not
    /// its SHA-256.
    base::Result<std::string> add(const std::string& digest, std::string_view bytes);

    /// Removes code ids that no catalog has used for `seconds`, and contents that no code id refers
    /// to any more.
    void clean(std::int64_t seconds, base::LogSink& log);

private:
    base::Result<void> keep(const std::string& digest, const std::string& from);
    base::Result<void> keep_list(const std::string& code_id, const std::string& list);
    std::string content_path(std::string_view digest) const;
    std::string list_path(std::string_view code_id) const;

    std::string folder_;
    FileMounts& files_;
    /// held shared while contents are cached that no list refers to yet
    std::shared_mutex cleaning_;
    std::mutex mutex_;
    std::set<std::string> contents_;  ///< digests on disk
    /// existing code ids and the times when they were marked as used
    std::map<std::string, std::int64_t, std::less<>> lists_;
};

}  // namespace bunraku::server
