// What systemd asks of Debian's init scripts.
#pragma once

#include <string>

#include "resources/apply/context.h"

namespace bunraku::apply {

/// True where invoke-rc.d says that the script NAME is started at boot; links named LINK decide
/// where it cannot tell.
bool debian_starts(Context& context, const std::string& name, const std::string& link);

}  // namespace bunraku::apply
