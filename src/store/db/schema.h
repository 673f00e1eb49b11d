// The tables of the store and how older ones become newer ones.
#pragma once

#include "store/db/database.h"
#include "store/db/schema_tables.h"

namespace bunraku::store {

/// Brings the database to the newest schema; makes the tables in an empty one. Fails on files that
/// are not a store, or one of a newer program. True: a file of schema 1 was found, whose catalogs
/// wait in tables named v1_... (see convert_v1).
Result<bool> migrate(Database& db);

/// Whether programs of this one's schema may write where `usable_since` (of store_meta) says so:
/// a newer server may have changed the tables while this one runs.
bool usable_with(std::int64_t usable_since);

/// For readers, who may not migrate: only checks.
Result<void> check_schema(Database& db);

}  // namespace bunraku::store
