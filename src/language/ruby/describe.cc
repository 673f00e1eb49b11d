// SPDX-License-Identifier: Apache-2.0
#include "language/ruby/describe.h"

namespace bunraku::ruby {

namespace {

const Value* get(const Value& v, std::string_view key) {
    return v.is_hash() ? v.as_hash().find(key) : nullptr;
}

std::string text(const Value& v, std::string_view key) {
    const Value* found = get(v, key);
    return found && !found->is_undef() ? value::to_text(*found) : std::string();
}

bool flag(const Value& v, std::string_view key) {
    const Value* found = get(v, key);
    return found && found->truthy();
}

std::int64_t number(const Value& v, std::string_view key, std::int64_t otherwise) {
    const Value* found = get(v, key);
    return found && found->is_integer() ? found->as_integer() : otherwise;
}

std::span<const Value> list(const Value& v, std::string_view key) {
    const Value* found = get(v, key);
    return found && found->is_array() ? found->as_array() : std::span<const Value>();
}

std::vector<std::string> texts(const Value& v, std::string_view key) {
    std::vector<std::string> out;
    for (const Value& item : list(v, key)) out.push_back(value::to_text(item));
    return out;
}

}  // namespace

std::vector<ReadNote> read_notes(std::span<const Value> texts) {
    std::vector<ReadNote> out;
    out.reserve(texts.size() / 2);
    for (std::size_t i = 0; i + 1 < texts.size(); i += 2)
        if (texts[i].is_string() && texts[i + 1].is_string())
            out.push_back(
                {std::string(texts[i].as_string()), std::string(texts[i + 1].as_string())});
    return out;
}

FunctionInfo describe_function(const Value& data) {
    FunctionInfo info;
    info.name = text(data, "name");
    info.legacy = flag(data, "legacy");
    info.statement = flag(data, "statement");
    info.arity = static_cast<int>(number(data, "arity", -1));
    info.internal = flag(data, "internal");
    info.doc = text(data, "doc");
    info.reads = read_notes(list(data, "reads"));
    for (const Value& s : list(data, "signatures")) {
        Signature signature;
        signature.dispatch_name = text(s, "method");
        for (const Value& p : list(s, "parameters")) {
            if (!p.is_array() || p.as_array().size() < 3) continue;
            Signature::Parameter parameter;
            parameter.type = value::to_text(p.as_array()[0]);
            parameter.name = value::to_text(p.as_array()[1]);
            const auto form = p.as_array()[2].is_integer() ? p.as_array()[2].as_integer() : 0;
            parameter.form =
                static_cast<Signature::Parameter::Form>(form < 0 || form > 3 ? 0 : form);
            signature.parameters.push_back(std::move(parameter));
        }
        signature.block_type = text(s, "block_type");
        signature.block_name = text(s, "block_name");
        signature.block_required = flag(s, "block_required");
        signature.return_type = text(s, "return_type");
        signature.mismatch = flag(s, "mismatch");
        info.signatures.push_back(std::move(signature));
    }
    for (const Value& t : list(data, "local_types")) {
        const auto line = value::to_text(t);
        const auto equals = line.find('=');
        if (equals == std::string::npos) continue;
        auto name = line.substr(0, equals);
        while (!name.empty() && name.back() == ' ') name.pop_back();
        name.erase(0, name.find_first_not_of(" \n\t"));
        info.local_types.emplace_back(std::move(name), line.substr(equals + 1));
    }
    return info;
}

TypeInfo describe_type(const Value& data) {
    TypeInfo info;
    info.name = text(data, "name");
    info.doc = text(data, "doc");
    info.file = text(data, "file");
    info.isomorphic = !get(data, "isomorphic") || flag(data, "isomorphic");
    info.capability = flag(data, "capability");
    info.providers = texts(data, "providers");
    info.reads = read_notes(list(data, "reads"));
    for (const Value& a : list(data, "attributes")) {
        TypeInfo::Attribute attribute;
        attribute.name = text(a, "name");
        const auto kind = text(a, "kind");
        using Kind = TypeInfo::Attribute::Kind;
        attribute.kind = kind == "property" ? Kind::Property
                         : kind == "meta"   ? Kind::Metaparameter
                                            : Kind::Parameter;
        attribute.namevar = flag(a, "namevar");
        attribute.doc = text(a, "doc");
        attribute.values = texts(a, "values");
        attribute.patterns = texts(a, "patterns");
        attribute.array_matching_all = flag(a, "array_matching_all");
        attribute.validates = flag(a, "validates");
        attribute.feature = text(a, "feature");
        attribute.default_text = text(a, "default");
        info.attributes.push_back(std::move(attribute));
    }
    for (const Value& p : list(data, "title_patterns")) {
        TypeInfo::TitlePattern pattern;
        pattern.regexp = text(p, "regexp");
        pattern.options = static_cast<std::uint32_t>(number(p, "options", 0));
        pattern.attributes = texts(p, "attributes");
        pattern.transforms = flag(p, "transforms");
        info.title_patterns.push_back(std::move(pattern));
    }
    return info;
}

DataTypeInfo describe_data_type(const Value& data) {
    DataTypeInfo info;
    info.name = text(data, "name");
    info.interface_text = text(data, "interface");
    info.methods = texts(data, "methods");
    info.reads = read_notes(list(data, "reads"));
    return info;
}

}  // namespace bunraku::ruby
