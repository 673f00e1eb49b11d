// SPDX-License-Identifier: Apache-2.0
// A class, define, function, type or key with its place, documentation, parameters and source.
#pragma once

#include <string>

#include "compile/insight/usage.h"
#include "services/console/code_states.h"
#include "services/console/html.h"

namespace bunraku::console {

/// Returns "modules/ntp/manifests/init.pp:3".
std::string place_text(const insight::UsedInput& item);
/// Writes what the code of `state` contains about the item. `root` is the folder in which the
/// item's path is.
void write_definition(Html& h, const CodeState& state, const std::string& root,
                      const insight::UsedInput& item);

}  // namespace bunraku::console
