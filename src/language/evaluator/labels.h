// What messages call a node or a value ("an '+' expression", "an Integer"), and Ruby's texts of
// values.
#pragma once

#include <string>
#include <string_view>

#include "core/value/value.h"
#include "language/syntax/ast.h"

namespace bunraku::evaluator {

/// "'+' expression", "Function Call", ... (Puppet's ModelLabelProvider).
std::string label(const syntax::Node* node);
/// "Integer", "Array", "Undef Value", "File['/x'] Resource-Reference", ...
std::string label(const value::Value& v);
/// With the article before it: "a Variable", "An Integer".
std::string a_an(std::string_view text);
std::string a_an_uc(std::string_view text);
/// The article alone.
std::string_view article(std::string_view text);

/// Ruby's to_s of a value in a message: undef is "", arrays and hashes as Ruby inspects them.
std::string ruby_to_s(const value::Value& v);
/// Ruby's inspect: nil, "quoted", [1, 2], {"a"=>1}.
std::string ruby_inspect(const value::Value& v);

}  // namespace bunraku::evaluator
