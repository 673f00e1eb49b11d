// SPDX-License-Identifier: Apache-2.0
// Entry points, statements, assignments and relationships.
#include "language/syntax/parser.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "language/syntax/parser_impl.h"

namespace bunraku::syntax {

namespace detail {

std::string token_text(const Token& token) {
    if (token.kind != Tok::Regex) return std::string(token.value);
    std::string text = "(?-mix:";
    for (char c : token.value) {
        if (c == '/') text += '\\';
        text += c;
    }
    return text + ")";
}

void Parser::check_lexed() {
    BUNRAKU_ASSERT(tokens_read() <= stream_.tokens.size());
    BUNRAKU_ASSERT(token_->kind != Tok::LexError || stream_.error);
    if (token_->kind == Tok::LexError) throw *stream_.error;
}

void Parser::syntax_error() {
    using base::PuppetError;
    // An invalid regular expression is an error of its token, regardless of its position.
    if (is(Tok::Regex)) check_regex(*token_);
    if (is(Tok::End)) {
        PuppetError error("Syntax error at end of input", "SYNTAX_ERROR",
                          PuppetError::Class::Parse);
        error.at(base::Location{source_.file(), 0, 0});
        throw error;
    }
    PuppetError error(fmt::format("Syntax error at '{}'", token_text(*token_)), "SYNTAX_ERROR",
                      PuppetError::Class::Parse);
    error.at(source_.locate(token_->offset));
    throw error;
}

void Parser::fail_at(std::uint32_t offset, std::string message) {
    base::PuppetError error(std::move(message), {}, base::PuppetError::Class::Parse);
    error.at(source_.locate(offset));
    throw error;
}

void Parser::fail_nesting() {
    base::PuppetError error(kNestingMessage, "SYNTAX_ERROR", base::PuppetError::Class::Parse);
    error.at(source_.locate(token_->offset));
    throw error;
}

base::Symbol Parser::intern(std::string_view name) {
    if (name.empty()) return base::Symbol::intern(name);
    const std::size_t hash = name.size() * 31 + static_cast<unsigned char>(name.front()) * 7 +
                             static_cast<unsigned char>(name.back()) * 13 +
                             static_cast<unsigned char>(name[name.size() / 2]);
    Interned& slot = interned_[hash % interned_.size()];
    if (slot.name != name) slot = {name, base::Symbol::intern(name)};
    BUNRAKU_ASSERT(slot.symbol.view() == name);
    return slot.symbol;
}

LiteralString* Parser::literal_string(std::string_view value, Span span) {
    auto* node = make<LiteralString>(span);
    node->value = value;
    return node;
}

QualifiedName* Parser::qualified_name(std::string_view value, Span span) {
    auto* node = make<QualifiedName>(span);
    node->value = value;
    node->symbol = intern(value);
    return node;
}

QualifiedReference* Parser::qualified_reference(std::string_view value, Span span) {
    auto* node = make<QualifiedReference>(span);
    node->cased_value = value;
    auto lower = arena_.array<char>(value.size());
    std::transform(value.begin(), value.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    node->value = {lower.data(), lower.size()};
    return node;
}

NodeList Parser::take(std::size_t base) {
    BUNRAKU_ASSERT(base <= scratch_.size());
    NodeList nodes = arena_.copy(std::span<const Node* const>(scratch_).subspan(base));
    scratch_.resize(base);
    return nodes;
}

/// Returns the body as a block, also for a single statement. Returns null if the body is empty.
const Node* Parser::block_body(NodeList statements, Span container) {
    if (statements.empty()) return nullptr;
    auto* block = make<BlockExpression>(inside(container));
    block->statements = statements;
    return block;
}

const Node* Parser::block_or_expression(NodeList statements) {
    BUNRAKU_ASSERT(!statements.empty());
    if (statements.size() == 1) return statements[0];
    auto* block =
        make<BlockExpression>(join(span_of(statements.front()), span_of(statements.back())));
    block->statements = statements;
    return block;
}

const Node* Parser::block_or_expression(NodeList statements, const Token& left,
                                        const Token& right) {
    BUNRAKU_ASSERT(!statements.empty());
    if (statements.size() == 1) return statements[0];
    auto* block = make<BlockExpression>(join(span_of(left), span_of(right)));
    block->statements = statements;
    return block;
}

const Program* Parser::parse_program() {
    auto* program = make<Program>(Span{0, static_cast<std::uint32_t>(source_.text().size())});
    if (is(Tok::End)) {
        program->body = make<Nop>(Span{token_->offset, 0});
    } else if (is(Tok::EppStart)) {
        program->body = parse_epp();
    } else {
        program->body = block_or_expression(parse_statements());
    }
    if (!is(Tok::End)) syntax_error();
    BUNRAKU_ASSERT(depth_ == 0);
    BUNRAKU_ASSERT(scratch_.empty() && entries_.empty() && namespaces_.empty());
    BUNRAKU_ASSERT(program->body && tokens_read() == stream_.tokens.size());
    program->definitions = arena_.copy(definitions_);
    return program;
}

bool Parser::starts_statement(Tok tok) {
    switch (tok) {
        case Tok::Variable:
        case Tok::Case:
        case Tok::If:
        case Tok::Unless:
        case Tok::Define:
        case Tok::Class:
        case Tok::Plan:
        case Tok::Apply:
        case Tok::Node:
        case Tok::RenderString:
        case Tok::RenderExpr:
        case Tok::Function:
        case Tok::Type:
        case Tok::Private:
        case Tok::Attr:
        case Tok::ListStart:
        case Tok::LBrack:
        case Tok::LBrace:
        case Tok::Regex:
        case Tok::String:
        case Tok::Word:
        case Tok::DqPre:
        case Tok::Heredoc:
        case Tok::ClassRef:
        case Tok::Number:
        case Tok::Boolean:
        case Tok::Default:
        case Tok::Undef:
        case Tok::Name:
        case Tok::Minus:
        case Tok::Times:
        case Tok::Not:
        case Tok::LParen:
        case Tok::WsLParen:
        case Tok::At:
        case Tok::AtAt: return true;
        default: return false;
    }
}

namespace {

/// Reports whether the function may be called without parentheses.
bool is_statement_call(std::string_view name) {
    static constexpr std::string_view kNames[] = {
        "require", "realize", "include", "contain", "tag",   "debug", "info",  "notice",
        "warning", "err",     "fail",    "import",  "break", "next",  "return"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

/// Builds the call `name argument`. Returns null if a call of `name` needs parentheses.
Node* Parser::statement_call(const QualifiedName& name, const Node* argument) {
    if (!is_statement_call(name.value)) return nullptr;
    auto* call = make<CallNamedFunctionExpression>(join(span_of(&name), span_of(argument)));
    call->functor = &name;
    call->arguments = arena_.copy(std::span<const Node* const>(&argument, 1));
    return call;
}

NodeList Parser::parse_statements() { return parse_statement_rest(nullptr); }

/// Parses statements. `first` is the start of the first statement if the caller has already parsed
/// it; otherwise null. A name that may be called without parentheses takes the statement that
/// follows as its arguments.
NodeList Parser::parse_statement_rest(const Node* first) {
    const std::size_t base = scratch_.size();
    struct {
        const Token* comma = nullptr;
        const Node* name = nullptr;
    } bad;
    for (;;) {
        const Node* node = first ? first : parse_assignment();
        first = nullptr;
        const Token* comma = nullptr;
        const std::size_t arguments = scratch_.size();
        const Node* previous = arguments > base ? scratch_[arguments - 1] : nullptr;
        const auto* name = as<QualifiedName>(previous);
        if (name && !is_statement_call(name->value)) name = nullptr;
        scratch_.push_back(node);
        while (is(Tok::Comma)) {
            const Token& token = next();
            if (!comma) comma = &token;
            scratch_.push_back(parse_assignment());
        }
        BUNRAKU_ASSERT(scratch_.size() > arguments && arguments >= base);
        if (name) {
            const Span span = join(span_of(name), span_of(scratch_.back()));
            auto* call = make<CallNamedFunctionExpression>(span);
            call->functor = name;
            call->arguments = take(arguments);
            BUNRAKU_ASSERT(scratch_.size() > base && scratch_.back() == name);
            scratch_.back() = call;
        } else if (comma) {
            if (!bad.comma) bad = {comma, previous};
        } else if (node->kind == NodeKind::CallNamedFunctionExpression) {
            static_cast<CallNamedFunctionExpression*>(const_cast<Node*>(node))->rval_required =
                false;
        }
        if (is(Tok::Semic)) {
            next();
            continue;
        }
        if (!starts_statement(kind())) break;
    }
    if (bad.comma) {
        const auto* name = as<QualifiedName>(bad.name);
        fail_at(
            bad.comma->offset,
            name ? fmt::format(
                       "attempt to pass argument list to the function '{}' which cannot be called "
                       "without parentheses",
                       name->value)
                 : std::string("illegal comma separated argument list"));
    }
    return take(base);
}

/// Parses `{ statements }` after the opening brace. The caller reads the closing brace.
NodeList Parser::parse_body() {
    if (is(Tok::RBrace)) return {};
    Nest nest(*this);
    return parse_statements();
}

const Node* Parser::parse_assignment(const Node* started) {
    const Node* left = parse_relationship(started);
    Op op;
    switch (kind()) {
        case Tok::Equals: op = Op::Assign; break;
        case Tok::Appends: op = Op::PlusAssign; break;
        case Tok::Deletes: op = Op::MinusAssign; break;
        default: return left;
    }
    const Token& token = next();
    Nest nest(*this);
    inner_height_ = height_;
    auto* node = make<AssignmentExpression>(span_of(token));
    node->op = op;
    node->left = left;
    node->right = parse_assignment();
    return node;
}

const Node* Parser::parse_relationship(const Node* started) {
    const Node* left = parse_resource(started);
    for (;;) {
        Op op;
        switch (kind()) {
            case Tok::InEdge: op = Op::Before; break;
            case Tok::InEdgeSub: op = Op::Notify; break;
            case Tok::OutEdge: op = Op::BeforeReverse; break;
            case Tok::OutEdgeSub: op = Op::NotifyReverse; break;
            default: return left;
        }
        const Token& token = next();
        const int left_height = height_;
        auto* node = make<RelationshipExpression>(span_of(token));
        node->op = op;
        node->left = left;
        node->right = parse_resource();
        grow(left_height);
        left = node;
    }
}

}  // namespace detail

std::shared_ptr<const Tree> parse(std::string file, std::string text, const ParseOptions& options) {
    if (text.size() >= 0xFFFFFFF0u) {
        throw base::PuppetError("The source text is too large", {},
                                base::PuppetError::Class::Parse);
    }
    auto tree = std::make_shared<Tree>();
    tree->source = std::make_unique<Source>(std::move(file), std::move(text));
    const TokenStream stream = tokenize(*tree->source, tree->arena, {options.epp, options.tasks});
    std::size_t read = stream.tokens.size();
    BUNRAKU_ASSERT(read > 0);
    auto report = [&] {
        for (const LexWarning& warning : stream.warnings) {
            if (warning.token_count >= read) break;
            tree->warnings.push_back(warning.diagnostic);
            if (options.log) options.log->log(warning.diagnostic);
        }
    };
    // The lexer may fail on the first token, before a parser exists.
    if (stream.tokens.data()->kind == Tok::LexError) {
        ++read;
        report();
        throw *stream.error;
    }
    detail::Parser parser(*tree, stream);
    try {
        tree->program = parser.parse_program();
    } catch (const base::PuppetError&) {
        read = parser.tokens_read();
        report();
        throw;
    }
    report();
    BUNRAKU_ASSERT(tree->program && !stream.error);
    return tree;
}

}  // namespace bunraku::syntax
