// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "language/syntax/lexer.h"

namespace bunraku::syntax {
namespace {

/// Returns the trivia of a text, each as one letter for its kind and its text.
std::vector<std::string> trivia_of(const std::string& text) {
    const Source source("f.pp", text);
    base::Arena arena;
    std::vector<Trivia> trivia;
    const TokenStream with = tokenize(source, arena, {.trivia = &trivia});
    const TokenStream without = tokenize(source, arena, {});
    EXPECT_EQ(with.tokens.size(), without.tokens.size());
    std::vector<std::string> found;
    for (const Trivia& one : trivia) {
        constexpr const char* kKinds[] = {"L", "B", "H"};
        found.push_back(kKinds[static_cast<int>(one.kind)] + text.substr(one.offset, one.length));
    }
    return found;
}

using Strings = std::vector<std::string>;

TEST(TriviaTest, Comments) {
    EXPECT_EQ(trivia_of("$a = 1 # one \n#two\n/* three\n */ $b /**/"),
              (Strings{"L# one ", "L#two", "B/* three\n */", "B/**/"}));
    EXPECT_EQ(trivia_of("$a = '# no' + \"/* no */\""), Strings{});
    EXPECT_EQ(trivia_of("$a = \"${ # yes\n1}\""), Strings{"L# yes"});
}

TEST(TriviaTest, TextsOfHeredocs) {
    EXPECT_EQ(trivia_of("f(@(A), @(B)) # c\n # a\n | A\nb\nB\n$d"),
              (Strings{"H # a\n | A\n", "Hb\nB\n", "L# c"}));
    // Trivia within the text of a heredoc are part of it.
    EXPECT_EQ(trivia_of("$a = @(\"A\")\n${ # no\n1 }\nA"), Strings{"H${ # no\n1 }\nA"});
}

}  // namespace
}  // namespace bunraku::syntax
