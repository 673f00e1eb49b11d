// SPDX-License-Identifier: Apache-2.0
// The parser of the Ruby subset. Ruby's tokens depend on the preceding text, so there is no lexer:
// every rule knows whether it expects an operand or an operator.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/assert.h"
#include "language/erb/ast.h"
#include "language/erb/scan.h"

namespace bunraku::erb {

/// Thrown for code outside of the subset.
struct Unsupported {
    std::string what;
    int line = 0;
};

class Parser {
public:
    Parser(const Script& script, Program& program)
        : script_(script), s_(script.code), program_(program) {
        scopes_.emplace_back();
    }
    const Node* run();

private:
    /// Properties of an operand that affect the next token.
    struct Operand {
        Node* node = nullptr;
        bool bare_call = false;  ///< A call without parentheses and arguments: `x.size -1`.
        bool command = false;    ///< A call with arguments but without parentheses.
    };
    /// The context of an expression.
    struct ExpressionContext {
        bool command = false;  ///< May be a call without parentheses: `x.include? 'a'`.
        bool no_do = false;    ///< `do` belongs to an outer expression.
    };

    // statements (parser.cc)
    const Node* statements(std::string_view closing);
    Node* statement();
    Node* modified(Node* node);
    Node* expression_statement(ExpressionContext place);
    Node* not_expression(ExpressionContext place);
    Node* multiple_assignment();
    Node* if_statement(bool unless);
    const Node* else_part();
    Node* case_statement();
    Node* while_statement(bool until);
    Node* for_statement();
    Node* definition();
    void then();
    const Node* loop_body();

    // expressions (expression.cc)
    Node* expression(ExpressionContext place);
    Node* assignment_or_ternary(ExpressionContext place);
    Node* assignment(Operand target, M method, N kind, ExpressionContext place);
    Node* ternary(Operand condition, ExpressionContext place);
    Operand binary(int level, ExpressionContext place);
    Operand binary_from(Operand left, int level, ExpressionContext place);
    Operand unary(ExpressionContext place);
    Operand postfix(Operand left, ExpressionContext place);
    Operand primary(ExpressionContext place);
    Operand identifier(ExpressionContext place);
    Operand method_call(Operand receiver, bool safe, ExpressionContext place);
    Operand kernel_call(std::string_view name, ExpressionContext place);
    std::vector<const Node*> parenthesized_arguments(const Block*& block);
    std::vector<const Node*> command_arguments(ExpressionContext place, const Block*& block);
    Node* argument(ExpressionContext place, const Block*& block);
    bool command_follows();
    const Block* block_if_there(ExpressionContext place, bool allow_brace);
    const Block* block_body(std::string_view closing);
    std::span<const Block::Parameter> block_parameters(std::string_view closing, int depth);
    Node* hash_literal();
    Node* array_literal();
    Node* defined();
    bool at_assignment(M& method, N& kind, std::size_t& length);

    // literals (literal.cc)
    Node* number();
    bool closes(char close, char open, int& depth, std::string_view tags);
    Node* quoted(char close, char open, bool interpolate);
    Node* string_literal();
    Node* percent_literal();
    Node* words(char open, char close, bool symbols);
    Node* regex(char open, char close);
    Node* symbol();
    void escape(std::string& out);
    bool interpolation(std::vector<const Node*>& parts, std::string& text);
    static char closing_of(char open);

    // the text
    char at(std::size_t ahead = 0) const {
        return pos_ + ahead < s_.size() ? s_[pos_ + ahead] : '\0';
    }
    bool end() const { return pos_ >= s_.size(); }
    bool looking_at(std::string_view text) const { return s_.substr(pos_).starts_with(text); }
    /// Skips blanks and escaped newlines, and comments if `comments` is set.
    void blanks();
    /// Skips blanks, newlines and comments.
    void space();
    /// Skips blanks, newlines, comments and `;`.
    void separators();
    bool keyword(std::string_view word);  ///< Consumes the keyword.
    bool keyword_at(std::string_view word) const;
    bool next_line_continues();  ///< Reports whether the next line begins with `.name`.
    std::string_view name();     ///< Parses [a-z_A-Z]\w*.
    bool take(std::string_view text);
    void expect(std::string_view text);
    [[noreturn]] void unsupported(std::string what) const;
    [[noreturn]] void odd() const;
    std::uint32_t line() const;
    bool blank_before() const { return pos_ > 0 && (s_[pos_ - 1] == ' ' || s_[pos_ - 1] == '\t'); }

    // nodes and names
    Node* make(N kind);
    Node* text_node(N kind, std::string_view text);
    Node* call(const Node* receiver, M method, std::vector<const Node*> args = {});
    /// Stores in the variable's node which part of the variable the access reads.
    void note_path(const Node& access);
    std::span<const Node* const> list(const std::vector<const Node*>& nodes) {
        return program_.arena.copy(nodes);
    }
    /// Returns the slot of a local variable; -1 if there is none.
    int local(std::string_view name) const;
    int declare(std::string_view name);
    int new_slot(std::string_view name);
    int variable(std::string_view name);

    /// The local names that are visible in one block or in the template.
    struct Names {
        std::map<std::string, int, std::less<>> slots;
        std::vector<int> locals;
    };
    struct Nesting {
        explicit Nesting(Parser& parser) : parser_(parser) {
            if (++parser_.depth_ > 150) parser_.unsupported("deep nesting");
        }
        ~Nesting() {
            BUNRAKU_ASSERT(parser_.depth_ > 0);
            --parser_.depth_;
        }
        Parser& parser_;
    };

    const Script& script_;
    std::string_view s_;
    Program& program_;
    std::size_t pos_ = 0;
    int depth_ = 0;
    int loops_ = 0;  ///< Number of enclosing blocks and loops, in which next and break are allowed.
    bool in_function_ = false;
    int blocks_ = 0;  ///< Number of enclosing blocks within the function.
    std::vector<Names> scopes_;
    std::map<std::string, int, std::less<>> functions_;
    std::map<std::string, int, std::less<>> variables_;
};

}  // namespace bunraku::erb
