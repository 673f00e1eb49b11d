// SPDX-License-Identifier: Apache-2.0
// The access operator on types, `Type[..]`, with its issues.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>

#include "core/base/text.h"
#include "core/value/build.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/mismatch.h"
#include "language/types/type_args.h"

namespace bunraku::types {

namespace {

using Args = std::span<const Value>;
constexpr int kMany = -1;

std::string label(const Type* t) {
    if (const auto* r = as<ResourceType>(t); r && r->title)
        return t->to_string() + " Resource-Reference";
    return t->to_string() + "-Type";
}

std::string key_type_name(Context& ctx, const Value& v) {
    if (v.is_undef()) return "Undef";
    if (v.is_default()) return "Default";
    return generalize(ctx, infer(ctx, v))->to_string();
}

[[noreturn]] void fail(std::string message, std::string_view code, int key = -1) {
    throw ParameterError(std::move(message), std::string(code), key);
}

[[noreturn]] void bad_arity(std::string_view label, int min, int max, std::size_t actual,
                            int key = -1) {
    std::string accepts;
    if (max == kMany)
        accepts = fmt::format("{} or more arguments", min);
    else if (max != min)
        accepts = fmt::format("{} to {} arguments", min, max);
    else
        accepts = fmt::format("{} argument{}", min, min == 1 ? "" : "s");
    fail(fmt::format("{}[] accepts {}. Got {}", label, accepts, actual), "BAD_TYPE_SLICE_ARITY",
         key);
}

[[noreturn]] void bad_slice_type(std::string_view base, int key, const Value& actual) {
    fail(fmt::format("{}[] arguments must be types. Got {}", base, ruby_class_name(actual)),
         "BAD_TYPE_SLICE_TYPE", key);
}

/// The kinds of arguments that a check can name in its message.
enum class ArgumentKind : std::uint8_t {
    Type,
    String,
    Boolean,
    Hash,
    Regexp,
    PatternType,
    RegexpType,
    SemVerRange
};

bool wanted(ArgumentKind w, const Value& v) {
    switch (w) {
        case ArgumentKind::Type: return v.is_type();
        case ArgumentKind::String: return v.is_string();
        case ArgumentKind::Boolean: return v.is(value::Kind::Boolean);
        case ArgumentKind::Hash: return v.is_hash();
        case ArgumentKind::Regexp: return v.is(value::Kind::Regexp);
        case ArgumentKind::PatternType: return v.is_type() && is(v.as_type(), TypeKind::Pattern);
        case ArgumentKind::RegexpType: return v.is_type() && is(v.as_type(), TypeKind::Regexp);
        case ArgumentKind::SemVerRange: return v.is(value::Kind::SemVerRange);
    }
    return false;
}
std::string_view want_label(ArgumentKind w) {
    switch (w) {
        case ArgumentKind::Type: return "Any-Type";
        case ArgumentKind::String: return "String";
        case ArgumentKind::Boolean: return "TrueClass or FalseClass";
        case ArgumentKind::Hash: return "Hash";
        case ArgumentKind::Regexp: return "Regexp";
        case ArgumentKind::PatternType: return "Pattern-Type";
        case ArgumentKind::RegexpType: return "Regexp-Type";
        case ArgumentKind::SemVerRange: return "SemanticPuppet::VersionRange";
    }
    return "";
}

class Specialize {
public:
    Specialize(Context& ctx, const Type* base, Args keys)
        : ctx_(ctx),
          base_(base),
          keys_(keys),
          flat_(flatten_keys(ctx, keys)),
          args_(flat_.as_array()) {}

