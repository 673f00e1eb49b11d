// SPDX-License-Identifier: Apache-2.0
// Descriptions of classes, types, functions and parameters in Markdown, for hovers and completions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "services/lsp/state.h"

namespace bunraku::restype {
struct TypeSpec;
struct Attribute;
}  // namespace bunraku::restype

namespace bunraku::lsp {

/// Returns the texts of the open documents by path.
std::map<std::string, std::string> unsaved_texts(const Workspace& workspace);

/// Returns a native resource type, including those of modules; null if there is none.
const restype::TypeSpec* native_type(std::string_view name);
/// Returns an attribute or metaparameter of a native type; null if there is none.
const restype::Attribute* native_attribute(const restype::TypeSpec& type, std::string_view name);

/// Returns the comment lines above an offset without their markers.
std::string comment_before(const FileText& file, std::uint32_t offset);

/// Returns the head of a definition as code: "class ntp(Array $servers = [])".
std::string signature_of(const Definition& definition);
std::string describe_definition(RangeFinder& files, const DefinitionPlace& place);
/// Returns the type, default and documentation of a parameter.
std::string describe_parameter(RangeFinder& files, const DefinitionPlace& place,
                               const ParameterInfo& parameter);
/// Empty if the function is not built in.
std::string describe_builtin_function(std::string_view name);
std::string describe_native_type(const restype::TypeSpec& type);
std::string describe_attribute(const restype::Attribute& attribute);

/// Returns the description of the symbol at a place; empty if there is nothing to say.
std::string describe_occurrence(State& state, const DocumentPlace& place,
                                const Occurrence& occurrence);

}  // namespace bunraku::lsp
