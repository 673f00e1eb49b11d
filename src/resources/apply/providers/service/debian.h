// SPDX-License-Identifier: Apache-2.0
// The part of the provider debian that systemd uses for init scripts.
#pragma once

#include <string>

#include "resources/apply/context.h"

namespace bunraku::apply {

/// Reports whether the script NAME is started at boot, according to invoke-rc.d. If invoke-rc.d
/// does not know, the links named LINK decide.
bool debian_starts(Context& context, const std::string& name, const std::string& link);

}  // namespace bunraku::apply
