// SPDX-License-Identifier: Apache-2.0
// Explanations of missing and unknown keys: those of facts and other hashes, and those of a Struct.
#include <fmt/format.h>

#include "compile/compiler/explain.h"
#include "core/base/similar.h"
#include "language/syntax/visit.h"

namespace bunraku::compiler::explaining {

using namespace syntax;

namespace {

/// Returns the longest access expression that begins at an offset, or null.
const AccessExpression* access_at(const Tree& tree, std::uint32_t offset) {
    const AccessExpression* outermost = nullptr;
    const auto walk = [&](const auto& self, const Node* node) -> void {
        if (const auto* access = as<AccessExpression>(node);
            access && access->offset == offset &&
            (!outermost || access->length > outermost->length))
            outermost = access;
        for_each_child(node, [&](const Node* child) { self(self, child); });
    };
    walk(walk, tree.program);
    return outermost;
}

/// Returns the text of a key that is written as a string or as a bare word.
std::optional<std::string_view> literal_text(const Node* node) {
    if (const auto* text = as<LiteralString>(node)) return text->value;
    if (const auto* word = as<QualifiedName>(node)) return word->value;
    return std::nullopt;
}

/// Appends the keys of every Struct in the type expression of a parameter.
void struct_keys(const Node* type, std::vector<std::string>& out) {
    const auto* access = as<AccessExpression>(type);
    const auto* name = access ? as<QualifiedReference>(access->left) : nullptr;
    if (!name) return;
    for (const auto* argument : access->keys) {
        const auto* hash = name->value == "struct" ? as<LiteralHash>(argument) : nullptr;
        if (!hash) {
            struct_keys(argument, out);
            continue;
        }
        for (const auto* entry : hash->entries) {
            const auto* pair = as<KeyedEntry>(entry);
            if (!pair) continue;
            const Node* key = pair->key;
            // Optional['times'] and NotUndef['times']
            if (const auto* wrapped = as<AccessExpression>(key);
                wrapped && wrapped->keys.size() == 1)
                key = wrapped->keys[0];
            if (const auto text = literal_text(key)) out.emplace_back(*text);
            struct_keys(pair->value, out);
        }
    }
}

}  // namespace

bool explain_missing_key(const Case& mistake, const Tree& tree, std::uint32_t offset) {
    std::vector<const AccessExpression*> chain;
    const Node* root = access_at(tree, offset);
    while (const auto* access = as<AccessExpression>(root)) {
        chain.insert(chain.begin(), access);
        root = access->left;
    }
    const auto* variable = as<VariableExpression>(root);
    if (!variable) return false;
    auto& interpreter = mistake.compilation.interpreter();
    auto value = interpreter.lookup_variable(interpreter.top_scope(), variable->name.view());
    std::string path = fmt::format("${}", variable->name.view());
    if (!value || value->is_undef()) {
        mistake.hint(fmt::format("{} is undef", path));
        return true;
    }
    for (const auto* access : chain) {
        const auto key = access->keys.size() == 1 ? literal_text(access->keys[0]) : std::nullopt;
        if (!key || !value->is_hash()) return false;
        const Value* next = value->as_hash().find(*key);
        if (!next || next->is_undef()) {
            std::vector<std::string> keys;
            for (const auto& entry : value->as_hash())
                if (entry.key.is_string()) keys.emplace_back(entry.key.as_string());
            mistake.hint(fmt::format("{} has no key '{}'", path, *key));
            mistake.out.where = tree.source->locate(access->keys[0]->offset);
            for (const auto& near : base::similar_names(*key, keys))
                mistake.out.suggestions.push_back(fmt::format("'{}'", near));
            return true;
        }
        path += fmt::format("['{}']", *key);
        value = *next;
    }
    return false;
}

void suggest_struct_key(const Case& mistake, const syntax::Parameter& parameter,
                        const Node* given) {
    const auto key = between(mistake.text, "unrecognized key '", "'");
    std::vector<std::string> keys;
    if (parameter.type_expr) struct_keys(parameter.type_expr, keys);
    if (key) {
        if (!mistake.suggest(*key, keys) && !keys.empty())
            mistake.hint(fmt::format("The keys of this Struct are {}", fmt::join(keys, ", ")));
    }
    const auto walk = [&](const auto& self, const Node* node) -> void {
        const auto* entry = as<KeyedEntry>(node);
        if (entry && key && literal_text(entry->key) == *key)
            mistake.out.where = entry->key->where();
        for_each_child(node, [&](const Node* child) { self(self, child); });
    };
    if (given) walk(walk, given);
}

}  // namespace bunraku::compiler::explaining
