// SPDX-License-Identifier: Apache-2.0
#include "language/syntax/literal.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/value/escapes.h"
#include "core/value/value.h"

namespace bunraku::syntax {

namespace {

std::string inspect(std::string_view text) {
    std::string out;
    value::print_inspected_text(out, text);
    return out;
}

ConstantValue string_value(std::string_view text) {
    return {fmt::format("s{}:{}", text.size(), text), std::string(text), inspect(text)};
}

ConstantValue number_value(char type, std::string text) {
    return {fmt::format("{}{};", type, text), text, text};
}

std::optional<ConstantValue> list_value(NodeList nodes) {
    ConstantValue result{"[", "[", {}};
    for (const Node* node : nodes) {
        auto value = constant_value(node);
        if (!value) return std::nullopt;
        if (result.text.size() > 1) result.text += ", ";
        result.identity += value->identity;
        result.text += value->inspect;
    }
    result.identity += ']';
    result.text += ']';
    result.inspect = result.text;
    return result;
}

}  // namespace

std::optional<ConstantValue> constant_value(const Node* node) {
    switch (node->kind) {
        case NodeKind::LiteralString: return string_value(to<LiteralString>(node).value);
        case NodeKind::RenderStringExpression:
            return string_value(to<RenderStringExpression>(node).value);
        case NodeKind::QualifiedName: return string_value(to<QualifiedName>(node).value);
        case NodeKind::QualifiedReference: return string_value(to<QualifiedReference>(node).value);
        case NodeKind::LiteralInteger: {
            const auto& number = to<LiteralInteger>(node);
            return number_value('i', number.overflow.empty() ? std::to_string(number.value)
                                                             : std::string(number.overflow));
        }
        case NodeKind::LiteralFloat:
            return number_value('f', value::format_float(to<LiteralFloat>(node).value));
        case NodeKind::LiteralBoolean:
            return number_value('b', to<LiteralBoolean>(node).value ? "true" : "false");
        case NodeKind::LiteralUndef: return ConstantValue{"u;", "", "nil"};
        case NodeKind::LiteralDefault: return ConstantValue{"d;", "default", ":default"};
        case NodeKind::LiteralRegularExpression: {
            const std::string_view pattern = to<LiteralRegularExpression>(node).pattern;
            return ConstantValue{fmt::format("r{}:{}", pattern.size(), pattern),
                                 fmt::format("(?-mix:{})", pattern), fmt::format("/{}/", pattern)};
        }
        case NodeKind::UnaryMinusExpression: {
            auto value = constant_value(to<UnaryMinusExpression>(node).expr);
            // Ruby's unary minus returns a string unchanged.
            if (value && value->identity[0] == 's') return value;
            if (!value || (value->identity[0] != 'i' && value->identity[0] != 'f'))
                return std::nullopt;
            std::string text = value->text.starts_with('-') ? value->text.substr(1)
                               : value->text == "0"         ? value->text
                                                            : "-" + value->text;
            return number_value(value->identity[0], std::move(text));
        }
        case NodeKind::ConcatenatedString: {
            const NodeList segments = to<ConcatenatedString>(node).segments;
            if (segments.size() != 1) return std::nullopt;
            const auto* text = as<LiteralString>(segments[0]);
            return text ? std::optional(string_value(text->value)) : std::nullopt;
        }
        case NodeKind::AccessExpression: {
            const NodeList keys = to<AccessExpression>(node).keys;
            if (keys.size() == 1 && keys[0]->kind == NodeKind::LiteralList) return std::nullopt;
            return list_value(keys);
        }
        case NodeKind::LiteralList: return list_value(to<LiteralList>(node).values);
        case NodeKind::LiteralHash: {
            // Two hashes are equal regardless of their order, so the identities are sorted.
            ConstantValue result{"{", "{", {}};
            std::vector<std::string> parts;
            for (const KeyedEntry* entry : to<LiteralHash>(node).entries) {
                auto key = constant_value(entry->key);
                auto value = constant_value(entry->value);
                if (!key || !value) return std::nullopt;
                if (result.text.size() > 1) result.text += ", ";
                result.text += key->inspect + "=>" + value->inspect;
                parts.push_back(key->identity + value->identity);
            }
            std::sort(parts.begin(), parts.end());
            for (const std::string& part : parts) result.identity += part;
            result.identity += '}';
            result.text += '}';
            result.inspect = result.text;
            return result;
        }
        default: return std::nullopt;
    }
}

}  // namespace bunraku::syntax
