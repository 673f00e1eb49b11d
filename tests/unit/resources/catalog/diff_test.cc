// SPDX-License-Identifier: Apache-2.0
// Tests differences of catalogs: lines, values inside parameters, ignored parts, output.
#include "resources/catalog/diff.h"

#include <fmt/format.h>

#include "resources/catalog/diff_filter.h"
#include "resources/catalog/diff_text.h"
#include "resources/catalog/line_diff.h"
#include "support.h"

namespace bunraku::catalog {
namespace {

std::string joined(const std::vector<std::string>& lines) {
    return fmt::format("{}", fmt::join(lines, "\n"));
}

TEST(LineDiff, MatchesDiffU) {
    struct Case {
        const char *before, *after, *expected;
    } cases[] = {
        {"a\n", "a\n", ""},
        {"a\n", "b\n", "@@ -1 +1 @@\n-a\n+b"},
        {"a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c"},
        {"", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b"},
        {"a\nb", "", "@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file"},
        {"a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a"},
        {"a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n",
         "@@ -1,7 +1,6 @@\n-a\n-b\n c\n+b\n a\n b\n-b\n a\n+c"},
    };
    for (const auto& c : cases)
        EXPECT_EQ(joined(line_diff(c.before, c.after)), c.expected) << c.before;
    EXPECT_EQ(joined(line_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\nx\n3\n4\n5\n6\n7\ny\n9\n", 2)),
              "@@ -1,4 +1,4 @@\n 1\n-2\n+x\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n-8\n+y\n 9");
    // Beyond the limit, everything between the first and the last difference counts as replaced.
    EXPECT_EQ(joined(line_diff("a\nb\nc\nd\n", "a\nx\nc\ny\n", 0, 1)),
              "@@ -2,3 +2,3 @@\n-b\n-c\n-d\n+x\n+c\n+y");
}

std::string catalog_json(const std::string& resources) {
    return R"({"name":"n","version":1,"environment":"production","resources":[)" + resources +
           R"(],"edges":[],"classes":[]})";
}

const std::string kOld = catalog_json(
    R"({"type":"File","title":"/etc/a","tags":["file","x"],"exported":false,"file":"/s.pp","line":3,
        "parameters":{"mode":"0644","content":"one\ntwo\nthree\n","options":{"k":{"a":1,"b":2},"l":[1,2,3]}}},
       {"type":"Exec","title":"gone","tags":[],"exported":false,"parameters":{"command":"/bin/true"}},
       {"type":"Notify","title":"secret","tags":[],"exported":false,"parameters":{"message":"old"},
        "sensitive_parameters":["message"]},
       {"type":"Class","title":"c","tags":[],"exported":false,"parameters":{"p":1}})");
const std::string kNew = catalog_json(
    R"({"type":"File","title":"/etc/a","tags":["file","y"],"exported":false,"file":"/s.pp","line":4,
        "parameters":{"mode":"0600","content":"one\n2\nthree\n","options":{"k":{"a":1,"b":3},"l":[1,3]},"owner":"root"}},
       {"type":"Service","title":"new","tags":["t"],"exported":false,"parameters":{"ensure":"running"}},
       {"type":"Notify","title":"secret","tags":[],"exported":false,"parameters":{"message":"new"},
        "sensitive_parameters":["message"]},
       {"type":"Class","title":"c","tags":[],"exported":false,"parameters":{"p":"1"}})");

std::string text(const std::vector<const char*>& ignore, DiffOptions how = {},
                 DiffTextOptions shown = {}, const std::vector<std::string>& tags = {}) {
    const Catalog before = catalog_of(kOld), after = catalog_of(kNew);
    CatalogDiff d = diff(before, after, how);
    std::vector<IgnorePattern> patterns;
    for (const char* p : ignore) {
        auto parsed = IgnorePattern::parse(p);
        EXPECT_TRUE(parsed) << p;
        if (parsed) patterns.push_back(*parsed);
    }
    apply_ignores(d, before, after, patterns, tags);
    std::string out;
    write_diff_text(out, d, before, after, shown);
    return out;
}

TEST(CatalogDiffText, Everything) {
    DiffOptions how;
    how.tags = false;
    DiffTextOptions shown;
    shown.detail_add = true;
    shown.places = true;
    const std::string rule = "*******************************************\n";
    EXPECT_EQ(text({}, how, shown), rule + "- Exec[gone]\n" + rule +
                                        "+ Service[new] =>\n"
                                        "   parameters =>\n"
                                        "     ensure => \"running\"\n" +
                                        rule +
                                        "  File[/etc/a] (/s.pp:4) =>\n"
                                        "   parameters =>\n"
                                        "     content =>\n"
                                        "      @@ -1,3 +1,3 @@\n"
                                        "       one\n"
                                        "      -two\n"
                                        "      +2\n"
                                        "       three\n"
                                        "     mode =>\n"
                                        "      - \"0644\"\n"
                                        "      + \"0600\"\n"
                                        "     options => k => b =>\n"
                                        "      - 2\n"
                                        "      + 3\n"
                                        "     options => l =>\n"
                                        "      @@ -1,3 +1,2 @@\n"
                                        "       1\n"
                                        "      -2\n"
                                        "       3\n"
                                        "     owner =>\n"
                                        "      + \"root\"\n" +
                                        rule +
                                        "  Notify[secret] =>\n"
                                        "   parameters =>\n"
                                        "     message =>\n"
                                        "      (sensitive value changed)\n" +
                                        rule +
                                        "  Class[C] =>\n"
                                        "   parameters =>\n"
                                        "     p =>\n"
                                        "      - 1\n"
                                        "      + \"1\"\n" +
                                        rule);
}

TEST(CatalogDiffText, Ignores) {
    DiffOptions how;
    how.tags = false;
    how.data_types = false;
    EXPECT_EQ(text({"*[*]"}, how), "");
    EXPECT_EQ(text({"Exec[go*]", "Service", "notify[secret]", "File[/etc/*]::mode=>0600",
                    "File[*]::content=~>^one", "File[*]::options::k",
                    "File[*]::options::l=->[1,2,3]", "File[*]::own*=+>root"},
                   how),
              "");
    // If the condition is false, nothing is ignored.
    EXPECT_NE(text({"Exec[*]", "Service[*]", "Notify[*]", "File[*]::content", "File[*]::options",
                    "File[*]::owner", "File[*]::mode=+>0644"},
                   how),
              "");
    EXPECT_EQ(text({"Exec[*]", "Notify[*]", "File"}, how, {}, {"t"}), "");
    EXPECT_FALSE(IgnorePattern::parse("File[/x"));
    EXPECT_FALSE(IgnorePattern::parse("File[/x]mode"));
    EXPECT_FALSE(IgnorePattern::parse("File[/x]::mode=~>("));
}

TEST(CatalogDiffText, Json) {
    const Catalog before = catalog_of(kOld), after = catalog_of(kNew);
    std::string out;
    write_diff_json(out, diff(before, after), before, after);
    EXPECT_EQ(
        out,
        R"({"added":[{"type":"Service","title":"new","parameters":{"ensure":"running"}}],)"
        R"("removed":[{"type":"Exec","title":"gone","parameters":{"command":"/bin/true"}}],)"
        R"("changed":[{"type":"File","title":"/etc/a","file":"/s.pp","line":4,"parameters":[)"
        R"({"name":"content","path":["content"],"before":"one\ntwo\nthree\n","after":"one\n2\nthree\n"},)"
        R"({"name":"mode","path":["mode"],"before":"0644","after":"0600"},)"
        R"({"name":"options","path":["options","k","b"],"before":2,"after":3},)"
        R"({"name":"options","path":["options","l"],"before":[1,2,3],"after":[1,3]},)"
        R"({"name":"owner","path":["owner"],"after":"root"}],"tags":{"added":["y"],"removed":["x"]}},)"
        R"({"type":"Notify","title":"secret","parameters":[{"name":"message","sensitive":true}]},)"
        R"({"type":"Class","title":"C","parameters":[{"name":"p","path":["p"],"before":1,"after":"1"}]}],)"
        R"("classes":{"added":[],"removed":[]},"relationships":{"added":[],"removed":[]}})");
}

}  // namespace
}  // namespace bunraku::catalog
