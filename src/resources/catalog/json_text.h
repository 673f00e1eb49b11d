// Values straight to JSON text, in the forms that catalogs need.
#pragma once

#include <string>
#include <string_view>

#include "core/codec/json_text.h"
#include "resources/catalog/catalog.h"

namespace bunraku::catalog {

/// How a value that JSON does not know is written.
enum class ValueForm {
    Rich,         ///< Puppet's rich data, references as "Type[title]" (agent catalogs)
    Exact,        ///< rich data with references kept as types (what the store remembers)
    Stringified,  ///< text in place of everything rich (wire formats 6 to 9)
    Strings,      ///< the same, numbers as text, no null anywhere (wire formats 4 and 5)
};

/// `sorted`: the keys of hashes in byte order, for hashing. Throws base::PuppetError where a value
/// is nested too deeply.
void append_json_value(std::string& out, const Value& v, ValueForm form, bool sorted = false);

/// "File[/x]" where the value is a resource or class reference; else empty.
std::string reference_text(const Value& v);

/// References as "File[/x]", everything else as interpolation shows it.
std::string plain_text(const Value& v);

/// Arrays that hold references anywhere are flat in a catalog, as those of the relationship
/// metaparameters are (there without undef).
bool needs_flattening(std::string_view parameter, const Value& v);
void append_json_parameter(std::string& out, std::string_view parameter, const Value& v,
                           ValueForm form, bool sorted = false);

}  // namespace bunraku::catalog
