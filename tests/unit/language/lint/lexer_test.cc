// SPDX-License-Identifier: Apache-2.0
#include "language/lint/lexer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace bunraku::lint {
namespace {

using T = TokenType;

/// Texts whose tokens must give the same text again.
constexpr std::string_view kTexts[] = {
    "class foo::bar (\n  Integer[1] $a = 0x1F,\n) inherits ::baz {\n\t$b = $a ? { /x/ => 'y' "
    "}\n}\n",
    "$a = \"b ${c} $d-e ${f['g']} ${h(\"i ${j}\")} \\\"k\\\" \\${l} $\"\r\n",
    "$a = \"\n$b\n${ c }\"",
    "$a = \"${}b${}\"",
    "$a = @(\"END\"/L)\n  text ${b} $c[1]\n  | END\n$d = @(X)\n$e\nX\n",
    "/* one\n * two */ // three\n# four",
    "$a[1]['b'] -> ~> <- <~ <| |> <<| |>> += +> == =~ !~ != >= <= << >> @@file { }",
    "$a = '\u00e4\u00f6' # \u00fc\n",
    "if $a =~ /b\\/c/ and 1 / 2 * 3 % 4 { }",
};

TEST(Lexer, LosesNothing) {
    for (const std::string_view text : kTexts) {
        TokenStream stream;
        EXPECT_FALSE(tokenise(text, stream)) << text;
        EXPECT_EQ(stream.text(), text);
    }
}

/// Returns the tokens except blanks as "LINE:COLUMN VALUE", separated by "|".
std::string places(std::string_view text) {
    TokenStream stream;
    EXPECT_FALSE(tokenise(text, stream));
    std::string out;
    for (const Token* token : stream.tokens())
        if (!token->is(T::Whitespace, T::Newline, T::Indent))
            out += fmt::format("{}{}:{} {}", out.empty() ? "" : "|", token->line, token->column,
                               token->value);
    return out;
}

TEST(Lexer, CountsCharacters) {
    EXPECT_EQ(places("'\u00e4\u00f6' $a"), "1:1 \u00e4\u00f6|1:6 a");
    EXPECT_EQ(places("'a\nb' $c"), "1:1 a\nb|2:4 c");
}

TEST(Lexer, PlacesPartsOfStrings) {
    EXPECT_EQ(places("\"a ${b} c $d\" e"), "1:1 a |1:6 b|1:7  c |1:11 d|1:13 |1:15 e");
    EXPECT_EQ(places("@(\"X\")\n  a ${b}\n  | X\n$c"), "1:1 \"X\"|2:1   a |2:7 b|2:8 \n  |4:1 c");
}

TEST(Lexer, DistinguishesNames) {
    TokenStream stream;
    EXPECT_FALSE(tokenise("foo foo( class Integer Foo::Bar 12 1a ::b type", stream));
    std::vector<TokenType> types;
    for (const Token* token : stream.tokens())
        if (!token->formatting()) types.push_back(token->type);
    EXPECT_EQ(types, (std::vector{T::Name, T::FunctionName, T::LeftParen, T::Class, T::Type,
                                  T::ClassReference, T::Number, T::Name, T::Name, T::Type}));
}

TEST(Lexer, ReportsErrors) {
    struct Case {
        std::string_view text;
        int line, column;
        std::string_view reason;
    };
    for (const Case& one :
         {Case{"$a = ^", 1, 6, ""}, Case{"\n  \"abc", 2, 3, "unterminated string"},
          Case{"'abc", 1, 1, ""}, Case{"@(X)\nabc", 2, 1, "unterminated heredoc"},
          Case{"@(X)\n", 2, 1, "unterminated heredoc"},
          Case{"@(X)\n/", 2, 1, "unterminated heredoc"}}) {
        TokenStream stream;
        const auto error = tokenise(one.text, stream);
        ASSERT_TRUE(error) << one.text;
        EXPECT_EQ(error->line, one.line) << one.text;
        EXPECT_EQ(error->column, one.column) << one.text;
        EXPECT_EQ(error->reason, one.reason) << one.text;
    }
}

TEST(Lexer, LimitsNesting) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "\"${";
    TokenStream stream;
    EXPECT_TRUE(tokenise(text, stream));
    for (int i = 0; i < 1000; ++i) text += "}\"";
    TokenStream nested;
    const auto error = tokenise(text, nested);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->reason, "strings nest too deeply");
}

}  // namespace
}  // namespace bunraku::lint
