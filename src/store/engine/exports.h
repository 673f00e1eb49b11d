// What nodes export to each other: who collects what, and what two of them export under one name.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "resources/catalog/catalog.h"
#include "store/db/writer.h"

namespace bunraku::store {

/// A resource that two nodes export, for a collector that takes both: whoever collects fails.
struct ExportClash {
    struct Side {
        std::string certname, file;
        std::int64_t line = 0;
    };
    std::string type, title;
    Side own, other;
    std::vector<std::string> collectors;  ///< nodes that take both

    /// In one sentence, as Puppet begins it.
    std::string text() const;
};

/// Finds them, one of each name; for one moment, what collectors ask for being read once a type.
class ExportChecker {
public:
    explicit ExportChecker(Database& db) : db_(db) {}
    /// What `catalog` of `certname` exports that another active node exports too, as long as
    /// somebody collects it.
    Result<std::vector<ExportClash>> clashes(std::string_view certname,
                                             const catalog::Catalog& catalog);
    /// The same of what is stored of it already: `resources`, which it exports.
    Result<std::vector<ExportClash>> clashes(std::string_view certname,
                                             std::span<const std::int64_t> resources);
    /// All there are, `most` at most, as JSON objects.
    Result<void> append_all(std::string& out, std::size_t most);

private:
    /// A collector that was seen in a node's catalog.
    struct Collection {
        std::string certname, name;
    };
    template <class Takes>
    Result<void> add(std::vector<ExportClash>& out, ExportClash clash, const Takes& takes_own);
    Result<const std::vector<Collection>*> collections(const std::string& type);

    Database& db_;
    std::map<std::string, std::vector<Collection>> known_;
};

/// Returns the collectors of the node's newest catalog, as catalog::name_of_export writes them;
/// sorted.
Result<std::vector<std::string>> known_collections(Database& db, std::string_view certname);
/// Records them. Writes nothing if they are known already.
Result<void> remember_collections(Writer& writer, std::string_view certname,
                                  const std::vector<std::string>& names);

/// The map: {"exported":[..],"collected":[..],"clashes":[..]}, of active nodes. Clashes: `most` at
/// most.
Result<std::string> exports_json(Database& db, std::size_t most = 1000);

}  // namespace bunraku::store
