// How errors of the system and short times are worded for people.
#pragma once

#include <string>

#include "base/result.h"

namespace bunraku::sys {

/// What a person should read of a FileSystem's error, where Puppet has no text for it: "/x: No such
/// file or directory", without Ruby's names of system calls.
std::string plain_text(const base::Error& error);

/// Seconds with two places, as Puppet prints them ("0.42"); what would be "0.00" has four.
std::string seconds_text(double seconds);

}  // namespace bunraku::sys