    Value run() {
        switch (base_->kind) {
            case TypeKind::Resource: return resource(to<ResourceType>(base_));
            case TypeKind::Class: return class_reference(to<ClassType>(base_));
            default: return Value::type(type());
        }
    }

private:
    const Type* type() {
        switch (base_->kind) {
            case TypeKind::Regexp:
                if (args_.size() != 1)
                    bad_arity(a_an_uc(label(base_)), 1, 1, args_.size(), args_.empty() ? -1 : 1);
                check(args_, 1, 1, {ArgumentKind::String, ArgumentKind::Regexp});
                return regexp_of(ctx_, args_[0]);
            case TypeKind::Boolean:
                check(args_, 1, 1, {ArgumentKind::Boolean});
                return make_boolean(args_[0].as_boolean());
            case TypeKind::Enum: {
                Args names = args_;
                if (!names.empty() && names.back().is(value::Kind::Boolean))
                    names = names.first(names.size() - 1);
                check(names, 1, kMany, {ArgumentKind::String});
                return enum_of(ctx_, args_);
            }
            case TypeKind::Variant:
                check(args_, 1, kMany, {ArgumentKind::Type});
                return make_variant(ctx_, types(args_));
            case TypeKind::SemVer:
                check(args_, 1, kMany, {ArgumentKind::String, ArgumentKind::SemVerRange});
                return sem_ver_of(ctx_, args_);
            case TypeKind::Timestamp:
                if (args_.size() > 2) bad_arity(a_an_uc(label(base_)), 0, 2, args_.size());
                return timestamp_of(ctx_, args_);
            case TypeKind::Timespan:
                if (args_.size() > 2) bad_arity(a_an_uc(label(base_)), 0, 2, args_.size());
                return timespan_of(ctx_, args_);
            case TypeKind::Tuple: return tuple();
            case TypeKind::Callable:
                if (!keys_.empty() && keys_[0].is_array()) {
                    if (keys_.size() != 2) bad_arity(a_an_uc(label(base_)), 2, 2, keys_.size());
                    if (!keys_[1].is_type()) bad_specialization(1, keys_[1], "Any-Type");
                }
                return make_callable(ctx_, keys_);
            case TypeKind::Struct:
                check(keys_, 1, 1, {ArgumentKind::Hash});
                return struct_of(ctx_, keys_[0].as_hash());
            case TypeKind::String:
                if (args_.size() == 1) return make_string(ctx_, size(0, args_));
                if (args_.size() == 2) return make_string(ctx_, size(0, args_));
                fail(fmt::format("String supports [] with one or two arguments. Got {}",
                                 args_.size()),
                     "BAD_STRING_SLICE_ARITY");
            case TypeKind::Pattern:
                check(args_, 1, kMany,
                      {ArgumentKind::String, ArgumentKind::Regexp, ArgumentKind::PatternType,
                       ArgumentKind::RegexpType});
                return pattern_of(ctx_, args_);
            case TypeKind::Uri: return uri();
            case TypeKind::Optional: {
                one("Optional-Type");
                const Value& v = args_[0];
                if (v.is_string()) return make_optional(ctx_, make_string(ctx_, v.as_string()));
                return make_optional(ctx_, single_type("Optional-Type"));
            }
            case TypeKind::Sensitive:
                return make_sensitive_type(ctx_, single_type("Sensitive-Type"));
            case TypeKind::Type: return make_type_type(ctx_, single_type("Type-Type"));
            case TypeKind::Iterable: return make_iterable(ctx_, single_type("Iterable-Type"));
            case TypeKind::Iterator: return make_iterator(ctx_, single_type("Iterator-Type"));
            case TypeKind::NotUndef: return not_undef();
            case TypeKind::Init:
                if (keys_.empty() || !keys_[0].is_type())
                    bad_slice_type("Init-Type", 0, keys_.empty() ? Value::undef() : keys_[0]);
                return make_init(ctx_, keys_[0].as_type(), keys_.subspan(1));
            case TypeKind::Runtime:
                check(args_, 2, 2, {ArgumentKind::String, ArgumentKind::String});
                return runtime_of(ctx_, args_[0], args_[1]);
            case TypeKind::Integer: return integer();
            case TypeKind::Float: return floating();
            case TypeKind::Hash: return hash();
            case TypeKind::Array: return array();
            case TypeKind::Collection:
                if (args_.empty() || args_.size() > 2)
                    bad_arity("Collection-Type", 1, 2, args_.size());
                return make_collection(ctx_, size(0, args_));
            case TypeKind::Object:
            case TypeKind::TypeSet:
                if (base_ == default_object_type()) one("Object-Type");
                if (is(base_, TypeKind::TypeSet)) one("TypeSet-Type");
                return static_cast<const OpenType*>(base_)->parameterized(ctx_, args_);
            case TypeKind::TypeReference:
                fail(fmt::format("Resource type not found: {}",
                                 to<TypeReferenceType>(base_).type_string),
                     "UNKNOWN_RESOURCE_TYPE");
            default:
                fail(fmt::format("Operator '[]' is not applicable to {}.", a_an(label(base_))),
                     "OPERATOR_NOT_APPLICABLE");
        }
    }

