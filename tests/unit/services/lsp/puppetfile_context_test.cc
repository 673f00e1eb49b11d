// SPDX-License-Identifier: Apache-2.0
// What a Puppetfile expects at the cursor, which is at the "|" of each text.
#include "services/lsp/puppetfile_context.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace bunraku::lsp {
namespace {

/// Returns the context as text: "what word", with a quote before a quoted word.
std::string context(std::string_view marked) {
    const std::size_t at = marked.find('|');
    const std::string text = std::string(marked.substr(0, at)) + std::string(marked.substr(at + 1));
    const auto found = puppetfile_context(text, static_cast<std::uint32_t>(at));
    constexpr std::string_view kNames[] = {"keyword", "module", "argument", "option", "nothing"};
    return fmt::format("{} {}{}", kNames[static_cast<std::size_t>(found.expected)],
                       found.quoted ? "'" : "", text.substr(found.word.offset, found.word.length));
}

TEST(LspPuppetfileContextTest, FindsKeywords) {
    EXPECT_EQ(context("|"), "keyword ");
    EXPECT_EQ(context("mo|"), "keyword mo");
    EXPECT_EQ(context("mod 'a/b', '1.0.0'\nf|"), "keyword f");
    EXPECT_EQ(context("# mod |"), "nothing ");
    EXPECT_EQ(context("'x|"), "nothing 'x");
}

TEST(LspPuppetfileContextTest, FindsModules) {
    EXPECT_EQ(context("mod |"), "module ");
    EXPECT_EQ(context("mod '|"), "module '");
    EXPECT_EQ(context("mod \"puppetlabs/st|dlib\""), "module 'puppetlabs/st");
    EXPECT_EQ(context("mod 'a/b' |"), "nothing ");
    EXPECT_EQ(context("forge 'https://|"), "nothing 'https://");
    EXPECT_EQ(context("moduledir '|"), "nothing '");
    // A quote that is not closed ends with its line.
    EXPECT_EQ(context("mod 'a/b\nmod 'c|"), "module 'c");
}

TEST(LspPuppetfileContextTest, FindsVersionsAndOptions) {
    EXPECT_EQ(context("mod 'a/b', |"), "argument ");
    EXPECT_EQ(context("mod 'a/b', '1.|"), "argument '1.");
    EXPECT_EQ(context("mod 'a/b', :g|"), "argument :g");
    EXPECT_EQ(context("mod 'a/b',\n  g|"), "argument g");
    EXPECT_EQ(context("mod 'a', git: 'x', |"), "option ");
    EXPECT_EQ(context("mod 'a',\n  :git => 'x', # why\n  :re|"), "option :re");
    EXPECT_EQ(context("mod 'a', git: '|"), "nothing '");
    EXPECT_EQ(context("mod 'a', :git => |"), "nothing ");
}

TEST(LspPuppetfileContextTest, KnowsTheEntry) {
    const std::string text = "mod 'a/b', :git => 'x', ref: 'y', ";
    const auto found = puppetfile_context(text, static_cast<std::uint32_t>(text.size()));
    EXPECT_EQ(found.module, "a/b");
    EXPECT_EQ(found.options, (std::vector<std::string>{"git", "ref"}));
}

}  // namespace
}  // namespace bunraku::lsp
