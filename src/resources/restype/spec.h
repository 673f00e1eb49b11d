// What a native resource type is, as data: attributes, namevars, title patterns, relations. One
// spec file a type.
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
#include "core/value/value.h"

namespace bunraku::restype {

enum class AttributeKind : std::uint8_t { Property, Parameter, Metaparameter };

struct Attribute {
    std::string_view name;
    AttributeKind kind = AttributeKind::Parameter;
    bool namevar = false;
    std::string_view doc = {};
    /// Allowed literal values ("present=installed|absent": what follows "=" are other names of the
    /// value); empty: anything.
    std::string_view values = {};
    /// Further regular expressions as Ruby shows them: "/^[0-9]+$/, /^-1$/".
    std::string_view patterns = {};
    bool array_matching_all = false;
    bool read_only = false;  ///< told by the provider, never set
    /// The provider feature without which the attribute is ignored; empty: none.
    std::string_view feature = {};
};

/// One way to read a title: what the groups of a regular expression (Ruby's, unanchored) stand for.
struct TitlePattern {
    std::string_view source;
    std::uint32_t options = 0;  ///< regex::Option
    std::span<const std::string_view> attributes;
};

/// Reads titles by code, for types whose title patterns change the text.
class TitleReader {
public:
    virtual ~TitleReader() = default;
    /// Attributes with their values; nullopt: there is nothing to ask, or no pattern matches. The
    /// names live as long as the type. Throws what the code raises.
    virtual std::optional<std::vector<std::pair<std::string_view, std::string>>> read(
        std::string_view title) const = 0;
};

struct TypeSpec {
    std::string_view name;  ///< down-cased: "file"
    std::string_view doc;
    std::span<const Attribute> attributes;  ///< without metaparameters
    bool isomorphic = true;                 ///< false (exec): equal namevars are no duplicate
    bool composite_namevar = false;
    /// Of types written in Ruby; empty: the whole title is the name variable.
    std::span<const TitlePattern> title_patterns = {};
    /// Asked before the patterns; null: they give the text as it is.
    const TitleReader* title_reader = nullptr;

    const Attribute* find(std::string_view attribute) const;
    /// The first namevar's name; "name" where none is declared.
    std::string_view namevar() const;
};

/// The eleven metaparameters of every type.
std::span<const Attribute> metaparameters();
bool is_metaparameter(std::string_view name);

/// All native types, those of the *_core modules included (sshkey, nagios_*, cron, host, mount,
/// augeas, yumrepo, ..). Null: not a native type (it may be a define or a Ruby type of a module).
const TypeSpec* find_type(std::string_view name);
std::span<const TypeSpec* const> all_types();
/// Types known here that count only where a module (stdlib) brings them: anchor, file_line.
const TypeSpec* find_module_type(std::string_view name);

/// What the allowed values of an attribute say about one text: the canonical value ("present" for
/// "installed"), the text itself where a pattern matched or anything goes; nullopt: not allowed.
std::optional<std::string_view> match_value(const Attribute& attribute,
                                            base::TextView text BUNRAKU_LIFETIMEBOUND);
/// Puppet's text for a value that is not allowed: "Invalid value \"x\". Valid values are a, b.".
std::string invalid_value_text(const Attribute& attribute, const value::Value& value);
/// Namevar values from the title alone (title patterns): pairs of attribute and value. Throws
/// PuppetError where no pattern matches.
std::vector<std::pair<std::string_view, std::string>> parse_title(const TypeSpec& type,
                                                                  std::string_view title);

/// True where the type has one name variable and the title alone gives it, unchanged: what
/// uniqueness_key would find out, without the work.
bool title_is_name(const TypeSpec& type, std::string_view title);

/// The namevar values of a resource as Puppet's `uniqueness_key`, from its title and parameters by
/// the title patterns (file: trailing slashes cut). One element for types with one namevar.
std::vector<std::string> uniqueness_key(
    const TypeSpec& type, std::string_view title,
    const std::vector<std::pair<std::string, value::Value>>& parameters);

}  // namespace bunraku::restype
