// What the catalog's formats must know about resource types: how a title names a resource. The
// knowledge itself lives with the types, floors above; it comes in through this interface.
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
    /// "path" for File; "name" for classes, defines, unknown types and types whose name has several
    /// parts.
    std::string_view namevar = "name";
    bool composite = false;  ///< several namevars (package: name and provider)
    bool isomorphic = true;  ///< false (exec): equal names are no duplicate, so no alias
};

/// A line of a manifest.
struct Place {
    std::string file;
    int line = 0;
};

/// The default knows no types: every title is a `name`.
class Naming {
public:
    virtual ~Naming() = default;
    virtual TypeNaming of(std::string_view type) const;
    /// What the title patterns make of a title: names and values in Puppet's order, the namevar
    /// among them. (File "/x/" gives path => "/x".)
    virtual std::vector<std::pair<std::string_view, std::string>> parse_title(
        std::string_view type, std::string_view title) const;
    /// Where the body of a class or node stands; nullopt if that is unknown or `ref` is neither.
    virtual std::optional<Place> body_of(const Ref& ref) const;
};

const Naming& plain_naming();

/// The value that names the resource: the parameter or what its title gives. Empty: nothing.
std::string name_value(const Resource& resource, const Naming& naming);

/// Every alias beside the title: the `alias` metaparameter's values, the name where the type is
/// isomorphic, and what the resource already holds. Without the title. The name of a type with
/// several namevars is only part of what identifies it: it is left out unless `partial_names`.
std::vector<std::string> all_aliases(const Resource& resource, const Naming& naming,
                                     bool partial_names = false);

/// Class[main] and Stage[main] carry an internal title in Puppet that equals no string: their
/// `name` is written although it reads like the title.
bool has_internal_title(const Resource& resource);

/// "File", "Apache::Vhost": how Puppet writes a resource type, each segment [A-Z][a-z0-9_]*.
bool is_type_name(std::string_view type);

}  // namespace bunraku::catalog
