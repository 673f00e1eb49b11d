// SPDX-License-Identifier: Apache-2.0
#include "language/format/layout.h"

#include <gtest/gtest.h>

namespace bunraku::format {
namespace {

/// Adds a list in brackets.
void add_list(Layout& out, std::initializer_list<const char*> items,
              Layout::Break when = Layout::Break::IfTooLong) {
    out.begin(when);
    out.text("[");
    out.indent();
    bool first = true;
    for (const char* item : items) {
        if (!first) out.text(",");
        first ? out.soft() : out.line();
        first = false;
        out.text(item);
    }
    out.if_broken(",");
    out.dedent();
    out.soft();
    out.text("]");
    out.end();
}

TEST(LayoutTest, GroupsBreakIfTheyAreTooLong) {
    Layout out;
    add_list(out, {"abc", "def"});
    EXPECT_EQ(out.render(10), "[abc, def]\n");
    EXPECT_EQ(out.render(9), "[\n  abc,\n  def,\n]\n");
}

TEST(LayoutTest, TheTextAfterAGroupCounts) {
    Layout out;
    add_list(out, {"abc", "def"});
    out.text(";");
    EXPECT_EQ(out.render(10), "[\n  abc,\n  def,\n];\n");
}

TEST(LayoutTest, AnOuterGroupStaysInOneLineAroundABrokenOne) {
    Layout out;
    out.begin();
    out.text("f(");
    out.indent();
    out.soft();
    add_list(out, {"abc"}, Layout::Break::Always);
    out.dedent();
    out.soft();
    out.text(")");
    out.end();
    EXPECT_EQ(out.render(10), "f([\n  abc,\n])\n");
    EXPECT_EQ(out.render(2), "f(\n  [\n    abc,\n  ]\n)\n");
}

TEST(LayoutTest, CommentsEndTheirLine) {
    Layout out;
    out.text("a");
    out.comment("# c");
    out.text("b");
    out.hard(true);
    out.hard();
    out.text("d");
    EXPECT_EQ(out.render(10), "a # c\nb\n\nd\n");
}

TEST(LayoutTest, InlineCommentsCountInOneLine) {
    const auto with_comment = [](Layout& out, const char* item) {
        out.begin();
        out.text("[");
        out.indent();
        out.soft();
        add_list(out, {item});
        out.space();
        out.inline_comment("/**/");
        out.dedent();
        out.soft();
        out.text("]");
        out.end();
    };
    Layout fits, breaks;
    with_comment(fits, "a");
    EXPECT_EQ(fits.render(10), "[[a] /**/]\n");
    with_comment(breaks, "abcdef");
    EXPECT_EQ(breaks.render(10), "[\n  [abcdef] /**/\n]\n");
}

TEST(LayoutTest, HeredocsFollowTheirLine) {
    Layout out;
    out.text("@(E)");
    out.heredoc("text\nE\n");
    out.text(",");
    out.space();
    out.text("'x\ny'");
    EXPECT_EQ(out.render(80), "@(E),\ntext\nE\n'x\ny'\n");
}

TEST(LayoutTest, WidthCountsCharacters) {
    EXPECT_EQ(width_of("aäé"), 3);
    Layout out;
    const std::size_t begin = out.size();
    out.text("ä");
    out.space();
    out.text("b");
    EXPECT_EQ(out.flat_width(begin, out.size()), 3);
    out.hard();
    EXPECT_EQ(out.flat_width(begin, out.size()), -1);
}

}  // namespace
}  // namespace bunraku::format
