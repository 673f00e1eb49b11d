// SPDX-License-Identifier: Apache-2.0
// Converts types to text, like Puppet's TypeFormatter.
#pragma once

#include <string>
#include <string_view>

#include "language/types/guard.h"
#include "language/types/kinds.h"

namespace bunraku::types {

using Types = std::span<const Type* const>;

/// Writes one type, and literal values inside types, as Puppet source.
class Formatter {
public:
    explicit Formatter(std::string& out) : out_(out) {}
    bool expanded = false;  ///< prints aliases as "NAME = DEFINITION"
    bool debug = false;     ///< prints strings with their value: String['a']

    void type(const Type* t);
    /// Writes a value as it appears in a type's brackets: 'text', /regexp/, {'a' => 1}, types.
    void literal(const Value& v);

private:
    void range(const Range& r);
    void list(std::string_view name, Types types, bool empty);
    void contained(std::string_view name, const Type* inner);
    void string(const StringType& t);
    void time(std::string_view name, const Range& r, Value (*make)(std::int64_t));
    void floating(const FloatType& t);
    void enumeration(const EnumType& t);
    void pattern(const PatternType& t);
    void ranged(std::string_view name, const Size& size);
    void with_argument(std::string_view name, std::string_view argument);
    void with_literal(std::string_view name, const Value& argument);
    void contained_or_string(std::string_view name, const Type* inner);
    void sem_ver(const SemVerType& t);
    void init(const InitType& t);
    void resource(const ResourceType& t);
    void tuple(const TupleType& t);
    void structure(const StructType& t);
    void callable(const CallableType& t);
    void callable_params(const CallableType& t);
    void collection(std::string_view name, const Size& size, const Type* key, const Type* element,
                    bool is_default);
    void alias(const TypeAliasType& t);
    void format_alias(const TypeAliasType& t, bool expand);
    void runtime(const RuntimeType& t);

    std::string& out_;
    Guard guard_;
};

}  // namespace bunraku::types
