// SPDX-License-Identifier: Apache-2.0
// Queries of collectors for exported resources, and the results of a store. The compiler and every
// store (embedded or remote) share these types.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "resources/catalog/catalog.h"

namespace bunraku::catalog {

/// A collector's query, as a tree; a null query matches all resources.
struct CollectorQuery {
    enum class Kind { Equal, NotEqual, And, Or } kind = Kind::Equal;
    std::string attribute;  ///< for Equal and NotEqual: "title", "tag", or a parameter's name
    Value operand;          ///< for Equal and NotEqual
    std::unique_ptr<CollectorQuery> left, right;  ///< for And and Or

    static std::unique_ptr<CollectorQuery> compare(Kind kind, std::string attribute,
                                                   Value operand) {
        auto q = std::make_unique<CollectorQuery>();
        q->kind = kind;
        q->attribute = std::move(attribute);
        q->operand = operand;
        return q;
    }
    static std::unique_ptr<CollectorQuery> join(Kind kind, std::unique_ptr<CollectorQuery> left,
                                                std::unique_ptr<CollectorQuery> right) {
        auto q = std::make_unique<CollectorQuery>();
        q->kind = kind;
        q->left = std::move(left);
        q->right = std::move(right);
        return q;
    }
};

/// Reports whether the query matches the resource. Does not check the resource's type.
bool collects(const CollectorQuery* query, const Resource& resource);

/// A resource that another node exports.
struct ExportedResource {
    Resource resource;     ///< the values of its parameters live in the arena passed to the search
    std::string certname;  ///< the exporter
    std::string hash;      ///< of the whole resource; empty if the store does not provide one
};

/// Returns a collector's query for a type as a text: "Sshkey", "Sshkey [\"=\",\"tag\",\"x\"]".
std::string name_of_export(std::string_view type, const CollectorQuery* query);
struct NamedExport {
    std::string_view type;
    std::unique_ptr<CollectorQuery> query;  ///< null if the collector takes all resources
};
/// Parses a text of name_of_export; operands live in `arena`. Returns nullopt if the query compares
/// with a value that JSON cannot represent.
std::optional<NamedExport> export_of_name(std::string_view name, base::Arena& arena);
/// Appends one resource to a text that identifies a store's result. Equal results give equal texts.
void append_identity(std::string& out, std::string_view certname, std::string_view hash);

}  // namespace bunraku::catalog
