// SPDX-License-Identifier: Apache-2.0
#include "compile/checks/value_checks.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/text.h"
#include "language/evaluator/dispatch.h"
#include "language/function/table.h"
#include "resources/restype/spec.h"

namespace bunraku::checks {

using evaluator::ParsedOverload;
using syntax::as;
using syntax::Node;
using syntax::NodeKind;

namespace {

constexpr std::string_view kWrongType = "wrong_type";

/// Returns the text of a string or a bare word, or an empty text.
std::string_view text_of(const Node* node) {
    if (const auto* text = as<syntax::LiteralString>(node)) return text->value;
    if (const auto* word = as<syntax::QualifiedName>(node)) return word->value;
    return {};
}

/// Reports whether the text sets attributes of all resources of a type, or of some of them:
/// defaults, overrides and collectors.
bool sets_attributes(std::string_view text, std::string_view reference) {
    for (std::size_t at = 0; (at = text.find(reference, at)) != text.npos; at += reference.size()) {
        const std::size_t next = text.find_first_not_of(" \t\n", at + reference.size());
        if (next == text.npos) return false;
        if (text[next] == '{' || text[next] == '<') return true;
        if (text[next] != '[') continue;
        const std::size_t close = text.find(']', next);
        const std::size_t after =
            close == text.npos ? close : text.find_first_not_of(" \t\n", close + 1);
        if (after != text.npos && text[after] == '{') return true;
    }
    return false;
}

/// Reports whether a resource must set the parameter.
bool is_required(const syntax::Parameter& parameter) {
    return !parameter.value && !parameter.captures_rest &&
           !(parameter.type_expr && type_text(parameter.type_expr).starts_with("Optional"));
}

void check_required(const std::string& type, const syntax::NamedDefinition& definition,
                    const syntax::ResourceBody& body, const syntax::ResourceBody* defaults,
                    const Node* place, std::string_view text, CodeNames& names,
                    Problems& problems) {
    CodeNames::Names given;
    for (const syntax::ResourceBody* each : {&body, defaults}) {
        if (!each) continue;
        for (const Node* operation : each->operations) {
            const auto* attribute = as<syntax::AttributeOperation>(operation);
            if (!attribute) return;  // a hash may set any attribute
            given.emplace(attribute->attribute_name);
        }
    }
    for (const syntax::Parameter* parameter : definition.parameters) {
        if (!is_required(*parameter) || given.contains(parameter->name)) continue;
        const std::string reference = base::capitalized_segments(type);
        const auto sets = [&](std::string_view each) { return sets_attributes(each, reference); };
        if (sets(text) || names.any_text(sets)) return;
        problems.error("missing_parameter", place,
                       fmt::format("{} expects a value for parameter '{}'", type, parameter->name));
    }
}

void check_native_value(const restype::TypeSpec& type, const syntax::AttributeOperation& attribute,
                        Problems& problems) {
    const auto known =
        std::ranges::find(type.attributes, attribute.attribute_name, &restype::Attribute::name);
    const std::string_view text = text_of(attribute.value_expr);
    if (known == type.attributes.end() || known->values.empty() || text.empty() ||
        restype::match_value(*known, text))
        return;
    problems.error(kWrongType, attribute.value_expr,
                   restype::invalid_value_text(*known, value::Value::string(text)));
}

/// The arguments of a call: the receiver, then those in parentheses.
std::vector<const Node*> all_arguments(const Node* receiver, const syntax::NodeList& arguments) {
    std::vector<const Node*> all;
    if (receiver) all.push_back(receiver);
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
}

/// Checks a call against the overloads of a built-in function.
class OverloadCheck {
public:
    OverloadCheck(std::string_view name, const std::vector<const Node*>& arguments,
                  types::Context& context)
        : name_(name), arguments_(arguments), context_(context) {
        for (const Node* argument : arguments) {
            values_.emplace_back();
            if (is_literal(argument)) values_.back() = types::interpret_any(context, argument);
        }
    }

    void check(std::span<const ParsedOverload> overloads, const Node* place, Problems& problems) {
        const ParsedOverload* candidate = nullptr;
        std::size_t count = 0, candidates = 0;
        for (const ParsedOverload& overload : overloads) {
            if (overload.overload->mismatch) continue;
            ++count;
            if (!accepts_number(overload)) continue;
            if (!first_mismatch(overload)) return;
            candidate = &overload;
            ++candidates;
        }
        if (count == 0) return;
        if (!candidate) {
            problems.error(kWrongType, place,
                           fmt::format("function '{}' does not accept {} argument{}", name_,
                                       arguments_.size(), arguments_.size() == 1 ? "" : "s"));
            return;
        }
        const std::size_t wrong = *first_mismatch(*candidate);
        const Node* at = arguments_[wrong];
        if (candidates > 1) {
            problems.error(kWrongType, at,
                           fmt::format("function '{}' does not accept this value as argument {}",
                                       name_, wrong + 1));
            return;
        }
        problems.error(
            kWrongType, at,
            types::describe_mismatch(context_,
                                     fmt::format("function '{}' parameter '{}'", name_,
                                                 candidate->names[index(*candidate, wrong)]),
                                     type_at(*candidate, wrong), *values_[wrong]));
    }

private:
    bool accepts_number(const ParsedOverload& overload) const {
        const auto size = static_cast<int>(arguments_.size());
        return overload.minimum <= size && (overload.maximum < 0 || size <= overload.maximum);
    }
    static std::size_t index(const ParsedOverload& overload, std::size_t argument) {
        return std::min(argument, overload.types.size() - 1);
    }
    static const types::Type* type_at(const ParsedOverload& overload, std::size_t argument) {
        return overload.types.empty() ? nullptr : overload.types[index(overload, argument)];
    }
    std::optional<std::size_t> first_mismatch(const ParsedOverload& overload) const {
        for (std::size_t i = 0; i < values_.size(); ++i) {
            const types::Type* type = type_at(overload, i);
            if (type && values_[i] && !types::is_instance(context_, type, *values_[i])) return i;
        }
        return std::nullopt;
    }

