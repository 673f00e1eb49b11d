// What a compile knows of a mistake beside Puppet's text: for people, who see it below that text.
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
        std::string text;  ///< what is there: "first declared here"
    };
    /// Where the mistake stands, where that is nearer than what the text says first.
    base::Location where;
    std::vector<Place> places;             ///< others that belong to it
    std::vector<std::string> suggestions;  ///< what may have been meant, the likeliest first
    std::vector<std::string> hints;        ///< sentences
    bool empty() const {
        return !where.known() && places.empty() && suggestions.empty() && hints.empty();
    }
};

/// The same error, with what is to be said of it.
class ExplainedError final : public base::PuppetError {
public:
    ExplainedError(const base::PuppetError& error, Explanation explanation)
        : PuppetError(error),
          explanation(std::move(explanation)),
          of_lookup(dynamic_cast<const hiera::LookupError*>(&error) != nullptr) {}
    Explanation explanation;
    bool of_lookup;  ///< it was a hiera::LookupError
};

class Compilation;

/// What this compile, which just failed, has at hand. Never throws; reads nothing that the compile
/// would be said to have read.
Explanation explain_error(const base::PuppetError& error, Compilation& compilation);

/// The places that a text names ("(file: F, line: L, column: C)"), in their order.
std::vector<base::Location> places_in(std::string_view text);

}  // namespace bunraku::compiler
