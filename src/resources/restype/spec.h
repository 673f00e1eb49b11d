// SPDX-License-Identifier: Apache-2.0
// Native resource types as data: attributes, namevars, title patterns, relations. Each type has its
// own spec file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/text_view.h"

namespace bunraku::value {
class Value;
}

namespace bunraku::restype {

enum class AttributeKind : std::uint8_t { Property, Parameter, Metaparameter };

struct Attribute {
    std::string_view name;
    AttributeKind kind = AttributeKind::Parameter;
    bool namevar = false;
    std::string_view doc = {};
    /// Permitted literal values ("present=installed|absent", where "=" introduces aliases of the
    /// value); empty if every value is permitted.
    std::string_view values = {};
    /// Additional permitted values, as regular expressions in Ruby's notation: "/^[0-9]+$/,
    /// /^-1$/".
    std::string_view patterns = {};
    bool array_matching_all = false;
    bool read_only = false;  ///< true if the provider reports the value and nothing can set it
    /// The provider feature without which the attribute is ignored; empty if it needs none.
    std::string_view feature = {};
};

/// A title pattern: the attributes for the groups of a regular expression (Ruby's, unanchored).
struct TitlePattern {
    std::string_view source;
    std::uint32_t options = 0;  ///< regex::Option
    std::span<const std::string_view> attributes;
};

/// Parses titles in code, for types whose title patterns transform the text.
class TitleReader {
public:
    virtual ~TitleReader() = default;
    /// Returns attributes with their values. Returns nullopt if no code is available or no pattern
    /// matches. The names live as long as the type. Throws the exception that the code raises.
    virtual std::optional<std::vector<std::pair<std::string_view, std::string>>> read(
        std::string_view title) const = 0;
};

struct TypeSpec {
    std::string_view name;  ///< in lower case, for example "file"
    std::string_view doc;
    std::span<const Attribute> attributes;  ///< without metaparameters
    bool isomorphic = true;                 ///< false (exec) if equal namevars are not duplicates
    bool composite_namevar = false;
    /// For types written in Ruby. If empty, the whole title is the name variable.
    std::span<const TitlePattern> title_patterns = {};
    /// Takes precedence over the patterns. If null, the patterns return the text unchanged.
    const TitleReader* title_reader = nullptr;

    const Attribute* find(std::string_view attribute) const;
    /// Returns the name of the first namevar, or "name" if the type declares none.
    std::string_view namevar() const;
};

/// Returns the eleven metaparameters of every type.
std::span<const Attribute> metaparameters();
bool is_metaparameter(std::string_view name);

/// Returns a native type, including those of the *_core modules (sshkey, nagios_*, cron, host,
/// mount, augeas, yumrepo, ..). Returns null if the type is not native; it may be a define or a
/// module's Ruby type.
const TypeSpec* find_type(std::string_view name);
std::span<const TypeSpec* const> all_types();
/// Returns a built-in type that is valid only if a module (stdlib) provides it: anchor, file_line.
const TypeSpec* find_module_type(std::string_view name);

/// Checks a text against the permitted values of an attribute. Returns the canonical value
/// ("present" for "installed"), or the text itself if a pattern matches or every value is
/// permitted. Returns nullopt if the value is not permitted.
std::optional<std::string_view> match_value(const Attribute& attribute,
                                            base::TextView text BUNRAKU_LIFETIMEBOUND);
/// Returns Puppet's message for a value that is not permitted: "Invalid value \"x\". Valid values
/// are a, b.".
std::string invalid_value_text(const Attribute& attribute, const value::Value& value);
/// Returns namevar values from the title alone (title patterns), as pairs of attribute and value.
/// Throws PuppetError if no pattern matches.
std::vector<std::pair<std::string_view, std::string>> parse_title(const TypeSpec& type,
                                                                  std::string_view title);

/// Reports whether the type has one name variable and the unchanged title is its value. This is a
/// fast alternative to uniqueness_key.
bool title_is_name(const TypeSpec& type, std::string_view title);

/// Returns the namevar values of a resource, like Puppet's `uniqueness_key`, from its title and
/// parameters by the title patterns (file: without trailing slashes). One element for types with
/// one namevar.
std::vector<std::string> uniqueness_key(
    const TypeSpec& type, std::string_view title,
    const std::vector<std::pair<std::string, value::Value>>& parameters);

}  // namespace bunraku::restype
