// SPDX-License-Identifier: Apache-2.0
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

/// The identity of a resource, "Type[title]". Every segment of the type is capitalised.
struct Ref {
    std::string type;
    std::string title;
    bool operator==(const Ref&) const = default;
    std::string to_string() const { return type + "[" + title + "]"; }
};

struct Parameter {
    std::string name;
    /// references are Type values; Sensitive values stay wrapped; undef is not stored
    Value value;
};

struct Resource {
    Ref ref;
    std::vector<Parameter> parameters;  ///< in the order in which Puppet writes them
    std::vector<std::string> tags;      ///< in the order in which they were added
    std::vector<std::string>
        aliases;       ///< names other than the title: values of `alias` and of the name variable
    std::string file;  ///< empty if unknown
    int line = 0;      ///< 0 if unknown
    bool exported = false;
    bool virtual_ = false;
    /// false if the title is a number; the catalog then also writes the name
    bool title_is_text = true;
    /// "compilable_type" and so on for resources for which Puppet writes `kind`, otherwise empty
    std::string kind;

    const Value* parameter(std::string_view name) const;
};

/// A containment edge between two positions in `resources`.
struct Edge {
    std::uint32_t source;
    std::uint32_t target;
};

struct Catalog {
    std::shared_ptr<base::Arena> arena;  ///< the owner of every Value
    std::string name;                    ///< the certname
    std::string version;
    bool version_is_number =
        /// true if the version is Puppet's default (epoch seconds), which Puppet writes as a number
        true;
    std::string environment;
    std::string code_id;  ///< written as null if empty
    std::string catalog_uuid;
    int catalog_format = 2;
    std::vector<Resource> resources;  ///< in manifest (apply) order
    std::vector<Edge> edges;          ///< containment only
    std::vector<std::string> classes;
    std::vector<std::string> tags;

    const Resource* find(std::string_view type, std::string_view title) const;
};

}  // namespace bunraku::catalog
