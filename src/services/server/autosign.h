// Which requests an authority signs by itself: Puppet's setting autosign.
#pragma once

#include <string>
#include <string_view>

#include "core/base/diagnostic.h"
#include "core/sys/process.h"
#include "net/pki/request.h"

namespace bunraku::server {

/// Whether a name stands in an autosign.conf, as one itself or under a "*.domain". Lines that are
/// neither are logged; `path` is for that.
bool autosign_list_has(std::string_view text, const std::string& name, const std::string& path,
                       base::LogSink& log);

/// `setting` is "true", "false", a list's path, or a program's: its argument is the name, its
/// standard input the request, and it says yes by ending with 0. Waits for the program.
bool autosigns(const std::string& setting, const std::string& name, const pki::Request& request,
               sys::Processes& processes, base::LogSink& log);

/// Is it a program? Then asking takes time.
bool autosign_is_program(const std::string& setting);

}  // namespace bunraku::server
