// SPDX-License-Identifier: Apache-2.0
// Checks of the names, places and parameters of classes and defined types.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/text.h"
#include "language/lint/characters.h"
#include "language/lint/checks/checks.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

std::string_view definition_kind(TokenType kind) {
    return kind == T::Class ? "class" : "defined type";
}

/// Returns the part of a qualified name before the first "::" that is not at its beginning.
std::string_view module_of(std::string_view name) {
    while (name.starts_with(':')) name.remove_prefix(1);
    return name.substr(0, name.find("::"));
}

/// Returns the end of the path from which Puppet loads a class or defined type. With `relative`,
/// the name of the module's folder does not count.
std::string autoload_path(std::string_view name, bool relative) {
    const std::size_t separator = name.find("::");
    std::string file = "init";
    if (separator != std::string_view::npos) {
        file.clear();
        for (std::string_view rest = name.substr(separator + 2);;) {
            const std::size_t end = rest.find("::");
            file += rest.substr(0, end);
            if (end == std::string_view::npos) break;
            file += '/';
            rest.remove_prefix(end + 2);
        }
    }
    const std::string path = fmt::format("manifests/{}.pp", file);
    return relative ? path : fmt::format("/{}/{}", name.substr(0, separator), path);
}

void find_misplaced_definitions(const Manifest& manifest, Report& report) {
    if (manifest.path().empty()) return;
    for (const Definition* definition : manifest.definitions()) {
        const std::string_view name = definition->name->value;
        if (!manifest.path().ends_with(autoload_path(name, report.options().relative)))
            report.error(definition->name, fmt::format("{} not in autoload module layout", name));
    }
}

void find_top_scope_code(const Manifest& manifest, Report& report) {
    std::vector<bool> inside(manifest.tokens().size());
    for (const Definition* definition : manifest.definitions())
        for (std::size_t i = definition->range.first; i <= definition->range.last; ++i)
            inside[i] = true;
    for (Token* token : manifest.tokens()) {
        if (inside[token->index] || token->formatting()) continue;
        report.warning(token,
                       fmt::format("code outside of class or define block - {}", token->value));
    }
}

bool is_parameter(const Token& token) {
    return token.is(T::Variable) && is_a(token.previous_code, T::LeftParen, T::Comma, T::Type,
                                         T::RightBracket, T::ClassReference);
}

bool has_no_default(const Token& token) {
    const bool last = !token.next_code || token.next_code->is(T::Comma, T::RightParen);
    return last && !is_a(token.previous_code, T::Equals);
}

void find_misordered_parameters(const Manifest& manifest, Report& report) {
    for (const Definition* definition : manifest.definitions()) {
        int parens = 0, brackets = 0;
        bool seen_default = false;
        for (Token* token : definition->parameters) {
            if (token->is(T::LeftParen)) ++parens;
            if (token->is(T::RightParen)) parens = std::max(parens - 1, 0);
            if (token->is(T::LeftBrace, T::LeftBracket)) ++brackets;
            if (token->is(T::RightBrace, T::RightBracket)) brackets = std::max(brackets - 1, 0);
            seen_default = seen_default || token->is(T::Equals);
            if (parens == 0 && brackets == 0 && seen_default && is_parameter(*token) &&
                has_no_default(*token))
                report.warning(token, "optional parameter listed before required parameter");
        }
    }
}

/// Reports whether there is a comment directly above a definition.
bool has_comment_above(const Token* definition) {
    int lines = 0;
    const Token* at = definition->previous;
    for (; is_a(at, T::Whitespace, T::Newline, T::Indent); at = at->previous)
        if (at->is(T::Newline) && ++lines > 1) return false;
    return is_a(at, T::Comment, T::MultilineComment, T::SlashComment);
}

}  // namespace

const Check check_autoloader_layout{
    .name = "autoloader_layout",
    .description = "A class or defined type is in the file from which Puppet loads it.",
    .run = find_misplaced_definitions};

const Check check_class_inherits_from_params_class{
    .name = "class_inherits_from_params_class",
    .description = "A class does not inherit from a params class.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (const Definition& definition : manifest.classes()) {
                Token* parent = definition.inherited;
                if (parent && parent->value.ends_with("::params"))
                    report.warning(parent, "class inheriting from params class");
            }
        },
    .enabled = false};

const Check check_code_on_top_scope{.name = "code_on_top_scope",
                                    .description = "All code is in a class or defined type.",
                                    .run = find_top_scope_code,
                                    .enabled = false};

const Check check_inherits_across_namespaces{
    .name = "inherits_across_namespaces",
    .description = "A class inherits only from classes of its own module.",
    .run = [](const Manifest& manifest, Report& report) {
        for (const Definition& definition : manifest.classes()) {
            Token* parent = definition.inherited;
            if (parent && module_of(parent->value) != module_of(definition.name->value))
                report.warning(parent, "class inherits across module namespaces");
        }
    }};

const Check check_names_containing_dash{
    .name = "names_containing_dash",
    .description = "Names of classes and defined types have no dash.",
    .run = [](const Manifest& manifest, Report& report) {
        for (const Definition* definition : manifest.definitions()) {
            if (definition->name->value.contains('-'))
                report.error(definition->name, fmt::format("{} name containing a dash",
                                                           definition_kind(definition->kind)));
        }
    }};

const Check check_names_containing_uppercase{
    .name = "names_containing_uppercase",
    .description = "Names of classes and defined types are in lower case.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (const Definition* definition : manifest.definitions()) {
                Token* name = definition->name;
                if (std::ranges::any_of(name->value, is_upper))
                    report.error(name, fmt::format("{} '{}' contains illegal uppercase",
                                                   definition_kind(definition->kind), name->value));
            }
        },
    .fix =
        [](TokenStream& stream, const Finding& finding) {
            finding.token->value = stream.keep(base::lower(finding.token->value));
            return true;
        }};

const Check check_nested_classes_or_defines{
    .name = "nested_classes_or_defines",
    .description = "A class contains no other class or defined type.",
    .run = [](const Manifest& manifest, Report& report) {
        for (const Definition& definition : manifest.classes()) {
            for (Token* token : manifest.tokens(definition.range).subspan(1)) {
                if (!token->is(T::Class, T::Define) || is_a(token->next_code, T::LeftBrace))
                    continue;
                report.warning(
                    token, fmt::format("{} defined inside a class", definition_kind(token->type)));
            }
        }
    }};

const Check check_parameter_order{.name = "parameter_order",
                                  .description = "Required parameters come before optional ones.",
                                  .run = find_misordered_parameters};

const Check check_documentation{
    .name = "documentation",
    .description = "There is a comment directly above each class and defined type.",
    .run = [](const Manifest& manifest, Report& report) {
        for (const Definition* definition : manifest.definitions()) {
            Token* first = manifest.tokens()[definition->range.first];
            if (!has_comment_above(first))
                report.warning(first,
                               fmt::format("{} not documented", definition_kind(first->type)));
        }
    }};

}  // namespace bunraku::lint
