// What the syntax tree alone says of an expression, for those who tell of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/syntax/ast.h"

namespace bunraku::insight {

/// The node inside any parentheses.
const syntax::Node* bare(const syntax::Node* node);
bool is_literal(const syntax::Node* node);

/// A call, by name or as a method.
bool is_call(const syntax::Node* node);
/// The name that a call is made by; empty: it is none, or of a type.
std::string_view called(const syntax::Node* node);
/// What a call is given, in order: of a method first what stands before the dot.
std::vector<const syntax::Node*> arguments(const syntax::Node* node);

/// What a condition may be: its test, and its branches with what each is for.
struct Branches {
    struct Branch {
        const syntax::Node* code;
        std::vector<const syntax::Node*> options;  ///< none: of an if
    };
    const syntax::Node* test = nullptr;  ///< null: it is no condition
    std::vector<Branch> all;             ///< of an if what is done when it holds comes first
};
Branches branches(const syntax::Node* node);

/// The text of a whole expression: a node with operands knows only where its operator stands.
std::string code_of(const syntax::Node* node);
/// A call without its lambda: "['a', 'b'].each", on one line.
std::string call_head(const syntax::Node* node);
/// A text of code on one line, shortened.
std::string on_one_line(std::string_view code);
/// About a line's length of a text.
std::string shortened(std::string text);

}  // namespace bunraku::insight
