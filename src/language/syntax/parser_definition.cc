// SPDX-License-Identifier: Apache-2.0
// Classes, defines, nodes, functions, plans and types.
#include <fmt/format.h>

#include "core/base/assert.h"
#include "language/syntax/parser_impl.h"

namespace bunraku::syntax::detail {

const Token& Parser::parse_classname() {
    switch (kind()) {
        case Tok::Name:
        case Tok::Word:
        case Tok::ClassRef: return next();
        case Tok::Class: fail_at(token_->offset, "'class' keyword not allowed at this location");
        case Tok::String: fail_at(token_->offset, "A quoted string is not valid as a name here");
        default: syntax_error();
    }
}

/// Returns the name prefixed with the names of the enclosing classes and plans.
std::string_view Parser::full_name(std::string_view name) {
    if (namespaces_.empty()) return name;
    std::string full;
    for (std::string_view part : namespaces_) full.append(part).append("::");
    full.append(name);
    std::string_view view = full;
    if (view.starts_with("::")) view.remove_prefix(2);
    return arena_.copy(view);
}

const Parameter* Parser::parse_parameter() {
    Nest nest(*this);
    const Node* type = is(Tok::ClassRef) ? parse_type_reference() : nullptr;
    const bool splat = accept(Tok::Times);
    const Token& token = expect(Tok::Variable);
    auto* node = make<Parameter>(span_of(token));
    node->name = token.value;
    node->symbol = intern(token.value);
    node->type_expr = type;
    node->captures_rest = splat;
    if (accept(Tok::Equals)) node->value = parse_expression();
    return node;
}

ParameterList Parser::parse_parameters(Tok end) {
    const std::size_t base = scratch_.size();
    do {
        scratch_.push_back(parse_parameter());
    } while (accept(Tok::Comma) && !is(end));
    BUNRAKU_ASSERT(scratch_.size() > base);
    return take_as<Parameter>(base);
}

ParameterList Parser::parse_parameter_list() {
    if (!is(Tok::LParen) && !is(Tok::WsLParen)) return {};
    next();
    ParameterList parameters;
    if (!is(Tok::RParen)) parameters = parse_parameters(Tok::RParen);
    expect(Tok::RParen);
    return parameters;
}

/// Parses `Type` or `Type[..]`, without a trailing comma.
const Node* Parser::parse_type_reference() {
    const Token& token = expect(Tok::ClassRef);
    const Node* type = qualified_reference(token.value, span_of(token));
    if (!accept(Tok::LBrack)) return type;
    Nest nest(*this);
    auto* node = make<AccessExpression>({});
    node->left = type;
    node->keys = parse_list(Tok::RBrack, false, &Parser::parse_access_argument);
    set_span(node, join(span_of(token), span_of(expect(Tok::RBrack))));
    return node;
}

const Node* Parser::parse_return_type() {
    return accept(Tok::RShift) ? parse_type_reference() : nullptr;
}

/// Parses the body in braces that ends a definition.
template <class Definition>
void Parser::read_body(Definition* node, const Token& start) {
    expect(Tok::LBrace);
    const NodeList body = parse_body();
    const Span span = join(span_of(start), span_of(expect(Tok::RBrace)));
    set_span(node, span);
    node->body = block_body(body, span);
}

template <class Definition>
const Node* Parser::parse_named(bool is_namespace) {
    const Token& start = next();
    Nest nest(*this);
    auto* node = make<Definition>({});
    const std::string_view name = parse_classname().value;
    const std::size_t outer = namespaces_.size();
    if (is_namespace) namespaces_.push_back(name);
    node->parameters = parse_parameter_list();
    if constexpr (std::is_same_v<Definition, HostClassDefinition>) {
        if (accept(Tok::Inherits))
            node->parent_class = is(Tok::Default) ? next().value : parse_classname().value;
    }
    read_body(node, start);
    if (is_namespace) namespaces_.pop_back();
    BUNRAKU_ASSERT(namespaces_.size() == outer);
    node->name = full_name(name);
    define(node);
    return node;
}

const Node* Parser::parse_define() { return parse_named<ResourceTypeDefinition>(false); }
const Node* Parser::parse_class() { return parse_named<HostClassDefinition>(true); }
const Node* Parser::parse_plan() { return parse_named<PlanDefinition>(true); }

const Node* Parser::parse_apply() {
    const Token& start = next();
    Nest nest(*this);
    auto* node = make<ApplyExpression>({});
    expect(Tok::LParen);
    node->arguments = parse_arguments(true);
    expect(Tok::RParen);
    expect(Tok::LBrace);
    const NodeList body = parse_body();
    // If there are statements, Puppet's location ends at the last of them. This difference has no
    // effect.
    const Span span = join(span_of(start), span_of(expect(Tok::RBrace)));
    set_span(node, span);
    auto* block = make<BlockExpression>(inside(span));
    block->statements = body;
    node->body = block;
    return node;
}

const Node* Parser::parse_hostname() {
    switch (kind()) {
        case Tok::Default: return make<LiteralDefault>(span_of(next()));
        case Tok::Regex: return parse_regex();
        case Tok::String:
        case Tok::Word:
        case Tok::DqPre:
        case Tok::Heredoc: return parse_string();
        case Tok::Name:
        case Tok::Number: break;
        default: syntax_error();
    }
    const Token& first = next();
    if (!is(Tok::Dot)) return literal_string(first.value, span_of(first));
    std::string name(first.value);
    Span span = span_of(first);
    while (accept(Tok::Dot)) {
        if (!is(Tok::Name) && !is(Tok::Number)) syntax_error();
        const Token& part = next();
        name.append(".").append(part.value);
        span = join(span, span_of(part));
    }
    return literal_string(arena_.copy(std::string_view(name)), span);
}

const Node* Parser::parse_node() {
    const Token& start = next();
    Nest nest(*this);
    auto* node = make<NodeDefinition>({});
    const std::size_t base = scratch_.size();
    do {
        scratch_.push_back(parse_hostname());
    } while (accept(Tok::Comma) && !is(Tok::LBrace) && !is(Tok::Inherits));
    BUNRAKU_ASSERT(scratch_.size() > base);
    node->host_matches = take(base);
    if (accept(Tok::Inherits)) node->parent = parse_hostname();
    read_body(node, start);
    define(node);
    return node;
}

const Node* Parser::parse_function() {
    const Token& start = next();
    Nest nest(*this);
    auto* node = make<FunctionDefinition>({});
    node->name = parse_classname().value;
    node->parameters = parse_parameter_list();
    node->return_type = parse_return_type();
    read_body(node, start);
    define(node);
    return node;
}

/// Makes `Type[{ .. }]`.
const Node* Parser::type_with_hash(const Node* type, const Node* hash, Span span) {
    auto* access = make<AccessExpression>(inside(span));
    access->left = type;
    access->keys = arena_.copy(std::span<const Node* const>(&hash, 1));
    return access;
}

/// Parses the right side of a type definition: `{ .. }`, `[ .. ]`, `Type`, `Type { .. }` or
/// `Type[..]`. Extends `span` to its end. `is_alias` is false for the mapping of a type with
/// parameters.
const Node* Parser::parse_aliased_type(bool is_alias, Span& span) {
    if (is(Tok::LBrace)) {
        const Node* hash = parse_hash();
        span = join(span, span_of(hash));
        if (!is_alias) return hash;
        return type_with_hash(qualified_reference("Object", inside(span)), hash, span);
    }
    if (is(Tok::LBrack) || is(Tok::ListStart)) return parse_array();
    const Token& token = expect(Tok::ClassRef);
    const QualifiedReference* base = qualified_reference(token.value, span_of(token));
    if (accept(Tok::LBrack)) {
        Nest keys_nest(*this);
        auto* access = make<AccessExpression>(inside(span));
        access->left = base;
        access->keys = parse_list(Tok::RBrack, true, &Parser::parse_access_argument);
        // Puppet ends the location at the optional comma, or at the name if the comma is missing.
        expect(Tok::RBrack);
        return access;
    }
    if (!is(Tok::LBrace)) {
        span = join(span, span_of(base));
        return base;
    }
    auto* hash = static_cast<LiteralHash*>(const_cast<Node*>(parse_hash()));
    span = join(span, span_of(hash));
    if (!is_alias) {
        auto* entry = make<KeyedEntry>(inside(span));
        entry->key = base;
        entry->value = hash;
        return entry;
    }
    if (base->cased_value == "Object" || base->cased_value == "TypeSet")
        return type_with_hash(base, hash, span);
    // The type before the braces is the parent of an Object type.
    auto* entry = make<KeyedEntry>(inside(span_of(hash)));
    entry->key = qualified_name("parent", inside(span_of(hash)));
    entry->value = base;
    auto entries = arena_.array<const KeyedEntry*>(hash->entries.size() + 1);
    std::copy(hash->entries.begin(), hash->entries.end(), entries.begin());
    entries.back() = entry;
    hash->entries = entries;
    return type_with_hash(qualified_reference("Object", inside(span)), hash, span);
}

/// Parses `type Name = ..`, `type Name[..] = ..`, `type Name [inherits Other] { .. }`, and the call
/// `type(..)`.
const Node* Parser::parse_type() {
    const Token& start = next();
    if (is(Tok::LParen)) return parse_call(qualified_name(start.value, span_of(start)));
    if (!is(Tok::ClassRef)) syntax_error();
    Nest nest(*this);
    if (ahead() == Tok::LBrace || ahead() == Tok::Inherits) {
        auto* node = make<TypeDefinition>({});
        node->name = next().value;
        if (accept(Tok::Inherits)) node->parent = expect(Tok::ClassRef).value;
        expect(Tok::LBrace);
        const NodeList body = parse_body();
        const Span span = join(span_of(start), span_of(expect(Tok::RBrace)));
        set_span(node, span);
        node->body = block_body(body, span);
        define(node);
        return node;
    }
    const Node* name = parse_type_reference();
    expect(Tok::Equals);
    // The location starts at the name.
    Span span = span_of(name);
    const auto* alias_name = as<QualifiedReference>(name);
    const Node* type = parse_aliased_type(alias_name != nullptr, span);
    BUNRAKU_ASSERT(type);
    const Node* definition = nullptr;
    if (alias_name) {
        auto* node = make<TypeAlias>(span);
        node->name = alias_name->cased_value;
        node->type_expr = type;
        definition = node;
    } else {
        auto* node = make<TypeMapping>(span);
        node->type_expr = name;
        node->mapping_expr = type;
        definition = node;
    }
    define(definition);
    return definition;
}

}  // namespace bunraku::syntax::detail
