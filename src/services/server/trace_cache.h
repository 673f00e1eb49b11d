// The traces of kept catalogs on disk, so that a server which starts again gives catalogs without
// compiling them first (docs/design/0241). All of it may be dropped at any time, at the price of
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

/// What kept files are encrypted for (Secrets::seal).
inline constexpr std::string_view kCatalogSealContext = "kept catalog", kTraceSealContext = "trace";

/// A path, and what stood there when it was looked at.
struct SeenPath {
    std::string path;
    environment::Stamp stamp;
};

/// Thread-safe. Files that are cut, damaged or another program's are as good as none.
class TraceCache {
public:
    /// `program`: what catalogs depend on beside their traces. What is too old to be given is
    /// removed from `folder`.
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
    void save(const std::string& key, const CachedCatalog& kept);
    /// Its trace has the numbers of `table`.
    std::optional<CachedCatalog> load(const std::string& key,
                                      const std::shared_ptr<environment::ReadTable>& table);
    void drop(const std::string& key);
    /// The folder is emptied.
    void drop_all();

private:
    /// The texts of numbers, one file a table and life of a server: traces are small beside them.
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
    /// Null: nothing is encrypted. Digests of a catalog would tell whether a guess is right.
    const std::shared_ptr<store::Secrets> secrets_;
    std::mutex mutex_;
    std::map<const environment::ReadTable*, Written> written_;
    std::map<std::string, Texts, std::less<>> texts_;  ///< of lives before, by file
};

}  // namespace bunraku::server
