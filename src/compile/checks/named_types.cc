// SPDX-License-Identifier: Apache-2.0
#include "compile/checks/named_types.h"

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/base/text.h"
#include "language/syntax/visit.h"
#include "language/types/factory.h"
#include "language/types/kinds.h"

namespace bunraku::checks {

using syntax::Node;
using syntax::NodeKind;

namespace {

constexpr int kMaxAliasDepth = 20;

}  // namespace

bool is_literal(const Node* node) {
    switch (node->kind) {
        case NodeKind::LiteralUndef:
        case NodeKind::LiteralBoolean:
        case NodeKind::LiteralInteger:
        case NodeKind::LiteralFloat:
        case NodeKind::LiteralString:
        case NodeKind::QualifiedName: return true;
        case NodeKind::LiteralList: {
            bool all = true;
            syntax::for_each_child(node, [&](const Node* item) { all = all && is_literal(item); });
            return all;
        }
        case NodeKind::LiteralHash: {
            for (const auto* entry : static_cast<const syntax::LiteralHash*>(node)->entries)
                if (!is_literal(entry->key) || !is_literal(entry->value)) return false;
            return true;
        }
        default: return false;
    }
}

std::string type_text(const Node* type) {
    if (!type->source) return {};
    // A node has the source range that Puppet gives it, which does not cover all of its operands.
    std::size_t end = type->offset + type->length;
    const auto widen = [&](const auto& self, const Node* part) -> void {
        end = std::max<std::size_t>(end, part->offset + part->length);
        syntax::for_each_child(part, [&](const Node* child) { self(self, child); });
    };
    widen(widen, type);
    std::string out(type->source->text().substr(type->offset, end - type->offset));
    const auto count = [&](char c) { return std::ranges::count(out, c); };
    for (auto missing = count('[') - count(']'); missing > 0; --missing) out += ']';
    return out;
}

const types::Type* NamedTypes::find_type(std::string_view name) {
    const std::string definition = depth_ <= kMaxAliasDepth ? definition_of(name) : std::string();
    if (definition.empty()) {
        unknown_ = true;
        return nullptr;
    }
    ++depth_;
    const types::Type* type = nullptr;
    try {
        type = types::parse_type(context_, definition);
    } catch (const base::PuppetError&) {
        unknown_ = true;
    }
    --depth_;
    if (!type) return nullptr;
    // Messages name the alias.
    const auto alias_name = types::capitalize_segments(base::lower(name));
    return arena_.make<types::TypeAliasType>(arena_.copy(alias_name), nullptr, type);
}

const types::Type* NamedTypes::parse(std::string_view text) {
    if (const auto found = parsed_.find(text); found != parsed_.end()) return found->second;
    unknown_ = false;
    const types::Type* type = nullptr;
    try {
        type = types::parse_type(context_, text);
    } catch (const base::PuppetError&) {
        // The type is not valid; its own file has the error.
    }
    return parsed_[std::string(text)] = unknown_ ? nullptr : type;
}

std::optional<std::string> NamedTypes::mismatch(std::string_view type, std::string_view subject,
                                                const value::Value& value) {
    const types::Type* expected = type.empty() ? nullptr : parse(type);
    if (!expected) return std::nullopt;
    try {
        if (types::is_instance(context_, expected, value)) return std::nullopt;
        return types::describe_mismatch(context_, subject, expected, value);
    } catch (const base::PuppetError&) {
        return std::nullopt;  // the type is not as simple as it looks
    }
}

std::optional<std::string> NamedTypes::mismatch(std::string_view type, std::string_view subject,
                                                const Node* value) {
    if (!value || type.empty() || !is_literal(value)) return std::nullopt;
    try {
        return mismatch(type, subject, types::interpret_any(context_, value));
    } catch (const base::PuppetError&) {
        return std::nullopt;  // the expression is not as simple as it looks
    }
}

}  // namespace bunraku::checks