    void check(Args keys, int min, int max, std::initializer_list<ArgumentKind> allowed) {
        const auto n = static_cast<int>(keys.size());
        if (n < min || (max != kMany && n > max))
            bad_arity(a_an_uc(label(base_)), 1, max, keys.size());
        for (int i = 0; i < n; ++i) {
            const bool fits = std::any_of(allowed.begin(), allowed.end(),
                                          [&](ArgumentKind w) { return wanted(w, keys[i]); });
            if (fits) continue;
            std::string expected;
            for (ArgumentKind w : allowed) {
                if (!expected.empty()) expected += " or ";
                expected += want_label(w);
            }
            bad_specialization(i, keys[i], expected);
        }
    }
    [[noreturn]] void bad_specialization(int key, const Value& actual, std::string_view expected) {
        fail(fmt::format("Error creating type specialization of {}, Cannot use {} where {} is "
                         "expected",
                         a_an(label(base_)), key_type_name(ctx_, actual), expected),
             "BAD_TYPE_SPECIALIZATION", key);
    }

    std::vector<const Type*> types(Args args) {
        std::vector<const Type*> out;
        for (const Value& v : args) out.push_back(v.as_type());
        return out;
    }
    void one(std::string_view name) {
        if (args_.size() != 1) bad_arity(name, 1, 1, args_.size());
    }
    const Type* single_type(std::string_view name) {
        one(name);
        if (!args_[0].is_type()) bad_slice_type(name, 0, args_[0]);
        return args_[0].as_type();
    }

    /// Returns a size from `keys`, starting at index `start`: one Integer type, or one or two
    /// integers.
    Range size(int start, Args keys) {
        const Args given = keys.subspan(static_cast<std::size_t>(start));
        if (given.size() == 1 && given[0].is_type())
            if (const auto* i = as<IntegerType>(given[0].as_type())) return i->range;
        for (std::size_t i = 0; i < given.size(); ++i)
            if (!given[i].is_integer() && !given[i].is_default())
                fail(fmt::format("A Type's size constraint arguments must be a single Integer "
                                 "type, or 1-2 integers (or default). Got {}",
                                 a_an(given[i].is_type() ? simple_name(given[i].as_type()) + "-Type"
                                                         : ruby_class_name(given[i]))),
                     "BAD_COLLECTION_SLICE_TYPE", start + static_cast<int>(i));
        return range_of(given[0], given.size() > 1 ? given[1] : Value::default_value());
    }

    const Type* tuple() {
        Args types_given = args_;
        Size size;
        const std::size_t n = types_given.size();
        if (n >= 2 && is_range_parameter(types_given[n - 2]) &&
            is_range_parameter(types_given[n - 1])) {
            size = range_of(types_given[n - 2], types_given[n - 1]);
            types_given = types_given.first(n - 2);
        } else if (n >= 1 && is_range_parameter(types_given[n - 1])) {
            size = range_of(types_given[n - 1], Value::default_value());
            types_given = types_given.first(n - 1);
        }
        check(types_given, 1, kMany, {ArgumentKind::Type});
        return make_tuple_type(ctx_, types(types_given), size);
    }

    const Type* uri() {
        if (args_.size() != 1) bad_arity("URI-Type", 1, 1, args_.size());
        const Value& v = args_[0];
        if (!is_instance(ctx_, uri_parameter_type(), v)) bad_slice_type("URI-Type", 0, v);
        return make_uri(ctx_, v);
    }

