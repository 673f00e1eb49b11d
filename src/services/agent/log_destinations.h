// SPDX-License-Identifier: Apache-2.0
// The destinations of --logdest: console, syslog, logstash_event, and files of lines or JSON.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"

namespace bunraku::agent {

/// Returns the syslog lines of a record: each line of the text, preceded by "(SOURCE) " unless the
/// source is the program itself.
std::vector<std::string> syslog_lines(const base::Diagnostic& diagnostic);

/// Returns a sink for all destinations in `names`, whose items may be comma-separated lists.
/// Returns `console` if `names` is empty. `facility` is the setting syslogfacility. Fails with
/// Puppet's text: "Unknown destination type foo".
base::Result<std::unique_ptr<base::LogSink>> make_log_destinations(
    const std::vector<std::string>& names, std::unique_ptr<base::LogSink> console,
    std::optional<base::Level> level, const std::string& facility);

}  // namespace bunraku::agent
