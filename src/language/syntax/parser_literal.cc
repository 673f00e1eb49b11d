// SPDX-License-Identifier: Apache-2.0
// Literals: collections, numbers, regular expressions, strings, heredocs, EPP.
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "core/base/assert.h"
#include "core/regex/regex.h"
#include "core/value/value.h"
#include "language/syntax/char_class.h"
#include "language/syntax/parser_impl.h"

namespace bunraku::syntax::detail {

const Node* Parser::parse_array() {
    const Token& open = next();
    Nest nest(*this);
    NodeList values;
    if (!is(Tok::RBrack)) values = parse_list(Tok::RBrack, true, &Parser::parse_collection_entry);
    auto* node = make<LiteralList>(join(span_of(open), span_of(expect(Tok::RBrack))));
    node->values = values;
    return node;
}

const Node* Parser::parse_hash() {
    const Token& open = next();
    Nest nest(*this);
    return parse_hash_rest(open, nullptr);
}

/// Parses the rest of a hash after "{", or after its first key if the caller has already parsed it.
const Node* Parser::parse_hash_rest(const Token& open, const Node* first_key) {
    const std::size_t base = scratch_.size();
    if (first_key || !is(Tok::RBrace)) {
        for (;;) {
            const Node* key = first_key ? first_key : parse_hash_entry();
            first_key = nullptr;
            scratch_.push_back(parse_hashpair_rest(key));
            if (!accept(Tok::Comma) || is(Tok::RBrace)) break;
        }
    }
    auto* node = make<LiteralHash>({});
    node->entries = take_as<KeyedEntry>(base);
    set_span(node, join(span_of(open), span_of(expect(Tok::RBrace))));
    return node;
}

namespace {

/// Returns the decimal digits of a number in another radix that 64 bits cannot hold.
std::string to_decimal(std::string_view digits, unsigned radix) {
    BUNRAKU_ASSERT(radix == 8 || radix == 10 || radix == 16);
    std::string decimal = "0";  // least significant digit first
    for (char c : digits) {
        unsigned carry = is_digit(c) ? static_cast<unsigned>(c - '0')
                                     : static_cast<unsigned>((c | 0x20) - 'a' + 10);
        for (char& d : decimal) {
            const unsigned value = static_cast<unsigned>(d - '0') * radix + carry;
            d = static_cast<char>('0' + value % 10);
            carry = value / 10;
        }
        for (; carry > 0; carry /= 10) decimal += static_cast<char>('0' + carry % 10);
    }
    BUNRAKU_ASSERT(!decimal.empty());
    return {decimal.rbegin(), decimal.rend()};
}

}  // namespace

const Node* Parser::parse_number() {
    const Token& token = next();
    const std::string_view text = token.value;
    const bool hex = text.size() > 2 && (text[1] == 'x' || text[1] == 'X');
    if (!hex && text.find_first_of(".eE") != std::string_view::npos) {
        double value = 0;
        const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
        // Puppet does not accept infinity, or a zero with an exponent, as a number.
        const std::size_t whole_end = text.find_first_of(".eE");
        const std::string_view whole = text.substr(0, whole_end);
        std::string_view rest = text.substr(whole_end);
        if (rest.starts_with('.')) rest.remove_prefix(1);
        while (rest.starts_with('0')) rest.remove_prefix(1);
        const bool zero = whole.find_first_not_of('0') == std::string_view::npos &&
                          (rest.starts_with('e') || rest.starts_with('E'));
        bool overflow = std::isinf(value);
        if (result.ec == std::errc::result_out_of_range) {
            // The number is too large, or so small that it is 0.
            const std::size_t exponent = text.find_first_of("eE");
            overflow = exponent == std::string_view::npos || text[exponent + 1] != '-';
            if (!overflow) value = 0;
        }
        if (zero || overflow) {
            fail_at(token.offset,
                    fmt::format("Internal Error, NUMBER token does not contain a valid number, {}",
                                text));
        }
        auto* node = make<LiteralFloat>(span_of(token));
        node->value = value;
        return node;
    }
    auto* node = make<LiteralInteger>(span_of(token));
    std::string_view digits = text;
    if (hex) {
        node->radix = 16;
        digits.remove_prefix(2);
    } else if (text.size() > 1 && text[0] == '0') {
        node->radix = 8;
    }
    const auto result =
        std::from_chars(digits.data(), digits.data() + digits.size(), node->value, node->radix);
    if (result.ec == std::errc::result_out_of_range) {
        if (digits.size() > 1000) fail_at(token.offset, "The number is too large");
        node->value = std::numeric_limits<std::int64_t>::max();
        node->overflow =
            arena_.copy(std::string_view(to_decimal(digits, static_cast<unsigned>(node->radix))));
    }
    return node;
}

namespace {

using SharedRegex = std::shared_ptr<const regex::Regex>;

/// Returns the compiled expression. Throws Ruby's own error, which has no location.
SharedRegex compile(const Token& token, const Source& source) {
    auto compiled = regex::Regex::cached(token.value);
    if (compiled) return std::move(*compiled);
    throw base::PuppetError(compiled.error().message, {}, base::PuppetError::Class::Parse)
        .show_at(source.locate(token.offset));
}

}  // namespace

void Parser::check_regex(const Token& token) { compile(token, source_); }

const Node* Parser::parse_regex() {
    const Token& token = *token_;
    BUNRAKU_ASSERT(token.kind == Tok::Regex);
    SharedRegex compiled = compile(token, source_);
    next();
    auto* node = make<LiteralRegularExpression>(span_of(token));
    node->pattern = token.value;
    const SharedRegex* kept = arena_.own(std::make_unique<SharedRegex>(std::move(compiled)));
    node->regexp_rep = arena_.make<value::RegexpRep>(value::RegexpRep{token.value, 0, kept->get()});
    return node;
}

const Node* Parser::parse_string() {
    if (is(Tok::DqPre)) return parse_double_quoted();
    if (is(Tok::Heredoc)) return parse_heredoc();
    if (!is(Tok::String) && !is(Tok::Word)) syntax_error();
    const Token& token = next();
    return literal_string(token.value, span_of(token));
}

const Node* Parser::parse_double_quoted() {
    const Token& open = next();
    Nest nest(*this);
    auto* node = make<ConcatenatedString>(span_of(open));
    const std::size_t base = scratch_.size();
    auto add_text = [&](const Token& token) {
        if (!token.value.empty()) scratch_.push_back(literal_string(token.value, span_of(token)));
    };
    add_text(open);
    for (;;) {
        scratch_.push_back(text_expression(parse_assignment(), span_of(open)));
        if (is(Tok::DqMid)) {
            add_text(next());
            continue;
        }
        const Token& close = expect(Tok::DqPost);
        add_text(close);
        node->length = join(span_of(open), span_of(close)).length;
        break;
    }
    BUNRAKU_ASSERT(scratch_.size() > base);
    node->segments = take(base);
    return node;
}

/// Converts the content of "${..}": a name or a number there is a variable.
const Node* Parser::text_expression(const Node* expr, Span container) {
    auto* node = make<TextExpression>(inside(container));
    node->expr = expr->kind == NodeKind::QualifiedName || expr->kind == NodeKind::LiteralInteger
                     ? variable_of(expr, inside(container))
                     : interpolated(expr, container);
    return node;
}

/// Converts the leftmost name of accesses and calls to a variable. Chains can be long, so this is a
/// loop.
const Node* Parser::interpolated(const Node* expr, Span) {
    for (const Node* at = expr;;) {
        const Node** left = nullptr;
        switch (at->kind) {
            case NodeKind::AccessExpression:
                left = &static_cast<AccessExpression*>(const_cast<Node*>(at))->left;
                break;
            case NodeKind::NamedAccessExpression:
                left = &static_cast<NamedAccessExpression*>(const_cast<Node*>(at))->left;
                break;
            case NodeKind::CallMethodExpression:
                at = to<CallMethodExpression>(at).functor;
                continue;
            default: return expr;
        }
        const auto* number = as<LiteralInteger>(*left);
        if (as<QualifiedName>(*left) || (number && number->radix == 10)) {
            *left = variable_of(*left, inside(span_of(at)));
            return expr;
        }
        at = *left;
    }
}

const Node* Parser::parse_heredoc() {
    const Token& token = next();
    Nest nest(*this);
    auto* node = make<HeredocExpression>(span_of(token));
    node->syntax = token.value;
    expect(Tok::Sublocate);
    node->text_expr = parse_string();
    return node;
}

//---- EPP

const Node* Parser::parse_epp() {
    BUNRAKU_ASSERT(is(Tok::EppStart) && depth_ == 0);
    const Token& start = next();
    auto* lambda = make<LambdaExpression>(span_of(start));
    auto* epp = make<EppExpression>(inside(span_of(start)));
    lambda->body = epp;
    if (accept(Tok::Pipe)) {
        epp->parameters_specified = true;
        if (!is(Tok::Pipe)) lambda->parameters = parse_parameters(Tok::Pipe);
        expect(Tok::Pipe);
    }
    if (!is(Tok::End)) {
        if (!starts_statement(kind())) syntax_error();
        epp->body = block_body(parse_statements(), span_of(start));
    }
    return lambda;
}

const Node* Parser::parse_render() {
    BUNRAKU_ASSERT(is(Tok::RenderString) || is(Tok::RenderExpr));
    const Token& start = next();
    if (start.kind == Tok::RenderString) {
        auto* node = make<RenderStringExpression>(span_of(start));
        node->value = start.value;
        return node;
    }
    Nest nest(*this);
    auto* node = make<RenderExpression>(span_of(start));
    if (is(Tok::LBrace) && ahead() != Tok::RBrace) {
        // The first "=>" distinguishes a hash from a block.
        const Token& open = next();
        const Node* first = parse_hash_entry();
        if (is(Tok::FArrow)) {
            node->expr = parse_expression_rest(parse_hash_rest(open, first), 0);
        } else {
            const NodeList body = parse_statement_rest(first);
            node->expr = block_or_expression(body, open, expect(Tok::RBrace));
        }
    } else {
        node->expr = parse_expression();
    }
    if (!is(Tok::EppEnd) && !is(Tok::EppEndTrim)) syntax_error();
    node->length = join(span_of(start), span_of(next())).length;
    return node;
}

}  // namespace bunraku::syntax::detail
