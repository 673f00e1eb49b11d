// Tags of resources as PuppetDB takes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::store {

/// PuppetDB's pattern, as its messages show it.
inline constexpr std::string_view kTagPattern =
    "[[\\p{L}&&[^\\p{Lu}]]\\p{N}_][[\\p{L}&&[^\\p{Lu}]]\\p{N}_:.-]*";

/// Letters but upper-case ones, numbers and "_", then also ":", "." and "-".
bool valid_tag(std::string_view tag);

/// As JSON, sorted, each once.
std::string tags_json(std::vector<std::string> tags);

}  // namespace bunraku::store
