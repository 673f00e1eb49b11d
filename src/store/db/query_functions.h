// The SQL functions that the query engine needs of SQLite.
#pragma once

struct sqlite3;

namespace bunraku::store {

void register_query_functions(sqlite3* db);

}  // namespace bunraku::store
