// SPDX-License-Identifier: Apache-2.0
// The traces of cached catalogs on disk, so that a restarted server can return catalogs without
// compiling them first (docs/design/0241). The files may be deleted at any time, which only causes
// compiles.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "language/environment/file_fingerprints.h"
#include "language/environment/trace.h"
#include "store/db/secrets.h"

namespace bunraku::server {

/// Contexts for the encryption of cached files (Secrets::seal).
inline constexpr std::string_view kCatalogSealContext = "kept catalog", kTraceSealContext = "trace";

/// A path and the state that it had when it was read.
struct SeenPath {
    std::string path;
    environment::Stamp stamp;
    std::string content = {};  ///< content_mark(); empty if only the stamp counts
};

/// Stores traces in files. Thread-safe. Truncated or damaged files, and files of another program,
/// are ignored.
class TraceCache {
public:
    /// `program` identifies the inputs of catalogs other than their traces. Removes files from
    /// `folder` that are too old to be used.
    TraceCache(std::string folder, std::string program,
               std::shared_ptr<store::Secrets> secrets = {});

    struct CachedCatalog {
        std::string etag, digest, fingerprint, version, text_digest;
        std::int64_t since_ns = 0;
        std::uint64_t world = 0, of_node = 0;
        std::vector<std::string> facts;
        std::vector<SeenPath> seen;
        std::shared_ptr<const environment::Trace> trace;
    };
    void save(const std::string& key, const CachedCatalog& catalog);
    /// Loads a catalog. Its trace uses the ids of `table`.
    std::optional<CachedCatalog> load(const std::string& key,
                                      const std::shared_ptr<environment::ReadTable>& table);
    void drop(const std::string& key);
    /// Removes all files from the folder.
    void drop_all();

private:
    /// The texts of read ids, one file for each table and server process. Traces are small in
    /// comparison.
    struct Written {
        std::shared_ptr<environment::ReadTable> table;
        std::string name;
        environment::IdSet ids;
    };
    struct Text {
        environment::Read kind{};
        std::string name, detail;
    };
    using Texts = std::unordered_map<environment::ReadId, Text>;

    bool write_texts(Written& written, const std::vector<environment::ReadId>& ids);
    const Texts& texts(const std::string& name);
    std::string file_of(std::string_view key) const;

    const std::string folder_, program_;
    /// If null, files are not encrypted. Encryption is needed because digests of a catalog would
    /// confirm a correct guess of a secret.
    const std::shared_ptr<store::Secrets> secrets_;
    std::mutex mutex_;
    std::map<const environment::ReadTable*, Written> written_;
    std::map<std::string, Texts, std::less<>> texts_;  ///< texts of earlier processes, by file
};

}  // namespace bunraku::server
