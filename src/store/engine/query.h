// SPDX-License-Identifier: Apache-2.0
// Translates a collector's query to SQL over exported resources.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "resources/catalog/exported.h"

namespace bunraku::store {

struct SqlCondition {
    std::string sql;  ///< condition on the row `r` of resources, with "?" for every value in order
    std::vector<std::variant<std::string, std::int64_t>> values;
    /// True if a title, tag or parameter is required, so that an index other than the type's finds
    /// the rows.
    bool selective = false;
};

base::Result<SqlCondition> to_sql(const catalog::CollectorQuery& query);

}  // namespace bunraku::store
