// The resource types of the module inifile.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr std::string_view kShowDiff = "true|md5|false";
constexpr Attribute kEnsure = {.name = "ensure",
                               .kind = AttributeKind::Property,
                               .doc = "Whether the setting should be there.",
                               .values = "present|absent"};
constexpr Attribute kValue = {
    .name = "value", .kind = AttributeKind::Property, .doc = "The value."};
constexpr Attribute kName = {.name = "name", .namevar = true, .doc = "A name for the resource."};
constexpr Attribute kSection = {.name = "section", .doc = "The section; empty: before the first."};
constexpr Attribute kSetting = {.name = "setting", .doc = "The name of the setting."};
constexpr Attribute kPath = {.name = "path", .doc = "The file."};
constexpr Attribute kDiff = {
    .name = "show_diff", .doc = "Whether values are shown in logs.", .values = kShowDiff};
constexpr Attribute kSeparator = {.name = "key_val_separator",
                                  .doc = "What stands between a setting and its value."};
constexpr Attribute kProvider = {.name = "provider", .doc = "The backend for this resource."};

constexpr Attribute kOfSetting[] = {
    kEnsure,
    kValue,
    kName,
    kSection,
    kSetting,
    {.name = "force_new_section_creation", .doc = "Whether a section that is missing is made."},
    kPath,
    kDiff,
    kSeparator,
    {.name = "section_prefix", .doc = "What stands before the name of a section."},
    {.name = "section_suffix", .doc = "What stands behind the name of a section."},
    {.name = "indent_char", .doc = "What new settings are indented with."},
    {.name = "indent_width", .doc = "How often."},
    {.name = "refreshonly", .doc = "Whether to change something only when told by another."},
    kProvider,
};

constexpr Attribute kOfSubsetting[] = {
    kEnsure,
    kValue,
    kName,
    kSection,
    kSetting,
    {.name = "subsetting", .doc = "The name of the word in the setting's value."},
    {.name = "subsetting_separator", .doc = "What stands between two words."},
    {.name = "subsetting_key_val_separator", .doc = "What stands between a name and its value."},
    kPath,
    kDiff,
    kSeparator,
    {.name = "quote_char", .doc = "The quotes of a value that has none yet."},
    {.name = "use_exact_match", .doc = "Whether words have no values.", .values = "true|false"},
    {.name = "insert_type",
     .doc = "Where a new word goes.",
     .values = "start|end|before|after|index"},
    {.name = "insert_value", .doc = "The word, or the number, that insert_type speaks of."},
    {.name = "delete_if_empty",
     .doc = "Whether a setting goes with its last word.",
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
