// SPDX-License-Identifier: Apache-2.0
// The interface through which the catalog formats learn how resource types name their resources.
// The types themselves are implemented in higher layers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resources/catalog/catalog.h"

namespace bunraku::catalog {

/// How a type names its resources.
struct TypeNaming {
    /// "path" for File; "name" for classes, defines, unknown types and types with several namevars.
    std::string_view namevar = "name";
    bool composite = false;  ///< true if the type has several namevars (package: name and provider)
    /// false (exec) if resources may have equal names, in which case the name is not an alias
    bool isomorphic = true;
};

/// A line of a manifest.
struct Place {
    std::string file;
    int line = 0;
};

/// Naming rules of resource types. This default implementation knows no types and treats every
/// title as a `name`.
class Naming {
public:
    virtual ~Naming() = default;
    virtual TypeNaming of(std::string_view type) const;
    /// Applies the type's title patterns to a title. Returns names and values in Puppet's order,
    /// including the namevar. (File "/x/" gives path => "/x".)
    virtual std::vector<std::pair<std::string_view, std::string>> parse_title(
        std::string_view type, std::string_view title) const;
    /// Returns the source location of a class's or node's body. Returns nullopt if it is unknown or
    /// `ref` is neither.
    virtual std::optional<Place> body_of(const Ref& ref) const;
};

const Naming& plain_naming();

/// Returns the name of the resource: the namevar's parameter or the value from the title. Empty if
/// it has no name.
std::string name_value(const Resource& resource, const Naming& naming);

/// Returns every alias except the title: the values of the `alias` metaparameter, the name if the
/// type is isomorphic, and the aliases that the resource already has. The name of a type with
/// several namevars identifies a resource only partly, so it is included only if `partial_names` is
/// true.
std::vector<std::string> all_aliases(const Resource& resource, const Naming& naming,
                                     bool partial_names = false);

/// Reports whether the resource is Class[main] or Stage[main]. Puppet gives them an internal title
/// that equals no string, so it writes their `name` even though the name looks like the title.
bool has_internal_title(const Resource& resource);

/// Reports whether `type` is written in the way Puppet writes resource types: each segment matches
/// [A-Z][a-z0-9_]*, for example "File" or "Apache::Vhost".
bool is_type_name(std::string_view type);

}  // namespace bunraku::catalog
