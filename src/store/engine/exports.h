// SPDX-License-Identifier: Apache-2.0
// Exported resources: which nodes collect them, and which resources two nodes export under the same
// name.
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

/// A resource that two nodes export and that some collector matches twice. The catalogs of these
/// collectors fail to compile.
struct ExportClash {
    struct Side {
        std::string certname, file;
        std::int64_t line = 0;
    };
    std::string type, title;
    Side own, other;
    std::vector<std::string> collectors;  ///< nodes that collect both

    /// Returns the clash as one sentence that begins with Puppet's message.
    std::string text() const;
};

/// A resource that several nodes export under the same name.
struct SharedExport {
    std::string type, title;
    std::vector<ExportClash::Side> exporters;
    std::vector<std::string> collectors;  ///< nodes that collect more than one of them
};

/// Finds clashes, one for each name. An instance is valid for a short time, because it reads the
/// collectors of each type only once.
class ExportChecker {
public:
    explicit ExportChecker(Database& db) : db_(db) {}
    /// Returns the resources that `catalog` of `certname` exports and that another active node
    /// exports too, if any node collects both.
    Result<std::vector<ExportClash>> clashes(std::string_view certname,
                                             const catalog::Catalog& catalog);
    /// The same for the stored catalog, whose exported resources are `resources`.
    Result<std::vector<ExportClash>> clashes(std::string_view certname,
                                             std::span<const std::int64_t> resources);
    /// Returns up to `most` resources of the whole store that several nodes export.
    Result<std::vector<SharedExport>> all(std::size_t most);
    /// Appends them as JSON objects.
    Result<void> append_all(std::string& out, std::size_t most);

private:
    /// A collector that appeared in a node's catalog.
    struct Collection {
        std::string certname, name;
    };
    template <class Takes>
    Result<void> add(std::vector<ExportClash>& out, ExportClash clash, const Takes& takes_own);
    Result<const std::vector<Collection>*> collections(const std::string& type);

    Database& db_;
    std::map<std::string, std::vector<Collection>> known_;
};

/// Returns the collectors of the node's newest catalog in the format of catalog::name_of_export,
/// sorted.
Result<std::vector<std::string>> known_collections(Database& db, std::string_view certname);
/// Records the collectors. Writes nothing if they are already recorded.
Result<void> remember_collections(Writer& writer, std::string_view certname,
                                  const std::vector<std::string>& names);

/// Returns the exports of active nodes: {"exported":[..],"collected":[..],"clashes":[..]}. Contains
/// at most `most` clashes.
Result<std::string> exports_json(Database& db, std::size_t most = 1000);

}  // namespace bunraku::store
