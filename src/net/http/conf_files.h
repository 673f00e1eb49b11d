// SPDX-License-Identifier: Apache-2.0
// Locates puppetserver's own configuration files, and reads the files that their HOCON includes.
#pragma once

#include <string>

#include "core/codec/hocon.h"
#include "core/config/settings.h"

namespace bunraku::http {

/// Returns the path of a file in puppetserver's conf.d: below confdir, as Debian has it, or next to
/// confdir. The file need not exist.
std::string puppetserver_conf(const config::Settings& settings, const std::string& name);

/// Gives HOCON text access to environment variables and to the files that it includes. Their paths
/// are absolute or relative to `file`.
codec::HoconContext hocon_context(const std::string& file);

}  // namespace bunraku::http
