// SPDX-License-Identifier: Apache-2.0
// `db query` and `query`: run a PQL or AST query on the local store or on a server.
#pragma once

#include "cli/command.h"

namespace bunraku::cli {

/// Runs the query. The first argument may be "query" (for `db query`). Returns the exit code.
int run_db_query(Invocation& invocation);

}  // namespace bunraku::cli
