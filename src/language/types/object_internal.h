// SPDX-License-Identifier: Apache-2.0
// Declarations that the files of Object types and TypeSets share.
#pragma once

#include <string>
#include <string_view>

#include "language/types/mismatch.h"
#include "language/types/object.h"

namespace bunraku::types {

std::string_view kind_name(AttributeKind kind);

/// Writes a value as the type formatter writes it within types: strings with quotes, types by name.
void print_formatted(std::string& out, const Value& v);
/// Writes the hash of a definition as "Object[{attributes => {..}}]".
void print_object_hash(std::string& out, const value::HashRep& hash);

/// Throws "SUBJECT has wrong type, expects a T value, got U" unless `v` is an instance.
inline void check_instance(Context& ctx, std::string_view subject, const Type* expected,
                           const Value& v) {
    assert_instance(ctx, std::string(subject) + " has wrong type,", expected, v);
}

/// Returns the constructor from a hash and the constructor from positional arguments.
std::vector<Signature> object_signatures(Context& ctx, const ObjectType* type);

/// True on the thread that makes the predefined types. They are then returned unresolved.
bool& making_predefined();

/// The types of the hashes that form definitions. Never destroyed.
struct DefinitionTypes {
    const Type *object, *attribute, *function, *function_type, *type_set, *qualified_reference;
};
const DefinitionTypes& definition_types();

}  // namespace bunraku::types
