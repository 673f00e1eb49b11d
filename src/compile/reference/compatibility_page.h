// SPDX-License-Identifier: Apache-2.0
// docs/compatibility.md: the differences between the compatibility levels.
#pragma once

#include <string>

namespace bunraku::reference {

/// Returns the text of docs/compatibility.md, from the table of core/config/compatibility.h.
std::string compatibility_page();

}  // namespace bunraku::reference
