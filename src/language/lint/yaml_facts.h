// SPDX-License-Identifier: Apache-2.0
// The check legacy_facts for YAML: facts in interpolations such as "%{::osfamily}".
#pragma once

#include <string_view>
#include <vector>

#include "language/lint/lint.h"

namespace bunraku::lint {

/// The check that also applies to YAML files.
inline constexpr std::string_view kYamlCheck = "legacy_facts";

/// Returns the legacy facts in the keys and texts of a YAML document. A document that cannot be
/// parsed is one problem with the name "syntax".
std::vector<Problem> find_legacy_facts(std::string_view text, std::string_view path);

}  // namespace bunraku::lint
