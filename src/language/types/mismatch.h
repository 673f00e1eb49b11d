// What is said where a value or a call does not fit: Puppet's mismatch texts, word for word.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "language/types/kinds.h"

namespace bunraku::types {

/// One signature of a function, define or lambda, in neutral form.
struct Signature {
    const CallableType* type = nullptr;
    std::vector<std::string_view> parameter_names;
    std::string_view block_name = "block";
};

/// The text for a call none of the signatures accepts: "'foo' parameter 'x' expects an Integer
/// value, got String", or the list of all signatures. `name` is the function's name or "lambda".
/// `args` is the Tuple of the arguments, with the block's Callable as its last where one was given.
/// nullopt: nothing to say (the call fits).
std::optional<std::string> describe_signatures(Context& ctx, std::string_view name,
                                               std::span<const Signature> signatures,
                                               const Type* args);
/// The same from values; `block` is null or the type of the given block.
std::optional<std::string> describe_call(Context& ctx, std::string_view name,
                                         std::span<const Signature> signatures,
                                         std::span<const Value> args, const Type* block = nullptr);

/// True where `signature` accepts the arguments (PCallableType#callable_with?); `block` is null or
/// the type of the given block.
bool accepts_call(Context& ctx, const CallableType* signature, std::span<const Value> args,
                  const Type* block = nullptr);

/// One parameter of a class, define, EPP template, plan: for the checks by name.
struct NamedParameter {
    std::string_view name;
    const Type* type = nullptr;  ///< null: Any
    bool required = false;       ///< has no default
};
/// What stands behind a Deferred value given to a parameter: the return type of its function; null:
/// unknown.
using DeferredType = std::function<const Type*(const Value& deferred)>;

/// "SUBJECT: has no parameter named 'y'", "SUBJECT: expects a value for parameter 'x'",
/// "SUBJECT: parameter 'x' expects an Integer value, got String"; several are joined, one a line.
/// Empty: all is well. `given` are the arguments; `missing_ok` spares the check for missing ones.
std::string describe_parameters(Context& ctx, std::string_view subject,
                                std::span<const NamedParameter> parameters,
                                const value::HashRep& given, bool missing_ok = false,
                                const DeferredType& deferred = {});
/// Throws PuppetError with that text where it is not empty.
void validate_parameters(Context& ctx, std::string_view subject,
                         std::span<const NamedParameter> parameters, const value::HashRep& given,
                         bool missing_ok = false, const DeferredType& deferred = {});
/// The same for one default value: "SUBJECT: parameter 'x' expects ..".
void validate_default_parameter(Context& ctx, std::string_view subject, std::string_view name,
                                const Type* type, const Value& value);

/// "NAME expects an Integer value, got String" for two types; nested places are named behind NAME
/// ("index 0", "entry 'a'"). Several findings are joined, one a line.
std::string describe_type_mismatch(Context& ctx, std::string_view name, const Type* expected,
                                   const Type* actual);
/// The signature as the texts list it: "String x, Integer y?, Callable &block".
std::string signature_text(Context& ctx, const Signature& signature);

/// "a String", "an Integer": the article of a word.
std::string a_an(std::string_view word);
std::string a_an_uc(std::string_view word);

}  // namespace bunraku::types
