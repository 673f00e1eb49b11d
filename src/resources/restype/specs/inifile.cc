// SPDX-License-Identifier: Apache-2.0
// The resource types of the module inifile.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr std::string_view kShowDiff = "true|md5|false";
constexpr Attribute kEnsure = {.name = "ensure",
                               .kind = AttributeKind::Property,
                               .doc = "Whether the setting should exist.",
                               .values = "present|absent"};
constexpr Attribute kValue = {
    .name = "value", .kind = AttributeKind::Property, .doc = "The value."};
constexpr Attribute kName = {.name = "name", .namevar = true, .doc = "A name for the resource."};
constexpr Attribute kSection = {.name = "section",
                                .doc = "The section; empty for settings before the first section."};
constexpr Attribute kSetting = {.name = "setting", .doc = "The name of the setting."};
constexpr Attribute kPath = {.name = "path", .doc = "The file."};
constexpr Attribute kDiff = {
    .name = "show_diff", .doc = "Whether values are shown in logs.", .values = kShowDiff};
constexpr Attribute kSeparator = {.name = "key_val_separator",
                                  .doc = "The separator between a setting and its value."};
constexpr Attribute kProvider = {.name = "provider", .doc = "The backend for this resource."};

constexpr Attribute kOfSetting[] = {
    kEnsure,
    kValue,
    kName,
    kSection,
    kSetting,
    {.name = "force_new_section_creation", .doc = "Whether a missing section is created."},
    kPath,
    kDiff,
    kSeparator,
    {.name = "section_prefix", .doc = "The prefix of a section name."},
    {.name = "section_suffix", .doc = "The suffix of a section name."},
    {.name = "indent_char", .doc = "The character that indents new settings."},
    {.name = "indent_width", .doc = "The number of indentation characters."},
    {.name = "refreshonly", .doc = "Whether to make changes only on a refresh event."},
    kProvider,
};

constexpr Attribute kOfSubsetting[] = {
    kEnsure,
    kValue,
    kName,
    kSection,
    kSetting,
    {.name = "subsetting", .doc = "The name of the word in the setting's value."},
    {.name = "subsetting_separator", .doc = "The separator between two words."},
    {.name = "subsetting_key_val_separator", .doc = "The separator between a name and its value."},
    kPath,
    kDiff,
    kSeparator,
    {.name = "quote_char", .doc = "The quotes for a value without quotes."},
    {.name = "use_exact_match",
     .doc = "Whether words are used without values.",
     .values = "true|false"},
    {.name = "insert_type",
     .doc = "The position of a new word.",
     .values = "start|end|before|after|index"},
    {.name = "insert_value", .doc = "The word or the index that insert_type refers to."},
    {.name = "delete_if_empty",
     .doc = "Whether a setting is removed with its last word.",
     .values = "true|false"},
    kProvider,
};

}  // namespace

extern const TypeSpec kIniSetting = {
    .name = "ini_setting", .doc = "Manages a setting of an INI file.", .attributes = kOfSetting};
extern const TypeSpec kIniSubsetting = {.name = "ini_subsetting",
                                        .doc = "Manages a word in a setting of an INI file.",
                                        .attributes = kOfSubsetting};

}  // namespace bunraku::restype
