// The checksums of the file type: digests, "lite" digests of the first 512 bytes, times, none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/codec/digest.h"
#include "resources/apply/context.h"

namespace bunraku::apply {

/// A checksum fed piece by piece.
class Checksum {
public:
    explicit Checksum(std::string kind);
    /// False where nothing more matters.
    bool update(std::string_view bytes);
    /// "{sha256}HEX"; without the digest for times. Once.
    std::string text();

private:
    std::string kind_;
    std::optional<codec::Digest> digest_;
    std::size_t left_;
};

/// "{sha256}HEX" of a text. Times give "{mtime}".
std::string checksum_of_text(std::string_view kind, std::string_view text);
/// The same of a file; times as Ruby prints them. Throws where it cannot be read.
/// `from`: other files than the context's.
std::string checksum_of_file(Context& context, std::string_view kind, const std::string& path,
                             sys::FileSystem* from = nullptr);
/// The same of a file that was just looked at: without reading it, where its digest is known from
/// before. Where one is `expected`, only that is taken for granted.
std::string checksum_of_file(Context& context, std::string_view kind, const std::string& path,
                             const sys::FileStatus& status, std::string_view expected,
                             sys::FileSystem* from = nullptr);
/// Whether `expected` is known for the checksum of a file that was just looked at, without reading
/// it.
bool remembered(Context& context, std::string_view kind, std::string_view path,
                const sys::FileStatus& status, std::string_view expected);
/// "{word}more"
bool looks_like_checksum(std::string_view text);
std::string checksum_kind(std::string_view checksum);
std::string checksum_data(std::string_view checksum);
/// Whether a text can be a checksum of this kind.
bool valid_checksum(std::string_view kind, std::string_view text);

}  // namespace bunraku::apply
