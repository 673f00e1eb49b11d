// PostgreSQL's "advanced regular expressions" on Oniguruma, for the embedded store: the same
// patterns mean the same on both backends, and the same messages come for bad ones.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace bunraku::query {

class AreRegex {
public:
    ~AreRegex();
    /// Throws QueryError ("ERROR: invalid regular expression: parentheses () not balanced").
    static std::shared_ptr<const AreRegex> compile(std::string_view pattern);
    /// The same through a bounded cache of this thread.
    static std::shared_ptr<const AreRegex> cached(std::string_view pattern);

    /// Anywhere in the text. Throws QueryError where the search gives up: patterns may backtrack
    /// only so much.
    bool matches(std::string_view text) const;

    AreRegex(const AreRegex&) = delete;
    AreRegex& operator=(const AreRegex&) = delete;

private:
    AreRegex() = default;
    void* compiled_ = nullptr;
};

/// The pattern in Oniguruma's syntax; throws QueryError.
std::string translate_are(std::string_view pattern, bool* ignore_case);

}  // namespace bunraku::query
