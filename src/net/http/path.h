// The one spelling of a request's path.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bunraku::http {

/// The spelling that routes, rules and handlers see; nullopt: the path is refused (400).
///
/// An encoded character and the character itself are the same where a path may hold it
/// (RFC 3986, 6.2.2): "/p%64b" is "/pdb". A slash inside a segment stays "%2F", what else must be
/// encoded is so in upper case. ";x" has no meaning here: it is part of its segment.
///
/// In keys of files (/puppet/v3/file_bucket_file/.., file_metadata, file_content) segments may be
/// empty.
///
/// Refused is what those who stand between a client and this server may read in another way: dot
/// segments, empty segments (the last one may be: "/a/"), NUL, broken escapes, and what is no
/// UTF-8, overlong forms included.
std::optional<std::string> canonical_path(std::string_view path);

/// What is said to who sends another one.
inline constexpr std::string_view kBadPath =
    "The path is not valid percent-encoded UTF-8, or has empty segments, dot segments or NUL";

}  // namespace bunraku::http
