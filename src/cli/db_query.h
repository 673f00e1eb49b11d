// `db query` and `query`: PQL or AST asked of the store here or of one somewhere else.
#pragma once

#include "cli/command.h"

namespace bunraku::cli {

/// The first word of `invocation` may be "query" (below `db`). Gives the exit code.
int run_db_query(Invocation& invocation);

}  // namespace bunraku::cli
