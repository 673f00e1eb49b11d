// SPDX-License-Identifier: Apache-2.0
// A secret that all processes of a user share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bunraku::sys {

/// Returns the content of an open file that only this user may read and write. Returns nullopt if
/// others may, or if the file is longer than `most`.
std::optional<std::string> own_file(int fd, std::uint64_t most);

/// Options of place_secret.
struct SecretPlace {
    /// if false, an existing file stays (EEXIST), and one of two concurrent calls wins
    bool replace = false;
    /// True if root makes the file for the owner of the folder: a server that runs as an
    /// unprivileged user.
    bool for_folder_owner = false;
};
/// Makes the file `path` with `text` and mode 0600, atomically and durably. Returns 0 or the error
/// number.
int secret_path(const std::string& path, std::string_view text, const SecretPlace& how = {});

/// Returns the secret in the file `path`, which must have the length of `fresh`. If there is none,
/// stores `fresh`; concurrent callers get the same secret. Returns an empty text if the secret
/// cannot be stored.
std::string shared_secret(const std::string& path, const std::string& fresh);

}  // namespace bunraku::sys
