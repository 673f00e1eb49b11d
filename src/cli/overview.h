// SPDX-License-Identifier: Apache-2.0
// The output of `bunraku help` and of `bunraku` without arguments: the commands in groups.
#pragma once

#include <string>

#include "core/config/compatibility.h"

namespace bunraku::cli {

/// Returns all commands with their summaries, grouped by purpose.
std::string overview(const std::string& program);
/// Returns the same as JSON, with name, group and summary of each command.
std::string overview_json();

/// Writes the manual pages of every command, of the program and of puppet.conf's settings into a
/// folder, which it creates. Throws on errors.
void write_manual(const std::string& folder);

/// Whether to print version_details(), too.
enum class VersionOutput { Short, Verbose };

/// Returns "bunraku 1.2.3 (Puppet language 8.28.1)", followed by lines with the compatibility
/// level, the commit, the build and the libraries.
std::string version_text(config::Compatibility level, VersionOutput output);
/// Returns the same as a JSON object.
std::string version_json(config::Compatibility level, VersionOutput output);

}  // namespace bunraku::cli
