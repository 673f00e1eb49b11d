// YAML 1.1 as Ruby's Psych reads it: libyaml's events, Psych's rules for plain scalars.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace bunraku::codec {

struct YamlEntry;

/// One node of a document. Aliases are expanded (within a bound on the total number of nodes).
struct YamlNode {
    enum class Kind { Null, Boolean, Integer, Float, String, Sequence, Mapping };
    Kind kind = Kind::Null;
    bool boolean = false;
    std::int64_t integer = 0;
    double number = 0;
    std::string text;     ///< String; a symbol keeps its colon (":a")
    bool symbol = false;  ///< a String that is a Ruby Symbol
    bool date = false;    ///< a String that Ruby reads as a Date
    bool time = false;    ///< a String that Ruby reads as a Time
    bool large = false;   ///< a String that Ruby reads as an Integer beyond 64 bits
    std::vector<YamlNode> items;
    std::vector<YamlEntry> entries;  ///< in order; a key set twice keeps the last value
    // Written out below: clang wants YamlEntry complete where these are made.
    YamlNode();
    YamlNode(const YamlNode&);
    YamlNode(YamlNode&&) noexcept;
    YamlNode& operator=(const YamlNode&);
    YamlNode& operator=(YamlNode&&) noexcept;
    ~YamlNode();
};
/// Key and value of a mapping.
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

/// What becomes of dates and times: their text, or the error of a loader that allows no such class
/// ("Tried to load unspecified class: Date").
enum class YamlDates : std::uint8_t { Text, Refuse };

/// The first document of `text`; Null for an empty text. The error is Psych's: "(FILE): did not
/// find expected key while parsing a block mapping at line 1 column 1". Objects of the Ruby class
/// `permitted` are read as the mappings they are written as; of any other class there are none.
base::Result<YamlNode> parse_yaml(std::string_view text, std::string_view file,
                                  YamlDates dates = YamlDates::Text,
                                  std::string_view permitted = {});

/// What an unquoted scalar stands for, by Psych 4's ScalarScanner.
YamlNode resolve_yaml_scalar(std::string_view text);

}  // namespace bunraku::codec
