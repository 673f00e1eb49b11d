// SPDX-License-Identifier: Apache-2.0
// Checks for usual calls of stdlib's functions (evaluator::Builtin::usual). Usual calls are those
// that manifests make. The built-in function and every compared release return the same result for
// them. With other arguments, the release's own Ruby code decides the result.
// tools/stdlib_releases/compare tests both kinds.
#pragma once

#include "language/evaluator/function.h"

namespace bunraku::function::usual {

using evaluator::Call;

/// Accepts plain ASCII data without a block. No argument contains a type, a Sensitive, a pattern or
/// default.
bool data(const Call& call);
/// Accepts plain data whose first argument is a non-empty hash or array, or whose arguments are all
/// arrays.
bool collection(const Call& call);
bool arrays(const Call& call);
/// Accepts two or more hashes without a block.
bool hashes(const Call& call);
/// Accepts non-empty texts, or lists of them.
bool texts(const Call& call);
/// Accepts one number, or a text that contains one.
bool number(const Call& call);
/// Accepts texts, and an optional text with the characters to squeeze.
bool squeeze(const Call& call);
/// Accepts an array and an integer.
bool element(const Call& call);
/// Accepts two integers, and a step greater than zero.
bool range(const Call& call);
bool nothing(const Call& call);
/// Accepts a key and a message.
bool deprecation(const Call& call);
/// Accepts a call in a class or define of a module.
bool assert_private(const Call& call);
/// Accepts a reference and the name of a parameter.
bool getparam(const Call& call);
/// Accepts a reference and a hash.
bool defined_with_params(const Call& call);
/// Accepts a type name, titles, and an optional hash of parameters.
bool ensure_resource(const Call& call);
/// Accepts a type name, a hash of hashes, and a hash of defaults.
bool ensure_resources(const Call& call);
/// Accepts names, and an optional hash of attributes.
bool ensure_packages(const Call& call);
/// Accepts a type, the name of an old function and a value that matches the type.
bool validate_legacy(const Call& call);
/// Accepts a pattern and a list.
bool matching(const Call& call);

}  // namespace bunraku::function::usual
