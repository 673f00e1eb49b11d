// A secret that all processes of a user agree on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bunraku::sys {

/// All of an open file that is this user's own and nobody else's to read or write; nullopt: it is
/// not, or it is longer than `most`.
std::optional<std::string> own_file(int fd, std::uint64_t most);

/// How place_secret does it.
struct SecretPlace {
    bool replace = false;  ///< else what is there stays (EEXIST): of two that come at once one wins
    /// Root makes it for the user whose folder it is: a server that runs as nobody else.
    bool for_folder_owner = false;
};
/// The file `path` with `text`, mode 0600, whole and on disk or not at all; the error number, or 0.
int place_secret(const std::string& path, std::string_view text, const SecretPlace& how = {});

/// What the file `path` has, of the length of `fresh`; where there is none it gets `fresh`, and who
/// comes at the same time gets the same. Empty: it cannot be kept.
std::string shared_secret(const std::string& path, const std::string& fresh);

}  // namespace bunraku::sys
