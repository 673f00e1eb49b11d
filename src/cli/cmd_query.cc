// SPDX-License-Identifier: Apache-2.0
// `query`: the same as `db query`, under the name that PuppetDB's client uses.
#include "cli/db_query.h"

namespace bunraku::cli {

BUNRAKU_COMMAND(query){.name = "query",
                       .summary = "Query the store with PQL or AST (the same as db query).",
                       .run = run_db_query,
                       .run_mode = "server"};

}  // namespace bunraku::cli
