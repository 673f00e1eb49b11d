// The server that owns an SQLite store. It holds a lock and listens on a socket beside the file, so
// that commands that write can ask it instead of writing beside it.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/sys/lock.h"

namespace bunraku::store {

using base::Result;

/// Takes the lock of the SQLite file `database`. Fails if another server holds it.
Result<sys::FileLock> own_file(const std::string& database);
/// Returns whether a server holds the lock of `database`; false for PostgreSQL.
bool has_owner(const std::string& database);
/// Returns the path of the socket on which the owner of `database` answers.
std::string owner_socket(const std::string& database);

}  // namespace bunraku::store
