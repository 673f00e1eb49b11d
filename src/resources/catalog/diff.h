// What differs between two catalogs.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "resources/catalog/naming.h"

namespace bunraku::catalog {

/// One differing value inside a parameter: hashes are compared key by key.
struct ValueChange {
    std::vector<std::string> path;      ///< the parameter's name, then the keys of hashes
    std::optional<std::string> before;  ///< JSON (rich data, keys sorted); null: was not there
    std::optional<std::string> after;
};

struct ParameterChange {
    std::string name;
    std::optional<std::string> before;  ///< JSON (rich data, keys sorted); null: was not there
    std::optional<std::string> after;
    bool sensitive = false;           ///< on either side: not to be shown
    std::vector<ValueChange> values;  ///< what differs inside; at least one
};

struct ResourceChange {
    Ref ref;
    std::vector<ParameterChange> parameters;  ///< by name
    std::vector<std::string> tags_added, tags_removed;
    std::optional<std::pair<bool, bool>> exported;
    std::optional<std::pair<std::string, std::string>> container;  ///< "Class[a]", "Class[b]"
    std::optional<std::pair<std::string, std::string>> place;      ///< "file:line"
    bool empty() const {
        return parameters.empty() && tags_added.empty() && tags_removed.empty() && !exported &&
               !container && !place;
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
    bool places = false;  ///< a resource that only moved in its manifest differs
    bool tags = true;
    bool containers = true;  ///< a resource that another class or define contains now differs
    bool relations = false;  ///< also what has to come before what
    bool classes = true;     ///< also the resources of classes, and the list of classes
    bool data_types = true;  ///< 1 and "1", true and "true" differ
    const Naming* naming = nullptr;
};

/// Resources are matched by type and title and come in the order of the catalogs; references and
/// "Type[title]" strings are the same.
CatalogDiff diff(const Catalog& before, const Catalog& after, const DiffOptions& options = {});

}  // namespace bunraku::catalog
