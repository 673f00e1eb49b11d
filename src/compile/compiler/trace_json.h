// SPDX-License-Identifier: Apache-2.0
// The trace of a compile as JSON, as `bunraku compile --inputs` writes it.
#pragma once

#include <string>
#include <string_view>

#include "language/environment/environment.h"
#include "language/environment/trace.h"

namespace bunraku::compiler {

/// {"node", "environment", "reads": {KIND: [NAME, ..], "data": {FILE: [KEY, ..]}, "command": {NAME:
/// DIGEST}, ..}, "missing": [PATH, ..]}. The kinds are those of environment::read_name; the lists
/// are sorted. Returns compact JSON (docs/compiling.md).
std::string trace_to_json(const environment::Trace& trace,
                          const environment::Environment& environment, std::string_view node);

}  // namespace bunraku::compiler
