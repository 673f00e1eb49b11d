// What SQLite learns from us: functions and tables that PostgreSQL has by itself.
#pragma once

struct sqlite3;

namespace bunraku::store {

/// edges_of(BLOB) as a table with the columns source, target, kind: the edges packed in
/// catalogs.edges. Every new connection gets it, and what query/ adds (see
/// register_query_functions).
void register_sqlite_functions(sqlite3* db);

/// Other folders of the store hook their functions in here, before the first connection opens (a
/// static initializer will do).
void add_sqlite_functions(void (*register_them)(sqlite3* db));

}  // namespace bunraku::store