    const Type* not_undef() {
        if (args_.empty()) return defaults().not_undef;
        if (args_.size() > 1) bad_arity("NotUndef-Type", 0, 1, args_.size());
        if (args_[0].is_string())
            return make_not_undef(ctx_, make_string(ctx_, args_[0].as_string()));
        if (!args_[0].is_type())
            fail(fmt::format("NotUndef-Type[] argument must be a Type or a String. Got {}",
                             ruby_class_name(args_[0])),
                 "BAD_NOT_UNDEF_SLICE_TYPE", 0);
        return make_not_undef(ctx_, args_[0].as_type());
    }

    const Type* integer() {
        if (args_.empty() || args_.size() > 2)
            fail(fmt::format("Integer-Type supports [] with one or two arguments (from, to). "
                             "Got {}",
                             args_.size()),
                 "BAD_INTEGER_SLICE_ARITY");
        for (std::size_t i = 0; i < args_.size(); ++i)
            if (!args_[i].is_integer() && !args_[i].is_default())
                fail(fmt::format("Integer-Type [] requires all arguments to be integers (or "
                                 "default). Got {}",
                                 ruby_class_name(args_[i])),
                     "BAD_INTEGER_SLICE_TYPE", static_cast<int>(i));
        return make_integer(
            ctx_, range_of(args_[0], args_.size() > 1 ? args_[1] : Value::default_value()));
    }

    const Type* floating() {
        if (args_.empty() || args_.size() > 2)
            fail(fmt::format("Float-Type supports [] with one or two arguments (from, to). Got {}",
                             args_.size()),
                 "BAD_INTEGER_SLICE_ARITY");
        return float_between(ctx_, args_, [&](std::size_t i) {
            fail(fmt::format("Float-Type [] requires all arguments to be floats, or integers "
                             "(or default). Got {}",
                             ruby_class_name(args_[i])),
                 "BAD_INTEGER_SLICE_TYPE", static_cast<int>(i));
        });
    }

    const Type* hash() {
        if (args_.size() == 2 && args_[0].is_integer() && args_[1].is_integer())
            return make_hash_type(ctx_, nullptr, nullptr, range_of(args_[0], args_[1]));
        for (std::size_t i = 0; i < std::min<std::size_t>(2, args_.size()); ++i)
            if (!args_[i].is_type()) bad_slice_type("Hash-Type", static_cast<int>(i), args_[i]);
        Size s;
        switch (args_.size()) {
            case 2: break;
            case 3:
            case 4: s = size(2, args_); break;
            default: bad_arity("Hash-Type", 2, 4, args_.size());
        }
        return make_hash_type(ctx_, args_[0].as_type(), args_[1].as_type(), s);
    }

    const Type* array() {
        switch (args_.size()) {
            case 1:
                if (!args_[0].is_type()) bad_slice_type("Array-Type", 0, args_[0]);
                return make_array_type(ctx_, args_[0].as_type());
            case 2:
                if (args_[0].is_type())
                    return make_array_type(ctx_, args_[0].as_type(), size(1, args_));
                return make_array_type(ctx_, nullptr, size(0, args_));
            case 3:
                if (!args_[0].is_type()) bad_slice_type("Array-Type", 0, args_[0]);
                return make_array_type(ctx_, args_[0].as_type(), size(1, args_));
            default: bad_arity("Array-Type", 1, 3, args_.size());
        }
    }

