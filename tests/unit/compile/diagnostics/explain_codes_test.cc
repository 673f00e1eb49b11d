// SPDX-License-Identifier: Apache-2.0
#include "compile/diagnostics/explain_codes.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

namespace bunraku::diagnostics {
namespace {

const std::filesystem::path kSource = std::filesystem::path(BUNRAKU_TEST_DATA) / "..";

std::string text_of(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

/// Adds all "UPPER_CASE_WORDS" in quotes.
void add_codes(const std::string& text, std::set<std::string>& into) {
    for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; ++at) {
        std::size_t end = at + 1;
        while (end < text.size() && ((text[end] >= 'A' && text[end] <= 'Z') || text[end] == '_' ||
                                     (text[end] >= '0' && text[end] <= '9')))
            ++end;
        const std::string word = text.substr(at + 1, end - at - 1);
        if (end < text.size() && text[end] == '"' && word.find('_') != std::string::npos &&
            word.size() > 6)
            into.insert(word);
    }
}

// Every code that an error can have is in the table.
TEST(ExplainCodes, EveryCodeInTheSourceHasAnEntry) {
    // Words in capitals in these folders that are not codes.
    const std::set<std::string> others{
        "GIT_INDEX_FILE",      "GIT_NO_LAZY_FETCH", "GIT_OBJECT_DIRECTORY", "GIT_OPTIONAL_LOCKS",
        "GIT_TERMINAL_PROMPT", "GIT_DIR",           "GIT_WORK_TREE"};
    std::set<std::string> found;
    for (const char* folder :
         {"language/syntax", "language/types", "language/evaluator", "language/function",
          "language/hiera", "language/template", "language/environment", "compile/compiler",
          "core/value", "resources/catalog", "resources/restype"}) {
        for (const auto& file :
             std::filesystem::recursive_directory_iterator(kSource / "src" / folder))
            if (file.is_regular_file()) add_codes(text_of(file.path()), found);
    }
    ASSERT_GT(found.size(), 100U);
    std::string missing;
    for (const auto& code : found)
        if (!others.contains(code) && !explained_issue(code)) missing += code + " ";
    EXPECT_EQ(missing, "");
}

TEST(ExplainCodes, PageMatchesTable) {
    EXPECT_EQ(text_of(kSource / "docs/errors.md"), issue_page());
}

TEST(ExplainCodes, OneCode) {
    EXPECT_TRUE(std::ranges::is_sorted(issue_entries(), {}, &IssueEntry::code));
    EXPECT_EQ(explained_issue("div_by_zero"),
              "DIV_BY_ZERO\n\nA number is divided by zero, with `/` or `%`.\n\nCheck the divisor "
              "first: `if $n != 0 { .. }`.\n");
    EXPECT_FALSE(explained_issue("NO_SUCH_CODE"));
    EXPECT_FALSE(explained_issue(""));
    EXPECT_EQ(issue_suggestion("UNCLOSED_QUOTES"), "UNCLOSED_QUOTE");
    EXPECT_EQ(issue_suggestion("UNCLOSED_THINGS"),
              "HEREDOC_UNCLOSED_PARENTHESIS, UNCLOSED_MLCOMMENT, UNCLOSED_QUOTE");
    EXPECT_NE(issue_list().find("SYNTAX_ERROR\n    The code is not valid Puppet"),
              std::string::npos);
}

}  // namespace
}  // namespace bunraku::diagnostics
