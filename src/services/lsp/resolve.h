// SPDX-License-Identifier: Apache-2.0
// Connects occurrences with definitions, by the rules of the language: inheritance of classes,
// automatic parameter lookup, templates of modules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/lsp/state.h"

namespace bunraku::lsp {

/// Returns the key that an occurrence refers to. An inherited variable becomes that of the ancestor
/// that defines it, or of the top scope.
SymbolKey resolved_key(const Workspace& workspace, const Occurrence& occurrence, Group group);

/// Returns the definition of the class or define with this name; null if there is none. If both
/// exist, returns the define for an attribute of a resource, and otherwise the class.
const Definition* owner_definition(const Workspace& workspace, std::string_view name, Group group,
                                   Role role = Role::Use);
/// Returns the parameter that a variable, an attribute or a Hiera key names; null if there is none.
const ParameterInfo* parameter_of(const Workspace& workspace, std::string_view full_name,
                                  Group group, Role role = Role::Use);

/// Returns the places that define the symbol at `place`.
std::vector<FoundPlace> definition_places(const State& state, const DocumentPlace& place,
                                          const Occurrence& occurrence);
/// Returns the places at which the symbol occurs, in all files, ordered by path and offset.
std::vector<FoundPlace> use_places(const State& state, const DocumentPlace& place,
                                   const Occurrence& occurrence, bool with_definitions);
/// Returns the data files that set a Hiera key.
std::vector<FoundPlace> data_places(const State& state, std::string_view key, Group group);

/// Returns the classes and defines whose code renders this template.
std::vector<std::string> template_callers(const State& state, const std::string& path, Group group);

/// Returns why a variable cannot be renamed alone: a template that uses it is also rendered by code
/// with another variable of this name. Empty if there is no such template.
std::string shared_template(const State& state, const DocumentPlace& place,
                            const Occurrence& occurrence);

/// Returns the path of a template or file that an occurrence names.
std::optional<std::string> named_file(const State& state, const Occurrence& occurrence,
                                      Group group);

}  // namespace bunraku::lsp
