// SPDX-License-Identifier: Apache-2.0
// Evaluates `value[keys]` on strings, binaries, arrays, hashes, types and resource parameters
// (Puppet::Pops::Evaluator::AccessOperator).
#include <algorithm>

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "core/value/build.h"
#include "language/evaluator/evaluation.h"
#include "language/types/factory.h"
#include "language/types/kinds.h"
#include "language/types/object.h"
#include "language/types/type.h"

namespace bunraku::evaluator {

using namespace syntax;

std::string generalized_type_name(Interpreter& in, const Value& v) {
    if (v.is_undef()) return "Undef";
    if (v.is_default()) return "Default";
    return types::generalize(in.types(), types::infer(in.types(), v))->to_string();
}

namespace {

/// Returns the node of the invalid key. Splats and nested arrays can produce more keys than nodes.
const Node* key_node(const AccessExpression& node, std::size_t i) {
    return i < node.keys.size() ? node.keys[i] : &node;
}

void flatten(std::span<const Value> items, std::vector<Value>& out) {
    base::step();
    for (const Value& v : items) {
        if (v.is_array())
            flatten(v.as_array(), out);
        else
            out.push_back(v);
    }
}

std::vector<Value> flattened(std::span<const Value> keys) {
    std::vector<Value> out;
    out.reserve(keys.size());
    flatten(keys, out);
    return out;
}

struct Slice {
    std::int64_t from, length;
};

/// Computes Puppet's [start, length]. A negative start counts from the end. A negative length is an
/// end position, counted from the end. Returns nullopt if the slice is outside.
std::optional<Slice> slice_of(std::int64_t from, std::int64_t length, std::int64_t size) {
    if (from < 0) from += size;
    if (from > size) return std::nullopt;
    if (from >= 0) {
        if (length < 0) length = size - from + length + 1;
    } else {
        // The part before the first element does not count.
        length = length < 0 ? size + length + 1 : length + from;
        from = 0;
    }
    if (length < 0) return std::nullopt;
    BUNRAKU_ASSERT(from >= 0 && size >= 0);
    return Slice{from, std::min(length, size - from)};
}

std::size_t characters(std::string_view s) {
    return static_cast<std::size_t>(
        std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Returns the byte offset of the n-th character.
std::size_t offset_of(std::string_view s, std::int64_t n) {
    std::size_t at = 0;
    BUNRAKU_ASSERT(n >= 0);
    while (n > 0 && at < s.size()) {
        ++at;
        while (at < s.size() && (s[at] & 0xC0) == 0x80) ++at;
        --n;
    }
    return at;
}

std::int64_t string_index(Interpreter& in, const AccessExpression& node, const Value& key,
                          std::size_t i) {
    const auto number = to_number(key);
    if (number && number->is_integer()) return number->as_integer();
    const std::string type = generalized_type_name(in, number ? *number : key);
    Evaluation::fail(
        in, key_node(node, i), "BAD_STRING_SLICE_KEY_TYPE",
        "A substring operation does not accept {} {} as a character index. Expected an "
        "Integer",
        article(type), type);
}

std::string_view access_text(Interpreter& in, const AccessExpression& node, std::string_view text,
                             std::span<const Value> given, bool bytes) {
    const std::vector<Value> keys = flattened(given);
    if (keys.empty() || keys.size() > 2)
        Evaluation::fail(in, node.left, "BAD_STRING_SLICE_ARITY",
                         "String supports [] with one or two arguments. Got {}", keys.size());
    const bool ascii =
        bytes || std::none_of(text.begin(), text.end(), [](char c) { return c & 0x80; });
    const auto size = static_cast<std::int64_t>(ascii ? text.size() : characters(text));
    std::optional<Slice> slice;
    if (keys.size() == 1) {
        std::int64_t at = string_index(in, node, keys[0], 0);
        if (at < 0) at += size;
        if (at >= 0 && at < size) slice = Slice{at, 1};
    } else {
        const std::int64_t from = string_index(in, node, keys[0], 0);
        slice = slice_of(from, string_index(in, node, keys[1], 1), size);
    }
    if (!slice || slice->length == 0) return {};
    BUNRAKU_ASSERT(slice->from >= 0 && slice->from <= size - slice->length);
    if (ascii)
        return text.substr(static_cast<std::size_t>(slice->from),
                           static_cast<std::size_t>(slice->length));
    const std::string_view rest = text.substr(offset_of(text, slice->from));
    return rest.substr(0, offset_of(rest, slice->length));
}

std::int64_t array_index(Interpreter& in, const AccessExpression& node, const Value& array,
                         const Value& key, std::size_t i) {
    const Value number = Evaluation::coerce_numeric(in, key, key_node(node, i));
    if (number.is_integer()) return number.as_integer();
    Evaluation::fail(in, key_node(node, i), "BAD_SLICE_KEY_TYPE",
                     "{}[] cannot use {} where {} is expected", a_an_uc(label(array)),
                     generalized_type_name(in, number), "Integer");
}

Value access_array(Interpreter& in, const AccessExpression& node, const Value& array,
                   std::span<const Value> given) {
    std::vector<Value> flat;
    std::span<const Value> keys = given;
    if (std::any_of(keys.begin(), keys.end(), [](const Value& k) { return k.is_array(); })) {
        flat = flattened(given);
        keys = flat;
    }
    const std::span<const Value> items = array.as_array();
    const auto size = static_cast<std::int64_t>(items.size());
    if (keys.size() == 1) {
        std::int64_t at = array_index(in, node, array, keys[0], 0);
        if (at < 0) at += size;
        return at >= 0 && at < size ? items[static_cast<std::size_t>(at)] : Value::undef();
    }
    if (keys.size() != 2)
        Evaluation::fail(in, node.left, "BAD_ARRAY_SLICE_ARITY",
                         "Array supports [] with one or two arguments. Got {}", keys.size());
    const std::int64_t from = array_index(in, node, array, keys[0], 0);
    const auto slice = slice_of(from, array_index(in, node, array, keys[1], 1), size);
    if (!slice) return Value::array({});
    BUNRAKU_ASSERT(slice->from >= 0 && slice->from <= size - slice->length);
    const auto part = items.subspan(static_cast<std::size_t>(slice->from),
                                    static_cast<std::size_t>(slice->length));
    // A part of a list of scalars is also a list of scalars, so its elements need no inspection.
    // This matters for code that takes lists apart in a loop.
    return array.depth() == 1 ? Value::array(part, 1) : Value::array(part);
}

Value access_hash(Interpreter& in, const AccessExpression& node, const Value& hash,
                  std::span<const Value> keys) {
    if (keys.size() == 1) {
        const Value* v = hash.as_hash().find(keys[0]);
        return v ? *v : Value::undef();
    }
    if (keys.empty())
        Evaluation::fail(in, node.left, "BAD_HASH_SLICE_ARITY",
                         "Hash supports [] with one or more arguments. Got {}", keys.size());
    std::vector<Value> out;
    for (const Value& key : keys) {
        const Value* v = hash.as_hash().find(key);
        if (v && !v->is_undef()) out.push_back(*v);
    }
    return value::make_array(in.arena(), out);
}

bool word_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Reports whether the name consists of segments separated by "::", each a word that starts with a
/// letter between `low` and `high`.
bool qualified_words(std::string_view name, char low, char high) {
    if (name.starts_with("::")) name.remove_prefix(2);
    while (true) {
        const auto end = name.find("::");
        const std::string_view segment = name.substr(0, end);
        if (segment.empty() || segment[0] < low || segment[0] > high ||
            !std::all_of(segment.begin(), segment.end(), word_character))
            return false;
        if (end == std::string_view::npos) return true;
        name.remove_prefix(end + 2);
    }
}

Value result_of(Interpreter& in, std::vector<Value>& result, bool as_array) {
    if (as_array) return value::make_array(in.arena(), result);
    return result.empty() ? Value::undef() : result.back();
}

/// Returns the keys of File[..] and Class[..] as a flat list without undef.
std::vector<Value> reference_keys(std::span<const Value> given) {
    std::vector<Value> keys = flattened(given);
    std::erase_if(keys, [](const Value& v) { return v.is_undef(); });
    return keys;
}

Value parameters_of(Interpreter& in, const AccessExpression& node, Scope& scope,
                    const types::Reference& reference, const std::vector<Value>& keys,
                    bool as_array) {
    std::vector<Value> result;
    for (const Value& key : keys) {
        if (!in.hosts().catalog)
            Evaluation::fail(in, &node, "UNKNOWN_RESOURCE", "Resource not found: {}['{}']",
                             reference.type_name, reference.title);
        const std::string name = value::to_text(key);
        result.push_back(in.hosts().catalog->resource_parameter(in, scope, reference, name, &node));
    }
    return result_of(in, result, as_array);
}

Value access_resource(Interpreter& in, const AccessExpression& node, Scope& scope,
                      const types::ResourceType& type, std::span<const Value> given) {
    const Node* error_node = given.empty() ? static_cast<const Node*>(&node) : key_node(node, 0);
    if (given.empty())
        Evaluation::fail(in, error_node, "BAD_TYPE_SLICE_ARITY",
                         "{}[] accepts 1 or more arguments. Got 0", type.to_string());
    std::string type_name(type.type_name);
    std::span<const Value> rest = given;
    if (type_name.empty()) {
        const Value& first = given[0];
        rest = given.subspan(1);
        const auto* named =
            first.is_type() ? types::as<types::ResourceType>(first.as_type()) : nullptr;
        if (named && !named->type_name.empty())
            type_name = named->type_name;
        else if (first.is_string())
            type_name = types::capitalize_segments(first.as_string());
        else
            Evaluation::fail(
                in, key_node(node, 0), "ILLEGAL_RESOURCE_SPECIALIZATION",
                "First argument to Resource[] must be a resource type or a String. Got "
                "{}.",
                generalized_type_name(in, first));
    }
    if (!qualified_words(type_name, 'A', 'Z'))
        Evaluation::fail(
            in, error_node, "ILLEGAL_CLASSREF",
            "Illegal type reference. The given name '{}' does not conform to the naming "
            "rule",
            type_name);
    const bool as_array = rest.size() > 1 || (!rest.empty() && rest[0].is_array());
    std::vector<Value> keys = reference_keys(rest);
    if (keys.empty() && !rest.empty()) {
        if (as_array) return Value::array({});
        return Value::undef();
    }
    if (type.title)
        return parameters_of(in, node, scope, {type.type_name, *type.title, true}, keys, as_array);
    if (keys.empty()) return Value::type(types::resource_type(in.types(), type_name));
    std::vector<Value> result;
    const bool shifted = rest.size() != keys.size();
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!keys[i].is_string())
            Evaluation::fail(in, key_node(node, shifted ? i + 1 : i), "BAD_TYPE_SPECIALIZATION",
                             "Error creating type specialization of {}, Cannot use {} where a "
                             "resource title String is expected",
                             a_an(label(Value::type(&type))), generalized_type_name(in, keys[i]));
        result.push_back(
            Value::type(types::resource_ref(in.types(), type_name, keys[i].as_string())));
    }
    return result_of(in, result, as_array);
}

Value access_class(Interpreter& in, const AccessExpression& node, Scope& scope,
                   const types::ClassType& type, std::span<const Value> given) {
    if (given.empty())
        Evaluation::fail(in, &node, "BAD_TYPE_SLICE_ARITY",
                         "{}[] accepts 1 or more arguments. Got 0", type.to_string());
    const bool as_array = given.size() > 1 || given[0].is_array();
    const std::vector<Value> keys = reference_keys(given);
    if (keys.empty()) return as_array ? Value::array({}) : Value::undef();
    if (type.class_name)
        return parameters_of(in, node, scope, {"Class", *type.class_name, true}, keys, as_array);
    std::vector<Value> result;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!keys[i].is_string())
            Evaluation::fail(
                in, key_node(node, i), "ILLEGAL_HOSTCLASS_NAME",
                "Illegal Class name in class reference. {} cannot be used where a String "
                "is expected",
                a_an_uc(label(keys[i])));
        std::string name = downcase(keys[i].as_string());
        if (name.starts_with("::")) name.erase(0, 2);
        if (!qualified_words(name, 'a', 'z'))
            Evaluation::fail(
                in, key_node(node, i), "ILLEGAL_NAME",
                "Illegal name. The given name '{}' does not conform to the naming rule "
                "/^((::)?[a-z_]\\w*)(::[a-z]\\w*)*$/",
                keys[i].as_string());
        result.push_back(Value::type(types::class_ref(in.types(), name)));
    }
    return result_of(in, result, as_array);
}

