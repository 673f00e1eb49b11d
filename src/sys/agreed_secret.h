// A secret that all processes of a user agree on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bunraku::sys {

/// All of an open file that is this user's own and nobody else's to read or write; nullopt: it is
/// not, or it is longer than `most`.
std::optional<std::string> own_file(int fd, std::uint64_t most);

/// What the file `path` has, of the length of `fresh`; where there is none it gets `fresh`, and who
/// comes at the same time gets the same. Empty: it cannot be kept.
std::string agreed_secret(const std::string& path, const std::string& fresh);

}  // namespace bunraku::sys
