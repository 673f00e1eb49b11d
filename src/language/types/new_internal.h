// SPDX-License-Identifier: Apache-2.0
// The definition of type constructors: names, local types, dispatches and their code.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "language/types/kinds.h"

namespace bunraku::types {

using Args = std::span<const Value>;

struct NewParameter {
    std::string_view type, name;
    bool optional = false;
};

/// One signature. It makes a value, or it returns the error for arguments that match no other
/// signature.
struct NewDispatch {
    std::vector<NewParameter> parameters;
    Value (*make)(Context& ctx, Args args) = nullptr;
    std::string (*mismatch)(Context& ctx, Args args) = nullptr;
};

/// The constructor of a kind. `name` is the name in Puppet's messages.
struct Constructor {
    std::string_view name;
    std::vector<std::pair<std::string_view, std::string>> local_types;
    std::vector<NewDispatch> dispatches;
};

// The constructors are grouped by topic, one file each.
Constructor integer_constructor();
Constructor float_constructor();
Constructor numeric_constructor();
Constructor boolean_constructor();
Constructor string_constructor();
Constructor regexp_constructor();
Constructor type_constructor();
Constructor unit_constructor();
Constructor sensitive_constructor();
Constructor array_constructor();
Constructor hash_constructor();
Constructor timestamp_constructor();
Constructor timespan_constructor();
Constructor semver_constructor();
Constructor semver_range_constructor();
Constructor binary_constructor();
Constructor uri_constructor();

/// Returns a constructor's local type by name, for error messages.
const Type* constructor_local_type(TypeKind kind, std::string_view name);
/// Returns "Value of type T cannot be converted to X", or the corresponding sentence for strings.
std::string cannot_convert(Context& ctx, const Value& from, std::string_view to);

}  // namespace bunraku::types
