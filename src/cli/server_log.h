// The log of programs that stay: as make_console_sink, with the time before each record.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cli/command.h"

namespace bunraku::cli {

/// The sink of a server. In systemd's journal, which has the time, lines have their syslog priority
/// instead (sd-daemon(3)).
std::unique_ptr<base::LogSink> make_server_sink(const OptionParser& options);

/// Returns a record as a line of JSON with its time, as that sink writes it.
std::string json_record(base::Level level, std::string_view message);

}  // namespace bunraku::cli
