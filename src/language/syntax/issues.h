// SPDX-License-Identifier: Apache-2.0
// All messages of the validator, with Puppet's issue codes.
#pragma once

#include <string>
#include <string_view>

#include "language/syntax/ast.h"

namespace bunraku::syntax {

/// Returns the name of a node for messages, such as "Host Class Definition" or "'+' expression".
std::string label(const Node* node);
/// Returns the label with its article: "a Lambda", "An Epp Template".
std::string a_an(std::string_view label);
std::string a_an_upper(std::string_view label);

namespace issue {

enum class Severity : unsigned char { Error, Deprecation, Strict };

struct Issue {
    const char* code;
    const char* text;
    Severity severity = Severity::Error;
};

inline constexpr Issue kNotTopLevel{
    "NOT_TOP_LEVEL",
    "Classes, definitions, and nodes may only appear at toplevel or inside other classes"};
inline constexpr Issue kNotAbsoluteTopLevel{"NOT_ABSOLUTE_TOP_LEVEL",
                                            "{} may only appear at toplevel"};
inline constexpr Issue kCrossScopeAssignment{
    "CROSS_SCOPE_ASSIGNMENT",
    "Illegal attempt to assign to '{}'. Cannot assign to variables in other namespaces"};
inline constexpr Issue kIllegalAssignment{
    "ILLEGAL_ASSIGNMENT", "Illegal attempt to assign to '{}'. Not an assignable reference"};
inline constexpr Issue kIllegalAssignmentContext{"ILLEGAL_ASSIGNMENT_CONTEXT",
                                                 "Assignment not allowed here"};
inline constexpr Issue kIllegalNumericAssignment{
    "ILLEGAL_NUMERIC_ASSIGNMENT",
    "Illegal attempt to assign to the numeric match result variable '${}'. Numeric variables are "
    "not assignable"};
inline constexpr Issue kIllegalNumericParameter{"ILLEGAL_NUMERIC_PARAMETER",
                                                "The numeric parameter name '${}' cannot be used "
                                                "(clashes with numeric match result variables)"};
inline constexpr Issue kIllegalNonliteralParameterType{
    "ILLEGAL_NONLITERAL_PARAMETER_TYPE", "The parameter '${}' must be a literal type, not {}",
    Severity::Deprecation};
inline constexpr Issue kIllegalIndexedAssignment{
    "ILLEGAL_INDEXED_ASSIGNMENT",
    "Illegal attempt to assign via [index/key]. Not an assignable reference"};
inline constexpr Issue kAppendsDeletes{
    "APPENDS_DELETES_NO_LONGER_SUPPORTED",
    "The operator '{}' is no longer supported. See http://links.puppet.com/remove-plus-equals"};
inline constexpr Issue kUnsupportedOperatorInContext{"UNSUPPORTED_OPERATOR_IN_CONTEXT",
                                                     "The operator '{}' in {} is not supported."};
inline constexpr Issue kNotRvalue{"NOT_RVALUE",
                                  "Invalid use of expression. {} does not produce a value"};
inline constexpr Issue kIllegalAttributeAppend{
    "ILLEGAL_ATTRIBUTE_APPEND",
    "Illegal +> operation on attribute {}. This operator can not be used in {}"};
inline constexpr Issue kIllegalRegexpTypeMapping{
    "ILLEGAL_TYPE_MAPPING",
    "Illegal type mapping. Expected a Tuple[Regexp,String] on the left side, got {}"};
inline constexpr Issue kIllegalSingleTypeMapping{
    "ILLEGAL_TYPE_MAPPING", "Illegal type mapping. Expected a Type on the left side, got {}"};
inline constexpr Issue kIllegalParamName{"ILLEGAL_PARAM_NAME",
                                         "Illegal parameter name. The given name '{}' does not "
                                         "conform to the naming rule /^[a-z_]\\w*$/"};
inline constexpr Issue kIllegalVarName{
    "ILLEGAL_VAR_NAME",
    "Illegal variable name, The given name '{}' does not conform to the naming rule "
    "/^((::)?[a-z]\\w*)*((::)?[a-z_]\\w*)$/"};
inline constexpr Issue kIllegalNumericVarName{
    "ILLEGAL_NUMERIC_VAR_NAME",
    "Illegal numeric variable name, The given name '{}' must be a decimal value if it starts with "
    "a digit 0-9"};
inline constexpr Issue kIllegalHostnameChars{"ILLEGAL_HOSTNAME_CHARS",
                                             "The hostname '{}' contains illegal characters (only "
                                             "letters, digits, '_', '-', and '.' are allowed)"};
inline constexpr Issue kIllegalHostnameInterpolation{
    "ILLEGAL_HOSTNAME_INTERPOLATION",
    "An interpolated expression is not allowed in a hostname of a node"};
inline constexpr Issue kIllegalExpression{"ILLEGAL_EXPRESSION",
                                          "Illegal expression. {} is unacceptable as {} in {}"};
inline constexpr Issue kIllegalQueryExpression{
    "ILLEGAL_QUERY_EXPRESSION", "Illegal query expression. {} cannot be used in a query"};
inline constexpr Issue kNotVirtualizeable{"NOT_VIRTUALIZEABLE",
                                          "Resource Defaults are not virtualizable"};
inline constexpr Issue kClassNotVirtualizable{"CLASS_NOT_VIRTUALIZABLE",
                                              "Classes are not virtualizable"};
inline constexpr Issue kUnsupportedExpression{
    "UNSUPPORTED_EXPRESSION", "Expressions of type {} are not supported in this version of Puppet"};
inline constexpr Issue kIllegalDefinitionName{
    "ILLEGAL_DEFINITION_NAME",
    "Unacceptable name. The name '{}' is unacceptable as the name of {}"};
inline constexpr Issue kIllegalDefinitionLocation{
    "ILLEGAL_DEFINITION_LOCATION",
    "Unacceptable location. The name '{}' is unacceptable in file '{}'"};
inline constexpr Issue kIllegalTopConstructLocation{
    "ILLEGAL_TOP_CONSTRUCT_LOCATION",
    "{} is unacceptable as a top level construct in this location"};
inline constexpr Issue kCapturesRestNotLast{"CAPTURES_REST_NOT_LAST",
                                            "Parameter ${} is not last, and has 'captures rest'"};
inline constexpr Issue kCapturesRestNotSupported{
    "CAPTURES_REST_NOT_SUPPORTED", "Parameter ${} has 'captures rest' - not supported in {}"};
inline constexpr Issue kIllegalEppParameters{
    "ILLEGAL_EPP_PARAMETERS",
    "Ambiguous EPP parameter expression. Probably missing '<%-' before parameters to remove "
    "leading whitespace"};
inline constexpr Issue kIdemExpressionNotLast{
    "IDEM_EXPRESSION_NOT_LAST",
    "This {} has no effect. A value was produced and then forgotten (one or more preceding "
    "expressions may have "
    "the wrong form)"};
inline constexpr Issue kResourceWithoutTitle{
    "RESOURCE_WITHOUT_TITLE",
    "This expression is invalid. Did you try declaring a '{}' resource without a title?"};
inline constexpr Issue kIdemNotAllowedLast{
    "IDEM_NOT_ALLOWED_LAST",
    "This {} has no effect. {} can not end with a value-producing expression without other effect"};
inline constexpr Issue kReservedWord{
    "RESERVED_WORD", "Use of reserved word: {}, must be quoted if intended to be a String value"};
inline constexpr Issue kFutureReservedWord{
    "FUTURE_RESERVED_WORD", "Use of future reserved word: '{}'", Severity::Deprecation};
inline constexpr Issue kReservedTypeName{
    "RESERVED_TYPE_NAME",
    "The name: '{}' is already defined by Puppet and can not be used as the name of {}."};
inline constexpr Issue kIllegalNodeInheritance{
    "ILLEGAL_NODE_INHERITANCE",
    "Node inheritance is not supported in Puppet >= 4.0.0. See "
    "http://links.puppet.com/puppet-node-inheritance-deprecation"};
inline constexpr Issue kDuplicateParameter{
    "DUPLICATE_PARAMETER", "The parameter '{}' is declared more than once in the parameter list"};
inline constexpr Issue kDuplicateKey{"DUPLICATE_KEY", "The key '{}' is declared more than once",
                                     Severity::Strict};
inline constexpr Issue kDuplicateDefault{
    "DUPLICATE_DEFAULT", "This {} already has a 'default' entry - this is a duplicate"};
inline constexpr Issue kReservedParameter{
    "RESERVED_PARAMETER", "The parameter ${} redefines a built in parameter in the {}"};
inline constexpr Issue kMultipleAttributesUnfold{
    "MULTIPLE_ATTRIBUTES_UNFOLD",
    "Unfolding of attributes from Hash can only be used once per resource body"};
inline constexpr Issue kNumericOverflow{
    "NUMERIC_OVERFLOW", "{} resulted in a value outside of Puppet Integer max range, got '{}'"};
inline constexpr Issue kExpressionOnlyWhenCompiling{
    "EXPRESSION_NOT_SUPPORTED_WHEN_SCRIPTING", "{} is only available when compiling a catalog"};
inline constexpr Issue kExpressionNotWhenCompiling{"EXPRESSION_NOT_SUPPORTED_WHEN_COMPILING",
                                                   "{} is not available when compiling a catalog"};

}  // namespace issue
}  // namespace bunraku::syntax
