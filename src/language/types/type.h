// SPDX-License-Identifier: Apache-2.0
// The public interface of the Puppet type system. Types are immutable and live in arenas.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/arena.h"
#include "core/base/diagnostic.h"
#include "core/value/value.h"

namespace bunraku::syntax {
struct Node;
}

namespace bunraku::types {

using value::Value;
struct Context;

enum class TypeKind : std::uint8_t {
    Any,
    Undef,
    NotUndef,
    Default,
    Scalar,
    ScalarData,
    Data,
    RichData,
    Numeric,
    Integer,
    Float,
    String,
    Boolean,
    Regexp,
    Pattern,
    Enum,
    Collection,
    Array,
    Tuple,
    Hash,
    Struct,
    Variant,
    Optional,
    Type,
    TypeAlias,
    TypeReference,
    Callable,
    Iterable,
    Iterator,
    Sensitive,
    Binary,
    Timestamp,
    Timespan,
    SemVer,
    SemVerRange,
    Uri,
    Init,
    Object,
    TypeSet,
    Deferred,
    Error,
    Runtime,
    CatalogEntry,
    Resource,
    Class,
    Unit,  ///< internal to the type system; compatible with every type
};

/// One type. Compare types with `equal`. types/kinds.h contains the concrete structs for each kind.
class Type : public value::Extension {
public:
    const TypeKind kind;
    bool equal(const value::Extension& other) const override;
    std::uint64_t hash() const override;
    /// Appends Puppet's text for the type: "Integer[1, 10]", "File['/x']".
    void print(std::string& out) const override;
    std::string to_string() const;

protected:
    explicit Type(TypeKind k) : kind(k) {}
    /// For the constructor: records the depth of a contained type or value. The meaning of a name
    /// (an alias, the attributes of an Object type) is resolved later and does not count.
    /// DepthCheck limits that depth.
    using value::Extension::hold;
    void hold(const Type* inner) {
        if (inner != nullptr) hold(inner->depth());
    }
    void hold(std::span<const Type* const> inner) {
        for (const Type* t : inner) hold(t);
    }
    void hold(std::span<const Value> inner) {
        for (const Value& v : inner) hold(v.depth());
    }

public:
    /// {"__ptype" => "Pcore::IntegerType", "from" => 1}
    Value to_rich_data(base::Arena& arena) const override;
};

/// A value that knows its own type: an instance of an Object type, a closure or an iterator. The
/// extensions of values of kind Object, Closure and Iterator derive from it.
class TypedExtension : public value::Extension {
public:
    /// Returns the type for the function `type()`. Null means the most general type of the value's
    /// kind.
    virtual const Type* value_type(Context& ctx) const = 0;
};

/// Finds the names in type expressions: aliases, Object types, TypeSets, resource types.
class Loader {
public:
    virtual ~Loader() = default;
    /// Returns the type for a capitalised name that is not built in. `name` is as written:
    /// "Stdlib::Absolutepath". Returns null if it is unknown; the caller's rules then make a
    /// TypeReference or a Resource type.
    virtual const Type* find_type(std::string_view name) = 0;
};

/// The context of type operations: the arena for new types and the loader for named ones. One per
/// compile.
struct Context {
    base::Arena& arena;
    Loader* loader = nullptr;
    void (*clock_read)() = nullptr;  ///< called when code reads the current time
};

/// Returns the built-in type of a capitalised or lower-case name ("Integer", "integer"), or null if
/// there is none.
const Type* builtin_type(std::string_view name);

/// Returns `base[args..]` as the access operator of the language computes it. Throws PuppetError
/// with its texts.
const Type* parameterize(Context& ctx, const Type* base, std::span<const Value> args);
/// Like parameterize, with every result that the language allows: Class['a', 'b'] and File['a',
/// 'b'] are arrays of references, File[[]] is an empty array, and File[undef] is undef. The caller
/// must handle parameters of references with a title (File['a']['mode']). Throws ParameterError.
Value access_type(Context& ctx, const Type* base, std::span<const Value> keys);

/// A PuppetError with the index of the argument in [..] that caused it; -1 means the whole
/// expression.
class ParameterError : public base::PuppetError {
public:
    ParameterError(std::string message, std::string issue_code, int key)
        : PuppetError(std::move(message), std::move(issue_code)), key_index(key) {}
    int key_index;
};

/// Parses the text of a type ("Optional[Array[String, 1]]"), as in function signatures. Throws
/// PuppetError.
const Type* parse_type(Context& ctx, std::string_view text);

/// Interprets the tree of a type expression, such as the right side of a `type` alias or part of a
/// signature. Throws PuppetError if the tree is not a type expression.
const Type* interpret(Context& ctx, const syntax::Node* node);
/// Returns the literal data and types of a tree ({..}, [..], strings, numbers, types).
Value interpret_any(Context& ctx, const syntax::Node* node);

const Type* infer(Context& ctx,
                  /// most specific generalised type (for arrays: common element type)
                  const Value& v);
/// detailed type (Tuple for arrays, Struct for hashes)
const Type* infer_set(Context& ctx, const Value& v);
const Type* generalize(Context& ctx, const Type* t);  ///< removes ranges, sizes and values
/// Simplifies a type without changing its values: NotUndef[String] becomes String, and
/// Variant[Enum[a], Enum[b]] becomes one Enum.
const Type* normalize(Context& ctx, const Type* t);
/// Resolves the unresolved parts of a type found by name (aliases, Object types, TypeSets) and
/// returns the type. Throws PuppetError for invalid definitions.
const Type* ensure_resolved(Context& ctx, const Type* t);
/// Returns the type that an alias refers to, through all aliases. Returns other types unchanged.
const Type* resolve(Context& ctx, const Type* t);
const Type* common_type(Context& ctx, const Type* a, const Type* b);

bool is_instance(Context& ctx, const Type* t, const Value& v);
bool is_assignable(Context& ctx, const Type* to, const Type* from);
/// Compares like Ruby's ==: same kind, same parameters.
bool equal(const Type* a, const Type* b);
/// Reports whether `t` is a Callable, or an Optional or Variant of Callables.
bool is_kind_of_callable(Context& ctx, const Type* t, bool optional = true);
/// Reports whether `callable` can be called with the arguments that `args` describes (Tuple, Array,
/// Callable).
bool is_callable_with(Context& ctx, const Type* callable, const Type* args);
/// Returns the Iterable[T] to which `t` is assignable, or null if its instances are not iterable.
const Type* iterable_type(Context& ctx, const Type* t);
/// Returns the text with " = " and the definition after every alias.
std::string to_alias_expanded_string(const Type* t);
/// Returns the text with the values of strings: String['abc'] (used by `debug` messages and specs).
std::string to_debug_string(const Type* t);
/// Returns the name without parameters: "Integer", "File", "My::Car".
std::string type_name(const Type* t);

/// Returns Puppet's mismatch message, such as "parameter 'x' expects an Integer value, got String".
/// `subject` is the caller's text: "parameter 'x'", "Class[Foo]: parameter 'x'", "function foo" and
/// so on.
std::string describe_mismatch(Context& ctx, std::string_view subject, const Type* expected,
                              const Value& actual);
/// Throws PuppetError (TYPE_MISMATCH) with "SUBJECT expects a T value, got U" unless `v` is an
/// instance.
void assert_instance(Context& ctx, std::string_view subject, const Type* expected, const Value& v);

/// Makes an instance as `Type.new(args)` does (function new), for every type that can be
/// instantiated, with Puppet's conversion rules.
Value new_instance(Context& ctx, const Type* t, std::span<const Value> args);
/// Converts like String.new. `formats` is undef, a format string or a hash of type => format.
std::string convert_to_string(Context& ctx, const Value& v, const Value& formats);

// Resource and class references.
const Type* resource_type(Context& ctx, std::string_view type_name);  ///< File
const Type* resource_ref(Context& ctx, std::string_view type_name,
                         std::string_view title);                  ///< File['/x']
const Type* class_ref(Context& ctx, std::string_view class_name);  ///< Class['a::b']

/// The type name and title of a reference to one resource or class. Names are as Puppet prints them
/// ("File", "Foo::Bar"). For classes the type name is "Class" and the title is capitalised
/// ("Foo::Bar").
struct Reference {
    std::string_view type_name;  ///< every segment capitalised; "Class" for classes
    std::string_view title;      ///< empty for the type in general
    bool has_title = false;
};
std::optional<Reference> as_reference(const Type* t);

}  // namespace bunraku::types
