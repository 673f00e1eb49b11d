// SPDX-License-Identifier: Apache-2.0
// One struct for every kind of type. Types are immutable (except for values that are computed
// lazily), trivially destructible, and live in an arena. Make them with types/factory.h, which
// normalises.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/assert.h"
#include "core/value/value.h"
#include "language/types/type.h"

namespace bunraku::base {
struct SemVerRange;
}
namespace bunraku::syntax {
struct Node;
}

namespace bunraku::types {

class Guard;
struct ObjectType;
struct TypeSetType;

inline constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();  ///< no lower bound
inline constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();  ///< no upper bound

/// An interval that includes both ends. kMin and kMax represent an open end (`default` in the
/// language). Sizes have min >= 0.
struct Range {
    std::int64_t min = kMin;
    std::int64_t max = kMax;
    bool contains(std::int64_t i) const { return i >= min && i <= max; }
    bool covers(const Range& o) const { return min <= o.min && max >= o.max; }
    bool bounded() const { return min != kMin && max != kMax; }
    bool open() const { return min == kMin && max == kMax; }
    friend bool operator==(const Range&, const Range&) = default;
};
using Size = std::optional<Range>;  ///< size of a collection; nullopt means any size
inline constexpr Range kAnySize{0, kMax};

/// The kinds without parameters: Any, Undef, Default, Unit, Scalar, ScalarData, Numeric, Binary,
/// SemVerRange, CatalogEntry.
struct PlainType : Type {
    explicit PlainType(TypeKind k) : Type(k) {}
};

#define BUNRAKU_TYPE_KIND(K) static constexpr TypeKind kKind = TypeKind::K

struct IntegerType : Type {
    BUNRAKU_TYPE_KIND(Integer);
    Range range;
    explicit IntegerType(Range r) : Type(kKind), range(r) {}
};
/// An infinite end is open.
struct FloatType : Type {
    BUNRAKU_TYPE_KIND(Float);
    double min, max;
    FloatType(double lo, double hi) : Type(kKind), min(lo), max(hi) {}
};
struct BooleanType : Type {
    BUNRAKU_TYPE_KIND(Boolean);
    std::optional<bool> value;
    explicit BooleanType(std::optional<bool> v) : Type(kKind), value(v) {}
};
/// Any string, strings with a length in a range, or one string.
struct StringType : Type {
    BUNRAKU_TYPE_KIND(String);
    Size size;
    std::optional<std::string_view> value;
    StringType() : Type(kKind) {}
    explicit StringType(Range s) : Type(kKind), size(s) {}
    explicit StringType(std::string_view v) : Type(kKind), value(v) {}
};
/// The values are sorted and unique. Without values the type accepts every string.
struct EnumType : Type {
    BUNRAKU_TYPE_KIND(Enum);
    std::span<const std::string_view> values;
    bool case_insensitive;
    EnumType(std::span<const std::string_view> v, bool ci)
        : Type(kKind), values(v), case_insensitive(ci) {}
};
/// `pattern` is the text with its options as a group: "(?i-mx:a)". `rep` is null for Regexp without
/// parameters.
struct RegexpType : Type {
    BUNRAKU_TYPE_KIND(Regexp);
    const value::RegexpRep* rep;
    std::string_view pattern;
    RegexpType(const value::RegexpRep* r, std::string_view p) : Type(kKind), rep(r), pattern(p) {}
};
struct PatternType : Type {
    BUNRAKU_TYPE_KIND(Pattern);
    std::span<const RegexpType* const> patterns;
    explicit PatternType(std::span<const RegexpType* const> p) : Type(kKind), patterns(p) {}
};

struct CollectionType : Type {
    BUNRAKU_TYPE_KIND(Collection);
    Size size;
    explicit CollectionType(Size s) : Type(kKind), size(s) {}
};
struct ArrayType : Type {
    BUNRAKU_TYPE_KIND(Array);
    const Type* element;  ///< never null
    Size size;
    ArrayType(const Type* e, Size s) : Type(kKind), element(e), size(s) { hold(e); }
};
/// Without `size`, a value must have exactly these types. With `size`, the last type may repeat or
/// types at the end may be missing.
struct TupleType : Type {
    BUNRAKU_TYPE_KIND(Tuple);
    std::span<const Type* const> types;
    Size size;
    TupleType(std::span<const Type* const> t, Size s) : Type(kKind), types(t), size(s) { hold(t); }
    /// Returns the accepted number of elements.
    Range size_range() const {
        if (size) return *size;
        const auto n = static_cast<std::int64_t>(types.size());
        return n == 0 ? kAnySize : Range{n, n};
    }
};
struct HashType : Type {
    BUNRAKU_TYPE_KIND(Hash);
    const Type* key;    ///< never null
    const Type* value;  ///< never null
    Size size;
    HashType(const Type* k, const Type* v, Size s) : Type(kKind), key(k), value(v), size(s) {
        hold(k);
        hold(v);
    }
};
struct StructElement {
    std::string_view name;
    const Type* key;  ///< String['name'], or Optional[..] or NotUndef[..] of it
    const Type* value;
};
struct StructType : Type {
    BUNRAKU_TYPE_KIND(Struct);
    std::span<const StructElement> elements;
    explicit StructType(std::span<const StructElement> e) : Type(kKind), elements(e) {
        for (const StructElement& each : e) {
            hold(each.key);
            hold(each.value);
        }
    }
    const StructElement* find(std::string_view name) const {
        for (const StructElement& e : elements)
            if (e.name == name) return &e;
        return nullptr;
    }
};
struct VariantType : Type {
    BUNRAKU_TYPE_KIND(Variant);
    std::span<const Type* const> types;
    explicit VariantType(std::span<const Type* const> t) : Type(kKind), types(t) { hold(t); }
};

/// The base of the kinds that contain one type: Optional, NotUndef, Type, Iterable, Iterator,
/// Sensitive.
struct ContainedType : Type {
    const Type* type;  ///< null if not parameterised (Any for Sensitive)
protected:
    ContainedType(TypeKind k, const Type* t) : Type(k), type(t) { hold(t); }
};
#define BUNRAKU_CONTAINED_TYPE(K)                                    \
    struct K##Type : ContainedType {                                 \
        BUNRAKU_TYPE_KIND(K);                                        \
        explicit K##Type(const Type* t) : ContainedType(kKind, t) {} \
    }
