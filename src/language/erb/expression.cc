// SPDX-License-Identifier: Apache-2.0
// Expressions of the Ruby subset: operators, calls, blocks.
#include <array>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "language/erb/parser.h"

namespace bunraku::erb {

namespace {

struct Operator {
    std::string_view text;
    int level;
    M method;
};
// Longer operators first.
constexpr std::array<Operator, 26> kOperators{{
    {"<=>", 3, M::op_cmp},    {"===", -1, M::none_such}, {"**", 11, M::op_pow},
    {"...", 0, M::none_such}, {"..", 0, M::none_such},   {"||", 1, M::none_such},
    {"&&", 2, M::none_such},  {"==", 3, M::op_eq},       {"!=", 3, M::op_ne},
    {"=~", 3, M::op_match},   {"!~", 3, M::op_nmatch},   {"<<", 7, M::op_shl},
    {">>", 7, M::op_shr},     {"<=", 4, M::op_le},       {">=", 4, M::op_ge},
    {"<", 4, M::op_lt},       {">", 4, M::op_gt},        {"|", 5, M::op_or},
    {"^", 5, M::op_xor},      {"&", 6, M::op_and},       {"+", 8, M::op_add},
    {"-", 8, M::op_sub},      {"*", 9, M::op_mul},       {"/", 9, M::op_div},
    {"%", 9, M::op_mod},      {"=>", -1, M::none_such},
}};

bool letter(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool digit(char c) { return c >= '0' && c <= '9'; }
bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

constexpr std::array<std::string_view, 12> kClosers{
    "if", "unless", "while", "until", "and", "or", "then", "do", "in", "end", "else", "when"};
constexpr std::array<std::string_view, 16> kClasses{
    "String",     "Array",    "Hash",       "Integer",    "Float",  "Numeric",
    "Symbol",     "NilClass", "TrueClass",  "FalseClass", "Regexp", "Object",
    "Comparable", "Range",    "Enumerable", "File"};

bool assignable(const Node& node) {
    return node.kind == N::LVar || node.kind == N::IVar ||
           (node.kind == N::Call && node.method == M::op_index);
}

}  // namespace

/// Reports whether `=` or an operator assignment follows, after blanks. `length` is the distance
/// from the current position to its end.
bool Parser::at_assignment(M& method, N& kind, std::size_t& length) {
    const auto from = pos_;
    blanks();
    const auto rest = s_.substr(pos_);
    const auto found = [&](std::size_t size) {
        length = pos_ - from + size;
        pos_ = from;
        return true;
    };
    if (rest.starts_with('=')) {
        const char next = at(1);
        kind = N::Assign;
        if (next != '=' && next != '~' && next != '>') return found(1);
    }
    struct Form {
        std::string_view text;
        N kind;
        M method;
    };
    static constexpr std::array<Form, 12> forms{{{"||=", N::OrAssign, M::none_such},
                                                 {"&&=", N::AndAssign, M::none_such},
                                                 {"**=", N::OpAssign, M::op_pow},
                                                 {"<<=", N::OpAssign, M::op_shl},
                                                 {"+=", N::OpAssign, M::op_add},
                                                 {"-=", N::OpAssign, M::op_sub},
                                                 {"*=", N::OpAssign, M::op_mul},
                                                 {"/=", N::OpAssign, M::op_div},
                                                 {"%=", N::OpAssign, M::op_mod},
                                                 {"|=", N::OpAssign, M::op_or},
                                                 {"&=", N::OpAssign, M::op_and},
                                                 {"^=", N::OpAssign, M::op_xor}}};
    for (const auto& form : forms) {
        if (!rest.starts_with(form.text)) continue;
        kind = form.kind;
        method = form.method;
        return found(form.text.size());
    }
    pos_ = from;
    return false;
}

Node* Parser::expression(ExpressionContext place) {
    const Nesting nesting(*this);
    return assignment_or_ternary(place);
}

Node* Parser::assignment_or_ternary(ExpressionContext place) {
    Operand first = unary(place);
    M method{};
    N kind{};
    std::size_t length = 0;
    if (assignable(*first.node) && at_assignment(method, kind, length)) {
        pos_ += length;
        return assignment(first, method, kind, place);
    }
    return ternary(binary_from(first, 0, place), place);
}

Node* Parser::assignment(Operand target, M method, N kind, ExpressionContext place) {
    auto* node = make(kind);
    node->line = line();
    node->method = method;
    node->a = target.node;
    space();
    node->b = assignment_or_ternary(place);
    return node;
}

Node* Parser::ternary(Operand condition, ExpressionContext place) {
    const auto from = pos_;
    blanks();
    if (condition.command || at() != '?') {
        pos_ = from;
        return condition.node;
    }
    ++pos_;
    const Nesting nesting(*this);
    auto* node = make(N::If);
    node->a = condition.node;
    const ExpressionContext inside{.command = false, .no_do = place.no_do};
    space();
    node->b = assignment_or_ternary(inside);
    space();
    expect(":");
    space();
    node->c = assignment_or_ternary(inside);
    return node;
}

Parser::Operand Parser::binary(int level, ExpressionContext place) {
    return binary_from(unary(place), level, place);
}

Parser::Operand Parser::binary_from(Operand left, int level, ExpressionContext place) {
    const Nesting nesting(*this);
    const ExpressionContext inside{.command = false, .no_do = place.no_do};
    while (!left.command) {
        const auto from = pos_;
        blanks();
        const Operator* op = nullptr;
        for (const auto& each : kOperators) {
            if (looking_at(each.text)) {
                op = &each;
                break;
            }
        }
        // Assignments such as `a += 1` are not operators, and `&.` is a call.
        const bool assigns = op && op->level >= 5 && at(op->text.size()) == '=' &&
                             at(op->text.size() + 1) != '=' && at(op->text.size() + 1) != '~';
        if (!op || op->level < level || op->level < 0 || assigns ||
            ((op->text == "||" || op->text == "&&") && at(2) == '=')) {
            pos_ = from;
            return left;
        }
        pos_ += op->text.size();
        space();
        const int next = op->method == M::op_pow ? op->level : op->level + 1;
        Operand right = binary(next, inside);
        if (right.command) odd();
        Node* node = nullptr;
        if (op->level == 0) {
            node = make(N::Range);
            node->flag = op->text == "...";
        } else if (op->level <= 2) {
            node = make(op->level == 1 ? N::Or : N::And);
        } else {
            node = call(left.node, op->method, {right.node});
            node->line = line();
            left = {.node = node};
            // Comparisons such as == do not chain.
            if (op->level == 3) {
                const auto behind = pos_;
                blanks();
                for (const std::string_view same : {"==", "!=", "=~", "!~", "<=>"})
                    if (looking_at(same)) odd();
                pos_ = behind;
            }
            continue;
        }
        node->a = left.node;
        node->b = right.node;
        left = {.node = node};
    }
    return left;
}

Parser::Operand Parser::unary(ExpressionContext place) {
    const Nesting nesting(*this);
    const char c = at();
    if (c == '!') {
        ++pos_;
        blanks();
        Operand operand = unary(place);
        auto* node = make(N::Not);
        node->a = operand.node;
        return {.node = node, .command = operand.command};
    }
    if (c == '-') {
        ++pos_;
        if (digit(at())) {
            auto* node = number();
            if (node->kind == N::Int) node->i = -node->i;
            if (node->kind == N::Float) node->f = -node->f;
            const auto from = pos_;
            blanks();
            if (looking_at("**")) odd();
            pos_ = from;
            return postfix({.node = node}, place);
        }
        if (blank(at()) || at() == '>') odd();
        Operand operand = binary(11, {.command = false, .no_do = place.no_do});
        return {.node = call(operand.node, M::op_neg)};
    }
    return postfix(primary(place), place);
}

Parser::Operand Parser::postfix(Operand left, ExpressionContext place) {
    for (int links = 0;; ++links) {
        if (links > 200) unsupported("a long chain of calls");
        if (left.command) return left;
        const auto from = pos_;
        if (at() == '[') {
            ++pos_;
            space();
            std::vector<const Node*> args;
            while (at() != ']') {
                args.push_back(expression({}));
                space();
                if (!take(",")) break;
                space();
            }
            expect("]");
            if (args.empty() || args.size() > 2) odd();
            auto* node = call(left.node, M::op_index, std::move(args));
            node->line = line();
            note_path(*node);
            left = {.node = node};
            continue;
        }
        blanks();
        if (at() == '[' && blank_before()) {
            // `x.y [1]` passes an argument. After a variable it is an index, which is rarely
            // written like this.
            unsupported("a blank before [");
        }
        if (at() == '\n' && !end()) {
            if (!next_line_continues()) {
                pos_ = from;
                return left;
            }
        }
        if (at() == '.' && at(1) != '.') {
            ++pos_;
            left = method_call(left, false, place);
        } else if (at() == '&' && at(1) == '.') {
            pos_ += 2;
            left = method_call(left, true, place);
        } else if (looking_at("::")) {
            odd();
        } else {
            pos_ = from;
            return left;
        }
    }
}

/// Reports whether an argument without parentheses follows the name of a method.
bool Parser::command_follows() {
    const char c0 = at();
    // `include?x`
    const char before = pos_ > 0 ? s_[pos_ - 1] : '\0';
    if ((letter(c0) || c0 == '@' || c0 == '"' || c0 == '\'') && (before == '?' || before == '!'))
        return true;
    if (c0 == '"' || c0 == '\'') unsupported("an argument without blank");
    if (!blank(c0)) return false;
    std::size_t n = 0;
    while (at(n) == ' ' || at(n) == '\t') ++n;
    const char c = at(n), next = at(n + 1);
    if (c == '"' || c == '\'' || c == '@' || c == '[' || c == '$' || digit(c)) return true;
    if (c == ':') {
        if (next == ':') unsupported("::");
        return letter(next) || next == '"' || next == '\'';
    }
    if (letter(c)) {
        const auto from = pos_;
        pos_ += n;
        bool closes = keyword_at("elsif") || keyword_at("rescue");
        for (const auto word : kClosers) closes = closes || keyword_at(word);
        pos_ = from;
        return !closes;
    }
    switch (c) {
        case '(': unsupported("a blank before (");
        case '!':
            if (next == '=' || next == '~') return false;
            unsupported("an argument with !");
        case '&':
            if (next == '&' || next == '.') return false;
            [[fallthrough]];
        case '-':
        case '*':
        case '/':
        case '%':
        case '+':
        case '?':
            if (blank(next) || (c == '*' && next == '*' && blank(at(n + 2)))) return false;
            unsupported("an operator that may begin an argument");
        case '<':
            if (next == '<' && !blank(at(n + 2))) unsupported("<< that may begin a heredoc");
            return false;
        default: return false;
    }
}

Node* Parser::argument(ExpressionContext place, const Block*& block) {
    if (at() == '&' && at(1) == ':') {
        pos_ += 2;
        auto method = name();
        const auto from = pos_ - method.size();
        if (at() == '?' || at() == '!') ++pos_;
        auto* out = program_.arena.make<Block>();
        out->symbol = method_of(s_.substr(from, pos_ - from));
        if (out->symbol == M::none_such)
            unsupported(fmt::format("the method '{}'", s_.substr(from, pos_ - from)));
        block = out;
        return nullptr;
    }
    if (at() == '*' || at() == '&') unsupported("a splat");
    Node* node = expression(place);
    const auto from = pos_;
    blanks();
    if (looking_at("=>")) unsupported("keyword arguments");
    pos_ = from;
    return node;
}

std::vector<const Node*> Parser::parenthesized_arguments(const Block*& block) {
    std::vector<const Node*> args;
    expect("(");
    space();
    while (at() != ')') {
        if (block) odd();
        if (Node* node = argument({}, block)) args.push_back(node);
        space();
        if (!take(",")) break;
        space();
    }
    expect(")");
    return args;
}

std::vector<const Node*> Parser::command_arguments(ExpressionContext place, const Block*& block) {
    std::vector<const Node*> args;
    blanks();
    for (;;) {
        if (block) odd();
        // A call without parentheses may be the last argument of another call.
        if (Node* node = argument({.command = args.empty(), .no_do = true}, block))
            args.push_back(node);
        blanks();
        if (!take(",")) break;
        space();
    }
    (void)place;
    return args;
}

std::span<const Block::Parameter> Parser::block_parameters(std::string_view closing, int depth) {
    if (depth > 4) unsupported("deep nesting");
    std::vector<Block::Parameter> out;
    for (;;) {
        blanks();
        if (take("(")) {
            out.push_back({.slot = -1, .nested = block_parameters(")", depth + 1)});
        } else {
            if (at() == '*' || at() == '&' || at() == ';') unsupported("a block's odd parameters");
            const auto each = name();
            if (each.empty() || (each[0] >= 'A' && each[0] <= 'Z')) odd();
            out.push_back({.slot = new_slot(each)});
        }
        blanks();
        if (take(",")) {
            blanks();
            if (looking_at(closing)) unsupported("a block's odd parameters");
            continue;
        }
        if (at() == ':' || at() == '=' || at() == ';') unsupported("a block's odd parameters");
        expect(closing);
        return program_.arena.copy(out);
    }
}

const Block* Parser::block_body(std::string_view closing) {
    const Nesting nesting(*this);
    auto* block = program_.arena.make<Block>();
    scopes_.emplace_back();
    ++loops_;
    ++blocks_;
    space();
    if (take("|")) block->parameters = block_parameters("|", 0);
    block->body = statements(closing);
    if (closing == "end" ? !keyword("end") : !take(closing)) odd();
    BUNRAKU_ASSERT(loops_ > 0 && blocks_ > 0);
    --loops_;
    --blocks_;
    BUNRAKU_ASSERT(scopes_.size() > 1);
    block->locals = program_.arena.copy(scopes_.back().locals);
    scopes_.pop_back();
    return block;
}

const Block* Parser::block_if_there(ExpressionContext place, bool allow_brace) {
    const auto from = pos_;
    blanks();
    if (allow_brace && take("{")) return block_body("}");
    if (!place.no_do && keyword("do")) return block_body("end");
    pos_ = from;
    return nullptr;
}

Parser::Operand Parser::method_call(Operand receiver, bool safe, ExpressionContext place) {
    space();
    const auto from = pos_;
    if (name().empty()) odd();
    if ((at() == '?' || at() == '!') &&
        (at(1) != '=' || at(2) == '=' || at(2) == '~' || at(2) == '>'))
        ++pos_;
    const auto called = s_.substr(from, pos_ - from);
    Node* node = nullptr;
    const bool on_scope = receiver.node->kind == N::Scope;
    if (on_scope && called.starts_with("function_")) {
        node = text_node(N::Function, called.substr(9));
    } else {
        const M method = method_of(called);
        // An unknown method is an error only if this rendering reaches it.
        if (method == M::none_such && called.find_first_of("!?") == std::string_view::npos &&
            on_scope)
            unsupported(fmt::format("the method '{}' of scope", called));
        if (on_scope && method != M::lookupvar && method != M::include_ && method != M::exist &&
            method != M::call_function && method != M::to_hash && method != M::setvar)
            unsupported(fmt::format("the method '{}' of scope", called));
        node = call(receiver.node, method);
        if (method == M::none_such) node->text = program_.arena.copy(called);
        node->flag = safe;
    }
    node->line = line();
    Operand out{.node = node};
    const Block* block = nullptr;
    M method{};
    N kind{};
    std::size_t length = 0;
    if (at() == '(') {
        node->list = list(parenthesized_arguments(block));
    } else if (at_assignment(method, kind, length)) {
        unsupported("an assignment to an attribute");
    } else if (command_follows()) {
        if (!place.command) unsupported("an argument without parentheses");
        node->list = list(command_arguments(place, block));
        out.command = true;
    } else {
        out.bare_call = true;
    }
    if (!block) {
        block = block_if_there(place, !out.command);
        if (block) out.bare_call = out.command = false;
    }
    node->block = block;
    if (block && on_scope) odd();
    return out;
}

Parser::Operand Parser::kernel_call(std::string_view called, ExpressionContext place) {
    static constexpr std::array<std::pair<std::string_view, K>, 10> functions{
        {{"Array", K::Array},
         {"Integer", K::Integer},
         {"Float", K::Float},
         {"String", K::String},
         {"format", K::format},
         {"sprintf", K::format},
         {"has_variable?", K::has_variable},
         {"raise", K::raise},
         {"require", K::require},
         {"file", K::file}}};
    if (const auto it = functions_.find(called); it != functions_.end()) {
        auto* node = make(N::LocalCall);
        node->slot = it->second;
        node->line = line();
        const Block* block = nullptr;
        Operand out{.node = node};
        if (at() == '(') {
            node->list = list(parenthesized_arguments(block));
        } else if (command_follows()) {
            if (!place.command) unsupported("an argument without parentheses");
            node->list = list(command_arguments(place, block));
            out.command = true;
        }
        BUNRAKU_ASSERT(static_cast<std::size_t>(it->second) < program_.functions.size());
        const auto wanted =
            program_.functions[static_cast<std::size_t>(it->second)].parameters.size();
        if (block || node->list.size() != wanted) odd();
        return out;
    }
    for (const auto& [text, kernel] : functions) {
        if (text != called) continue;
        auto* node = make(N::Kernel);
        node->kernel = kernel;
        node->line = line();
        const Block* block = nullptr;
        Operand out{.node = node};
        if (at() == '(') {
            node->list = list(parenthesized_arguments(block));
        } else if (kernel != K::file && command_follows()) {
            if (!place.command) unsupported("an argument without parentheses");
            node->list = list(command_arguments(place, block));
            out.command = true;
        }
        const std::size_t count = node->list.size();
        const bool fits = kernel == K::file     ? count == 0
                          : kernel == K::format ? count >= 1
                                                : count == 1;
        if (block || !fits) odd();
        return out;
    }
    // An unknown name is an error only if this rendering reaches it.
    if (called.ends_with('?') || called.ends_with('!') || at() == '(' || command_follows())
        unsupported(fmt::format("'{}'", called));
    auto* node = make(N::LocalCall);
    node->slot = -1;
    return {.node = node, .bare_call = true};
}

Node* Parser::defined() {
    const bool paren = take("(");
    blanks();
    auto* node = make(N::Defined);
    const auto from = pos_;
    if (take("@")) {
        auto* inner = make(N::IVar);
        inner->slot = variable(name());
        node->a = inner;
    } else {
        const auto each = name();
        auto* inner = make(N::LVar);
        inner->slot = local(each);
        if (inner->slot < 0) {
            pos_ = from;
            unsupported("defined? of something else");
        }
        node->a = inner;
    }
    blanks();
    if (paren) {
        expect(")");
    } else if (at() == '.' || at() == '[' || at() == '=' || at() == '+' || at() == '<') {
        odd();
    }
    return node;
}

Parser::Operand Parser::identifier(ExpressionContext place) {
    const auto from = pos_;
    const auto word = name();
    const bool follows_label = at() == ':' && at(1) != ':';
    (void)follows_label;
    if (at() == '?' || at() == '!') {
        if (word == "defined" && at() == '?') {
            ++pos_;
            blanks();
            return {.node = defined()};
        }
        if (word == "has_variable" && at() == '?') {
            ++pos_;
            return kernel_call("has_variable?", place);
        }
        const bool suffix = at(1) != '=' || at(2) == '=' || at(2) == '~';
        if (suffix && local(word) < 0) unsupported(fmt::format("'{}{}'", word, at()));
        if (suffix) odd();  // `a?b:c`
    }
    if (word == "nil") return {.node = make(N::Nil)};
    if (word == "true") return {.node = make(N::True)};
    if (word == "false") return {.node = make(N::False)};
    if (word == "if" || word == "unless") return {.node = if_statement(word == "unless")};
    if (word == "case") return {.node = case_statement()};
    if (word == "while" || word == "until") return {.node = while_statement(word == "until")};
    if (word == "for") return {.node = for_statement()};
    if (word == "begin") {
        const Node* body = statements("end");
        if (!keyword("end")) odd();
        auto* seq = make(N::Seq);
        seq->list = list({body});
        return {.node = seq};
    }
    if (word == "next" || word == "break" || word == "return") {
        const bool returns = word == "return";
        if (returns ? !in_function_ || blocks_ > 0 : loops_ == 0)
            unsupported(fmt::format("'{}'", word));
        auto* node = make(returns ? N::Return : word == "next" ? N::Next : N::Break);
        node->line = line();
        blanks();
        const char c = at();
        const bool ends = end() || c == '\n' || c == ';' || c == '}' || c == ')' ||
                          c == kOutputEnd || keyword_at("if") || keyword_at("unless") ||
                          keyword_at("end") || keyword_at("and") || keyword_at("or");
        if (!ends) {
            if (!place.command) odd();
            node->a = expression({.command = true, .no_do = place.no_do});
        }
        return {.node = node, .command = true};
    }
    static constexpr std::array<std::string_view, 30> others{
        "then",   "do",     "end",   "else",   "elsif", "when",    "in",    "and",
        "or",     "not",    "self",  "return", "redo",  "retry",   "yield", "super",
        "def",    "class",  "alias", "undef",  "BEGIN", "module",  "END",   "rescue",
        "ensure", "lambda", "proc",  "loop",   "it",    "__FILE__"};
    for (const auto other : others)
        if (word == other) unsupported(fmt::format("'{}'", word));
    if (const int slot = local(word); slot >= 0 && at() != '(') {
        auto* node = make(N::LVar);
        node->slot = slot;
        return {.node = node};
    }
    M method{};
    N kind{};
    std::size_t length = 0;
    const bool capital = word[0] >= 'A' && word[0] <= 'Z';
    if (!capital && at_assignment(method, kind, length)) {
        auto* node = make(N::LVar);
        node->slot = declare(word);
        return {.node = node};
    }
    if (word == "scope") {
        if (at() == '(') odd();
        return {.node = make(N::Scope)};
    }
    if (capital && at() != '(') {
        if (looking_at("::") || at_assignment(method, kind, length) || command_follows()) odd();
        for (const auto each : kClasses)
            if (each == word) return {.node = text_node(N::Const, word)};
        // The methods of this constant are unknown, but this rendering may never reach the call.
        if (at() == '.' && letter(at(1))) return {.node = text_node(N::Const, word)};
        unsupported(fmt::format("the constant {}", word));
    }
    if (word == "_erbout") {
        pos_ = from;
        unsupported("_erbout");
    }
    return kernel_call(word, place);
}

Node* Parser::hash_literal() {
    auto* node = make(N::Hash);
    std::vector<const Node*> out;
    expect("{");
    space();
    while (at() != '}') {
        const auto from = pos_;
        const auto label = name();
        if (!label.empty() && at() == ':' && at(1) != ':' && (blank(at(1)))) {
            ++pos_;
            out.push_back(text_node(N::Sym, label));
        } else {
            pos_ = from;
            out.push_back(expression({}));
            space();
            if (!take("=>")) odd();
        }
        space();
        if (at() == ',' || at() == '}') odd();
        out.push_back(expression({}));
        space();
        if (!take(",")) break;
        space();
    }
    expect("}");
    BUNRAKU_ASSERT(out.size() % 2 == 0);
    node->list = list(out);
    return node;
}

Node* Parser::array_literal() {
    auto* node = make(N::Array);
    std::vector<const Node*> out;
    expect("[");
    space();
    while (at() != ']') {
        if (at() == '*') unsupported("a splat");
        out.push_back(expression({}));
        space();
        if (looking_at("=>")) unsupported("a hash without braces");
        if (!take(",")) break;
        space();
    }
    expect("]");
    node->list = list(out);
    return node;
}

Parser::Operand Parser::primary(ExpressionContext place) {
    const Nesting nesting(*this);
    const char c = at();
    if (letter(c)) return identifier(place);
    if (digit(c)) return {.node = number()};
    switch (c) {
        case '(': {
            ++pos_;
            const Node* body = statements(")");
            expect(")");
            auto* seq = make(N::Seq);
            seq->list = list({body});
            return {.node = seq};
        }
        case '[': return {.node = array_literal()};
        case '{': return {.node = hash_literal()};
        case '"':
        case '\'': return {.node = string_literal()};
        case ':': return {.node = symbol()};
        case '/': return {.node = regex('/', '/')};
        case '%': return {.node = percent_literal()};
        case '@': {
            ++pos_;
            const auto each = name();
            if (each.empty()) odd();
            auto* node = make(N::IVar);
            node->slot = variable(each);
            return {.node = node};
        }
        case '$': {
            ++pos_;
            if (!digit(at()) || at() == '0' || digit(at(1))) unsupported("a global variable");
            auto* node = make(N::Group);
            node->slot = at() - '0';
            ++pos_;
            return {.node = node};
        }
        default: odd();
    }
}

}  // namespace bunraku::erb
