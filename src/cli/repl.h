// SPDX-License-Identifier: Apache-2.0
// Interactive mode of `bunraku eval`.
#pragma once

#include "compile/site/session.h"

namespace bunraku::cli {

/// Reads expressions and prints their values until the end of the input. Reports errors and
/// continues. `with_manifest` is true if the manifest has been compiled before. Returns the exit
/// code.
int converse(site::Session& session, const config::Settings& settings, bool with_manifest,
             base::LogSink& log);

}  // namespace bunraku::cli
