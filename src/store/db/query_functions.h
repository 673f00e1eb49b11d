// SPDX-License-Identifier: Apache-2.0
// The SQL functions that the query engine adds to SQLite.
#pragma once

struct sqlite3;

namespace bunraku::store {

void register_query_functions(sqlite3* db);

}  // namespace bunraku::store
