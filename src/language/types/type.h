// The Puppet type system: what the rest of the house needs of it. Types are immutable and live in
// arenas.
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
    Unit,  ///< inside the type system only: fits everything
};

/// One type. Compare with `equal`; concrete structs per kind stand in types/kinds.h.
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
    /// For the constructor: it holds these. What a name stands for (an alias, an Object type's
    /// attributes) is found out later and does not count; DepthCheck is for those.
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

/// A value that knows its own type: instances of Object types, closures, iterators. What is behind
/// a Value of kind Object, Closure or Iterator derives from it.
class TypedExtension : public value::Extension {
public:
    /// The type `type()` gives; null: the most general one of the value's kind.
    virtual const Type* value_type(Context& ctx) const = 0;
};

/// How names in type expressions are found: aliases, Object types, TypeSets, resource types.
class Loader {
public:
    virtual ~Loader() = default;
    /// The type a capitalised name stands for, beyond the built-in ones; null: unknown (gives a
    /// TypeReference or a Resource type by the rules of the caller). `name` is as written,
    /// "Stdlib::Absolutepath".
    virtual const Type* find_type(std::string_view name) = 0;
};

/// What type operations need: where to put new types and how to find named ones. One per compile.
struct Context {
    base::Arena& arena;
    Loader* loader = nullptr;
    void (*clock_read)() = nullptr;  ///< told when the present time is asked for
};

/// The built-in type of a capitalised or down-cased name ("Integer", "integer"); null where there
/// is none.
const Type* builtin_type(std::string_view name);

/// `base[args..]` as the language's access operator does it, with its error texts (throws
/// PuppetError).
const Type* parameterize(Context& ctx, const Type* base, std::span<const Value> args);
/// The same with every result the language can give: Class['a', 'b'] and File['a', 'b'] are arrays
/// of references, File[[]] is an empty array, File[undef] is undef. Reading parameters of titled
/// references (File['a']['mode']) is the caller's. Throws ParameterError.
Value access_type(Context& ctx, const Type* base, std::span<const Value> keys);

/// A PuppetError that knows which of the arguments in [..] it means; -1: the whole expression.
class ParameterError : public base::PuppetError {
public:
    ParameterError(std::string message, std::string issue_code, int key_index)
        : PuppetError(std::move(message), std::move(issue_code)), key_index(key_index) {}
    int key_index;
};

/// Parses a type's text ("Optional[Array[String, 1]]"), as in function signatures; throws
/// PuppetError.
const Type* parse_type(Context& ctx, std::string_view text);

/// A type expression's tree, as the right side of a `type` alias or in a signature; throws
/// PuppetError for what is none.
const Type* interpret(Context& ctx, const syntax::Node* node);
/// The literal data and types of a tree ({..}, [..], strings, numbers, types).
Value interpret_any(Context& ctx, const syntax::Node* node);

const Type* infer(Context& ctx,
                  const Value& v);  ///< most specific generalised (arrays: common element type)
const Type* infer_set(Context& ctx, const Value& v);  ///< detailed (arrays: Tuple, hashes: Struct)
const Type* generalize(Context& ctx, const Type* t);  ///< without ranges, sizes, values
/// Without doubles and nonsense: NotUndef[String] is String, Variant[Enum[a], Enum[b]] one Enum.
const Type* normalize(Context& ctx, const Type* t);
/// Resolves what a type found by its name still has open (aliases, Object types, TypeSets); throws
/// PuppetError for definitions that make no sense. Gives the type itself.
const Type* ensure_resolved(Context& ctx, const Type* t);
/// What an alias stands for, through all aliases; other types are themselves.
const Type* resolve(Context& ctx, const Type* t);
const Type* common_type(Context& ctx, const Type* a, const Type* b);

bool is_instance(Context& ctx, const Type* t, const Value& v);
bool is_assignable(Context& ctx, const Type* to, const Type* from);
/// Ruby's ==: same kind, same parameters.
bool equal(const Type* a, const Type* b);
/// True where `t` is a Callable, or an Optional or Variant of Callables.
bool is_kind_of_callable(Context& ctx, const Type* t, bool optional = true);
/// True where `callable` can be called with the arguments `args` describes (Tuple, Array,
/// Callable).
bool is_callable_with(Context& ctx, const Type* callable, const Type* args);
/// Iterable[T] that `t` fits, or null where its instances are not iterable.
const Type* iterable_type(Context& ctx, const Type* t);
/// The text with every alias followed by " = " and what it stands for.
std::string to_alias_expanded_string(const Type* t);
/// The text with strings' values shown: String['abc'] (what `debug` messages and specs use).
std::string to_debug_string(const Type* t);
/// The name without parameters: "Integer", "File", "My::Car".
std::string type_name(const Type* t);

/// Puppet's mismatch sentence, e.g. "parameter 'x' expects an Integer value, got String".
/// `subject` is "parameter 'x'", "Class[Foo]: parameter 'x'", "function foo", ... as the callers
/// need it.
std::string describe_mismatch(Context& ctx, std::string_view subject, const Type* expected,
                              const Value& actual);
/// Throws PuppetError (TYPE_MISMATCH) with "SUBJECT expects a T value, got U" unless `v` is an
/// instance.
void assert_instance(Context& ctx, std::string_view subject, const Type* expected, const Value& v);

/// `Type.new(args)` (function new): every type that can be instantiated, with Puppet's conversion
/// rules.
Value new_instance(Context& ctx, const Type* t, std::span<const Value> args);
/// String.new's conversion: `formats` is undef, a format string or a hash of type => format.
std::string convert_to_string(Context& ctx, const Value& v, const Value& formats);

// Resource and class references.
const Type* resource_type(Context& ctx, std::string_view type_name);  ///< File
const Type* resource_ref(Context& ctx, std::string_view type_name,
                         std::string_view title);                  ///< File['/x']
const Type* class_ref(Context& ctx, std::string_view class_name);  ///< Class['a::b']

/// Type name and title where `t` is a reference to one resource or class; names as Puppet prints
/// them
/// ("File", "Foo::Bar", "Class" with title "Foo::Bar" for classes).
struct Reference {
    std::string_view type_name;  ///< capitalised in every segment; "Class" for classes
    std::string_view title;      ///< empty: the type in general
    bool has_title = false;
};
std::optional<Reference> as_reference(const Type* t);

}  // namespace bunraku::types