/// Returns the node at which Puppet locates an error of `type[keys]`. For many issues this is the
/// first key of the wrong kind.
const Node* error_node_for(const AccessExpression& node, const types::Type* type,
                           std::span<const Value> keys, const base::PuppetError& error) {
    const std::string& code = error.issue_code();
    const auto first = [&](auto&& wrong) -> const Node* {
        for (std::size_t i = 0; i < keys.size(); ++i)
            if (wrong(keys[i])) return key_node(node, i);
        return key_node(node, 0);
    };
    if (code == "BAD_TYPE_SLICE_TYPE" || code == "BAD_NOT_UNDEF_SLICE_TYPE" ||
        code == "BAD_TYPE_SPECIALIZATION") {
        if (error.message().find("where Any-Type") != std::string::npos ||
            code != "BAD_TYPE_SPECIALIZATION")
            return first([](const Value& v) { return !v.is_type(); });
        return first([](const Value& v) { return !v.is_string() && !v.is(Kind::Regexp); });
    }
    if (code == "BAD_INTEGER_SLICE_TYPE" || code == "BAD_COLLECTION_SLICE_TYPE" ||
        code == "BAD_STRING_SLICE_TYPE")
        return first(
            [](const Value& v) { return !v.is_type() && !v.is_numeric() && !v.is_default(); });
    if (code == "BAD_TYPE_SLICE_ARITY" && type->kind == types::TypeKind::Regexp &&
        node.keys.size() > 1)
        return node.keys[1];
    return &node;
}

}  // namespace

