// SPDX-License-Identifier: Apache-2.0
// PostgreSQL's "advanced regular expressions", implemented with Oniguruma for the embedded store.
// The same patterns have the same meaning on both backends, and invalid ones give the same
// messages.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace bunraku::query {

class AreRegex {
public:
    ~AreRegex();
    /// Compiles a pattern. Throws QueryError ("ERROR: invalid regular expression: parentheses ()
    /// not balanced").
    static std::shared_ptr<const AreRegex> compile(std::string_view pattern);
    /// Does the same as compile(), with a bounded cache per thread.
    static std::shared_ptr<const AreRegex> cached(std::string_view pattern);

    /// Reports whether the pattern matches anywhere in the text. Throws QueryError if the search
    /// exceeds the limit of backtracking.
    bool matches(std::string_view text) const;

    AreRegex(const AreRegex&) = delete;
    AreRegex& operator=(const AreRegex&) = delete;

private:
    AreRegex() = default;
    void* compiled_ = nullptr;
};

/// Translates the pattern to Oniguruma's syntax. Throws QueryError if it is invalid.
std::string translate_are(std::string_view pattern, bool* ignore_case);

}  // namespace bunraku::query
