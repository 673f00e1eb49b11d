// SPDX-License-Identifier: Apache-2.0
// The tables of the store and the migration from older schemas.
#pragma once

#include "store/db/database.h"
#include "store/db/schema_tables.h"

namespace bunraku::store {

/// Migrates the database to the newest schema; creates the tables in an empty one. Fails if the
/// file is not a store or if a newer program wrote it. Returns true if it found a file of schema 1,
/// whose catalogs are now in tables named v1_... (see convert_v1()).
Result<bool> migrate(Database& db);

/// Returns the schema that this program writes.
std::int64_t newest_schema();

/// Reports whether this program may write to a database whose store_meta contains this
/// `usable_since`. A newer server may have changed the tables while this program runs.
bool usable_with(std::int64_t usable_since);

/// Checks the schema without migrating it, for readers, which must not migrate.
Result<void> check_schema(Database& db);

}  // namespace bunraku::store
