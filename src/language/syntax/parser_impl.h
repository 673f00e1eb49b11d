// SPDX-License-Identifier: Apache-2.0
// The recursive-descent parser that implements syntax::parse. It follows Puppet's grammar
// (egrammar.ra), with operators by precedence climbing, and builds the tree like Puppet's factory.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/assert.h"
#include "language/syntax/ast.h"
#include "language/syntax/lexer.h"
#include "language/syntax/limits.h"
#include "language/syntax/parser.h"

namespace bunraku::syntax::detail {

/// Offset and length of a parsed construct.
struct Span {
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
};
inline Span span_of(const Token& token) { return {token.offset, token.length}; }
inline Span span_of(const Node* node) { return {node->offset, node->length}; }
inline Span join(Span from, Span to) {
    const std::uint32_t end = to.offset + to.length;
    return {from.offset, end > from.offset ? end - from.offset : 0};
}

class Parser {
public:
    Parser(Tree& tree, const TokenStream& stream)
        : arena_(tree.arena), source_(*tree.source), stream_(stream), token_(stream.tokens.data()) {
        check_lexed();
    }
    const Program* parse_program();
    /// Returns the number of tokens read. Lexer warnings after them do not count.
    std::size_t tokens_read() const {
        return static_cast<std::size_t>(token_ - stream_.tokens.data()) + 1;
    }

private:
    using Nodes = std::vector<const Node*>;

    /// Counts the nesting and collects the height of the expressions inside.
    class Nest {
    public:
        explicit Nest(Parser& parser) : parser_(parser), outer_(parser.inner_height_) {
            if (++parser.depth_ > kMaxNesting) parser.fail_nesting();
            parser.inner_height_ = 0;
        }
        ~Nest() {
            BUNRAKU_ASSERT(parser_.depth_ > 0 && parser_.inner_height_ >= 0);
            --parser_.depth_;
            parser_.height_ = parser_.inner_height_ + 1;
            parser_.inner_height_ = outer_ > parser_.height_ ? outer_ : parser_.height_;
        }
        Nest(const Nest&) = delete;
        Nest& operator=(const Nest&) = delete;

    private:
        Parser& parser_;
        int outer_;
    };

    // Tokens.
    Tok kind() const { return token_->kind; }
    bool is(Tok tok) const { return token_->kind == tok; }
    Tok ahead() const {
        return token_->kind == Tok::End || token_->kind == Tok::LexError ? token_->kind
                                                                         : token_[1].kind;
    }
    const Token& next() {
        const Token& token = *token_;
        BUNRAKU_ASSERT(token.kind != Tok::LexError);
        if (token.kind != Tok::End) ++token_;
        BUNRAKU_ASSERT(tokens_read() <= stream_.tokens.size());
        if (token_->kind == Tok::LexError) check_lexed();
        return token;
    }
    const Token& expect(Tok tok) {
        if (token_->kind != tok) syntax_error();
        return next();
    }
    bool accept(Tok tok) {
        if (token_->kind != tok) return false;
        next();
        return true;
    }
    void check_lexed();
    void check_regex(const Token& token);
    [[noreturn]] void syntax_error();
    [[noreturn]] void fail_at(std::uint32_t offset, std::string message);
    [[noreturn]] void fail_nesting();

    /// Adds a left operand of height `left` to the expression just parsed.
    void grow(int left) {
        BUNRAKU_ASSERT(left >= 0 && height_ >= 0);
        height_ = (left > height_ ? left : height_) + 1;
        if (height_ > kMaxHeight) fail_nesting();
        if (height_ > inner_height_) inner_height_ = height_;
    }

    // Building.
    template <class T>
    T* make(Span span) {
        T* node = arena_.make<T>();
        set_span(node, span);
        node->source = &source_;
        return node;
    }
    static void set_span(Node* node, Span span) {
        node->offset = span.offset;
        node->length = span.length;
    }
    static Span inside(Span container) { return {container.offset, 0}; }
    base::Symbol intern(std::string_view name);
    LiteralString* literal_string(std::string_view value, Span span);
    QualifiedName* qualified_name(std::string_view value, Span span);
    QualifiedReference* qualified_reference(std::string_view value, Span span);
    const Node* parse_variable();
    VariableExpression* variable_of(const Node* name, Span span);
    NodeList take(std::size_t base);
    template <class T>
    std::span<const T* const> take_as(std::size_t base);
    const Node* block_body(NodeList statements, Span container);
    const Node* block_or_expression(NodeList statements);
    const Node* block_or_expression(NodeList statements, const Token& left, const Token& right);
    void define(const Node* definition) {
        BUNRAKU_ASSERT(definition->source == &source_);
        definitions_.push_back(definition);
    }

