// SPDX-License-Identifier: Apache-2.0
// Locates puppetserver's own configuration files, and reads the files that their HOCON includes.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/codec/hocon.h"
#include "core/config/settings.h"

namespace bunraku::http {

/// Returns the path of a file in puppetserver's conf.d: below confdir, as Debian has it, or next to
/// confdir. The file need not exist.
std::string puppetserver_conf(const config::Settings& settings, const std::string& name);

/// Returns the path of the file in puppetserver's conf.d that defines a top-level section, such as
/// "authorization". puppetserver reads every *.conf in that folder; `usual` is the name that its
/// package uses, and the result if no file defines the section. Fails if two files define it, or if
/// another file that mentions the section has a syntax error.
base::Result<std::string> puppetserver_section_file(const config::Settings& settings,
                                                    std::string_view section,
                                                    const std::string& usual);

/// Gives HOCON text access to environment variables and to the files that it includes. Their paths
/// are absolute or relative to `file`.
codec::HoconContext hocon_context(const std::string& file);

}  // namespace bunraku::http