    /// Returns the titles as a flat list without undef.
    std::vector<Value> titles(Args keys) {
        std::vector<Value> out;
        const Value flat = flatten_keys(ctx_, keys);
        for (const Value& v : flat.as_array())
            if (!v.is_undef()) out.push_back(v);
        return out;
    }
    Value answer(const std::vector<Value>& refs, bool as_array) {
        if (as_array) return value::make_array(ctx_.arena, refs);
        return refs.empty() ? Value::undef() : refs.back();
    }
    Value resource(const ResourceType& t) {
        if (keys_.empty()) bad_arity(t.to_string(), 1, kMany, 0);
        Args keys = keys_;
        std::string name(t.type_name);
        if (name.empty()) {
            const Value& first = keys[0];
            keys = keys.subspan(1);
            if (first.is_string()) {
                name = capitalize_segments(first.as_string());
            } else if (first.is_type() && is(first.as_type(), TypeKind::Resource)) {
                name = to<ResourceType>(first.as_type()).type_name;
                if (name.empty() && keys.empty()) return first;
            } else {
                fail(fmt::format("First argument to Resource[] must be a resource type or a "
                                 "String. Got {}.",
                                 key_type_name(ctx_, first)),
                     "ILLEGAL_RESOURCE_SPECIALIZATION", 0);
            }
        }
        if (!is_class_reference(name))
            fail(fmt::format("Illegal type reference. The given name '{}' does not conform to the "
                             "naming rule",
                             name),
                 "ILLEGAL_CLASSREF", 0);
        const bool as_array = keys.size() > 1 || (!keys.empty() && keys[0].is_array());
        const std::vector<Value> given = titles(keys);
        if (given.empty() && !keys.empty()) return answer({}, as_array);
        if (keys.empty()) return Value::type(make_resource(ctx_, name));
        std::vector<Value> refs;
        const bool shifted = given.size() != keys.size();
        for (std::size_t i = 0; i < given.size(); ++i) {
            if (!given[i].is_string())
                fail(fmt::format("Error creating type specialization of {}, Cannot use {} where a "
                                 "resource title String is expected",
                                 a_an(label(base_)), key_type_name(ctx_, given[i])),
                     "BAD_TYPE_SPECIALIZATION", static_cast<int>(shifted ? i + 1 : i));
            refs.push_back(Value::type(make_resource(ctx_, name, given[i].as_string())));
        }
        return answer(refs, as_array);
    }

    Value class_reference(const ClassType& t) {
        if (keys_.empty()) bad_arity(t.to_string(), 1, kMany, 0);
        const bool as_array = keys_.size() > 1 || keys_[0].is_array();
        const std::vector<Value> given = titles(keys_);
        if (given.empty()) return answer({}, as_array);
        std::vector<Value> refs;
        for (std::size_t i = 0; i < given.size(); ++i) {
            if (!given[i].is_string())
                fail(fmt::format("Illegal Class name in class reference. {} cannot be used where a "
                                 "String is expected",
                                 a_an_uc(value_label(given[i]))),
                     "ILLEGAL_HOSTCLASS_NAME", static_cast<int>(i));
            std::string name = base::lower(given[i].as_string());
            if (name.starts_with("::")) name.erase(0, 2);
            if (!is_class_name(name))
                fail(fmt::format("Illegal name. The given name '{}' does not conform to the naming "
                                 "rule /^((::)?[a-z_]\\w*)(::[a-z]\\w*)*$/",
                                 given[i].as_string()),
                     "ILLEGAL_NAME", static_cast<int>(i));
            refs.push_back(Value::type(make_class(ctx_, name)));
        }
        return answer(refs, as_array);
    }

    static std::string value_label(const Value& v) {
        if (v.is_type()) return label(v.as_type());
        if (v.is(value::Kind::Boolean)) return "Boolean";
        if (v.is_default()) return "Object";
        return ruby_class_name(v);
    }

    Context& ctx_;
    const Type* base_;
    Args keys_;
    Value flat_;
    Args args_;
};

}  // namespace

Value access_type(Context& ctx, const Type* base, std::span<const Value> keys) {
    try {
        return Specialize(ctx, base, keys).run();
    } catch (const base::PuppetError& e) {
        // An error that is not an issue of the operator is reported as an error of the expression.
        if (!e.issue_code().empty() || e.located()) throw;
        throw ParameterError(
            fmt::format("Error while evaluating a '[]' expression, {}", e.message()),
            "RUNTIME_ERROR", -1);
    }
}

const Type* parameterize(Context& ctx, const Type* base, std::span<const Value> args) {
    const Value v = access_type(ctx, base, args);
    if (v.is_type()) return v.as_type();
    throw ParameterError(fmt::format("Operator '[]' is not applicable to {}.", a_an(label(base))),
                         "OPERATOR_NOT_APPLICABLE", -1);
}

}  // namespace bunraku::types
