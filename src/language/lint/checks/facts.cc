// SPDX-License-Identifier: Apache-2.0
// Checks of the use of facts: legacy facts, and facts as top-scope variables.
#include <algorithm>
#include <fmt/format.h>

#include "core/codec/yaml.h"
#include "core/codec/yaml_outline.h"
#include "language/lint/characters.h"
#include "language/lint/checks/checks.h"
#include "language/lint/fact_names.h"
#include "language/lint/yaml_facts.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

/// The most tokens that the key of `$facts[...]` may have for a fix.
constexpr std::size_t kMostKeyTokens = 32;

/// Returns the key of `facts['key']`, if the key is a single token.
std::string_view key_of_facts(const Token& facts) {
    const Token* bracket = facts.next_code;
    if (!is_a(bracket, T::LeftBracket)) return {};
    const Token* key = bracket->next_code;
    return is_a(key, T::String, T::SingleQuoted, T::Name) ? key->value : std::string_view();
}

/// Returns the name of the fact that a variable reads: `$facts['name']` or `$::name`.
std::string_view fact_of(const Token& variable) {
    std::string_view name = variable.value;
    if (name == "facts") return key_of_facts(variable);
    const bool top_scope = name.starts_with("::");
    if (top_scope) name.remove_prefix(2);
    if (!name.starts_with("facts[") || !name.ends_with(']') || name.size() < 8)
        return top_scope ? name : std::string_view();
    name = name.substr(6, name.size() - 7);
    if (name.size() > 2 && name.starts_with('\'') && name.ends_with('\''))
        name = name.substr(1, name.size() - 2);
    return name;
}

bool replace_fact(TokenStream& stream, const Finding& finding) {
    const auto replacement = structured_fact(finding.name);
    if (!replacement) return false;
    Token* variable = finding.token;
    if (variable->value == "facts") {
        // If the file has a syntax error, the closing bracket may be missing.
        const Token* last = variable->next;
        for (std::size_t i = 0; last && !last->is(T::RightBracket); ++i)
            last = i < kMostKeyTokens ? last->next : nullptr;
        if (!last) return false;
        for (Token* at = variable->next; at; at = at->next) {
            stream.remove(at);
            if (at == last) break;
        }
    }
    variable->value = stream.keep(*replacement);
    return true;
}

void find_top_scope_facts(const Manifest& manifest, Report& report) {
    const auto& allowed = report.options().top_scope_variables;
    for (Token* token : manifest.tokens()) {
        if (!token->is(T::Variable, T::UnenclosedVariable) || !token->value.starts_with("::"))
            continue;
        const std::string_view name = token->value.substr(2);
        // Like puppet-lint, this permits every name that begins with a known one.
        if (name.starts_with("trusted") || name.starts_with("facts") ||
            begins_with_legacy_fact(name) ||
            std::ranges::any_of(allowed, [&](const auto& one) { return name.starts_with(one); }))
            continue;
        std::size_t end = 0;
        while (is_word(char_at(name, end))) ++end;
        if (end >= 2 && !is_upper(name[0]) && name.substr(end).starts_with("::")) continue;
        report.warning(token, "top scope fact instead of facts hash");
    }
}

bool use_facts_hash(TokenStream& stream, const Finding& finding) {
    std::string_view name = finding.token->value;
    if (name.starts_with("::")) name.remove_prefix(2);
    const std::size_t index = std::min(name.find('['), name.size());
    finding.token->value =
        stream.keep(fmt::format("facts['{}']{}", name.substr(0, index), name.substr(index)));
    return true;
}

/// Adds the legacy facts in the interpolations ("%{name}", "%{::name}", "%{facts.name}") of a text.
void find_interpolated_facts(const codec::YamlScalar& scalar, std::vector<Problem>& problems) {
    const std::string_view text = scalar.text;
    for (std::size_t at = 0; (at = text.find("%{", at)) != std::string_view::npos;) {
        at += 2;
        std::string_view name = text.substr(at);
        for (const std::string_view prefix : {"::", ":", "facts."}) {
            if (!name.starts_with(prefix)) continue;
            name.remove_prefix(prefix.size());
            break;
        }
        std::size_t end = 0;
        while (is_word(char_at(name, end))) ++end;
        if (char_at(name, end) != '}' || !is_legacy_fact(name.substr(0, end))) continue;
        problems.push_back({.check = kYamlCheck,
                            .message = fmt::format("legacy fact '{}'", name.substr(0, end)),
                            .line = static_cast<int>(scalar.start.line) + 1,
                            .column = 1,
                            .reason = {}});
    }
}

}  // namespace

std::vector<Problem> find_legacy_facts(std::string_view text, std::string_view path) {
    const auto document = codec::parse_yaml(text, path);
    if (!document) {
        return {{.check = "syntax",
                 .severity = Severity::Error,
                 .message = "Syntax error " + document.error().message,
                 .reason = {}}};
    }
    std::vector<Problem> problems;
    for (const auto& scalar : codec::outline_yaml(text).scalars)
        find_interpolated_facts(scalar, problems);
    return problems;
}

const Check check_legacy_facts{
    .name = "legacy_facts",
    .description = "Structured facts are used instead of legacy facts.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (Token* token : manifest.tokens()) {
                if (!token->is(T::Variable, T::UnenclosedVariable)) continue;
                const std::string_view name = fact_of(*token);
                if (name.empty() || !is_legacy_fact(name)) continue;
                report.warning(token, fmt::format("legacy fact '{}'", name)).name = name;
            }
        },
    .fix = replace_fact};

const Check check_top_scope_facts{
    .name = "top_scope_facts",
    .description = "Facts are read from the facts hash, not from top-scope variables.",
    .run = find_top_scope_facts,
    .fix = use_facts_hash};

}  // namespace bunraku::lint
