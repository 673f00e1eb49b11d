// A compiled catalog in the form that agents get.
#pragma once

#include <string>

#include "compile/site/request.h"
#include "core/base/diagnostic.h"

namespace bunraku::site {

/// Compact JSON, with rich data where the settings (and the client) want that. Throws. What a
/// client without rich data loses is a warning, also where `strict` is error: Puppet 8.11 refuses
/// it the catalog, Puppet 7 does not.
std::string agent_catalog(const Compiled& compiled, bool keep_virtual, base::LogSink& log,
                          bool rich_data = true);

}  // namespace bunraku::site
