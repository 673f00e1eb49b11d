// SPDX-License-Identifier: Apache-2.0
// The texts that a run must not show: values that the catalog marks as Sensitive, and parts of them
// that messages quote.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/value/value.h"

namespace bunraku::apply {

class Secrets {
public:
    enum class Parts : std::uint8_t {
        All,   ///< also words and text after `=`; for messages of the value's own resource
        Whole  ///< only values and lines long enough not to match by chance; for all messages
    };

    /// Adds the texts in a value, at any depth. Unwraps Sensitive values.
    void add(const value::Value& v, Parts parts);
    /// Adds only the Sensitive values inside a value, and Deferred values that produce a Sensitive.
    void add_marked(const value::Value& v, Parts parts);
    bool empty() const { return texts_.empty(); }
    /// Returns `text` with "[redacted]" in place of each secret.
    std::string hide(std::string text) const;

private:
    void add_text(std::string_view text, Parts parts);
    void add_one(std::string_view text);

    /// sorted by descending length once `sorted_` is true
    mutable std::vector<std::string> texts_;
    mutable bool sorted_ = true;
    std::unordered_set<std::string> known_;
};

}  // namespace bunraku::apply
