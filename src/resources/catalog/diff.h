// SPDX-License-Identifier: Apache-2.0
// The differences between two catalogs.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "resources/catalog/naming.h"

namespace bunraku::catalog {

/// One differing value inside a parameter. Hashes are compared key by key.
struct ValueChange {
    std::vector<std::string> path;  ///< the parameter's name, then the keys of hashes
    /// JSON (rich data, keys sorted); nullopt if the value did not exist
    std::optional<std::string> before;
    std::optional<std::string> after;
};

struct ParameterChange {
    std::string name;
    /// JSON (rich data, keys sorted); nullopt if the value did not exist
    std::optional<std::string> before;
    std::optional<std::string> after;
    bool sensitive = false;           ///< true if either value is Sensitive and must not be shown
    std::vector<ValueChange> values;  ///< the differences inside the parameter, at least one
};

struct ResourceChange {
    Ref ref;
    std::vector<ParameterChange> parameters;  ///< sorted by name
    std::vector<std::string> tags_added, tags_removed;
    std::optional<std::pair<bool, bool>> exported;
    std::optional<std::pair<std::string, std::string>> container;  ///< "Class[a]", "Class[b]"
    std::optional<std::pair<std::string, std::string>> location;   ///< "file:line"
    bool empty() const {
        return parameters.empty() && tags_added.empty() && tags_removed.empty() && !exported &&
               !container && !location;
    }
};

struct CatalogDiff {
    std::vector<Ref> added, removed;
    std::vector<ResourceChange> changed;
    std::vector<std::string> classes_added, classes_removed;
    /// "Package[a] before Service[b]"
    std::vector<std::string> relations_added, relations_removed;
    bool empty() const {
        return added.empty() && removed.empty() && changed.empty() && classes_added.empty() &&
               classes_removed.empty() && relations_added.empty() && relations_removed.empty();
    }
};

struct DiffOptions {
    bool places = false;  ///< report resources that only moved within their manifests
    bool tags = true;
    bool containers = true;  ///< report resources whose containing class or define changed
    bool relations = false;  ///< compare the order of resources (relationships) too
    bool classes = true;     ///< compare the resources of classes and the list of classes too
    bool data_types = true;  ///< treat 1 and "1", or true and "true", as different
    const Naming* naming = nullptr;
};

/// Returns the differences between two catalogs. Matches resources by type and title, and lists
/// them in the order of the catalogs. A reference equals its "Type[title]" string.
CatalogDiff diff(const Catalog& before, const Catalog& after, const DiffOptions& options = {});

}  // namespace bunraku::catalog
