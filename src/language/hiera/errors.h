// SPDX-License-Identifier: Apache-2.0
// The three kinds of errors in a lookup. Puppet words each kind differently when it leaves the
// lookup.
#pragma once

#include <string>
#include <utility>

#include "core/base/diagnostic.h"

namespace bunraku::hiera {

/// Puppet::DataBinding::LookupError (8.11). It is reported unchanged, without the position of the
/// call. Inside a lookup, errors other than this and ArgumentError become a LookupError.
struct LookupError : base::PuppetError {
    explicit LookupError(std::string message, std::string issue_code = {},
                         base::Location where = {})
        : PuppetError(std::move(message), std::move(issue_code)) {
        verbatim = true;
        if (where.known()) at(std::move(where));
    }
};

/// A Ruby error in Puppet's implementation. It passes through lookups unchanged, and the evaluator
/// words it ("Error while evaluating a Function Call, ...").
struct ArgumentError : base::PuppetError {
    explicit ArgumentError(std::string message) : PuppetError(std::move(message)) {}
};

}  // namespace bunraku::hiera
