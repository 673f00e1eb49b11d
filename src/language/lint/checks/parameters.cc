// SPDX-License-Identifier: Apache-2.0
// Plugins that check the types and default values of parameters.
#include "language/lint/checks/parameters.h"

#include <algorithm>
#include <fmt/format.h>

#include "language/lint/characters.h"
#include "language/lint/checks/checks.h"

namespace bunraku::lint {

using T = TokenType;

std::vector<Token*> parameters_of(const Definition& definition, Braces braces) {
    std::vector<Token*> found;
    const bool nest = braces == Braces::Nest;
    bool in_default = false;
    int depth = 0;
    for (Token* token : definition.parameters) {
        if (!in_default) {
            if (!token->is(T::Variable)) continue;
            found.push_back(token);
            in_default = true;
            depth = 0;
        } else if (token->is(T::LeftParen, T::LeftBracket) || (nest && token->is(T::LeftBrace))) {
            ++depth;
        } else if (token->is(T::RightParen, T::RightBracket) ||
                   (nest && token->is(T::RightBrace))) {
            --depth;
        } else if (token->is(T::Comma) && depth <= 0) {
            in_default = false;
        }
    }
    return found;
}

namespace {

std::vector<Token*> tokens_between(const Manifest& manifest, const Token* first,
                                   const Token* last) {
    if (!first || !last || first->index > last->index) return {};
    const auto range = manifest.tokens({first->index, last->index});
    return {range.begin(), range.end()};
}

}  // namespace

std::vector<Token*> default_of_parameter(const Manifest& manifest, const Definition& definition,
                                         const Token* parameter) {
    const Token* first = nullptr;
    int depth = 0;
    for (const Token* token = parameter->next_code;
         token && token->index <= definition.parameters.back()->index + 1; token = token->next) {
        if (token->is(T::LeftParen, T::LeftBracket)) ++depth;
        if (token->is(T::RightParen, T::RightBracket)) --depth;
        if (token->is(T::Equals)) first = token->next_code;
        if ((token->is(T::RightParen) && depth < 0) || (token->is(T::Comma) && depth <= 0))
            return tokens_between(manifest, first, token->previous_code);
    }
    return {};
}

std::vector<Token*> type_of_parameter(const Manifest& manifest, const Token* parameter) {
    int depth = 0;
    // A variable belongs to the parameter before it.
    for (const Token* token = parameter->previous_code; token && !token->is(T::Variable);
         token = token->previous_code) {
        if (token->is(T::LeftParen, T::LeftBracket)) ++depth;
        if (token->is(T::RightParen, T::RightBracket)) --depth;
        if ((token->is(T::LeftParen) && depth > 0) || (token->is(T::Comma) && depth == 0))
            return tokens_between(manifest, token->next_code, parameter->previous_code);
    }
    return {};
}

namespace {

bool is_type(const std::vector<Token*>& type, std::string_view name) {
    return !type.empty() && type[0]->is(T::Type) && type[0]->value == name;
}

bool calls_function(const std::vector<Token*>& value) {
    return std::ranges::any_of(value, [](const Token* t) { return t->is(T::Dot, T::LeftParen); });
}

/// Reports whether the type is a Variant with Undef among its own types.
bool is_variant_with_undef(const std::vector<Token*>& type) {
    if (!is_type(type, "Variant")) return false;
    int depth = 0;
    for (const Token* token : type) {
        if (token->is(T::LeftBracket)) ++depth;
        if (token->is(T::RightBracket)) --depth;
        if (token->is(T::Type) && depth == 1 && token->value == "Undef") return true;
    }
    return false;
}

void find_optional_defaults(const Manifest& manifest, Report& report) {
    for (const Definition* definition : manifest.definitions()) {
        for (Token* parameter : parameters_of(*definition)) {
            if (!is_type(type_of_parameter(manifest, parameter), "Optional")) continue;
            const auto value = default_of_parameter(manifest, *definition, parameter);
            if (value.empty()) {
                if (definition->kind == T::Define)
                    report.warning(parameter,
                                   "Optional defined type parameter doesn't have a default");
            } else if (!calls_function(value) && !value[0]->is(T::Undef, T::Variable)) {
                report.warning(parameter,
                               "Optional parameter defaults to something other than undef");
            }
        }
    }
}

void find_undef_defaults(const Manifest& manifest, Report& report) {
    for (const Definition* definition : manifest.definitions()) {
        for (Token* parameter : parameters_of(*definition)) {
            const auto type = type_of_parameter(manifest, parameter);
            if (type.empty() || !type[0]->is(T::Type) || type[0]->value == "Optional" ||
                is_variant_with_undef(type))
                continue;
            const auto value = default_of_parameter(manifest, *definition, parameter);
            if (!value.empty() && !calls_function(value) && value[0]->is(T::Undef))
                report.warning(parameter, "Not optional parameter defaults to undef");
        }
    }
}

void find_empty_defaults(const Manifest& manifest, Report& report) {
    for (const Definition* definition : manifest.definitions()) {
        for (Token* parameter : parameters_of(*definition)) {
            const auto type = type_of_parameter(manifest, parameter);
            const auto value = default_of_parameter(manifest, *definition, parameter);
            if (type.empty() || value.empty() || !type[0]->is(T::Type)) continue;
            const bool text =
                type[0]->value.starts_with("String") || type[0]->value.starts_with("Variant");
            if (text && value[0]->is(T::SingleQuoted) && value[0]->value.empty())
                report.warning(parameter,
                               "class parameter with String type defaults to empty string");
        }
    }
}

/// Reports the parameters of one definition that have no type.
void find_untyped(const Definition& definition, Report& report) {
    enum class State { Begin, Type, Default };
    State state = State::Begin;
    int parens = 0, brackets = 0;
    for (Token* token : definition.parameters) {
        if (token->formatting()) continue;
        if (state == State::Begin) {
            parens = brackets = 0;
            if (token->is(T::Type) || is_upper(char_at(token->value, 0))) {
                state = State::Type;
            } else if (token->is(T::Variable)) {
                report.warning(token, fmt::format("missing datatype for parameter {}::{}",
                                                  definition.name->value, token->value));
                state = State::Default;
            }
        } else if (state == State::Type) {
            if (token->is(T::Variable)) state = State::Default;
        } else if (token->is(T::LeftParen)) {
            ++parens;
        } else if (token->is(T::RightParen)) {
            parens = std::max(parens - 1, 0);
        } else if (token->is(T::LeftBrace, T::LeftBracket)) {
            ++brackets;
        } else if (token->is(T::RightBrace, T::RightBracket)) {
            brackets = std::max(brackets - 1, 0);
        } else if (token->is(T::Comma) && brackets == 0 && parens == 0) {
            state = State::Begin;
        }
    }
}

void find_lookups(const Manifest& manifest, Report& report) {
    int depth = 0;
    bool in_parameters = false;
    for (Token* token : manifest.tokens()) {
        if (token->is(T::Class, T::Define)) {
            const Token* name = token->next_code;
            if (is_a(name, T::Name) && is_a(name->next_code, T::LeftParen)) {
                in_parameters = true;
                depth = 0;
            }
        } else if (!in_parameters) {
            continue;
        } else if (token->is(T::LeftParen)) {
            ++depth;
        } else if (token->is(T::RightParen)) {
            in_parameters = --depth != 0;
        } else if (token->is(T::FunctionName) && token->value == "lookup") {
            report.warning(token, "lookup used to set the default value of a parameter");
        }
    }
}

}  // namespace

const Check check_lookup_in_parameter{
    .name = "lookup_in_parameter",
    .group = CheckGroup::Plugin,
    .description = "Default values of parameters do not call lookup.",
    .run = find_lookups};

const Check check_optional_default{.name = "optional_default",
                                   .group = CheckGroup::Plugin,
                                   .description = "An Optional parameter is undef by default.",
                                   .run = find_optional_defaults};

const Check check_parameter_types{.name = "parameter_types",
                                  .group = CheckGroup::Plugin,
                                  .description = "Every parameter has a data type.",
                                  .run = [](const Manifest& manifest, Report& report) {
                                      for (const Definition* one : manifest.definitions())
                                          find_untyped(*one, report);
                                  }};

const Check check_params_empty_string_assignment{
    .name = "params_empty_string_assignment",
    .group = CheckGroup::Plugin,
    .description = "No String parameter is empty by default.",
    .run = find_empty_defaults};

const Check check_params_not_optional_with_undef{
    .name = "params_not_optional_with_undef",
    .group = CheckGroup::Plugin,
    .description = "A parameter that is undef by default has a type that permits undef.",
    .run = find_undef_defaults};

}  // namespace bunraku::lint
