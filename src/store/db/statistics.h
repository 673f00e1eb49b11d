// SPDX-License-Identifier: Apache-2.0
// Statistics of a store, for the admin API's summary and `db status`.
#pragma once

#include <string>

#include "store/db/database.h"

namespace bunraku::store {

/// Returns the JSON of /pdb/admin/v1/summary-stats with PuppetDB's keys. On SQLite, contains only
/// the available ones.
Result<std::string> summary_statistics(Database& db);

struct StoreFigures {
    std::int64_t nodes = 0, inactive = 0, resources = 0, distinct_resources = 0, facts = 0,
                 distinct_facts = 0, reports = 0, events = 0, packages = 0, bytes = 0;
};
Result<StoreFigures> store_figures(Database& db);

/// Returns unused space to the file system.
Result<void> compact(Database& db);

}  // namespace bunraku::store
