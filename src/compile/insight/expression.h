// SPDX-License-Identifier: Apache-2.0
// Descriptions of expressions from the syntax tree alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/syntax/ast.h"

namespace bunraku::insight {

/// Returns the node inside any parentheses.
const syntax::Node* bare(const syntax::Node* node);
bool is_literal(const syntax::Node* node);

/// Reports whether a node is a call by name or a method call.
bool is_call(const syntax::Node* node);
/// Returns the name of the called function. Empty if the node is not a call or calls a type.
std::string_view called(const syntax::Node* node);
/// Returns the arguments of a call in order. For a method call, the receiver is the first.
std::vector<const syntax::Node*> arguments(const syntax::Node* node);

/// A condition: its test, and its branches with their options.
struct Branches {
    struct Branch {
        const syntax::Node* code;
        std::vector<const syntax::Node*> options;  ///< empty for an `if`
    };
    const syntax::Node* test = nullptr;  ///< null if the node is not a condition
    std::vector<Branch> all;             ///< for an `if`, the branch for a true test is first
};
Branches branches(const syntax::Node* node);

/// Returns the text of a whole expression. The offset of a node with operands only covers its
/// operator.
std::string code_of(const syntax::Node* node);
/// Returns a call without its lambda, on one line: "['a', 'b'].each".
std::string call_head(const syntax::Node* node);
/// Returns code on one line, shortened.
std::string on_one_line(std::string_view code);
/// Shortens a text to about one line.
std::string shortened(std::string text);

}  // namespace bunraku::insight
