// SPDX-License-Identifier: Apache-2.0
// Names of nodes and values for messages ("an '+' expression", "an Integer"), and Ruby's text forms
// of values.
#pragma once

#include <string>
#include <string_view>

#include "core/value/value.h"
#include "language/syntax/ast.h"

namespace bunraku::evaluator {

/// Returns the label of a node: "'+' expression", "Function Call" and so on (Puppet's
/// ModelLabelProvider).
std::string label(const syntax::Node* node);
/// Returns the label of a value: "Integer", "Array", "Undef Value", "File['/x'] Resource-Reference"
/// and so on.
std::string label(const value::Value& v);
/// Returns the text with its article: "a Variable", "An Integer".
std::string a_an(std::string_view text);
std::string a_an_uc(std::string_view text);
/// Returns only the article.
std::string_view article(std::string_view text);

/// Returns Ruby's to_s of a value in a message: "" for undef, and Ruby's inspect for arrays and
/// hashes.
std::string ruby_to_s(const value::Value& v);
/// Returns Ruby's inspect: nil, "quoted", [1, 2], {"a"=>1}.
std::string ruby_inspect(const value::Value& v);

}  // namespace bunraku::evaluator
