// The texts that a run must not show: values that the catalog calls Sensitive, and what messages
// quote of them.
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
        All,   ///< also words, and what follows a `=`: for messages of the value's own resource
        Whole  ///< values and lines that are long enough to be nothing else: for every message
    };

    /// Adds the texts in a value, at any depth; Sensitive is unwrapped.
    void add(const value::Value& v, Parts parts);
    /// Adds only what is Sensitive in a value, or is made so by a Deferred in it.
    void add_marked(const value::Value& v, Parts parts);
    bool empty() const { return texts_.empty(); }
    /// Returns `text` with "[redacted]" in place of each secret.
    std::string hide(std::string text) const;

private:
    void add_text(std::string_view text, Parts parts);
    void add_one(std::string_view text);

    mutable std::vector<std::string> texts_;  ///< the longest first, once they are sorted
    mutable bool sorted_ = true;
    std::unordered_set<std::string> known_;
};

}  // namespace bunraku::apply