BUNRAKU_CONTAINED_TYPE(Optional);
BUNRAKU_CONTAINED_TYPE(NotUndef);
BUNRAKU_CONTAINED_TYPE(Iterable);
BUNRAKU_CONTAINED_TYPE(Iterator);
BUNRAKU_CONTAINED_TYPE(Sensitive);
#undef BUNRAKU_CONTAINED_TYPE
struct TypeType : ContainedType {
    BUNRAKU_TYPE_KIND(Type);
    explicit TypeType(const bunraku::types::Type* t) : ContainedType(kKind, t) {}
};

/// A name for a type expression. It is resolved on first use, because aliases may refer to each
/// other and to themselves.
struct TypeAliasType : Type {
    BUNRAKU_TYPE_KIND(TypeAlias);
    std::string_view name;
    const syntax::Node* expr;             ///< the right side; null if `resolved` was passed
    mutable const Type* resolved;         ///< null until it is resolved
    mutable bool self_recursive = false;  ///< known after resolution
    mutable bool resolving = false;
    Loader* loader = nullptr;  ///< finds the names in `expr`; if null, the context's loader does
    TypeAliasType(std::string_view n, const syntax::Node* e, const Type* r = nullptr)
        : Type(kKind), name(n), expr(e), resolved(r) {}
};
/// A type that was not found when its name was read: "TypeReference['X']".
struct TypeReferenceType : Type {
    BUNRAKU_TYPE_KIND(TypeReference);
    std::string_view type_string;
    explicit TypeReferenceType(std::string_view s) : Type(kKind), type_string(s) {}
};

struct CallableType : Type {
    BUNRAKU_TYPE_KIND(Callable);
    const TupleType* params;  ///< null means any parameters
    const Type* block;        ///< null if no block is accepted
    const Type* returns;      ///< null means Any
    CallableType(const TupleType* p, const Type* b, const Type* r)
        : Type(kKind), params(p), block(b), returns(r) {
        hold(p);
        hold(b);
        hold(r);
    }
};

/// In nanoseconds; kMin and kMax are open ends.
struct TimestampType : Type {
    BUNRAKU_TYPE_KIND(Timestamp);
    Range range;
    explicit TimestampType(Range r) : Type(kKind), range(r) {}
};
struct TimespanType : Type {
    BUNRAKU_TYPE_KIND(Timespan);
    Range range;
    explicit TimespanType(Range r) : Type(kKind), range(r) {}
};
struct SemVerType : Type {
    BUNRAKU_TYPE_KIND(SemVer);
    std::span<const base::SemVerRange* const> ranges;  ///< empty means every version
    explicit SemVerType(std::span<const base::SemVerRange* const> r) : Type(kKind), ranges(r) {}
};
struct UriType : Type {
    BUNRAKU_TYPE_KIND(Uri);
    /// "scheme", "host".. => String, Regexp, Type; null means any
    const value::HashRep* parameters;
    explicit UriType(const value::HashRep* p) : Type(kKind), parameters(p) {
        if (p != nullptr) hold(p->depth);
    }
};
struct InitType : Type {
    BUNRAKU_TYPE_KIND(Init);
    const Type* type;  ///< null means any RichData
    std::span<const Value> args;
    // Computed on first use from the constructor signatures of `type` (init_type.cc).
    mutable bool initialized = false;
    mutable bool self_recursive = false;
    mutable const Type* single_type = nullptr;
    mutable const Type* other_type = nullptr;
    mutable bool has_optional_single = false;
    InitType(const Type* t, std::span<const Value> a) : Type(kKind), type(t), args(a) {
        hold(t);
        hold(a);
    }
};
struct RuntimeType : Type {
    BUNRAKU_TYPE_KIND(Runtime);
    std::string_view runtime;                   ///< "ruby"; empty means any
    std::string_view name;                      ///< empty means any
    const value::RegexpRep* pattern = nullptr;  ///< with `replacement`: Runtime['ruby', [/a/, 'b']]
    std::string_view replacement;
    RuntimeType(std::string_view r, std::string_view n) : Type(kKind), runtime(r), name(n) {}
};

