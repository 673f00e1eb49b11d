// The one spelling of a request's path.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bunraku::http {

/// Returns the spelling that routes, rules and handlers see, or nullopt if the path is refused
/// (400).
///
/// An encoded character and the character itself are the same where a path may hold it
/// (RFC 3986, 6.2.2): "/p%64b" is "/pdb". A slash inside a segment stays "%2F", other characters
/// that must be encoded are encoded in upper case. ";x" is part of its segment.
///
/// In the keys of files (/puppet/v3/file_content/.., file_metadata, file_bucket_file,
/// static_file_content) "%2F" is a slash, and several slashes are one, as puppetserver reads them.
///
/// Refuses what proxies before this server may read in another way: dot segments, empty segments
/// (the last one may be empty: "/a/"), NUL, broken escapes, and what is not UTF-8, overlong forms
/// included. Below /puppet, where rules of auth.conf decide on the decoded path, it also refuses
/// control characters and, outside the keys of files, encoded slashes.
std::optional<std::string> canonical_path(std::string_view path);

/// Decodes a canonical path and merges the slashes that follow each other: the path on which rules
/// decide. Below /puppet it is the path that is served.
std::string decoded_path(std::string_view canonical);

/// The body of the answer to a path that is refused.
inline constexpr std::string_view kBadPath =
    "The path is not valid percent-encoded UTF-8, or has empty segments, dot segments, control "
    "characters or encoded slashes where they are not allowed";

}  // namespace bunraku::http
