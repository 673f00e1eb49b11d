// Where --logdest sends the log: console, syslog, logstash_event, and files of lines or JSON.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"

namespace bunraku::cli {

/// The lines syslog gets of a record: each line of the text, "(SOURCE) " before it unless it is the
/// program's own.
std::vector<std::string> syslog_lines(const base::Diagnostic& diagnostic);

/// The sink for all destinations of `names`, whose items may be comma separated lists; `console`
/// where none is named. `facility` is the setting syslogfacility. Fails with Puppet's text:
/// "Unknown destination type foo".
base::Result<std::unique_ptr<base::LogSink>> make_log_destinations(
    const std::vector<std::string>& names, std::unique_ptr<base::LogSink> console,
    std::optional<base::Level> level, const std::string& facility);

}  // namespace bunraku::cli
