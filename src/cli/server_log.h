// SPDX-License-Identifier: Apache-2.0
// The log of long-running programs: like make_console_sink, with the time before each record.
#pragma once

#include <memory>

#include "cli/command.h"

namespace bunraku::cli {

/// Returns the sink of a server. In systemd's journal, which records the time itself, lines have
/// their syslog priority instead (sd-daemon(3)).
std::unique_ptr<base::LogSink> make_server_sink(const OptionParser& options);

}  // namespace bunraku::cli
