// `bunraku eval` at a terminal.
#pragma once

#include "compile/site/session.h"

namespace bunraku::cli {

/// Reads expressions and prints their values until the end; errors are told and forgotten.
/// `with_manifest`: it was compiled before. Gives the exit code.
int converse(site::Session& session, const config::Settings& settings, bool with_manifest,
             base::LogSink& log);

}  // namespace bunraku::cli