Value Evaluation::access(Interpreter& in, const AccessExpression& node, Scope& scope) {
    BUNRAKU_EVAL(left, in, node.left, scope);
    if (FactReads::Path path; in.fact_reads.take_pending(node.left, path)) [[unlikely]]
        return access_fact(in, node, scope, left, std::move(path));
    return access_in(in, node, scope, left);
}

/// Like access_in, but `left` is part of the facts. Records only the accessed part as read.
Value Evaluation::access_fact(Interpreter& in, const AccessExpression& node, Scope& scope,
                              const Value& left, FactReads::Path path) {
    if (node.keys.size() != 1 || (!left.is_hash() && !left.is_array())) {
        in.fact_reads.record_path(path);
        return access_in(in, node, scope, left);
    }
    Value key;
    try {
        key = eval(in, node.keys[0], scope);
    } catch (...) {
        in.fact_reads.record_path(path);
        throw;
    }
    if (in.pending_ != Completion::Normal || !FactReads::append(path, key)) {
        in.fact_reads.record_path(path);
        if (in.pending_ != Completion::Normal) return Value::undef();
    }
    in.fact_reads.defer_record(node, std::move(path));
    if (left.is_array()) return access_array(in, node, left, std::span(&key, 1));
    const Value* v = left.as_hash().find(key);
    return v ? *v : Value::undef();
}

