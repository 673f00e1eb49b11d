// SPDX-License-Identifier: Apache-2.0
// The checksums of the file type: digests, "lite" digests of the first 512 bytes, times, none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/codec/digest.h"
#include "resources/apply/context.h"

namespace bunraku::apply {

/// A checksum computed incrementally.
class Checksum {
public:
    explicit Checksum(std::string kind);
    /// Returns false if no more bytes are needed.
    bool update(std::string_view bytes);
    /// Returns "{sha256}HEX", without the digest for times. Must be called only once.
    std::string text();

private:
    std::string kind_;
    std::optional<codec::Digest> digest_;
    std::size_t left_;
};

/// Reports whether the file contains exactly `text`. Throws if it cannot be read.
bool same_content(Context& context, const std::string& path, std::string_view text);

/// Returns "{sha256}HEX" for a text, or "{mtime}" for times.
std::string checksum_of_text(std::string_view kind, std::string_view text);
/// Returns the checksum of a file, with times in Ruby's format. Throws if the file cannot be read.
/// `from`, if not null, replaces the context's file system.
std::string checksum_of_file(Context& context, std::string_view kind, const std::string& path,
                             sys::FileSystem* from = nullptr);
/// Returns the checksum of a file with the given current status. Uses a cached digest instead of
/// reading the file, if there is one. If `expected` is not empty, only a cached digest equal to it
/// is used.
std::string checksum_of_file(Context& context, std::string_view kind, const std::string& path,
                             const sys::FileStatus& status, std::string_view expected,
                             sys::FileSystem* from = nullptr);
/// Reports whether `expected` is the cached checksum of a file with the given current status. Does
/// not read the file.
bool remembered(Context& context, std::string_view kind, std::string_view path,
                const sys::FileStatus& status, std::string_view expected);
/// Reports whether the text has the form "{word}more".
bool looks_like_checksum(std::string_view text);
std::string checksum_kind(std::string_view checksum);
std::string checksum_data(std::string_view checksum);
/// Reports whether a text can be a checksum of this kind.
bool valid_checksum(std::string_view kind, std::string_view text);

}  // namespace bunraku::apply
