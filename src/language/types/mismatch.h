// SPDX-License-Identifier: Apache-2.0
// Puppet's exact messages for values and calls that do not match a type or signature.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "language/types/kinds.h"

namespace bunraku::types {

/// The signature of a function, define or lambda in a common form.
struct Signature {
    const CallableType* type = nullptr;
    std::vector<std::string_view> parameter_names;
    std::string_view block_name = "block";
};

/// Returns the message for a call that none of the signatures accepts: "'foo' parameter 'x' expects
/// an Integer value, got String", or the list of all signatures. `name` is the function's name or
/// "lambda". `args` is the Tuple of the arguments; if a block was given, its Callable is the last
/// element. Returns nullopt if the call matches.
std::optional<std::string> describe_signatures(Context& ctx, std::string_view name,
                                               std::span<const Signature> signatures,
                                               const Type* args);
/// Like describe_signatures, but from values. `block` is the type of the given block, or null.
std::optional<std::string> describe_call(Context& ctx, std::string_view name,
                                         std::span<const Signature> signatures,
                                         std::span<const Value> args, const Type* block = nullptr);

/// Reports whether `signature` accepts the arguments (PCallableType#callable_with?). `block` is the
/// type of the given block, or null.
bool accepts_call(Context& ctx, const CallableType* signature, std::span<const Value> args,
                  const Type* block = nullptr);

/// One parameter of a class, define, EPP template or plan, for checks by name.
struct NamedParameter {
    std::string_view name;
    const Type* type = nullptr;  ///< null means Any
    bool required = false;       ///< True if the parameter has no default.
};
/// Returns the type of a Deferred value passed to a parameter: the return type of its function.
/// Returns null if it is unknown.
using DeferredType = std::function<const Type*(const Value& deferred)>;

/// Returns "SUBJECT: has no parameter named 'y'", "SUBJECT: expects a value for parameter 'x'" or
/// "SUBJECT: parameter 'x' expects an Integer value, got String". Several messages are joined, one
/// per line. The result is empty if there is no mismatch. `given` contains the arguments.
/// `missing_ok` disables the check for missing arguments.
std::string describe_parameters(Context& ctx, std::string_view subject,
                                std::span<const NamedParameter> parameters,
                                const value::HashRep& given, bool missing_ok = false,
                                const DeferredType& deferred = {});
/// Throws PuppetError with the text of describe_parameters if it is not empty.
void validate_parameters(Context& ctx, std::string_view subject,
                         std::span<const NamedParameter> parameters, const value::HashRep& given,
                         bool missing_ok = false, const DeferredType& deferred = {});
/// Like validate_parameters, for one default value: "SUBJECT: parameter 'x' expects ..".
void validate_default_parameter(Context& ctx, std::string_view subject, std::string_view name,
                                const Type* type, const Value& value);

/// Returns "NAME expects an Integer value, got String" for two types. A nested position follows
/// NAME ("index 0", "entry 'a'"). Several mismatches are joined, one per line.
std::string describe_type_mismatch(Context& ctx, std::string_view name, const Type* expected,
                                   const Type* actual);
/// Returns the signature as the messages list it: "String x, Integer y?, Callable &block".
std::string signature_text(Context& ctx, const Signature& signature);

/// Returns a word with its article: "a String", "an Integer".
std::string a_an(std::string_view word);
std::string a_an_uc(std::string_view word);

}  // namespace bunraku::types
