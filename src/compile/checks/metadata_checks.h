// SPDX-License-Identifier: Apache-2.0
// Checks a metadata.json (internal to this folder).
#pragma once

#include <string_view>

#include "compile/checks/problems.h"

namespace bunraku::checks {

void check_metadata(std::string_view text, Problems& problems);

}  // namespace bunraku::checks
