// Which calls of stdlib's functions are answered alike here and by every release that was compared
// (evaluator::Builtin::usual): those that manifests make. What a release does with other arguments
// is its own Ruby's to say. tools/stdlib_releases/compare tries both kinds.
#pragma once

#include "language/evaluator/function.h"

namespace bunraku::function::usual {

using evaluator::Call;

/// Plain data in ASCII: no types, Sensitives, patterns or default anywhere, and no block.
bool data(const Call& call);
/// Plain data of which the first is a non-empty hash or array, or all are arrays.
bool collection(const Call& call);
bool arrays(const Call& call);
/// Two hashes or more and no block.
bool hashes(const Call& call);
/// Texts with something in them, or lists of such.
bool texts(const Call& call);
/// One number, or a text that stands for one.
bool number(const Call& call);
/// Texts, and one with what is squeezed.
bool squeeze(const Call& call);
/// An array and a whole number.
bool element(const Call& call);
/// Two whole numbers, and a step above zero.
bool range(const Call& call);
bool nothing(const Call& call);
/// A key and a message.
bool deprecation(const Call& call);
/// In a class or define of a module.
bool assert_private(const Call& call);
/// A reference and the name of a parameter.
bool getparam(const Call& call);
/// A reference and a hash.
bool defined_with_params(const Call& call);
/// A type's name, titles, and a hash of parameters where there is one.
bool ensure_resource(const Call& call);
/// A type's name, a hash of hashes, and one of defaults.
bool ensure_resources(const Call& call);
/// Names, and a hash of attributes where there is one.
bool ensure_packages(const Call& call);
/// A type, the name of an old function and a value that fits the type.
bool validate_legacy(const Call& call);
/// A pattern and a list.
bool matching(const Call& call);

}  // namespace bunraku::function::usual
