// SPDX-License-Identifier: Apache-2.0
// The forge that the settings configure.
#pragma once

#include "core/config/settings.h"
#include "modules/module/forge_client.h"

namespace bunraku::cli {

/// Returns the options of a client of the forge `module_repository`.
module::ForgeClientOptions forge_options(const config::Settings& settings);

}  // namespace bunraku::cli
