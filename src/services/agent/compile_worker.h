// SPDX-License-Identifier: Apache-2.0
// `bunraku compile --worker`: performs one compile per input line, for callers that need many
// compiles (tests, editors).
#pragma once

#include <cstdio>

#include "compile/site/site.h"
#include "core/config/settings.h"

namespace bunraku::agent {

/// Reads requests from `in` until its end, and writes each response to `out`. Returns the exit
/// code.
int run_compile_worker(const config::Settings& settings, site::Options options, std::FILE* in,
                       std::FILE* out);

}  // namespace bunraku::agent
