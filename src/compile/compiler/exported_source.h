// SPDX-License-Identifier: Apache-2.0
// The source of exported resources for collectors: the embedded store or a PuppetDB-compatible
// service.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/value/rich_data.h"
#include "resources/catalog/exported.h"

namespace bunraku::compiler {

// Defined in a lower layer, so that the store can use it too.
using CollectorQuery = catalog::CollectorQuery;
using ExportedResource = catalog::ExportedResource;

class ExportedSource {
public:
    virtual ~ExportedSource() = default;
    /// Returns the exported resources of `type` in the newest catalogs of all active nodes except
    /// `except_certname`, ordered by certname, type and title. `make_typed` converts stored
    /// references to types of this compile; without it, they are strings "Type[title]".
    virtual base::Result<std::vector<ExportedResource>> find(
        std::string_view type, const CollectorQuery* query, std::string_view except_certname,
        base::Arena& arena, const value::TypedFactory& make_typed) = 0;
    /// Returns the text that catalog::append_identity makes of that answer, without fetching the
    /// answer. Fails if the source does not support this.
    virtual base::Result<std::string> identity(std::string_view, const CollectorQuery*,
                                               std::string_view) {
        return base::failure("The store does not say what stands for an answer");
    }
};

}  // namespace bunraku::compiler
