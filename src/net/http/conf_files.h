// Where puppetserver's own configuration files are, and how their HOCON reads other files.
#pragma once

#include <string>

#include "core/codec/hocon.h"
#include "core/config/settings.h"

namespace bunraku::http {

/// Returns the path of a file in puppetserver's conf.d: below confdir, as Debian has it, or next to
/// confdir. The file need not exist.
std::string puppetserver_conf(const config::Settings& settings, const std::string& name);

/// Gives HOCON text access to the files that it includes, by paths that are absolute or relative to
/// `file`, and to the environment's variables.
codec::HoconContext hocon_context(const std::string& file);

}  // namespace bunraku::http
