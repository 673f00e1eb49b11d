// SPDX-License-Identifier: Apache-2.0
// Tags of resources, by PuppetDB's rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::store {

/// PuppetDB's pattern as it appears in its messages.
inline constexpr std::string_view kTagPattern =
    "[[\\p{L}&&[^\\p{Lu}]]\\p{N}_][[\\p{L}&&[^\\p{Lu}]]\\p{N}_:.-]*";

/// Reports whether a tag is valid: it begins with a lower-case letter, a letter without case, a
/// number or "_"; later characters may also be ":", "." and "-".
bool valid_tag(std::string_view tag);

/// Returns the tags as a JSON array, sorted and without duplicates.
std::string tags_json(std::vector<std::string> tags);

}  // namespace bunraku::store