Value Evaluation::access_in(Interpreter& in, const AccessExpression& node, Scope& scope,
                            const Value& left) {
    if (left.is_hash() && node.keys.size() == 1) [[likely]] {
        BUNRAKU_EVAL(key, in, node.keys[0], scope);
        const Value* v = left.as_hash().find(key);
        return v ? *v : Value::undef();
    }
    ValueBuffer buffer;
    const bool of_class = left.is_type() && left.as_type()->kind == types::TypeKind::Class;
    for (const Node* key : node.keys) {
        // Class[Foo] names a class, regardless of whether a type Foo exists.
        if (const auto* name = of_class ? as<QualifiedReference>(key) : nullptr) {
            const types::Type* type = types::builtin_type(name->value);
            if (!type) type = in.impl_->find_type(name->cased_value);
            if (!type) type = types::make_type_reference(in.types_, name->cased_value);
            buffer.push(Value::type(type));
            continue;
        }
        BUNRAKU_EVAL(v, in, key, scope);
        buffer.push(v);
    }
    const std::span<const Value> keys = buffer.view();
    switch (left.kind()) {
        case Kind::String:
            if (left.is_bytes()) {
                // Ruby slices such a string by bytes. A slice outside the string is a new, empty
                // string in UTF-8.
                const auto part = access_text(in, node, left.as_string(), keys, true);
                return Value::string(part).in_encoding(!part.empty());
            }
            return Value::string(access_text(in, node, left.as_string(), keys, false));
        case Kind::Binary:
            return Value::binary(access_text(in, node, left.as_string(), keys, true));
        case Kind::Array: return access_array(in, node, left, keys);
        case Kind::Hash: return access_hash(in, node, left, keys);
        case Kind::Type: break;
        default:
            if (left.is(Kind::Object) || left.is(Kind::Uri))
                if (const auto v = types::call_member(in.types_, left, "[]", keys)) return *v;
            fail(in, node.left, "OPERATOR_NOT_APPLICABLE", "Operator '{}' is not applicable to {}.",
                 "[]", a_an(label(left)));
    }
    const types::Type* type = left.as_type();
    if (const auto* resource = types::as<types::ResourceType>(type)) {
        if (resource->type_name.empty() && keys.size() == 1 && keys[0].is_type() &&
            keys[0].as_type()->kind == types::TypeKind::Resource)
            return keys[0];
        return access_resource(in, node, scope, *resource, keys);
    }
    if (const auto* host_class = types::as<types::ClassType>(type))
        return access_class(in, node, scope, *host_class, keys);
    if (const auto* reference = types::as<types::TypeReferenceType>(type)) {
        if (!reference->type_string.empty() && reference->type_string != "UnresolvedReference")
            fail(in, &node, "UNKNOWN_RESOURCE_TYPE", "Resource type not found: {}",
                 reference->type_string);
    }
    try {
        return Value::type(types::parameterize(in.types_, type, keys));
    } catch (base::PuppetError& error) {
        if (error.located()) throw;
        const Node* error_node = error_node_for(node, type, keys, error);
        if (error_node != &node || error.message().starts_with("Error while evaluating"))
            error.at(error_node->where());
        throw;
    }
}

}  // namespace bunraku::evaluator