    std::string_view name_;
    const std::vector<const Node*>& arguments_;
    types::Context& context_;
    std::vector<std::optional<value::Value>> values_;
};

void check_puppet_function(const syntax::FunctionDefinition& function,
                           const std::vector<const Node*>& arguments, const Node* place,
                           CodeNames& names, Problems& problems) {
    std::size_t minimum = 0;
    bool unlimited = false;
    for (const syntax::Parameter* parameter : function.parameters) {
        unlimited = unlimited || parameter->captures_rest;
        if (!parameter->value && !parameter->captures_rest) ++minimum;
    }
    if (arguments.size() < minimum ||
        (!unlimited && arguments.size() > function.parameters.size())) {
        problems.error(kWrongType, place,
                       fmt::format("function '{}' does not accept {} argument{}", function.name,
                                   arguments.size(), arguments.size() == 1 ? "" : "s"));
        return;
    }
    for (std::size_t i = 0; i < std::min(arguments.size(), function.parameters.size()); ++i) {
        const syntax::Parameter& parameter = *function.parameters[i];
        if (parameter.captures_rest || !parameter.type_expr) continue;
        if (auto message = names.types().mismatch(
                type_text(parameter.type_expr),
                fmt::format("function '{}' parameter '{}'", function.name, parameter.name),
                arguments[i]))
            problems.error(kWrongType, arguments[i], std::move(*message));
    }
}

}  // namespace

void check_defaults(const syntax::NamedDefinition& definition, CodeNames& names,
                    Problems& problems) {
    for (const auto* parameter : definition.parameters) {
        if (!parameter->type_expr || !parameter->value || parameter->captures_rest) continue;
        if (auto message = names.types().mismatch(type_text(parameter->type_expr),
                                                  fmt::format("parameter '{}'", parameter->name),
                                                  parameter->value))
            problems.error(kWrongType, parameter->value, std::move(*message));
    }
}

void check_attribute_values(const std::string& type, const syntax::ResourceBody& body,
                            const syntax::ResourceBody* defaults, const Node* place,
                            std::string_view text, CodeNames& names, Problems& problems) {
    const bool is_class = type.starts_with("class ");
    const syntax::NamedDefinition* definition =
        is_class ? names.class_definition(type.substr(6)) : names.defined_type(type);
    const restype::TypeSpec* native = is_class || definition ? nullptr : names.native_type(type);
    for (const Node* operation : body.operations) {
        const auto* attribute = as<syntax::AttributeOperation>(operation);
        // A class or define takes its default for undef.
        if (!attribute || attribute->op != syntax::Op::Set ||
            attribute->value_expr->kind == NodeKind::LiteralUndef)
            continue;
        if (native) check_native_value(*native, *attribute, problems);
        if (!definition) continue;
        for (const syntax::Parameter* parameter : definition->parameters) {
            if (parameter->name != attribute->attribute_name || !parameter->type_expr) continue;
            if (auto message = names.types().mismatch(
                    type_text(parameter->type_expr), fmt::format("parameter '{}'", parameter->name),
                    attribute->value_expr))
                problems.error(kWrongType, attribute->value_expr, std::move(*message));
        }
    }
    // The parameters of a class may be in Hiera data. Defaults are not a resource.
    if (definition && !is_class && &body != defaults)
        check_required(type, *definition, body, defaults, place, text, names, problems);
}

void check_arguments(const syntax::QualifiedName& function, const Node* receiver,
                     const syntax::NodeList& arguments, CodeNames& names, Problems& problems) {
    const auto all = all_arguments(receiver, arguments);
    // The number of arguments is not known if one is a list that is unfolded.
    if (std::ranges::any_of(all,
                            [](const Node* n) { return n->kind == NodeKind::UnfoldExpression; }))
        return;
    std::string_view name = function.value;
    while (name.starts_with(':')) name.remove_prefix(1);
    const std::string plain = base::lower(name);
    if (const auto* own = names.function_definition(plain))
        return check_puppet_function(*own, all, &function, names, problems);
    const auto& table = function::builtin_functions();
    const evaluator::Builtin* builtin = table.find(plain);
    if (!builtin || builtin->legacy_arity != evaluator::kTyped ||
        names.module_has_function(plain) || table.is_replaceable(*builtin))
        return;
    try {
        OverloadCheck(plain, all, names.types().context())
            .check(table.overloads(*builtin), &function, problems);
    } catch (const base::PuppetError&) {
        // An argument is not as simple as it looks.
    }
}

}  // namespace bunraku::checks
