// One struct for every kind of type. All are immutable (but for what is found out lazily),
// trivially destructible and live in an arena; make them through types/factory.h, which normalises.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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

/// An interval, both ends included; kMin and kMax stand for "open" (`default` in the language).
/// Sizes have min >= 0.
struct Range {
    std::int64_t min = kMin;
    std::int64_t max = kMax;
    bool contains(std::int64_t i) const { return i >= min && i <= max; }
    bool covers(const Range& o) const { return min <= o.min && max >= o.max; }
    bool bounded() const { return min != kMin && max != kMax; }
    bool open() const { return min == kMin && max == kMax; }
    friend bool operator==(const Range&, const Range&) = default;
};
using Size = std::optional<Range>;  ///< of a collection; absent: any size
inline constexpr Range kAnySize{0, kMax};

/// Any, Undef, Default, Unit, Scalar, ScalarData, Numeric, Binary, SemVerRange, CatalogEntry: kinds
/// without parameters.
struct PlainType : Type {
    explicit PlainType(TypeKind k) : Type(k) {}
};

#define BUNRAKU_TYPE_KIND(K) static constexpr TypeKind kKind = TypeKind::K

struct IntegerType : Type {
    BUNRAKU_TYPE_KIND(Integer);
    Range range;
    explicit IntegerType(Range r) : Type(kKind), range(r) {}
};
/// Infinite ends are open.
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
/// Values sorted and unique; none: every string.
struct EnumType : Type {
    BUNRAKU_TYPE_KIND(Enum);
    std::span<const std::string_view> values;
    bool case_insensitive;
    EnumType(std::span<const std::string_view> v, bool ci)
        : Type(kKind), values(v), case_insensitive(ci) {}
};
/// `pattern` is the text with its options as a group, "(?i-mx:a)"; `rep` is null for Regexp in
/// general.
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
/// Without `size` exactly the types; with it the last type repeats or the tail may lack.
struct TupleType : Type {
    BUNRAKU_TYPE_KIND(Tuple);
    std::span<const Type* const> types;
    Size size;
    TupleType(std::span<const Type* const> t, Size s) : Type(kKind), types(t), size(s) { hold(t); }
    /// Accepted number of elements.
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
    const Type* key;  ///< String['name'], Optional[..] or NotUndef[..] of it
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

/// Base of the kinds around one type: Optional, NotUndef, Type, Iterable, Iterator, Sensitive.
struct ContainedType : Type {
    const Type* type;  ///< null: not parameterised (Sensitive: Any in its place)
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

/// A name for a type expression. Resolved on first use, since aliases may name each other and
/// themselves.
struct TypeAliasType : Type {
    BUNRAKU_TYPE_KIND(TypeAlias);
    std::string_view name;
    const syntax::Node* expr;             ///< the right side; null where `resolved` was given
    mutable const Type* resolved;         ///< null: not yet
    mutable bool self_recursive = false;  ///< known once resolved
    mutable bool resolving = false;
    Loader* loader = nullptr;  ///< finds the names in `expr`; null: the context's
    TypeAliasType(std::string_view n, const syntax::Node* e, const Type* r = nullptr)
        : Type(kKind), name(n), expr(e), resolved(r) {}
};
/// A type that could not be found when its name was read: "TypeReference['X']".
struct TypeReferenceType : Type {
    BUNRAKU_TYPE_KIND(TypeReference);
    std::string_view type_string;
    explicit TypeReferenceType(std::string_view s) : Type(kKind), type_string(s) {}
};

struct CallableType : Type {
    BUNRAKU_TYPE_KIND(Callable);
    const TupleType* params;  ///< null: any
    const Type* block;        ///< null: takes none
    const Type* returns;      ///< null: Any
    CallableType(const TupleType* p, const Type* b, const Type* r)
        : Type(kKind), params(p), block(b), returns(r) {
        hold(p);
        hold(b);
        hold(r);
    }
};

/// Nanoseconds; kMin and kMax are open ends.
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
    std::span<const base::SemVerRange* const> ranges;  ///< none: every version
    explicit SemVerType(std::span<const base::SemVerRange* const> r) : Type(kKind), ranges(r) {}
};
struct UriType : Type {
    BUNRAKU_TYPE_KIND(Uri);
    const value::HashRep* parameters;  ///< "scheme", "host".. => String, Regexp, Type; null: any
    explicit UriType(const value::HashRep* p) : Type(kKind), parameters(p) {
        if (p != nullptr) hold(p->depth);
    }
};
struct InitType : Type {
    BUNRAKU_TYPE_KIND(Init);
    const Type* type;  ///< null: anything that is RichData
    std::span<const Value> args;
    // Worked out on first use from the signatures of `type`'s new (init_type.cc).
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
    std::string_view runtime;                   ///< "ruby"; empty: any
    std::string_view name;                      ///< empty: any
    const value::RegexpRep* pattern = nullptr;  ///< with `replacement`: Runtime['ruby', [/a/, 'b']]
    std::string_view replacement;
    RuntimeType(std::string_view r, std::string_view n) : Type(kKind), runtime(r), name(n) {}
};

/// `type_name` is capitalised in every segment; empty: Resource in general.
struct ResourceType : Type {
    BUNRAKU_TYPE_KIND(Resource);
    std::string_view type_name;
    std::string_view downcased;
    std::optional<std::string_view> title;
    ResourceType(std::string_view n, std::string_view d, std::optional<std::string_view> t)
        : Type(kKind), type_name(n), downcased(d), title(t) {}
};
/// `class_name` is down-cased; absent: Class in general.
struct ClassType : Type {
    BUNRAKU_TYPE_KIND(Class);
    std::optional<std::string_view> class_name;
    std::string_view title;  ///< as references to classes are shown, every segment capitalised
    ClassType(std::optional<std::string_view> n, std::string_view t)
        : Type(kKind), class_name(n), title(t) {}
};

/// What the lattice asks of the types whose inside stands elsewhere: Object types, their
/// parameterised extensions (kind Object too) and TypeSets. types/object.h and types/typeset.h
/// implement it.
class OpenType : public Type {
public:
    /// Name as written in the language, "My::Car"; empty: anonymous.
    virtual std::string_view type_name() const = 0;
    virtual bool is_instance_of(Context& ctx, const Value& v, Guard* guard) const = 0;
    /// `from` is no alias, Variant, Optional or NotUndef (those are taken apart before).
    virtual bool is_assignable_from(Context& ctx, const Type* from, Guard* guard) const = 0;
    virtual bool equal_type(const Type& other) const = 0;
    virtual std::uint64_t hash_type() const = 0;
    /// The text within other types ("My::Car", "Object[{..}]", "My::Car[..]"). `expanded`: with the
    /// whole definition where it is the outermost type.
    virtual void print_type(std::string& out, bool expanded) const = 0;
    virtual const Type* generalized(Context&) const { return this; }
    /// `This[args..]`; throws where the type takes no parameters.
    virtual const Type* parameterized(Context& ctx, std::span<const Value> args) const = 0;
    /// The type this one inherits; null: none.
    virtual const Type* parent_type() const { return nullptr; }
    /// The parameter tuples of this type's `new`; for Init[..].
    virtual std::vector<const TupleType*> new_parameters(Context&) const { return {}; }
    /// Resolves what is lazily resolved inside.
    virtual void resolve(Context&) const {}
    /// Types directly inside (attributes, parent), for the search for self recursion.
    virtual void for_each_contained(const void* closure,
                                    void (*visit)(const void* closure, const Type*)) const {
        (void)closure;
        (void)visit;
    }
    /// Plain data for {"__ptype": "Pcore::ObjectType", ..}; undef: refer by name.
    Value to_rich_data(base::Arena& arena) const override = 0;

protected:
    explicit OpenType(TypeKind k) : Type(k) {}
};

/// Object and TypeSet without parameters; implemented beside the kinds themselves.
const OpenType* default_object_type();
const OpenType* default_type_set_type();
/// Object types and aliases that every program sees, by down-cased name: "deferred", "error",
/// "target", "task", "pcore::uri_rx", ..; null: none of that name.
const Type* builtin_object_type(std::string_view downcased);

#undef BUNRAKU_TYPE_KIND

/// The type as a T, or null where it is another kind.
template <class T>
const T* as(const Type* t) {
    return t && t->kind == T::kKind ? static_cast<const T*>(t) : nullptr;
}
/// The type as a T; the caller knows its kind.
template <class T>
const T& to(const Type* t) {
    return *static_cast<const T*>(t);
}
inline bool is(const Type* t, TypeKind k) { return t && t->kind == k; }

/// Object, its extension, or TypeSet as the interface above; null for other kinds.
inline const OpenType* as_open(const Type* t) {
    return t && (t->kind == TypeKind::Object || t->kind == TypeKind::TypeSet)
               ? static_cast<const OpenType*>(t)
               : nullptr;
}

}  // namespace bunraku::types
