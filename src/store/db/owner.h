// SPDX-License-Identifier: Apache-2.0
// The server that owns an SQLite store. The server holds a lock and listens on a socket next to the
// file. Commands that write send requests to the socket instead of opening the file themselves.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/sys/lock.h"

namespace bunraku::store {

using base::Result;

/// Takes the lock of the SQLite file `database`. Fails if another server holds it.
Result<sys::FileLock> own_file(const std::string& database);
/// Reports whether a server holds the lock of `database`. Returns false for PostgreSQL.
bool has_owner(const std::string& database);
/// Returns the path of the socket on which the owner of `database` listens.
std::string owner_socket(const std::string& database);

}  // namespace bunraku::store
