// `query`: PuppetDB's client has this form; the same as `db query`.
#include "cli/db_query.h"

namespace bunraku::cli {

BUNRAKU_COMMAND(query){.name = "query",
                       .summary = "Ask the store with PQL or AST (the same as db query).",
                       .run = run_db_query,
                       .run_mode = "server"};

}  // namespace bunraku::cli
