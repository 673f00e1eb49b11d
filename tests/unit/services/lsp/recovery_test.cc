// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/recovery.h"

#include <gtest/gtest.h>

#include "services/lsp/analyze.h"

namespace bunraku::lsp {
namespace {

/// Returns the names of the definitions and resources that remain in a broken text.
std::string remaining(std::string_view text, bool epp = false) {
    const auto parsed = parse_with_recovery("a.pp", text, epp);
    EXPECT_TRUE(parsed.error);
    std::string out;
    for (const auto& occurrence : symbols_of_manifest(*parsed.tree).occurrences) {
        if (occurrence.role != Role::Define || occurrence.key.kind == SymbolKind::Variable)
            continue;
        out += std::string(occurrence.key.name.view()) + " ";
    }
    return out;
}

TEST(RecoveryTest, HidesOnlyTheLinesAroundTheError) {
    EXPECT_EQ(remaining("class a {\n"
                        "  file { '/x': ensure => file }\n"
                        "  if $x ==\n"
                        "  file { '/y': ensure => file }\n"
                        "}\n"
                        "class b { }\n"),
              "a file[/x] file[/y] b ");
    EXPECT_EQ(remaining("class a {\n"
                        "  file { '/x':\n"
                        "    ensure => file,\n"
                        "  service { 'y': }\n"
                        "}\n"),
              "a service[y] ");
    EXPECT_EQ(remaining("class a {\n"
                        "  file { '/x':\n"
                        "    ensure =>\n"
                        "  }\n"
                        "  service { 'y': }\n"
                        "}\n"),
              "a file[/x] service[y] ");
}

TEST(RecoveryTest, AddsBracketsThatAreMissingAtTheEnd) {
    EXPECT_EQ(remaining("class a {\n  file { '/x': ensure => file }\n  if $x {\n"), "a file[/x] ");
}

TEST(RecoveryTest, HidesABracketThatOthersClose) {
    EXPECT_EQ(remaining("class a {\n  if $x {\n}\nclass b { }\n"), "a b ");
}

TEST(RecoveryTest, FindsTheLineOfAnOpenQuote) {
    EXPECT_EQ(remaining("class a {\n"
                        "  $x = 'open\n"
                        "  file { '/y': ensure => file }\n"
                        "}\n"
                        "class b { }\n"),
              "a file[/y] b ");
}

TEST(RecoveryTest, SurvivesTextThatIsNotCode) {
    const auto parsed = parse_with_recovery("a.pp", ")))]]}}\xFF\n'\n", false);
    EXPECT_TRUE(parsed.error);
    EXPECT_TRUE(parsed.tree);
}

TEST(RecoveryTest, KeepsOffsets) {
    const std::string text = "class a {\n  $x = )\n}\nclass b { }\n";
    const auto parsed = parse_with_recovery("a.pp", text, false);
    const auto symbols = symbols_of_manifest(*parsed.tree);
    ASSERT_EQ(symbols.definitions.size(), 2u);
    EXPECT_EQ(symbols.definitions[1].name_span.offset, text.find("b {"));
}

}  // namespace
}  // namespace bunraku::lsp
