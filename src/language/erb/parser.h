// The parser of the Ruby subset. Ruby's tokens depend on what stands before them, so there is no
// lexer: every rule knows whether it looks for an operand or an operator.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "language/erb/ast.h"
#include "language/erb/scan.h"

namespace bunraku::erb {

/// Thrown where something is not of the subset.
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
    /// What an operand was, as far as the next token depends on it.
    struct Operand {
        Node* node = nullptr;
        bool bare_call = false;  ///< a call without parentheses and arguments: `x.size -1`
        bool command = false;    ///< a call with arguments but without parentheses
    };
    /// Where an expression stands.
    struct Place {
        bool command = false;  ///< may be a call without parentheses: `x.include? 'a'`
        bool no_do = false;    ///< `do` belongs to somebody further out
    };

    // statements (parser.cc)
    const Node* statements(std::string_view closing);
    Node* statement();
    Node* modified(Node* node);
    Node* expression_statement(Place place);
    Node* not_expression(Place place);
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
    Node* expression(Place place);
    Node* assignment_or_ternary(Place place);
    Node* assignment(Operand target, M method, N kind, Place place);
    Node* ternary(Operand condition, Place place);
    Operand binary(int level, Place place);
    Operand binary_from(Operand left, int level, Place place);
    Operand unary(Place place);
    Operand postfix(Operand left, Place place);
    Operand primary(Place place);
    Operand identifier(Place place);
    Operand method_call(Operand receiver, bool safe, Place place);
    Operand kernel_call(std::string_view name, Place place);
    std::vector<const Node*> parenthesized_arguments(const Block*& block);
    std::vector<const Node*> command_arguments(Place place, const Block*& block);
    Node* argument(Place place, const Block*& block);
    bool command_follows();
    const Block* block_if_there(Place place, bool allow_brace);
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
    /// Blanks, escaped newlines; comments only where `comments`.
    void blanks();
    /// Blanks, newlines and comments.
    void space();
    /// The same, and `;`.
    void separators();
    bool keyword(std::string_view word);  ///< takes it
    bool keyword_at(std::string_view word) const;
    bool next_line_continues();  ///< a line that begins with `.name`
    std::string_view name();     ///< [a-z_A-Z]\w*
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
    /// Tells the variable that an access starts from how far it goes.
    void note_path(const Node& access);
    std::span<const Node* const> list(const std::vector<const Node*>& nodes) {
        return program_.arena.copy(nodes);
    }
    int local(std::string_view name) const;  ///< -1: none
    int declare(std::string_view name);
    int new_slot(std::string_view name);
    int variable(std::string_view name);

    /// The names that one block (or the template) can see as its own.
    struct Names {
        std::map<std::string, int, std::less<>> slots;
        std::vector<int> locals;
    };
    struct Nesting {
        explicit Nesting(Parser& parser) : parser_(parser) {
            if (++parser_.depth_ > 150) parser_.unsupported("deep nesting");
        }
        ~Nesting() { --parser_.depth_; }
        Parser& parser_;
    };

    const Script& script_;
    std::string_view s_;
    Program& program_;
    std::size_t pos_ = 0;
    int depth_ = 0;
    int loops_ = 0;  ///< blocks and loops around: where next and break may stand
    bool in_function_ = false;
    int blocks_ = 0;  ///< blocks around, within the function
    std::vector<Names> scopes_;
    std::map<std::string, int, std::less<>> functions_;
    std::map<std::string, int, std::less<>> variables_;
};

}  // namespace bunraku::erb
