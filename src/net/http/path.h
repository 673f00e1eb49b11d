// SPDX-License-Identifier: Apache-2.0
// The canonical spelling of request paths.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bunraku::http {

/// Returns the canonical spelling, which routes, rules and handlers use, or nullopt if the path is
/// refused (400).
///
/// An encoded character is equivalent to the character itself where a path may contain it (RFC
/// 3986, 6.2.2): "/p%64b" is "/pdb". A slash inside a segment stays "%2F". Other characters that
/// must be encoded are encoded in upper case. ";x" is part of its segment.
///
/// In file keys (/puppet/v3/file_content/.., file_metadata, file_bucket_file, static_file_content)
/// "%2F" is a slash, and repeated slashes count as one, as in puppetserver.
///
/// Refuses paths that a proxy before this server might interpret differently: dot segments, empty
/// segments (the last one may be empty: "/a/"), NUL, broken escapes, and invalid UTF-8, including
/// overlong forms. Rules of auth.conf decide on the decoded path below /puppet. There, control
/// characters are refused too, and encoded slashes outside file keys.
std::optional<std::string> canonical_path(std::string_view path);

/// Decodes a canonical path and merges repeated slashes. Rules apply to the result. Below /puppet,
/// the server also serves this path.
std::string decoded_path(std::string_view canonical);

/// Body of the response to a refused path.
inline constexpr std::string_view kBadPath =
    "The path is not valid percent-encoded UTF-8, or has empty segments, dot segments, control "
    "characters or encoded slashes where they are not allowed";

}  // namespace bunraku::http
