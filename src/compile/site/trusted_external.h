// SPDX-License-Identifier: Apache-2.0
// `trusted['external']`: the output of the setting trusted_external_command for a node.
#pragma once

#include <string>

#include "core/base/arena.h"
#include "core/base/diagnostic.h"
#include "core/config/settings.h"
#include "core/sys/process.h"
#include "core/value/value.h"

namespace bunraku::site {

/// Runs the program with the node's name as its argument and returns the JSON that it prints. If
/// the setting names a folder, runs each executable file in it and returns a hash with an entry for
/// each file, named without its extension (Puppet 8.11, trusted_external.rb). Returns an empty hash
/// if the setting is not set. Throws base::PuppetError with Puppet's text.
value::Value trusted_external(base::Arena& arena, const config::Settings& settings,
                              sys::Processes& processes, const std::string& node,
                              base::LogSink& log);

/// Returns `trusted`, a hash, with that data as the entry `external`.
value::Value with_trusted_external(base::Arena& arena, const value::Value& trusted,
                                   const value::Value& external);

}  // namespace bunraku::site
