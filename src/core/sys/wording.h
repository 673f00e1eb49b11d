// SPDX-License-Identifier: Apache-2.0
// Formats system errors and short durations for people.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::sys {

/// Rewrites an error of a FileSystem for people: "/x: No such file or directory", without Ruby's
/// names of system calls. For cases in which Puppet has no text. Other texts stay unchanged.
std::string plain_text(std::string_view message);

/// Formats seconds with two decimals, as Puppet prints them ("0.42").
std::string seconds_text(double seconds);

}  // namespace bunraku::sys
