// SPDX-License-Identifier: Apache-2.0
// Names and texts of the forge's files on disk. Internal to this folder.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::forge {

inline constexpr std::string_view kTar = ".tar.gz";
inline constexpr std::string_view kRecord = ".rec";

/// Replaces separators, so that the text is a single line.
std::string one_line(std::string_view text);
std::string md5_of(std::string_view bytes);
std::string sha256_of(std::string_view bytes);
/// Reports whether the file is the record of a release whose archive is still upstream.
bool is_remote_record(const std::string& path);
/// Returns the message for a repository that does not exist.
std::string no_repository(std::string_view repo);

}  // namespace bunraku::forge
