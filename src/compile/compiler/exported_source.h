// Who answers an exported-resource collector: the embedded store or a PuppetDB-compatible service.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/value/rich_data.h"
#include "resources/catalog/exported.h"

namespace bunraku::compiler {

// Defined a floor lower, so that the store can use them too.
using CollectorQuery = catalog::CollectorQuery;
using ExportedResource = catalog::ExportedResource;

class ExportedSource {
public:
    virtual ~ExportedSource() = default;
    /// Exported resources of `type` in the newest catalogs of all active nodes but
    /// `except_certname`, ordered by certname, type and title. `make_typed`: how
    /// stored references become types again, each compile its own; without it they come back as
    /// "Type[title]" strings.
    virtual base::Result<std::vector<ExportedResource>> find(
        std::string_view type, const CollectorQuery* query, std::string_view except_certname,
        base::Arena& arena, const value::TypedFactory& make_typed) = 0;
    /// What catalog::append_identity makes of that answer, without it. Fails where the source
    /// cannot say.
    virtual base::Result<std::string> identity(std::string_view, const CollectorQuery*,
                                               std::string_view) {
        return base::failure("The store does not say what stands for an answer");
    }
};

}  // namespace bunraku::compiler
