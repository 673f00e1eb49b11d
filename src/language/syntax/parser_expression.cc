// SPDX-License-Identifier: Apache-2.0
// Expressions: operators by precedence, calls, access, selectors, conditionals.
#include <algorithm>

#include "core/base/assert.h"
#include "language/syntax/parser_impl.h"

namespace bunraku::syntax::detail {

namespace {

enum class Shape : std::uint8_t {
    None,
    Arithmetic,
    Comparison,
    Match,
    In,
    And,
    Or,
    Selector,
    Postfix
};
struct Infix {
    Shape shape = Shape::None;
    std::uint8_t level = 0;
    Op op = Op::Add;
};

constexpr int kUnaryLevel = 20;
constexpr int kPostfixLevel = 30;

/// Binary operators with a higher level bind tighter. All of them are left-associative.
constexpr Infix infix_of(Tok tok) {
    switch (tok) {
        case Tok::In: return {Shape::In, 15};
        case Tok::Match: return {Shape::Match, 14, Op::Match};
        case Tok::NoMatch: return {Shape::Match, 14, Op::NotMatch};
        case Tok::Times: return {Shape::Arithmetic, 13, Op::Mul};
        case Tok::Div: return {Shape::Arithmetic, 13, Op::Div};
        case Tok::Modulo: return {Shape::Arithmetic, 13, Op::Mod};
        case Tok::Plus: return {Shape::Arithmetic, 12, Op::Add};
        case Tok::Minus: return {Shape::Arithmetic, 12, Op::Sub};
        case Tok::LShift: return {Shape::Arithmetic, 11, Op::ShiftLeft};
        case Tok::RShift: return {Shape::Arithmetic, 11, Op::ShiftRight};
        case Tok::IsEqual: return {Shape::Comparison, 10, Op::Equal};
        case Tok::NotEqual: return {Shape::Comparison, 10, Op::NotEqual};
        case Tok::LessThan: return {Shape::Comparison, 9, Op::Less};
        case Tok::LessEqual: return {Shape::Comparison, 9, Op::LessEqual};
        case Tok::GreaterThan: return {Shape::Comparison, 9, Op::Greater};
        case Tok::GreaterEqual: return {Shape::Comparison, 9, Op::GreaterEqual};
        case Tok::QMark: return {Shape::Selector, 8};
        case Tok::And: return {Shape::And, 7};
        case Tok::Or: return {Shape::Or, 6};
        case Tok::LParen:
        case Tok::LBrack:
        case Tok::Dot:
        case Tok::LCollect:
        case Tok::LLCollect: return {Shape::Postfix, kPostfixLevel};
        default: return {};
    }
}

}  // namespace

const Node* Parser::parse_expression(int minimum) {
    return parse_expression_rest(parse_prefix(), minimum);
}

/// Parses the operators and postfixes that follow `left`.
const Node* Parser::parse_expression_rest(const Node* left, int minimum) {
    BUNRAKU_ASSERT(left && minimum >= 0);
    for (;;) {
        const Infix infix = infix_of(kind());
        if (infix.shape == Shape::None || infix.level < minimum) return left;
        const int left_height = height_;
        if (infix.shape == Shape::Postfix) {
            switch (kind()) {
                case Tok::LParen: left = parse_call(left); break;
                case Tok::LBrack: left = parse_access(left); break;
                case Tok::Dot: left = parse_method(left); break;
                default: left = parse_collect(left); break;
            }
            grow(left_height);
            continue;
        }
        if (infix.shape == Shape::Selector) {
            left = parse_selector(left);
            grow(left_height);
            continue;
        }
        const Token& token = next();
        BinaryNode* node = nullptr;
        switch (infix.shape) {
            case Shape::Arithmetic: node = make<ArithmeticExpression>(span_of(token)); break;
            case Shape::Comparison: node = make<ComparisonExpression>(span_of(token)); break;
            case Shape::Match: node = make<MatchExpression>(span_of(token)); break;
            case Shape::In: node = make<InExpression>(span_of(token)); break;
            case Shape::And: node = make<AndExpression>(span_of(token)); break;
            default: node = make<OrExpression>(span_of(token)); break;
        }
        BUNRAKU_ASSERT(infix.level > 0 && infix.level < kUnaryLevel);
        node->op = infix.op;
        node->left = left;
        node->right = parse_expression(infix.level + 1);
        grow(left_height);
        left = node;
    }
}

const Node* Parser::parse_prefix() {
    const Token& token = *token_;
    switch (token.kind) {
        case Tok::Not: {
            next();
            Nest nest(*this);
            auto* node = make<NotExpression>(span_of(token));
            node->expr = parse_expression(kUnaryLevel);
            return node;
        }
        case Tok::Minus: {
            next();
            Nest nest(*this);
            auto* node = make<UnaryMinusExpression>(span_of(token));
            node->expr = parse_expression(kUnaryLevel);
            return node;
        }
        case Tok::Times: {
            next();
            Nest nest(*this);
            auto* node = make<UnfoldExpression>(span_of(token));
            node->expr = parse_expression(kUnaryLevel);
            return node;
        }
        case Tok::LParen:
        case Tok::WsLParen: {
            next();
            Nest nest(*this);
            // The location covers only the opening parenthesis.
            auto* node = make<ParenthesizedExpression>(span_of(token));
            node->expr = parse_assignment();
            expect(Tok::RParen);
            return node;
        }
        default: height_ = 1; return parse_primary();
    }
}

const Node* Parser::parse_primary() {
    const Token& token = *token_;
    switch (token.kind) {
        case Tok::Variable: return parse_variable();
        case Tok::Name: next(); return qualified_name(token.value, span_of(token));
        case Tok::String:
        case Tok::Word: return parse_string();
        case Tok::DqPre: return parse_double_quoted();
        case Tok::Heredoc: return parse_heredoc();
        case Tok::ClassRef: next(); return qualified_reference(token.value, span_of(token));
        case Tok::Number: return parse_number();
        case Tok::Boolean: {
            next();
            auto* node = make<LiteralBoolean>(span_of(token));
            node->value = token.value == "true";
            return node;
        }
        case Tok::Default: next(); return make<LiteralDefault>(span_of(token));
        case Tok::Undef: next(); return make<LiteralUndef>(span_of(token));
        case Tok::Regex: return parse_regex();
        case Tok::ListStart:
        case Tok::LBrack: return parse_array();
        case Tok::LBrace: return parse_hash();
        case Tok::If: return parse_if();
        case Tok::Unless: return parse_unless();
        case Tok::Case: return parse_case();
        case Tok::Define: return parse_define();
        case Tok::Class: return parse_class();
        case Tok::Plan: return parse_plan();
        case Tok::Apply: return parse_apply();
        case Tok::Node: return parse_node();
        case Tok::Function: return parse_function();
        case Tok::Type: return parse_type();
        case Tok::RenderString:
        case Tok::RenderExpr: return parse_render();
        case Tok::Private:
        case Tok::Attr: {
            next();
            auto* node = make<ReservedWord>(span_of(token));
            node->word = token.value;
            return node;
        }
        default: syntax_error();
    }
}

/// The location of the name starts one byte after the dollar, also if the dollar is missing
/// ("${x}").
const Node* Parser::parse_variable() {
    const Token& token = next();
    return variable_of(
        qualified_name(token.value, {token.offset + 1, token.length > 0 ? token.length - 1 : 0}),
        span_of(token));
}

VariableExpression* Parser::variable_of(const Node* name, Span span) {
    auto* node = make<VariableExpression>(span);
    node->expr = name;
    if (const auto* qualified = as<QualifiedName>(name)) {
        const std::string_view text = qualified->value;
        node->name = qualified->symbol;
        node->qualified = text.find("::") != std::string_view::npos;
        node->numeric =
            !text.empty() && text.size() < 10 && (text == "0" || text[0] != '0') &&
            std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (node->numeric) {
            BUNRAKU_ASSERT(node->number == 0);
            for (char c : text)
                node->number = node->number * 10 + static_cast<std::uint32_t>(c - '0');
        }
    } else if (const auto* number = as<LiteralInteger>(name)) {
        node->numeric = true;
        node->number = static_cast<std::uint32_t>(number->value);
        node->name = base::Symbol::intern(std::to_string(number->value));
    }
    return node;
}

//---- Calls

/// Parses `item (, item)*`, with a trailing comma if that is allowed. The caller reads `end`.
NodeList Parser::parse_list(Tok end, bool trailing_comma, const Node* (Parser::*item)()) {
    const std::size_t base = scratch_.size();
    const std::size_t entries = entries_.size();
    // Adjacent "key => value" arguments become one hash.
    LiteralHash* unfolded = nullptr;
    auto close_hash = [&] {
        if (!unfolded) return;
        BUNRAKU_ASSERT(entries_.size() > entries);
        unfolded->entries =
            arena_.copy(std::span<const KeyedEntry* const>(entries_).subspan(entries));
        entries_.resize(entries);
        unfolded = nullptr;
    };
    for (;;) {
        const Node* node = (this->*item)();
        if (const auto* entry = as<KeyedEntry>(node)) {
            if (!unfolded) {
                unfolded = make<LiteralHash>(span_of(entry));
                scratch_.push_back(unfolded);
            }
            entries_.push_back(entry);
        } else {
            close_hash();
            scratch_.push_back(node);
        }
        if (!is(Tok::Comma)) break;
        if (trailing_comma && ahead() == end) {
            next();
            break;
        }
        next();
    }
    close_hash();
    BUNRAKU_ASSERT(entries_.size() == entries && scratch_.size() > base);
    return take(base);
}

NodeList Parser::parse_arguments(bool trailing_comma) {
    return parse_list(Tok::RParen, trailing_comma, &Parser::parse_argument);
}

/// Reports whether the current token is the word `type` or `function` used as a value, and not as
/// the start of a definition or call.
bool Parser::at_entry_keyword() const {
    if (is(Tok::Type)) return ahead() != Tok::LParen && ahead() != Tok::ClassRef;
    if (!is(Tok::Function)) return false;
    switch (ahead()) {
        case Tok::Name:
        case Tok::Word:
        case Tok::ClassRef:
        case Tok::Class:
        case Tok::String: return false;
        default: return true;
    }
}

const Node* Parser::parse_hash_entry() {
    if (at_entry_keyword()) {
        const Token& token = next();
        height_ = 1;
        return literal_string(token.value, span_of(token));
    }
    return parse_assignment();
}

const KeyedEntry* Parser::parse_hashpair_rest(const Node* key) {
    const int key_height = height_;
    auto* entry = make<KeyedEntry>(span_of(expect(Tok::FArrow)));
    entry->key = key;
    entry->value = parse_hash_entry();
    grow(key_height);
    return entry;
}

const Node* Parser::parse_argument() {
    const bool keyword = at_entry_keyword();
    const Node* node = parse_hash_entry();
    return keyword || is(Tok::FArrow) ? parse_hashpair_rest(node) : node;
}

const Node* Parser::parse_collection_entry() {
    const Node* node = parse_hash_entry();
    return is(Tok::FArrow) ? parse_hashpair_rest(node) : node;
}

/// Parses an argument in []: an expression, or a pair whose key may be more than an expression.
const Node* Parser::parse_access_argument() {
    const bool resource =
        is(Tok::At) || is(Tok::AtAt) || (is(Tok::Class) && ahead() == Tok::LBrace);
    if (resource || at_entry_keyword()) return parse_hashpair_rest(parse_hash_entry());
    const Node* node = parse_expression();
    switch (kind()) {
        case Tok::LBrace:
        case Tok::InEdge:
        case Tok::InEdgeSub:
        case Tok::OutEdge:
        case Tok::OutEdgeSub:
        case Tok::Equals:
        case Tok::Appends:
        case Tok::Deletes: return parse_hashpair_rest(parse_assignment(node));
        case Tok::FArrow: return parse_hashpair_rest(node);
        default: return node;
    }
}

const Node* Parser::parse_call(const Node* functor) {
    next();
    Nest nest(*this);
    auto* node = make<CallNamedFunctionExpression>({});
    node->functor = functor;
    node->rval_required = true;
    if (!is(Tok::RParen)) node->arguments = parse_arguments(true);
    Span end = span_of(expect(Tok::RParen));
    if (is(Tok::Pipe)) {
        node->lambda = parse_lambda();
        end = span_of(node->lambda);
    }
    set_span(node, join(span_of(functor), end));
    return node;
}

/// Parses `left.name`, which is always a call. If it has parentheses, its location is that of the
/// parentheses.
const Node* Parser::parse_method(const Node* left) {
    const Token& dot = next();
    if (!is(Tok::Name) && !is(Tok::Type)) syntax_error();
    const Token& name = next();
    Nest nest(*this);
    auto* access = make<NamedAccessExpression>(join(span_of(dot), span_of(name)));
    access->left = left;
    access->right = qualified_name(name.value, inside(span_of(access)));
    auto* node = make<CallMethodExpression>(span_of(access));
    node->functor = access;
    node->rval_required = true;
    if (is(Tok::LParen)) {
        Span span = span_of(next());
        if (is(Tok::RParen)) {
            next();
        } else {
            node->arguments = parse_arguments(false);
            span = join(span, span_of(expect(Tok::RParen)));
        }
        set_span(node, span);
    }
    if (is(Tok::Pipe)) node->lambda = parse_lambda();
    return node;
}

const LambdaExpression* Parser::parse_lambda() {
    const Token& start = expect(Tok::Pipe);
    Nest nest(*this);
    auto* node = make<LambdaExpression>({});
    if (!is(Tok::Pipe)) node->parameters = parse_parameters(Tok::Pipe);
    expect(Tok::Pipe);
    node->return_type = parse_return_type();
    expect(Tok::LBrace);
    const NodeList body = parse_body();
    const Span span = join(span_of(start), span_of(expect(Tok::RBrace)));
    set_span(node, span);
    node->body = block_body(body, span);
    return node;
}

const Node* Parser::parse_access(const Node* left) {
    next();
    Nest nest(*this);
    auto* node = make<AccessExpression>({});
    node->left = left;
    node->keys = parse_list(Tok::RBrack, true, &Parser::parse_access_argument);
    set_span(node, join(span_of(left), span_of(expect(Tok::RBrack))));
    return node;
}

//---- Selectors

const SelectorEntry* Parser::parse_selector_entry() {
    const Node* match = parse_expression();
    const int match_height = height_;
    auto* entry = make<SelectorEntry>(span_of(expect(Tok::FArrow)));
    entry->matching_expr = match;
    entry->value_expr = parse_expression();
    grow(match_height);
    return entry;
}

const Node* Parser::parse_selector(const Node* left) {
    next();
    Nest nest(*this);
    auto* node = make<SelectorExpression>(span_of(left));
    node->left = left;
    const std::size_t base = scratch_.size();
    if (accept(Tok::SelBrace)) {
        for (;;) {
            scratch_.push_back(parse_selector_entry());
            if (!accept(Tok::Comma) || is(Tok::RBrace)) break;
        }
        expect(Tok::RBrace);
    } else {
        scratch_.push_back(parse_selector_entry());
    }
    BUNRAKU_ASSERT(scratch_.size() > base);
    node->selectors = take_as<SelectorEntry>(base);
    return node;
}

//---- Conditionals

/// Parses `condition { } [else]` after `if` or `elsif`.
IfExpression* Parser::parse_if_part() {
    Nest nest(*this);
    auto* node = make<IfExpression>({});
    node->test = parse_expression();
    const Span from = span_of(node->test);
    const Token& left = expect(Tok::LBrace);
    const NodeList body = parse_body();
    const Token& right = expect(Tok::RBrace);
    if (!body.empty()) node->then_expr = block_or_expression(body, left, right);
    Span end = span_of(right);
    if (is(Tok::Elsif)) {
        const Token& elsif = next();
        IfExpression* part = parse_if_part();
        // Puppet moves the start of the node to the keyword and retains its length. `if` does the
        // same.
        part->offset = elsif.offset;
        node->else_expr = part;
    } else if (is(Tok::Else)) {
        node->else_expr = parse_else_block();
    }
    if (node->else_expr) end = span_of(node->else_expr);
    set_span(node, join(from, end));
    return node;
}

const Node* Parser::parse_else_block() {
    next();
    const Token& left = expect(Tok::LBrace);
    const NodeList body = parse_body();
    const Token& right = expect(Tok::RBrace);
    return body.empty() ? nullptr : block_or_expression(body, left, right);
}

const Node* Parser::parse_if() {
    const Token& token = next();
    IfExpression* node = parse_if_part();
    node->offset = token.offset;
    return node;
}

const Node* Parser::parse_unless() {
    const Token& token = next();
    Nest nest(*this);
    auto* node = make<UnlessExpression>(span_of(token));
    node->test = parse_expression();
    const Token& left = expect(Tok::LBrace);
    const NodeList body = parse_body();
    const Token& right = expect(Tok::RBrace);
    if (!body.empty()) node->then_expr = block_or_expression(body, left, right);
    if (is(Tok::Else)) node->else_expr = parse_else_block();
    // If the body is empty, the location extends to the end of the else part, as in Puppet.
    Span span = span_of(token);
    if (!body.empty()) {
        span = join(span, span_of(right));
    } else if (node->else_expr) {
        span = join(span, span_of(node->else_expr));
    }
    set_span(node, span);
    return node;
}

const Node* Parser::parse_case() {
    const Token& token = next();
    Nest nest(*this);
    auto* node = make<CaseExpression>({});
    node->test = parse_expression();
    expect(Tok::LBrace);
    const std::size_t base = scratch_.size();
    do {
        Nest option_nest(*this);
        auto* option = make<CaseOption>({});
        const std::size_t values = scratch_.size();
        do {
            scratch_.push_back(parse_expression());
        } while (accept(Tok::Comma));
        option->values = take(values);
        const Token& colon = expect(Tok::Colon);
        expect(Tok::LBrace);
        const NodeList body = parse_body();
        const Span span = join(span_of(colon), span_of(expect(Tok::RBrace)));
        set_span(option, span);
        option->then_expr = block_body(body, span);
        scratch_.push_back(option);
    } while (!is(Tok::RBrace));
    BUNRAKU_ASSERT(scratch_.size() > base);
    node->options = take_as<CaseOption>(base);
    set_span(node, join(span_of(token), span_of(expect(Tok::RBrace))));
    return node;
}

}  // namespace bunraku::syntax::detail
