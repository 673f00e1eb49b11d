// SPDX-License-Identifier: Apache-2.0
// Makes types. This includes the normalisation that Puppet performs when it makes a type;
// `normalize` does the rest.
#pragma once

#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "language/types/kinds.h"

namespace bunraku::types {

/// The types without parameters. They are never destroyed and are shared between threads.
struct Defaults {
    const PlainType *any, *undef, *default_type, *unit, *scalar, *scalar_data, *numeric, *binary,
        *sem_ver_range, *catalog_entry;
    const IntegerType* integer;
    const FloatType* floating;
    const BooleanType *boolean, *true_type, *false_type;
    const StringType *string, *string_not_empty, *string_char;  ///< String, String[1], String[1, 1]
    const EnumType* enumeration;
    const RegexpType* regexp;
    const PatternType* pattern;
    const CollectionType* collection;
    const ArrayType *array, *array_empty;  ///< Array, Array[0, 0]
    const TupleType *tuple, *key_pair;     ///< Tuple, Tuple[Unit, Unit, 2, 2]
    const HashType *hash, *hash_empty;
    const StructType* structure;
    const VariantType* variant;
    const OptionalType* optional;
    const NotUndefType* not_undef;
    const TypeType* type_type;
    const IterableType *iterable, *iterable_chars, *iterable_integers, *iterable_pairs;
    const IteratorType* iterator;
    const SensitiveType* sensitive;
    const TypeAliasType* type_alias;
    const TypeReferenceType* type_reference;
    const CallableType* callable;
    const TimestampType* timestamp;
    const TimespanType* timespan;
    const SemVerType* sem_ver;
    const UriType* uri;
    const InitType* init;
    const RuntimeType* runtime;
    const ResourceType* resource;
    const ClassType* class_type;
    const TypeAliasType *data, *rich_data, *rich_data_key;
};
const Defaults& defaults();

using Types = std::span<const Type* const>;

// Texts, values and spans are copied into the context's arena. The functions throw PuppetError if
// the arguments do not form a valid type (from > to and so on).
const IntegerType* make_integer(Context& ctx, Range range);
const IntegerType* make_integer(Context& ctx, std::int64_t min, std::int64_t max);
const FloatType* make_float(Context& ctx, double min, double max);
const BooleanType* make_boolean(std::optional<bool> value);
const StringType* make_string(Context& ctx, Range size);
const StringType* make_string(Context& ctx, std::string_view value);
const EnumType* make_enum(Context& ctx, std::vector<std::string_view> values,
                          bool case_insensitive = false);
const RegexpType* make_regexp_type(Context& ctx, const value::RegexpRep& rep);
const RegexpType* make_regexp_type(Context& ctx, std::string_view pattern);
const PatternType* make_pattern(Context& ctx, std::span<const RegexpType* const> patterns);
const CollectionType* make_collection(Context& ctx, Size size);
const ArrayType* make_array_type(Context& ctx, const Type* element, Size size = {});
const TupleType* make_tuple_type(Context& ctx, Types types, Size size = {});
const HashType* make_hash_type(Context& ctx, const Type* key, const Type* value, Size size = {});
const StructType* make_struct(Context& ctx, std::span<const StructElement> elements);
/// Makes one entry of a Struct literal. `key` must be a String, Optional[..], NotUndef[..] or an
/// Enum with one value. Throws for other types.
StructElement make_struct_element(Context& ctx, const Type* key, const Type* value);
/// Makes the entry for a plain name. It is optional if `value` accepts undef.
StructElement make_struct_element(Context& ctx, std::string_view name, const Type* value);
/// Flattens the types and removes duplicates. Returns a single type unchanged.
const Type* make_variant(Context& ctx, Types types);
const OptionalType* make_optional(Context& ctx, const Type* type);
const NotUndefType* make_not_undef(Context& ctx, const Type* type);
const TypeType* make_type_type(Context& ctx, const Type* type);
const IterableType* make_iterable(Context& ctx, const Type* element);
const IteratorType* make_iterator(Context& ctx, const Type* element);
const SensitiveType* make_sensitive_type(Context& ctx, const Type* type);
const CallableType* make_callable(Context& ctx, const TupleType* params, const Type* block,
                                  const Type* returns);
/// Makes the type from the arguments of Callable[..]: types, then sizes, then a block type;
/// or [[..], Return].
const CallableType* make_callable(Context& ctx, std::span<const Value> args);
const TimestampType* make_timestamp(Context& ctx, Range range);
const TimespanType* make_timespan(Context& ctx, Range range);
const SemVerType* make_sem_ver(Context& ctx, std::span<const base::SemVerRange* const> ranges);
const UriType* make_uri(Context& ctx, const Value& parameters);
const InitType* make_init(Context& ctx, const Type* type, std::span<const Value> args);
const RuntimeType* make_runtime(Context& ctx, std::string_view runtime, std::string_view name);
/// `type_name` may be in any case. Throws "Illegal type name '..'".
const ResourceType* make_resource(Context& ctx, std::string_view type_name,
                                  std::optional<std::string_view> title = {});
const ClassType* make_class(Context& ctx, std::string_view class_name);
const TypeReferenceType* make_type_reference(Context& ctx, std::string_view text);
/// Makes an alias. `expr` and its tree must outlive the context.
TypeAliasType* make_type_alias(Context& ctx, std::string_view name, const syntax::Node* expr,
                               Loader* loader = nullptr);

/// Converts "foo::bar" to "Foo::Bar".
std::string capitalize_segments(std::string_view name);
/// Returns the text of the regexp. If it has options, they are added as a group: "(?i-mx:a)".
std::string regexp_with_options(const value::RegexpRep& rep);

}  // namespace bunraku::types
