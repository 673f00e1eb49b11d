// A collector's query as SQL over exported resources.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "resources/catalog/exported.h"

namespace bunraku::store {

struct SqlCondition {
    std::string sql;  ///< with "?" for every value, in order; about the row `r` of resources
    std::vector<std::variant<std::string, std::int64_t>> values;
    /// An index other than the type's finds the rows: title, tag or parameter is required.
    bool selective = false;
};

base::Result<SqlCondition> to_sql(const catalog::CollectorQuery& query);

}  // namespace bunraku::store
