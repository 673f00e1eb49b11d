// Who answers an exported-resource collector: the embedded store or a PuppetDB-compatible service.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"

namespace bunraku::compiler {

/// What a collector asks, as a tree; a null query matches all.
struct CollectorQuery {
    enum class Kind { Equal, NotEqual, And, Or } kind = Kind::Equal;
    std::string attribute;  ///< Equal/NotEqual: "title", "tag", or a parameter's name
    value::Value operand;   ///< Equal/NotEqual
    std::unique_ptr<CollectorQuery> left, right;  ///< And/Or
};

/// One resource another node exports.
struct ExportedResource {
    catalog::Resource resource;  ///< parameters' values live in the arena given to `find`
    std::string certname;        ///< the exporter
};

class ExportedSource {
public:
    virtual ~ExportedSource() = default;
    /// Exported resources of `type` in the newest catalogs of all active nodes but
    /// `except_certname`, ordered by certname, type and title.
    virtual base::Result<std::vector<ExportedResource>> find(std::string_view type,
                                                             const CollectorQuery* query,
                                                             std::string_view except_certname,
                                                             base::Arena& arena) = 0;
};

}  // namespace bunraku::compiler
