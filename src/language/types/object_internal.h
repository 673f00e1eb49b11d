// What the files of Object types and TypeSets share.
#pragma once

#include <string>
#include <string_view>

#include "language/types/mismatch.h"
#include "language/types/object.h"

namespace bunraku::types {

std::string_view kind_name(AttributeKind kind);

/// A value as the type formatter writes it within types: strings quoted, types by their names.
void print_formatted(std::string& out, const Value& v);
/// "Object[{attributes => {..}}]" of a definition's hash.
void print_object_hash(std::string& out, const value::HashRep& hash);

/// Throws "SUBJECT has wrong type, expects a T value, got U" unless `v` is an instance.
inline void check_instance(Context& ctx, std::string_view subject, const Type* expected,
                           const Value& v) {
    assert_instance(ctx, std::string(subject) + " has wrong type,", expected, v);
}

/// The constructor from a hash and the one from positional arguments.
std::vector<Signature> object_signatures(Context& ctx, const ObjectType* type);

/// True on the thread that makes the predefined types: they are given as they are, unresolved.
bool& making_predefined();

/// Types of the hashes that definitions are made of; immortal.
struct DefinitionTypes {
    const Type *object, *attribute, *function, *function_type, *type_set, *qualified_reference;
};
const DefinitionTypes& definition_types();

}  // namespace bunraku::types
