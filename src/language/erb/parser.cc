// SPDX-License-Identifier: Apache-2.0
// Parses statements of the Ruby subset. Also contains the basic functions of the parser.
#include "language/erb/parser.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <unordered_map>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/regex/ruby_dialect.h"

namespace bunraku::erb {

namespace {

bool word_char(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

struct MethodTable {
    std::unordered_map<std::string_view, M> by_name;
    std::vector<std::string_view> names{"none"};
    MethodTable() {
#define X(id, text)               \
    by_name.emplace(text, M::id); \
    names.emplace_back(text);
        BUNRAKU_ERB_METHODS(X)
#undef X
        for (const std::string_view op :
             {"+",  "-",  "*", "/",  "%", "**", "<<",  ">>", "&",  "|",  "^",
              "==", "!=", "<", "<=", ">", ">=", "<=>", "=~", "!~", "[]", "-@"})
            names.push_back(op);
    }
};
const MethodTable& methods() {
    static const MethodTable table;
    return table;
}

}  // namespace

M method_of(std::string_view name) {
    const auto& table = methods().by_name;
    const auto it = table.find(name);
    return it == table.end() ? M::none_such : it->second;
}

std::string_view method_name(M method) {
    BUNRAKU_ASSERT(static_cast<std::size_t>(method) < methods().names.size());
    return methods().names[static_cast<std::size_t>(method)];
}

// The text ------------------------------------------------------------------------------------

std::uint32_t Parser::line() const {
    return 1u + static_cast<std::uint32_t>(
                    std::ranges::count(s_.substr(0, std::min(pos_, s_.size())), '\n'));
}

void Parser::unsupported(std::string what) const {
    throw Unsupported{std::move(what), static_cast<int>(line())};
}

void Parser::odd() const {
    if (end()) unsupported("an end of the template in the middle of code");
    const char c = at();
    if (c == kText || c == kOutput) unsupported("output inside of an expression");
    if (c == kOutputEnd) unsupported("an output tag that ends in the middle of code");
    unsupported(fmt::format(
        "'{}' here", s_.substr(pos_, std::min<std::size_t>(12, s_.find('\n', pos_) - pos_))));
}

void Parser::blanks() {
    for (;;) {
        const char c = at();
        if (c == ' ' || c == '\t' || c == '\r') {
            ++pos_;
        } else if (c == '\\' && at(1) == '\n') {
            pos_ += 2;
        } else if (c == '#') {
            while (!end() && at() != '\n') ++pos_;
        } else {
            return;
        }
    }
}

void Parser::space() {
    for (;;) {
        blanks();
        if (at() != '\n' || end()) return;
        ++pos_;
        if (looking_at("=begin") || looking_at("__END__")) unsupported("=begin or __END__");
    }
}

void Parser::separators() {
    for (;;) {
        space();
        if (at() != ';') return;
        ++pos_;
    }
}

bool Parser::keyword_at(std::string_view word) const {
    return looking_at(word) && !word_char(at(word.size())) && at(word.size()) != '?' &&
           at(word.size()) != '!' && !(at(word.size()) == ':' && at(word.size() + 1) != ':');
}

bool Parser::keyword(std::string_view word) {
    if (!keyword_at(word)) return false;
    pos_ += word.size();
    return true;
}

std::string_view Parser::name() {
    const auto from = pos_;
    if (word_char(at()) && !(at() >= '0' && at() <= '9'))
        while (word_char(at())) ++pos_;
    if (static_cast<unsigned char>(at()) >= 0x80) unsupported("a name beyond ASCII");
    return s_.substr(from, pos_ - from);
}

bool Parser::take(std::string_view text) {
    if (!looking_at(text)) return false;
    pos_ += text.size();
    return true;
}

void Parser::expect(std::string_view text) {
    if (!take(text)) odd();
}

bool Parser::next_line_continues() {
    const auto from = pos_;
    space();
    const bool dot = (at() == '.' && at(1) != '.') || (at() == '&' && at(1) == '.');
    if (!dot) pos_ = from;
    return dot;
}

// Nodes and names -------------------------------------------------------------------------------

Node* Parser::make(N kind) {
    auto* node = program_.arena.make<Node>();
    node->kind = kind;
    return node;
}

Node* Parser::text_node(N kind, std::string_view text) {
    auto* node = make(kind);
    node->text = program_.arena.copy(text);
    return node;
}

Node* Parser::call(const Node* receiver, M method, std::vector<const Node*> args) {
    auto* node = make(N::Call);
    node->a = receiver;
    node->method = method;
    node->list = list(args);
    return node;
}

void Parser::note_path(const Node& access) {
    const auto by_text = [](const Node& node, M method) {
        return node.kind == N::Call && node.method == method && !node.flag &&
               node.list.size() == 1 && node.list[0]->kind == N::Str;
    };
    std::string path;
    const Node* root = &access;
    for (; by_text(*root, M::op_index) && root->a->kind != N::Scope; root = root->a) {
        const auto key = root->list[0]->text;
        path.insert(0, path.empty() ? std::string(key) : std::string(key) + '\0');
    }
    // A template may change any other variable, and then uses more of it than it reads.
    constexpr std::array<std::string_view, 3> kFrozen{"facts", "trusted", "server_facts"};
    const bool of_scope = root->kind == N::Call && root->a->kind == N::Scope &&
                          (by_text(*root, M::op_index) || by_text(*root, M::lookupvar));
    if (!of_scope && root->kind != N::IVar) return;
    auto name = of_scope ? root->list[0]->text
                         : program_.variables[static_cast<std::size_t>(root->slot)].view();
    if (name.starts_with("::")) name.remove_prefix(2);
    if (std::ranges::find(kFrozen, name) == kFrozen.end()) return;
    // The cast is safe: this parser made the node, and the node has one parent only.
    const_cast<Node*>(root)->below = program_.arena.copy(std::string_view(path));
}

int Parser::local(std::string_view name) const {
    for (auto it = scopes_.rbegin(); it != scopes_.rend(); ++it)
        if (const auto found = it->slots.find(name); found != it->slots.end()) return found->second;
    return -1;
}

int Parser::new_slot(std::string_view name) {
    if (name == "_erbout" || (name.size() == 2 && name[0] == '_' && name[1] >= '1'))
        unsupported("a reserved name");
    BUNRAKU_ASSERT(!scopes_.empty() && program_.locals >= 0);
    const int slot = program_.locals++;
    scopes_.back().slots[std::string(name)] = slot;
    scopes_.back().locals.push_back(slot);
    return slot;
}

int Parser::declare(std::string_view name) {
    const int slot = local(name);
    return slot >= 0 ? slot : new_slot(name);
}

int Parser::variable(std::string_view name) {
    if (name.starts_with("__")) unsupported("a variable of the wrapper");
    if (const auto it = variables_.find(name); it != variables_.end()) return it->second;
    const int slot = static_cast<int>(program_.variables.size());
    program_.variables.push_back(base::Symbol::intern(name));
    variables_.emplace(std::string(name), slot);
    BUNRAKU_ASSERT(variables_.size() == program_.variables.size());
    return slot;
}

// Statements ------------------------------------------------------------------------------------

const Node* Parser::run() {
    const Node* body = statements("");
    if (!end()) odd();
    BUNRAKU_ASSERT(depth_ == 0 && loops_ == 0 && blocks_ == 0 && !in_function_);
    BUNRAKU_ASSERT(scopes_.size() == 1 && functions_.size() == program_.functions.size());
    return body;
}

/// Parses statements up to `closing`, which is not consumed. "end" also matches else, elsif and
/// when.
const Node* Parser::statements(std::string_view closing) {
    const Nesting nesting(*this);
    std::vector<const Node*> out;
    for (;;) {
        separators();
        if (end()) break;
        if (closing == "end") {
            if (keyword_at("end") || keyword_at("else") || keyword_at("elsif") ||
                keyword_at("when"))
                break;
        } else if (!closing.empty() && looking_at(closing)) {
            break;
        }
        out.push_back(modified(statement()));
        blanks();
        if (!end() && at() != '\n' && at() != ';') {
            const bool closed = closing == "end" ? keyword_at("end") || keyword_at("else") ||
                                                       keyword_at("elsif") || keyword_at("when")
                                                 : !closing.empty() && looking_at(closing);
            if (!closed) odd();
        }
    }
    if (out.size() == 1) return out[0];
    auto* seq = make(N::Seq);
    seq->list = list(out);
    return seq;
}

Node* Parser::statement() {
    const Nesting nesting(*this);
    if (in_function_ && (at() == kText || at() == kOutput)) unsupported("output in a method");
    if (keyword("def")) return definition();
    if (at() == kText) {
        const auto close = s_.find(kText, pos_ + 1);
        auto* node = make(N::Text);
        node->line = line();
        const auto index = base::parse_integer<std::size_t>(s_.substr(pos_ + 1, close - pos_ - 1));
        if (!index || *index >= script_.texts.size()) unsupported("a text mark");
        node->text = program_.arena.copy(script_.texts[*index]);
        pos_ = close + 1;
        return node;
    }
    if (at() == kOutput) {
        ++pos_;
        auto* node = make(N::Output);
        node->line = line();
        // ERB puts this code in parentheses, so newlines separate statements as they do outside.
        const char closing[] = {kOutputEnd, '\0'};
        node->a = statements(closing);
        expect(closing);
        return node;
    }
    if (auto* multi = multiple_assignment()) return multi;
    return expression_statement({.command = true});
}

Node* Parser::modified(Node* node) {
    for (;;) {
        blanks();
        const bool is_if = keyword_at("if"), is_unless = keyword_at("unless");
        if (is_if || is_unless) {
            pos_ += is_if ? 2 : 6;
            auto* out = make(N::If);
            space();
            out->a = expression_statement({.command = true});
            (is_if ? out->b : out->c) = node;
            node = out;
            continue;
        }
        if (keyword_at("while") || keyword_at("until") || keyword_at("rescue"))
            unsupported("a modifier while, until or rescue");
        return node;
    }
}

Node* Parser::expression_statement(ExpressionContext place) {
    Node* left = not_expression(place);
    for (;;) {
        blanks();
        const bool is_and = keyword_at("and");
        if (!is_and && !keyword_at("or")) return left;
        pos_ += is_and ? 3 : 2;
        space();
        auto* node = make(is_and ? N::And : N::Or);
        node->a = left;
        node->b = not_expression(place);
        left = node;
    }
}

Node* Parser::not_expression(ExpressionContext place) {
    const Nesting nesting(*this);
    if (keyword("not")) {
        blanks();
        auto* node = make(N::Not);
        node->a = not_expression(place);
        return node;
    }
    return expression(place);
}

/// Parses `a, b = ..` with plain variables. Returns null if the statement has another form.
Node* Parser::multiple_assignment() {
    const auto from = pos_;
    std::vector<std::pair<bool, std::string_view>> names;
    for (;;) {
        const bool at_sign = take("@");
        const auto each = name();
        if (each.empty()) break;
        names.emplace_back(at_sign, each);
        blanks();
        if (!take(",")) break;
        space();
    }
    const bool assigns = names.size() > 1 && at() == '=' && at(1) != '=' && at(1) != '~';
    if (!assigns) {
        if (names.size() > 1) unsupported("a list of targets");
        pos_ = from;
        return nullptr;
    }
    ++pos_;
    std::vector<const Node*> targets;
    for (const auto& [at_sign, each] : names) {
        if (!at_sign && each[0] >= 'A' && each[0] <= 'Z') unsupported("a constant");
        auto* target = make(at_sign ? N::IVar : N::LVar);
        target->slot = at_sign ? variable(each) : declare(each);
        targets.push_back(target);
    }
    auto* node = make(N::Multi);
    node->list = list(targets);
    space();
    std::vector<const Node*> values;
    do {
        space();
        if (at() == '*') unsupported("a splat");
        values.push_back(expression({}));
        blanks();
    } while (take(","));
    if (values.size() == 1) {
        node->a = values[0];
    } else {
        auto* array = make(N::Array);
        array->list = list(values);
        node->a = array;
    }
    return node;
}

void Parser::then() {
    separators();
    keyword("then");
}

const Node* Parser::else_part() {
    if (keyword("elsif")) {
        auto* node = make(N::If);
        space();
        node->a = expression_statement({.command = true});
        then();
        node->b = statements("end");
        node->c = else_part();
        return node;
    }
    if (keyword("else")) {
        const Node* body = statements("end");
        if (!keyword("end")) odd();
        return body;
    }
    if (!keyword("end")) odd();
    return nullptr;
}

Node* Parser::if_statement(bool unless) {
    auto* node = make(N::If);
    node->line = line();
    space();
    node->a = expression_statement({.command = true});
    blanks();
    if (at() != '\n' && at() != ';' && !keyword_at("then")) odd();
    then();
    const Node* body = statements("end");
    if (unless && keyword_at("elsif")) odd();
    const Node* other = else_part();
    node->b = unless ? other : body;
    node->c = unless ? body : other;
    return node;
}

Node* Parser::case_statement() {
    auto* node = make(N::Case);
    blanks();
    if (at() != '\n' && at() != ';' && !keyword_at("when"))
        node->a = expression_statement({.command = true});
    separators();
    std::vector<const Node*> whens;
    while (keyword("when")) {
        auto* when = make(N::When);
        std::vector<const Node*> options;
        do {
            space();
            if (at() == '*') unsupported("a splat");
            options.push_back(expression({}));
            blanks();
        } while (take(","));
        if (at() != '\n' && at() != ';' && !keyword_at("then")) odd();
        then();
        when->list = list(options);
        when->b = statements("end");
        whens.push_back(when);
    }
    if (whens.empty()) odd();
    node->list = list(whens);
    if (keyword_at("elsif")) odd();
    node->b = else_part();
    return node;
}

/// Parses a body from `do`, or the end of the line, up to `end`.
const Node* Parser::loop_body() {
    blanks();
    if (!keyword("do") && at() != '\n' && at() != ';') odd();
    ++loops_;
    const Node* body = statements("end");
    BUNRAKU_ASSERT(loops_ > 0);
    --loops_;
    if (!keyword("end")) odd();
    return body;
}

Node* Parser::while_statement(bool until) {
    auto* node = make(N::While);
    node->flag = until;
    space();
    node->a = expression_statement({.command = true, .no_do = true});
    node->b = loop_body();
    return node;
}

Node* Parser::for_statement() {
    auto* node = make(N::For);
    std::vector<const Node*> targets;
    do {
        space();
        const auto each = name();
        if (each.empty() || (each[0] >= 'A' && each[0] <= 'Z')) odd();
        auto* target = make(N::LVar);
        target->slot = declare(each);
        targets.push_back(target);
        blanks();
    } while (take(","));
    if (!keyword("in")) odd();
    node->list = list(targets);
    space();
    node->a = expression_statement({.command = true, .no_do = true});
    node->b = loop_body();
    return node;
}

/// Parses a simple method definition. The method sees its parameters and the @variables.
Node* Parser::definition() {
    if (in_function_ || loops_ > 0) unsupported("a nested method");
    blanks();
    const std::string called(name());
    if (called.empty() || functions_.contains(called) || at() == '?' || at() == '!' ||
        at() == '.' || at() == '=')
        unsupported("an odd method");
    const auto outer = std::move(scopes_);
    scopes_.assign(1, {});
    in_function_ = true;
    Function function;
    function.first = program_.locals;
    std::vector<int> parameters;
    const bool paren = take("(");
    blanks();
    while (at() != ')' && at() != '\n' && at() != ';') {
        const auto each = name();
        if (each.empty()) unsupported("a method's odd parameters");
        parameters.push_back(new_slot(each));
        blanks();
        if (!take(",")) break;
        space();
    }
    if (paren) expect(")");
    blanks();
    if (at() != '\n' && at() != ';') odd();
    // Registered before the body, because the method may call itself.
    const int number = static_cast<int>(program_.functions.size());
    functions_.emplace(called, number);
    function.parameters = program_.arena.copy(parameters);
    program_.functions.push_back(function);
    function.body = statements("end");
    if (!keyword("end")) odd();
    function.last = program_.locals;
    BUNRAKU_ASSERT(in_function_ && scopes_.size() == 1 && function.first <= function.last);
    program_.functions[static_cast<std::size_t>(number)] = function;
    in_function_ = false;
    scopes_ = outer;
    auto* node = make(N::Define);
    node->slot = number;
    return node;
}

std::shared_ptr<const Program> parse(std::string_view source, std::string& reason) {
    if (!regex::is_valid_utf8(source)) {
        reason = "text that is not UTF-8";
        return nullptr;
    }
    const auto script = scan(source);
    if (!script) {
        reason = "an encoding comment or a control character";
        return nullptr;
    }
    auto program = std::make_shared<Program>();
    try {
        program->body = Parser(*script, *program).run();
    } catch (const Unsupported& error) {
        reason = fmt::format("{} in line {}", error.what, error.line);
        return nullptr;
    }
    return program;
}

}  // namespace bunraku::erb
