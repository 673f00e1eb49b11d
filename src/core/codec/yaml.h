// SPDX-License-Identifier: Apache-2.0
// Reads YAML 1.1 like Ruby's Psych: libyaml's events, and Psych's rules for plain scalars.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace bunraku::codec {

struct YamlEntry;

/// A node of a document. Aliases are expanded, up to a limit on the total number of nodes.
struct YamlNode {
    enum class Kind { Null, Boolean, Integer, Float, String, Sequence, Mapping };
    Kind kind = Kind::Null;
    bool boolean = false;
    std::int64_t integer = 0;
    double number = 0;
    std::string text;     ///< for a String; a symbol includes its colon (":a")
    bool symbol = false;  ///< true for a String that is a Ruby Symbol
    bool date = false;    ///< true for a String that Ruby reads as a Date
    bool time = false;    ///< true for a String that Ruby reads as a Time
    bool large = false;   ///< true for a String that Ruby reads as an Integer beyond 64 bits
    std::vector<YamlNode> items;
    std::vector<YamlEntry> entries;  ///< in order; the last value of a repeated key wins
    // Defined below, because clang requires a complete YamlEntry in these functions.
    YamlNode();
    YamlNode(const YamlNode&);
    YamlNode(YamlNode&&) noexcept;
    YamlNode& operator=(const YamlNode&);
    YamlNode& operator=(YamlNode&&) noexcept;
    ~YamlNode();
};
/// The key and value of a mapping entry.
struct YamlEntry {
    YamlNode first, second;
};
inline YamlNode::YamlNode() = default;
inline YamlNode::YamlNode(const YamlNode&) = default;
inline YamlNode::YamlNode(YamlNode&&) noexcept = default;
inline YamlNode& YamlNode::operator=(const YamlNode&) = default;
inline YamlNode& YamlNode::operator=(YamlNode&&) noexcept = default;
inline YamlNode::~YamlNode() = default;

/// Returns the value of `name` in a mapping. Returns null if the mapping has no such key, or if
/// `node` is null or not a mapping.
const YamlNode* find_member(const YamlNode* node, std::string_view name);

/// How dates and times are read: as their text, or as the error of a loader that does not allow
/// these classes ("Tried to load unspecified class: Date").
enum class YamlDates : std::uint8_t { Text, Refuse };

/// Parses the first document of `text`. Returns Null for an empty text. The error is Psych's:
/// "(FILE): did not find expected key while parsing a block mapping at line 1 column 1". Objects of
/// the Ruby class `permitted` are read as plain mappings. Objects of other classes are errors.
base::Result<YamlNode> parse_yaml(std::string_view text, std::string_view file,
                                  YamlDates dates = YamlDates::Text,
                                  std::string_view permitted = {});

/// Returns the node of an unquoted scalar, by the rules of Psych 4's ScalarScanner.
YamlNode resolve_yaml_scalar(std::string_view text);

}  // namespace bunraku::codec
