// SPDX-License-Identifier: Apache-2.0
// Writes values as JSON text, in the forms that catalogs need.
#pragma once

#include <string>
#include <string_view>

#include "core/codec/json_text.h"
#include "resources/catalog/catalog.h"

namespace bunraku::catalog {

/// How to write a value that JSON cannot represent.
enum class ValueForm {
    Rich,         ///< Puppet's rich data, with references as "Type[title]" (agent catalogs)
    Exact,        ///< rich data in which references stay types (the form that the store keeps)
    Stringified,  ///< text in place of every rich value (wire formats 6 to 9)
    /// as Stringified, but with numbers as text and without null (wire formats 4 and 5)
    Strings,
};

/// Appends a value as JSON. If `sorted` is true, the keys of hashes are in byte order, for hashing.
/// Throws base::PuppetError if the value is nested too deeply.
void append_json_value(std::string& out, const Value& v, ValueForm form, bool sorted = false);

/// Returns "File[/x]" if the value is a resource or class reference, otherwise an empty string.
std::string reference_text(const Value& v);

/// Returns references as "File[/x]", and every other value as string interpolation prints it.
std::string plain_text(const Value& v);

/// Reports whether a catalog flattens this array. A catalog flattens arrays that contain references
/// at any depth, and the arrays of relationship metaparameters, from which it also removes undef.
bool needs_flattening(std::string_view parameter, const Value& v);
void append_json_parameter(std::string& out, std::string_view parameter, const Value& v,
                           ValueForm form, bool sorted = false);

}  // namespace bunraku::catalog
