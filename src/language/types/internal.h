// SPDX-License-Identifier: Apache-2.0
// Declarations that the files of this folder share.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "language/types/factory.h"
#include "language/types/guard.h"
#include "language/types/kinds.h"

namespace bunraku::types {

/// Maximum nesting of types in recursive operations; deeper nesting is an error. A type's own depth
/// is limited when it is made. Names inside a type are resolved later, however, and aliases of
/// aliases can nest as deep as there are definitions.
inline constexpr int kMaxTypeDepth = 1500;
/// Counts the nesting during a call. Throws PuppetError beyond the limit.
class DepthCheck {
public:
    DepthCheck();
    ~DepthCheck();
    DepthCheck(const DepthCheck&) = delete;
};

bool assignable(Context& ctx, const Type* t, const Type* o, Guard* guard);
bool instance(Context& ctx, const Type* t, const Value& v, Guard* guard);
/// Returns 1 for an instance, 0 if recursion was detected, and -1 otherwise.
int really_instance(Context& ctx, const Type* t, const Value& v, Guard* guard);
bool kind_of_callable(Context& ctx, const Type* t, bool optional, Guard* guard);
const Type* iterable_type(Context& ctx, const Type* t, Guard* guard);
bool is_iterable(Context& ctx, const Type* t, Guard* guard);

/// Resolves the alias if necessary. Throws if it does not resolve to a type.
const Type* resolved(Context& ctx, const TypeAliasType& alias);
void initialize(Context& ctx, const InitType& init);

/// Returns an arena for data that is made once and shared by all threads until the process ends. It
/// remains reachable, so that leak checkers do not report it.
base::Arena* immortal_arena(std::size_t first_block);

/// Visits the types inside `t`, each once per path, for the detection of self-recursion. Calls
/// `Visit` for every type, starting with `t`.
using Visit = void (*)(void* closure, const Type* t);
void accept(const Type* t, void* closure, Visit visit, Guard* guard);

/// Returns the number of characters, which is the unit of string sizes.
std::int64_t char_count(std::string_view text);
/// Reports whether all segments are capitalised, so that the name can be that of a resource type.
bool is_class_reference(std::string_view name);
/// Reports whether all segments are lower case, as in the name of a class.
bool is_class_name(std::string_view name);
bool matches(const RegexpType& re, std::string_view text);

/// Returns the name of a kind in rich data, like Pcore::IntegerType.
std::string_view pcore_name(TypeKind kind);

/// Returns the type of a value in a type expression: a type itself, or the generalised type of
/// another value.
const Type* type_of(Context& ctx, const Value& v);
/// Reports whether the value is an integer or default.
bool is_range_parameter(const Value& v);
/// Returns the range between two ends, each an integer or default. Throws if from > to.
Range range_of(const Value& from, const Value& to);
/// Returns the Float type between one or two ends, each a number or default. Calls `invalid(i)`,
/// which must throw, for another value.
template <class Invalid>
const Type* float_between(Context& ctx, std::span<const Value> ends, const Invalid& invalid) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double range[2] = {-infinity, infinity};
    for (std::size_t i = 0; i < ends.size(); ++i) {
        if (ends[i].is_numeric())
            range[i] = ends[i].as_number();
        else if (!ends[i].is_default())
            invalid(i);
    }
    return make_float(ctx, range[0], range[1]);
}
std::string time_range_text(Range range, bool timestamp);

/// Matches a parameter of a URI or an Object against an expected value: strings ignore case,
/// regexps match, and types test for an instance.
bool parameter_matches(Context& ctx, const Value& actual, const Value& expected);
/// Returns the parts of a URI as a hash ("scheme", "host", ..). All values are strings, as URI[..]
/// compares them.
value::Value uri_parts(Context& ctx, std::string_view uri);
/// Returns the part that the function of that name returns (port as an Integer), or undef if the
/// URI has no such part.
value::Value uri_member(Context& ctx, std::string_view uri, std::string_view member);

/// Returns the Ruby class name that Puppet's messages show for a value: "Integer", "String",
/// "NilClass", "Puppet::Pops::Types::PIntegerType".
std::string ruby_class_name(const Value& v);
/// Returns the name of the type's kind: "Integer" for any Integer type.
std::string simple_name(const Type* t);
std::uint64_t mix(std::uint64_t a, std::uint64_t b);

}  // namespace bunraku::types
