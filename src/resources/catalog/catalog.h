// The catalog: resources, edges and classes of one node, immutable once built.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/arena.h"
#include "core/value/value.h"

namespace bunraku::catalog {

using value::Value;

/// "Type[title]": the identity of a resource. Types are capitalised in every segment.
struct Ref {
    std::string type;
    std::string title;
    bool operator==(const Ref&) const = default;
    std::string to_string() const { return type + "[" + title + "]"; }
};

struct Parameter {
    std::string name;
    Value value;  ///< references are Type values; Sensitive values stay wrapped here; undef is not
                  ///< stored
};

struct Resource {
    Ref ref;
    std::vector<Parameter> parameters;  ///< in the order Puppet writes them
    std::vector<std::string> tags;      ///< in the order they were added
    std::vector<std::string>
        aliases;       ///< beside the title: `alias` values and the name variable's value
    std::string file;  ///< empty: none
    int line = 0;      ///< 0: none
    bool exported = false;
    bool virtual_ = false;
    bool title_is_text = true;  ///< false: a number, so that the name is written beside it
    std::string kind;  ///< "compilable_type" and so on where Puppet writes `kind`; else empty

    const Value* parameter(std::string_view name) const;
};

/// A containment edge, by position in `resources`.
struct Edge {
    std::uint32_t source;
    std::uint32_t target;
};

struct Catalog {
    std::shared_ptr<base::Arena> arena;  ///< owns every Value
    std::string name;                    ///< certname
    std::string version;
    bool version_is_number =
        true;  ///< Puppet writes its default version (epoch seconds) as a number
    std::string environment;
    std::string code_id;  ///< empty: null
    std::string catalog_uuid;
    int catalog_format = 2;
    std::vector<Resource> resources;  ///< in manifest (apply) order
    std::vector<Edge> edges;          ///< containment only
    std::vector<std::string> classes;
    std::vector<std::string> tags;

    const Resource* find(std::string_view type, std::string_view title) const;
};

}  // namespace bunraku::catalog
