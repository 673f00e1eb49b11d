// The tables of the embedded store and how older files become newer ones.
#pragma once

#include "store/database.h"

namespace bunraku::store {

/// Brings the file to the newest schema; makes the tables in an empty one. Fails on files that are
/// not a store, or one of a newer program.
Result<void> migrate(Database& db);

/// For readers, who may not migrate: only checks.
Result<void> check_schema(Database& db);

}  // namespace bunraku::store
