// What a collector of exported resources asks for, and what a store answers: the words that the
// compiler and every store (embedded or remote) share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "resources/catalog/catalog.h"

namespace bunraku::catalog {

/// What a collector asks, as a tree; a null query matches all.
struct CollectorQuery {
    enum class Kind { Equal, NotEqual, And, Or } kind = Kind::Equal;
    std::string attribute;  ///< Equal/NotEqual: "title", "tag", or a parameter's name
    Value operand;          ///< Equal/NotEqual
    std::unique_ptr<CollectorQuery> left, right;  ///< And/Or

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

/// Whether a collector takes the resource, its type apart.
bool collects(const CollectorQuery* query, const Resource& resource);

/// One resource another node exports.
struct ExportedResource {
    Resource resource;     ///< parameters' values live in the arena given to the search
    std::string certname;  ///< the exporter
    std::string hash;      ///< of all that the resource is; empty: the store does not tell
};

/// What a collector asks of a type, as a text: "Sshkey", "Sshkey [\"=\",\"tag\",\"x\"]".
std::string name_of_export(std::string_view type, const CollectorQuery* query);
struct NamedExport {
    std::string_view type;
    std::unique_ptr<CollectorQuery> query;  ///< null: all
};
/// Such a text again; operands live in `arena`. nullopt: it compares with what no JSON says.
std::optional<NamedExport> export_of_name(std::string_view name, base::Arena& arena);
/// One resource in the text that stands for a store's answer: of equal answers it is equal.
void append_identity(std::string& out, std::string_view certname, std::string_view hash);

}  // namespace bunraku::catalog
