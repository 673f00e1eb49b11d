// SPDX-License-Identifier: Apache-2.0
// Formats a compiled catalog for agents.
#pragma once

#include <cstdint>
#include <string>

#include "compile/site/request.h"
#include "core/base/diagnostic.h"

namespace bunraku::site {

enum class VirtualResources : std::uint8_t { Omit, Keep };
/// Whether the client accepts rich data.
enum class RichData : std::uint8_t { Accepted, Refused };

/// Returns compact JSON, with rich data if the settings (and the client) allow it. Throws. For a
/// client without rich data, a loss is only a warning, even if `strict` is error. Puppet 8.11
/// refuses the catalog to such a client; Puppet 7 does not.
std::string agent_catalog(const Compiled& compiled, VirtualResources kept, base::LogSink& log,
                          RichData client = RichData::Accepted);

}  // namespace bunraku::site
