// SPDX-License-Identifier: Apache-2.0
// The explanation of an error for users. They see it below Puppet's message.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/diagnostic.h"
#include "language/hiera/errors.h"

namespace bunraku::compiler {

struct Explanation {
    struct Place {
        base::Location where;
        std::string text;  ///< description, such as "first declared here"
    };
    /// Location of the error, if it is more precise than the location that the message reports.
    base::Location where;
    std::vector<Place> places;             ///< other locations that belong to the error
    std::vector<std::string> suggestions;  ///< possible intended names, the likeliest first
    std::vector<std::string> hints;        ///< sentences
    bool empty() const {
        return !where.known() && places.empty() && suggestions.empty() && hints.empty();
    }
};

/// A PuppetError with an explanation.
class ExplainedError final : public base::PuppetError {
public:
    ExplainedError(const base::PuppetError& error, Explanation explained)
        : PuppetError(error),
          explanation(std::move(explained)),
          of_lookup(dynamic_cast<const hiera::LookupError*>(&error) != nullptr) {}
    Explanation explanation;
    bool of_lookup;  ///< True if the error was a hiera::LookupError.
};

class Compilation;

/// Explains an error from the state of the compile that just failed. Never throws, and adds no
/// reads to the trace of the compile.
Explanation explain_error(const base::PuppetError& error, Compilation& compilation);

/// Returns the locations that a text contains ("(file: F, line: L, column: C)"), in order.
std::vector<base::Location> places_in(std::string_view text);

}  // namespace bunraku::compiler
