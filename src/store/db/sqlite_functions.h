// SPDX-License-Identifier: Apache-2.0
// Functions and tables that are added to SQLite because PostgreSQL has them built in.
#pragma once

struct sqlite3;

namespace bunraku::store {

/// Registers edges_of(BLOB), a table with the columns source, target and kind that lists the edges
/// packed in catalogs.edges. Every new connection calls this, and registers the functions of query/
/// (see register_query_functions()).
void register_sqlite_functions(sqlite3* db);

/// Adds a function that registers further SQL functions. Other folders of the store call this
/// before the first connection opens, for example from a static initializer.
void add_sqlite_functions(void (*register_them)(sqlite3* db));

}  // namespace bunraku::store