    // Statements (parser.cc).
    NodeList parse_statements();
    NodeList parse_statement_rest(const Node* first);
    NodeList parse_body();
    static bool starts_statement(Tok tok);
    Node* statement_call(const QualifiedName& name, const Node* argument);
    // `started` is the first expression of the assignment if the caller has already parsed it;
    // otherwise null.
    const Node* parse_assignment(const Node* started = nullptr);
    const Node* parse_relationship(const Node* started = nullptr);

    // Resources (parser_resource.cc).
    const Node* parse_resource(const Node* started = nullptr);
    const Node* parse_resource_rest(const Node* left);
    const Node* parse_class_resource();
    const Node* untitled_resource(const Node* left, NodeList operations, const Token& left_brace,
                                  const Token& right_brace);
    const ResourceBody* parse_resource_body();
    bool starts_attribute() const;
    bool at_attribute_operation() const;
    NodeList parse_attribute_operations();
    const Node* parse_attribute_operation();
    const Node* parse_collect(const Node* type);

    // Expressions (parser_expression.cc).
    const Node* parse_expression(int minimum = 0);
    const Node* parse_expression_rest(const Node* left, int minimum);
    const Node* parse_prefix();
    const Node* parse_primary();
    const Node* parse_call(const Node* functor);
    const Node* parse_method(const Node* left);
    const Node* parse_selector(const Node* left);
    const SelectorEntry* parse_selector_entry();
    const LambdaExpression* parse_lambda();
    const Node* parse_access(const Node* left);
    NodeList parse_list(Tok end, bool trailing_comma, const Node* (Parser::*item)());
    NodeList parse_arguments(bool trailing_comma);
    const Node* parse_argument();
    const Node* parse_access_argument();
    const Node* parse_collection_entry();
    IfExpression* parse_if_part();
    const Node* parse_if();
    const Node* parse_unless();
    const Node* parse_else_block();
    const Node* parse_case();
    const Node* parse_array();
    const Node* parse_hash();
    const Node* parse_hash_rest(const Token& open, const Node* first_key);
    const KeyedEntry* parse_hashpair_rest(const Node* key);
    const Node* parse_hash_entry();
    bool at_entry_keyword() const;
    const Node* parse_number();
    const Node* parse_regex();
    const Node* parse_string();
    const Node* parse_double_quoted();
    const Node* parse_heredoc();
    const Node* text_expression(const Node* expr, Span container);
    const Node* interpolated(const Node* expr, Span container);
    const Node* parse_render();
    const Node* parse_epp();

    // Definitions (parser_definition.cc).
    template <class Definition>
    void read_body(Definition* node, const Token& start);
    /// Parses a class, plan or define. Definitions inside a class or plan get its name as a prefix.
    template <class Definition>
    const Node* parse_named(bool is_namespace);
    const Node* parse_define();
    const Node* parse_class();
    const Node* parse_plan();
    const Node* parse_apply();
    const Node* parse_node();
    const Node* parse_hostname();
    const Node* parse_function();
    const Node* parse_type();
    const Node* parse_aliased_type(bool is_alias, Span& span);
    const Node* type_with_hash(const Node* type, const Node* hash, Span span);
    const Token& parse_classname();
    std::string_view full_name(std::string_view name);
    ParameterList parse_parameter_list();
    ParameterList parse_parameters(Tok end);
    const Parameter* parse_parameter();
    const Node* parse_return_type();
    const Node* parse_type_reference();

    base::Arena& arena_;
    const Source& source_;
    const TokenStream& stream_;
    const Token* token_;
    Nodes scratch_;
    std::vector<const KeyedEntry*> entries_;
    Nodes definitions_;
    std::vector<std::string_view> namespaces_;
    /// A cache of recently used names. Most names in a text occur again, and the global symbol
    /// table is shared and locked.
    struct Interned {
        std::string_view name;
        base::Symbol symbol;
    };
    std::array<Interned, 256> interned_{};
    int depth_ = 0;
    int height_ = 0;        ///< height of the expression parsed last
    int inner_height_ = 0;  ///< height of the highest expression in the current construct
};

template <class T>
std::span<const T* const> Parser::take_as(std::size_t base) {
    BUNRAKU_ASSERT(base <= scratch_.size());
    auto nodes = arena_.array<const T*>(scratch_.size() - base);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        BUNRAKU_ASSERT(scratch_[base + i]->kind == T::kKind);
        nodes[i] = static_cast<const T*>(scratch_[base + i]);
    }
    scratch_.resize(base);
    return nodes;
}

/// Returns the text of a token for a syntax error.
std::string token_text(const Token& token);

}  // namespace bunraku::syntax::detail
