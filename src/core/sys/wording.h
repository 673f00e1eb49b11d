// How errors of the system and short times are worded for people.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::sys {

/// What a person should read of an error of a FileSystem, where Puppet has no text for it: "/x: No
/// such file or directory", without Ruby's names of system calls. Other texts stay as they are.
std::string plain_text(std::string_view message);

/// Seconds with two places, as Puppet prints them ("0.42").
std::string seconds_text(double seconds);

}  // namespace bunraku::sys
