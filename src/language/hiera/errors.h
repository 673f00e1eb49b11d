// The three kinds of errors a lookup meets, because Puppet words them differently on their way out.
#pragma once

#include <string>
#include <utility>

#include "core/base/diagnostic.h"

namespace bunraku::hiera {

/// Puppet::DataBinding::LookupError (8.11): told as it is, without the place of the call. What is
/// neither this nor an ArgumentError becomes one inside of a lookup.
struct LookupError : base::PuppetError {
    explicit LookupError(std::string message, std::string issue_code = {},
                         base::Location where = {})
        : PuppetError(std::move(message), std::move(issue_code)) {
        verbatim = true;
        if (where.known()) at(std::move(where));
    }
};

/// An error of Ruby itself in Puppet's implementation: passes through lookups unchanged and is
/// worded by the evaluator ("Error while evaluating a Function Call, ...").
struct ArgumentError : base::PuppetError {
    explicit ArgumentError(std::string message) : PuppetError(std::move(message)) {}
};

}  // namespace bunraku::hiera
