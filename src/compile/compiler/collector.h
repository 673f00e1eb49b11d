// SPDX-License-Identifier: Apache-2.0
// Collectors: queries over the resources of the catalog and the exported resources of other nodes.
// A collector realizes the resources that match (Puppet::Pops::Evaluator::Collectors).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "compile/compiler/exported_source.h"
#include "compile/compiler/resource.h"
#include "language/evaluator/host.h"
#include "language/syntax/ast.h"
#include "language/types/type.h"

namespace bunraku::compiler {

class Compilation;
class Collector;

/// A compiled query.
struct Query {
    enum class Kind : std::uint8_t { And, Or, Equal, NotEqual, Tag } kind = Kind::Equal;
    std::unique_ptr<Query> left, right;
    std::string attribute;
    Value operand;
    std::vector<std::uint32_t> tags;
};

/// The value of a collect expression, which `->` can refer to.
class CollectorValue final : public evaluator::CollectorValue {
public:
    explicit CollectorValue(Collector* c) : collector(c) {}
    Collector* collector;
    void print(std::string& out) const override;
};

/// Returns the collector that `v` represents, or null if `v` is another value.
Collector* collector_of(const Value& v);

class Collector {
public:
    enum class Kind : std::uint8_t { Catalog, Exported, Fixed };

    Collector(Kind k, Scope* s) : kind(k), scope(s) {}

    /// Runs the query again; returns true if it found new resources.
    bool evaluate(Compilation& compilation);

    const Kind kind;
    Scope* scope;
    ResourceType type;
    std::unique_ptr<Query> query;
    std::unique_ptr<CollectorQuery> store_query;
    bool has_overrides = false;
    std::vector<Param> overrides;
    std::string_view file;
    int line = 0;
    const Definition* source = nullptr;
    std::vector<types::Reference> wanted;  ///< for Fixed: references not yet found

    std::vector<Resource*> collected;
    /// Left operand of the collector in a chain; replaces the collector if it finds nothing.
    std::vector<Value> empty_alternative;
    bool has_alternative = false;

private:
    std::vector<Resource*> collect(Compilation& compilation);
    void collect_exported(Compilation& compilation, std::vector<Resource*>& found);
    std::unordered_set<const Resource*> seen_;
    bool searched_ = false;
    std::vector<catalog::ExportedResource> from_store_;
};

/// Builds the query of a collect expression. Throws Puppet's errors.
std::unique_ptr<Query> build_query(Compilation& compilation, const syntax::Node* expr,
                                   Scope& scope);
std::unique_ptr<CollectorQuery> build_store_query(Compilation& compilation,
                                                  const syntax::Node* expr, Scope& scope);
bool matches(Compilation& compilation, const Query* query, const Resource& resource);

}  // namespace bunraku::compiler
