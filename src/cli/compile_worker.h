// `bunraku compile --worker`: one compile a line, for whoever needs many (tests, editors).
#pragma once

#include "cli/command.h"

namespace bunraku::cli {

/// Reads requests from standard input until it ends, answers each on standard output. Gives the
/// exit code.
int run_compile_worker(Invocation& invocation, base::LogSink& log);

}  // namespace bunraku::cli
