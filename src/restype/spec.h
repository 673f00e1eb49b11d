// What a native resource type is, as data: attributes, namevars, title patterns, relations. One
// spec file a type.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "value/value.h"

namespace bunraku::restype {

enum class AttributeKind : std::uint8_t { Property, Parameter, Metaparameter };

struct Attribute {
    std::string_view name;
    AttributeKind kind = AttributeKind::Parameter;
    bool namevar = false;
    std::string_view doc = {};
    /// Allowed literal values ("present|absent"), empty: anything; and further regular expressions.
    std::string_view values = {};
    std::string_view patterns = {};
    bool array_matching_all = false;
};

struct TypeSpec {
    std::string_view name;  ///< down-cased: "file"
    std::string_view doc;
    std::span<const Attribute> attributes;  ///< without metaparameters
    bool isomorphic = true;                 ///< false (exec): equal namevars are no duplicate
    bool composite_namevar = false;

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

/// The namevar values of a resource as Puppet's `uniqueness_key`, from its title and parameters by
/// the title patterns (file: trailing slashes cut). One element for types with one namevar.
std::vector<std::string> uniqueness_key(
    const TypeSpec& type, std::string_view title,
    const std::vector<std::pair<std::string, value::Value>>& parameters);

}  // namespace bunraku::restype
