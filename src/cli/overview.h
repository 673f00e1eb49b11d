// `bunraku help`, and `bunraku` alone: the commands in groups.
#pragma once

#include <string>

namespace bunraku::cli {

/// All commands with their summaries, by what they are for.
std::string overview(const std::string& program);
/// The same as JSON: name, group and summary of each.
std::string overview_json();

/// Writes a manual page for every command, for the program and for puppet.conf's settings into a
/// folder, which is made. Throws.
void write_manual(const std::string& folder);

/// "bunraku 1.2.3 (Puppet language 8.11.0)", with `long_form` the commit, the build and the
/// libraries on lines of their own.
std::string version_text(bool long_form);
/// The same as a JSON object.
std::string version_json();

}  // namespace bunraku::cli
