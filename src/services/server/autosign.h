// SPDX-License-Identifier: Apache-2.0
// Puppet's setting autosign: decides which requests an authority signs automatically.
#pragma once

#include <string>
#include <string_view>

#include "core/base/diagnostic.h"
#include "core/sys/process.h"
#include "net/pki/request.h"

namespace bunraku::server {

/// Reports whether the text of an autosign.conf contains the name, either literally or by a pattern
/// "*.domain". Logs invalid lines with `path`.
bool autosign_list_has(std::string_view text, const std::string& name, const std::string& path,
                       base::LogSink& log);

/// Reports whether a request is signed automatically. `setting` is "true", "false", the path of a
/// list, or the path of a program. The program receives the name as argument and the request on
/// standard input, and approves it with exit status 0. Waits for the program.
bool autosigns(const std::string& setting, const std::string& name, const pki::Request& request,
               sys::Processes& processes, base::LogSink& log);

/// Reports whether the setting is a program, so that autosigns() may take long.
bool autosign_is_program(const std::string& setting);

}  // namespace bunraku::server
