// SPDX-License-Identifier: Apache-2.0
// Resources, their attribute operations, and collectors.
#include "core/base/assert.h"
#include "language/syntax/parser_impl.h"

namespace bunraku::syntax::detail {

namespace {

/// Sets the form of a resource expression of any of the three kinds. Returns false for other nodes.
bool set_form(Node* node, ResourceForm form, std::uint32_t offset) {
    switch (node->kind) {
        case NodeKind::ResourceExpression: {
            auto* resource = static_cast<ResourceExpression*>(node);
            resource->form = form;
            // Nodes without a location (the bodies, the name of `class { }`) move to the new offset
            // as well.
            if (resource->type_name->length == 0)
                const_cast<Node*>(resource->type_name)->offset = offset;
            for (const ResourceBody* body : resource->bodies)
                const_cast<ResourceBody*>(body)->offset = offset;
            break;
        }
        case NodeKind::ResourceDefaultsExpression:
            static_cast<ResourceDefaultsExpression*>(node)->form = form;
            break;
        case NodeKind::ResourceOverrideExpression:
            static_cast<ResourceOverrideExpression*>(node)->form = form;
            break;
        default: return false;
    }
    // The length does not change, as in Puppet.
    node->offset = offset;
    return true;
}

}  // namespace

const Node* Parser::parse_resource(const Node* started) {
    if (!started && (is(Tok::At) || is(Tok::AtAt))) {
        const Token& at = next();
        Nest nest(*this);
        auto* node = const_cast<Node*>(parse_resource());
        const bool exported = at.kind == Tok::AtAt;
        if (!set_form(node, exported ? ResourceForm::Exported : ResourceForm::Virtual, at.offset)) {
            fail_at(at.offset, exported
                                   ? "Exported (@@) can only be applied to a Resource Expression"
                                   : "Virtual (@) can only be applied to a Resource Expression");
        }
        return node;
    }
    const Node* node = started;
    if (!node)
        node =
            is(Tok::Class) && ahead() == Tok::LBrace ? parse_class_resource() : parse_expression();
    while (is(Tok::LBrace)) {
        const int left_height = height_;
        node = parse_resource_rest(node);
        grow(left_height);
    }
    return node;
}

/// Reports whether the current token is a word that may name an attribute. A boolean may not.
bool Parser::starts_attribute() const {
    switch (kind()) {
        case Tok::Name:
        case Tok::Times: return true;
        default: return kind() >= Tok::Case && kind() <= Tok::Apply;
    }
}

/// Reports whether attribute operations follow, and not a title.
bool Parser::at_attribute_operation() const {
    if (is(Tok::RBrace) || is(Tok::Comma)) return true;
    if (!starts_attribute()) return false;
    if (!starts_statement(kind())) return true;
    return ahead() == Tok::FArrow || (ahead() == Tok::PArrow && !is(Tok::Times));
}

const Node* Parser::parse_attribute_operation() {
    const Token& name = next();
    if (name.kind == Tok::Times) {
        expect(Tok::FArrow);
        auto* node = make<AttributesOperation>({});
        node->expr = parse_expression();
        const Span span = join(span_of(name), span_of(node->expr));
        set_span(node, span);
        return node;
    }
    auto* node = make<AttributeOperation>({});
    node->attribute_name = name.value;
    if (is(Tok::PArrow)) {
        node->op = Op::Append;
        next();
    } else {
        expect(Tok::FArrow);
    }
    node->value_expr = parse_expression();
    set_span(node, join(span_of(name), span_of(node->value_expr)));
    return node;
}

/// Parses `[operation] (, operation)* [,]`. The first operation may be missing.
NodeList Parser::parse_attribute_operations() {
    const std::size_t base = scratch_.size();
    if (starts_attribute()) scratch_.push_back(parse_attribute_operation());
    while (accept(Tok::Comma) && starts_attribute())
        scratch_.push_back(parse_attribute_operation());
    return take(base);
}

/// Parses `title: operations`. The node has no location.
const ResourceBody* Parser::parse_resource_body() {
    auto* body = make<ResourceBody>({});
    body->title = parse_expression();
    expect(Tok::Colon);
    body->operations = parse_attribute_operations();
    return body;
}

const Node* Parser::parse_class_resource() {
    BUNRAKU_ASSERT(is(Tok::Class) && ahead() == Tok::LBrace);
    const Token& word = next();
    Nest nest(*this);
    expect(Tok::LBrace);
    const std::size_t base = scratch_.size();
    do {
        scratch_.push_back(parse_resource_body());
    } while (accept(Tok::Semic) && !is(Tok::RBrace));
    auto* node = make<ResourceExpression>({});
    node->bodies = take_as<ResourceBody>(base);
    const Span span = join(span_of(word), span_of(expect(Tok::RBrace)));
    set_span(node, span);
    node->type_name = qualified_name(word.value, inside(span));
    for (const ResourceBody* body : node->bodies)
        const_cast<ResourceBody*>(body)->offset = span.offset;
    return node;
}

/// Parses the braces that follow a type name, a type or a reference.
const Node* Parser::parse_resource_rest(const Node* left) {
    const Token& open = next();
    Nest nest(*this);
    if (at_attribute_operation()) {
        const NodeList operations = parse_attribute_operations();
        if (!is(Tok::RBrace)) syntax_error();
        // The kind of the node is determined before any further token is read.
        BUNRAKU_ASSERT(open.kind == Tok::LBrace && is(Tok::RBrace));
        const Node* node = untitled_resource(left, operations, open, *token_);
        next();
        return node;
    }
    const std::size_t base = scratch_.size();
    do {
        scratch_.push_back(parse_resource_body());
    } while (accept(Tok::Semic) && !is(Tok::RBrace));
    auto* node = make<ResourceExpression>({});
    node->type_name = left;
    node->bodies = take_as<ResourceBody>(base);
    const Span span = join(span_of(left), span_of(expect(Tok::RBrace)));
    set_span(node, span);
    for (const ResourceBody* body : node->bodies)
        const_cast<ResourceBody*>(body)->offset = span.offset;
    return node;
}

/// Builds the node for `left { name => value }`, which depends on `left`. After a plain name the
/// braces are a hash. If the name may be called without parentheses, the hash is the argument of a
/// call.
const Node* Parser::untitled_resource(const Node* left, NodeList operations,
                                      const Token& left_brace, const Token& right_brace) {
    const Span span = join(span_of(left), span_of(right_brace));
    switch (left->kind) {
        case NodeKind::QualifiedReference: {
            auto* node = make<ResourceDefaultsExpression>(span);
            node->type_ref = left;
            node->operations = operations;
            return node;
        }
        case NodeKind::AccessExpression: {
            auto* node = make<ResourceOverrideExpression>(span);
            node->resources = left;
            node->operations = operations;
            return node;
        }
        case NodeKind::QualifiedName: break;
        default:
            fail_at(
                left->offset,
                "Expression is not valid as a resource, resource-default, or resource-override");
    }
    auto* hash = make<LiteralHash>(join(span_of(left_brace), span_of(right_brace)));
    auto entries = arena_.array<const KeyedEntry*>(operations.size());
    const Span in_hash = inside(span_of(hash));
    for (std::size_t i = 0; i < operations.size(); ++i) {
        auto* entry = make<KeyedEntry>(in_hash);
        if (const auto* operation = as<AttributeOperation>(operations[i])) {
            if (operation->op == Op::Append) {
                fail_at(left_brace.offset,
                        "Syntax error resource body without title or hash with +>");
            }
            entry->key = literal_string(operation->attribute_name, in_hash);
            entry->value = operation->value_expr;
        } else {
            entry->key = make<Nop>(in_hash);
            entry->value = make<Nop>(in_hash);
        }
        entries[i] = entry;
    }
    hash->entries = entries;
    if (Node* call = statement_call(to<QualifiedName>(left), hash)) {
        set_span(call, span);
        return call;
    }
    auto* block = make<BlockExpression>(span);
    auto statements = arena_.array<const Node*>(2);
    statements[0] = left;
    statements[1] = hash;
    block->statements = statements;
    return block;
}

//---- Collectors

const Node* Parser::parse_collect(const Node* type) {
    const Token& open = next();
    Nest nest(*this);
    BUNRAKU_ASSERT(open.kind == Tok::LLCollect || open.kind == Tok::LCollect);
    const bool exported = open.kind == Tok::LLCollect;
    const Tok end = exported ? Tok::RRCollect : Tok::RCollect;
    const Node* condition = is(end) ? nullptr : parse_expression();
    const Span query_span = join(span_of(open), span_of(expect(end)));
    auto* node = make<CollectExpression>(join(span_of(type), query_span));
    node->type_expr = type;
    if (exported) {
        auto* query = make<ExportedQuery>(query_span);
        query->expr = condition;
        node->query = query;
    } else {
        auto* query = make<VirtualQuery>(query_span);
        query->expr = condition;
        node->query = query;
    }
    if (accept(Tok::LBrace)) {
        node->operations = parse_attribute_operations();
        node->length = join(span_of(type), span_of(expect(Tok::RBrace))).length;
    }
    return node;
}

}  // namespace bunraku::syntax::detail