/// `type_name` has every segment capitalised. It is empty for Resource without parameters.
struct ResourceType : Type {
    BUNRAKU_TYPE_KIND(Resource);
    std::string_view type_name;
    std::string_view downcased;
    std::optional<std::string_view> title;
    ResourceType(std::string_view n, std::string_view d, std::optional<std::string_view> t)
        : Type(kKind), type_name(n), downcased(d), title(t) {}
};
/// `class_name` is in lower case. It is nullopt for Class without parameters.
struct ClassType : Type {
    BUNRAKU_TYPE_KIND(Class);
    std::optional<std::string_view> class_name;
    std::string_view title;  ///< as shown in references to classes, with every segment capitalised
    ClassType(std::optional<std::string_view> n, std::string_view t)
        : Type(kKind), class_name(n), title(t) {}
};

/// The interface between the type lattice and types with a more complex content: Object types,
/// their parameterised extensions (also of kind Object) and TypeSets. types/object.h and
/// types/typeset.h implement it.
class OpenType : public Type {
public:
    /// Returns the name as written in the language, such as "My::Car". Empty for an anonymous type.
    virtual std::string_view type_name() const = 0;
    virtual bool is_instance_of(Context& ctx, const Value& v, Guard* guard) const = 0;
    /// Reports whether `from` is assignable to this type. `from` is not an alias, Variant, Optional
    /// or NotUndef, because these are decomposed first.
    virtual bool is_assignable_from(Context& ctx, const Type* from, Guard* guard) const = 0;
    virtual bool equal_type(const Type& other) const = 0;
    virtual std::uint64_t hash_type() const = 0;
    /// Writes the text of the type within other types ("My::Car", "Object[{..}]", "My::Car[..]").
    /// With `expanded`, the outermost type is written with its whole definition.
    virtual void print_type(std::string& out, bool expanded) const = 0;
    virtual const Type* generalized(Context&) const { return this; }
    /// Returns `This[args..]`. Throws if the type has no parameters.
    virtual const Type* parameterized(Context& ctx, std::span<const Value> args) const = 0;
    /// Returns the parent type, or null if there is none.
    virtual const Type* parent_type() const { return nullptr; }
    /// Returns the parameter tuples of this type's `new`, for Init[..].
    virtual std::vector<const TupleType*> new_parameters(Context&) const { return {}; }
    /// Resolves the lazily resolved parts.
    virtual void resolve(Context&) const {}
    /// Visits the types directly inside this type (attributes, parent), for the detection of
    /// self-recursion.
    virtual void for_each_contained(const void* closure,
                                    void (*visit)(const void* closure, const Type*)) const {
        (void)closure;
        (void)visit;
    }
    /// Returns plain data for {"__ptype": "Pcore::ObjectType", ..}. Returns undef if the type is
    /// referred to by name.
    Value to_rich_data(base::Arena& arena) const override = 0;

protected:
    explicit OpenType(TypeKind k) : Type(k) {}
};

/// Object and TypeSet without parameters. The files of these kinds implement the functions.
const OpenType* default_object_type();
const OpenType* default_type_set_type();
/// Returns a predefined Object type or alias by its lower-case name: "deferred", "error", "target",
/// "task", "pcore::uri_rx" and so on. Returns null if there is none of that name.
const Type* builtin_object_type(std::string_view downcased);

#undef BUNRAKU_TYPE_KIND

/// Returns the type as a T, or null if it is of another kind.
template <class T>
const T* as(const Type* t) {
    return t && t->kind == T::kKind ? static_cast<const T*>(t) : nullptr;
}
/// Returns the type as a T without a check. The type must be of that kind.
template <class T>
const T& to(const Type* t) {
    BUNRAKU_ASSERT(as<T>(t) != nullptr);
    return *static_cast<const T*>(t);
}
inline bool is(const Type* t, TypeKind k) { return t && t->kind == k; }

/// Returns an Object type, an extension or a TypeSet through the interface above. Returns null for
/// other kinds.
inline const OpenType* as_open(const Type* t) {
    return t && (t->kind == TypeKind::Object || t->kind == TypeKind::TypeSet)
               ? static_cast<const OpenType*>(t)
               : nullptr;
}

}  // namespace bunraku::types
