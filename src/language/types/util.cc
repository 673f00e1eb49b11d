// SPDX-License-Identifier: Apache-2.0
// Helpers for names, characters, ranges and depth.
#include <algorithm>
#include <fmt/format.h>
#include <mutex>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/semver.h"
#include "core/base/text.h"
#include "core/regex/regex.h"
#include "core/value/build.h"
#include "language/types/factory.h"
#include "language/types/internal.h"

namespace bunraku::types {

namespace {
thread_local int depth = 0;
}

DepthCheck::DepthCheck() {
    if (depth >= kMaxTypeDepth)
        throw base::PuppetError("Types or values are nested too deeply", "STACK_LEVEL_TOO_DEEP");
    ++depth;
}
DepthCheck::~DepthCheck() { --depth; }

base::Arena* immortal_arena(std::size_t first_block) {
    static std::mutex mutex;
    static auto* arenas = new std::vector<base::Arena*>();
    auto* arena = new base::Arena(first_block);
    const std::lock_guard lock(mutex);
    arenas->push_back(arena);
    return arena;
}

std::int64_t char_count(std::string_view text) {
    return std::count_if(text.begin(), text.end(),
                         [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

namespace {

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

template <class First>
bool is_segments(std::string_view name, First first) {
    if (name.starts_with("::")) name.remove_prefix(2);
    while (true) {
        const std::size_t at = name.find("::");
        const std::string_view segment = name.substr(0, at);
        if (segment.empty() || !first(segment[0]) ||
            !std::all_of(segment.begin(), segment.end(), is_word))
            return false;
        if (at == std::string_view::npos) return true;
        name.remove_prefix(at + 2);
    }
}

}  // namespace

bool is_class_reference(std::string_view name) {
    return is_segments(name, [](char c) { return c >= 'A' && c <= 'Z'; });
}
bool is_class_name(std::string_view name) {
    return is_segments(name, [](char c) { return c >= 'a' && c <= 'z'; });
}

bool matches(const RegexpType& re, std::string_view text) {
    return re.rep == nullptr || re.rep->regex == nullptr || re.rep->regex->matches(text);
}

bool is_range_parameter(const Value& v) {
    return v.is_integer() || v.is_default() || (v.is_string() && v.as_string() == "default");
}

Range range_of(const Value& from, const Value& to) {
    const Range r{from.is_integer() ? from.as_integer() : kMin,
                  to.is_integer() ? to.as_integer() : kMax};
    if (r.min > r.max)
        throw base::PuppetError(
            fmt::format("'from' must be less or equal to 'to'. Got ({}, {}", r.min, r.max));
    return r;
}

std::string time_range_text(Range range, bool timestamp) {
    const auto text = [&](std::int64_t ns) {
        return value::to_text(timestamp ? Value::timestamp(ns) : Value::timespan(ns));
    };
    return fmt::format("'from' must be less or equal to 'to'. Got ({}, {}", text(range.min),
                       text(range.max));
}

bool parameter_matches(Context& ctx, const Value& actual, const Value& expected) {
    if (expected.is_type()) return is_instance(ctx, expected.as_type(), actual);
    if (expected.is(value::Kind::Regexp))
        return actual.is_string() && expected.as_regexp().regex &&
               expected.as_regexp().regex->matches(actual.as_string());
    if (expected.is_string() && actual.is_string())
        return base::same_ignoring_case(actual.as_string(), expected.as_string());
    if (expected.is_numeric() && actual.is_numeric())
        return actual.as_number() == expected.as_number();
    return value::equal(actual, expected);
}

std::string simple_name(const Type* t) {
    switch (t->kind) {
        case TypeKind::Any: return "Any";
        case TypeKind::Undef: return "Undef";
        case TypeKind::NotUndef: return "NotUndef";
        case TypeKind::Default: return "Default";
        case TypeKind::Scalar: return "Scalar";
        case TypeKind::ScalarData: return "ScalarData";
        case TypeKind::Data: return "Data";
        case TypeKind::RichData: return "RichData";
        case TypeKind::Numeric: return "Numeric";
        case TypeKind::Integer: return "Integer";
        case TypeKind::Float: return "Float";
        case TypeKind::String: return "String";
        case TypeKind::Boolean: return "Boolean";
        case TypeKind::Regexp: return "Regexp";
        case TypeKind::Pattern: return "Pattern";
        case TypeKind::Enum: return "Enum";
        case TypeKind::Collection: return "Collection";
        case TypeKind::Array: return "Array";
        case TypeKind::Tuple: return "Tuple";
        case TypeKind::Hash: return "Hash";
        case TypeKind::Struct: return "Struct";
        case TypeKind::Variant: return "Variant";
        case TypeKind::Optional: return "Optional";
        case TypeKind::Type: return "Type";
        case TypeKind::TypeAlias: return "TypeAlias";
        case TypeKind::TypeReference: return "TypeReference";
        case TypeKind::Callable: return "Callable";
        case TypeKind::Iterable: return "Iterable";
        case TypeKind::Iterator: return "Iterator";
        case TypeKind::Sensitive: return "Sensitive";
        case TypeKind::Binary: return "Binary";
        case TypeKind::Timestamp: return "Timestamp";
        case TypeKind::Timespan: return "Timespan";
        case TypeKind::SemVer: return "SemVer";
        case TypeKind::SemVerRange: return "SemVerRange";
        case TypeKind::Uri: return "URI";
        case TypeKind::Init: return "Init";
        case TypeKind::Object: {
            // For Object types, this is the last segment of their name.
            const std::string_view name = static_cast<const OpenType*>(t)->type_name();
            if (name.empty()) return "Object";
            const std::size_t at = name.rfind("::");
            return std::string(at == std::string_view::npos ? name : name.substr(at + 2));
        }
        case TypeKind::TypeSet: return "TypeSet";
        case TypeKind::Deferred: return "Deferred";
        case TypeKind::Error: return "Error";
        case TypeKind::Runtime: return "Runtime";
        case TypeKind::CatalogEntry: return "CatalogEntry";
        case TypeKind::Resource: return "Resource";
        case TypeKind::Class: return "Class";
        case TypeKind::Unit: return "Unit";
    }
    return "Any";
}

std::string type_name(const Type* t) {
    if (const auto* a = as<TypeAliasType>(t)) return std::string(a->name);
    if (const OpenType* o = as_open(t))
        if (!o->type_name().empty()) return std::string(o->type_name());
    return simple_name(t);
}

std::string ruby_class_name(const Value& v) {
    switch (v.kind()) {
        case value::Kind::Undef: return "NilClass";
        case value::Kind::Default: return "Symbol";
        case value::Kind::Boolean: return v.as_boolean() ? "TrueClass" : "FalseClass";
        case value::Kind::Integer: return "Integer";
        case value::Kind::Float: return "Float";
        case value::Kind::String: return "String";
        case value::Kind::Array: return "Array";
        case value::Kind::Hash: return "Hash";
        case value::Kind::Regexp: return "Regexp";
        case value::Kind::Sensitive: return "Puppet::Pops::Types::PSensitiveType::Sensitive";
        case value::Kind::Timestamp: return "Puppet::Pops::Time::Timestamp";
        case value::Kind::Timespan: return "Puppet::Pops::Time::Timespan";
        case value::Kind::SemVer: return "SemanticPuppet::Version";
        case value::Kind::SemVerRange: return "SemanticPuppet::VersionRange";
        case value::Kind::Binary: return "Puppet::Pops::Types::PBinaryType::Binary";
        case value::Kind::Uri: return "URI::Generic";
        case value::Kind::Type:
            return fmt::format("Puppet::Pops::Types::P{}Type", simple_name(v.as_type()));
        case value::Kind::Object: return "Object";
        case value::Kind::Closure: return "Puppet::Pops::Evaluator::Closure";
        case value::Kind::Iterator: return "Puppet::Pops::Types::Iterator";
    }
    return "Object";
}

std::string a_an(std::string_view word) {
    // A leading quote is skipped; y counts as a vowel (LabelProvider, 8.11).
    const std::size_t i = word.size() > 1 && (word[0] == '"' || word[0] == '\'') ? 1 : 0;
    const char c = i < word.size() ? static_cast<char>(word[i] | 32) : 'x';
    const bool vowel = c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' || c == 'y';
    return fmt::format("{} {}", vowel ? "an" : "a", word);
}

std::string a_an_uc(std::string_view word) {
    std::string out = a_an(word);
    out[0] = 'A';
    return out;
}

}  // namespace bunraku::types
