// SPDX-License-Identifier: Apache-2.0
// Literals of the wrong type, missing arguments and missing parameters (internal to this folder).
#pragma once

#include "compile/checks/code_names.h"
#include "compile/checks/problems.h"
#include "language/syntax/ast.h"

namespace bunraku::checks {

/// Checks the default values of the parameters of a definition.
void check_defaults(const syntax::NamedDefinition& definition, CodeNames& names,
                    Problems& problems);
/// Checks the attributes of a resource whose type is known. `type` is a resource type, or "class
/// NAME". `defaults` is the body with the title default, or null. `text` is the text of the file.
void check_attribute_values(const std::string& type, const syntax::ResourceBody& body,
                            const syntax::ResourceBody* defaults, const syntax::Node* place,
                            std::string_view text, CodeNames& names, Problems& problems);
/// Checks the literal arguments of a call. `receiver` is the operand before the dot, or null.
void check_arguments(const syntax::QualifiedName& function, const syntax::Node* receiver,
                     const syntax::NodeList& arguments, CodeNames& names, Problems& problems);

}  // namespace bunraku::checks
