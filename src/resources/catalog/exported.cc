// SPDX-License-Identifier: Apache-2.0
#include "resources/catalog/exported.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/value/rich_data.h"
#include "resources/catalog/json_text.h"

namespace bunraku::catalog {

namespace {

using Kind = CollectorQuery::Kind;

bool plain(const Value& v) {
    return v.is_undef() || v.is_string() || v.is_integer() || v.kind() == value::Kind::Float ||
           v.kind() == value::Kind::Boolean;
}

bool append(std::string& out, const CollectorQuery& query) {
    if (query.kind == Kind::And || query.kind == Kind::Or) {
        out += query.kind == Kind::And ? "[\"and\"," : "[\"or\",";
        if (!append(out, *query.left)) return false;
        out += ',';
        if (!append(out, *query.right)) return false;
    } else {
        BUNRAKU_ASSERT(query.kind == Kind::Equal || query.kind == Kind::NotEqual);
        BUNRAKU_ASSERT(!query.left && !query.right);
        if (!plain(query.operand)) return false;
        out += query.kind == Kind::Equal ? "[\"=\"," : "[\"!=\",";
        codec::append_json_string(out, query.attribute);
        out += ',';
        out += value::to_json(query.operand);
    }
    out += ']';
    return true;
}

std::unique_ptr<CollectorQuery> read(const Value& v) {
    if (!v.is_array() || v.as_array().size() != 3) return nullptr;
    const auto parts = v.as_array();
    if (!parts[0].is_string()) return nullptr;
    const auto op = parts[0].as_string();
    if (op == "and" || op == "or") {
        auto left = read(parts[1]), right = read(parts[2]);
        if (!left || !right) return nullptr;
        return CollectorQuery::join(op == "and" ? Kind::And : Kind::Or, std::move(left),
                                    std::move(right));
    }
    if ((op != "=" && op != "!=") || !parts[1].is_string()) return nullptr;
    return CollectorQuery::compare(op == "=" ? Kind::Equal : Kind::NotEqual,
                                   std::string(parts[1].as_string()), parts[2]);
}

std::string value_text(const Value& v) {
    base::Arena arena(1024);
    return value::to_json(value::to_rich_data(arena, v));
}

bool has_tag(const Resource& resource, const Value& wanted) {
    if (wanted.is_array()) {
        return std::ranges::any_of(wanted.as_array(),
                                   [&](const Value& one) { return has_tag(resource, one); });
    }
    return std::ranges::find(resource.tags, base::lower(plain_text(wanted))) != resource.tags.end();
}

}  // namespace

bool collects(const CollectorQuery* query, const Resource& resource) {
    if (!query) return true;
    if (query->kind == Kind::And || query->kind == Kind::Or) {
        const bool left = collects(query->left.get(), resource);
        const bool right = collects(query->right.get(), resource);
        return query->kind == Kind::And ? left && right : left || right;
    }
    BUNRAKU_ASSERT(query->kind == Kind::Equal || query->kind == Kind::NotEqual);
    BUNRAKU_ASSERT(!query->left && !query->right);
    const bool equal = query->kind == Kind::Equal;
    if (query->attribute == "tag") return has_tag(resource, query->operand) == equal;
    if (query->attribute == "title") {
        return (plain_text(query->operand) == resource.ref.title) == equal;
    }
    const auto found = std::ranges::find(resource.parameters, query->attribute, &Parameter::name);
    if (found == resource.parameters.end()) return query->operand.is_undef() == equal;
    const std::string wanted = value_text(query->operand);
    bool same = value_text(found->value) == wanted;
    // An array equals each of its members, and it also differs from each of them: `==` and `!=`
    // both match.
    if (equal && !same && found->value.is_array()) {
        same = std::ranges::any_of(found->value.as_array(),
                                   [&](const Value& one) { return value_text(one) == wanted; });
    }
    return same == equal;
}

std::string name_of_export(std::string_view type, const CollectorQuery* query) {
    std::string out(type);
    if (!query) return out;
    std::string text;
    // A query that cannot be written as JSON cannot be read back either.
    out += append(text, *query) ? " " + text : std::string(" ?");
    return out;
}

std::optional<NamedExport> export_of_name(std::string_view name, base::Arena& arena) {
    const auto space = name.find(' ');
    NamedExport out{.type = name.substr(0, space), .query = nullptr};
    if (space == std::string_view::npos) return out;
    const auto data = value::parse_json(arena, name.substr(space + 1));
    if (data) out.query = read(*data);
    if (!out.query) return std::nullopt;
    BUNRAKU_ASSERT(out.type.size() < name.size());
    return out;
}

void append_identity(std::string& out, std::string_view certname, std::string_view hash) {
    out += certname;
    out += ' ';
    out += hash;
    out += '\n';
}

}  // namespace bunraku::catalog
