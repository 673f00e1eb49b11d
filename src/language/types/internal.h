// What the files of this folder share.
#pragma once

#include <string>
#include <string_view>

#include "language/types/guard.h"
#include "language/types/kinds.h"

namespace bunraku::types {

/// Nesting of types that the recursive operations follow; deeper is an error. A type's own depth is
/// bounded where it is made, but what names stand for in it is known only later: aliases of aliases
/// nest as deep as there are definitions.
inline constexpr int kMaxTypeDepth = 1500;
/// Counts nesting for the time of a call; throws PuppetError beyond the limit.
class DepthCheck {
public:
    DepthCheck();
    ~DepthCheck();
    DepthCheck(const DepthCheck&) = delete;
};

bool assignable(Context& ctx, const Type* t, const Type* o, Guard* guard);
bool instance(Context& ctx, const Type* t, const Value& v, Guard* guard);
/// 1: an instance, 0: recursion found, -1: none.
int really_instance(Context& ctx, const Type* t, const Value& v, Guard* guard);
bool kind_of_callable(Context& ctx, const Type* t, bool optional, Guard* guard);
const Type* iterable_type(Context& ctx, const Type* t, Guard* guard);
bool is_iterable(Context& ctx, const Type* t, Guard* guard);

/// Resolves the alias where that has not happened; throws for what resolves to nothing.
const Type* resolved(Context& ctx, const TypeAliasType& alias);
void initialize(Context& ctx, const InitType& init);

/// An arena for what is made once and shared by all threads until the process ends. It stays
/// reachable, so that leak checkers are content.
base::Arena* immortal_arena(std::size_t first_block);

/// Visits the types inside `t`, each once per path, as the search for self recursion needs it.
/// `Visit` is called with every type met, `t` first.
using Visit = void (*)(void* closure, const Type* t);
void accept(const Type* t, void* closure, Visit visit, Guard* guard);

/// A size is in characters.
std::int64_t char_count(std::string_view text);
/// Capitalised segments: what may stand as a resource type's name.
bool is_class_reference(std::string_view name);
/// Lower-case segments: a class's name.
bool is_class_name(std::string_view name);
bool matches(const RegexpType& re, std::string_view text);

/// The type of a value in a type expression: a type is itself, others their generalised type.
const Type* type_of(Context& ctx, const Value& v);
/// An integer or default.
bool is_range_parameter(const Value& v);
/// Both ends from integers or default; throws where from > to.
Range range_of(const Value& from, const Value& to);
std::string time_range_text(Range range, bool timestamp);

/// Pattern-like match of a URI's or Object's parameter: strings ignore case, regexps match, types
/// test.
bool parameter_matches(Context& ctx, const Value& actual, const Value& expected);
/// The parts of a URI as a hash ("scheme", "host", ..): all strings, as URI[..] compares them.
value::Value uri_parts(Context& ctx, std::string_view uri);
/// The part as the function of that name gives it (port an Integer); undef: has none.
value::Value uri_member(Context& ctx, std::string_view uri, std::string_view member);

/// Name of the Ruby class that Puppet's texts show for a value: "Integer", "String", "NilClass",
/// "Puppet::Pops::Types::PIntegerType".
std::string ruby_class_name(const Value& v);
/// "Integer" for any Integer type: the kind's own name.
std::string simple_name(const Type* t);
std::uint64_t mix(std::uint64_t a, std::uint64_t b);

}  // namespace bunraku::types
