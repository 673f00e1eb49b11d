// SPDX-License-Identifier: Apache-2.0
#include "services/console/html.h"

#include <gtest/gtest.h>

#include "services/console/url.h"

namespace bunraku::console {
namespace {

TEST(Html, EscapesTextAndAttributes) {
    Html h;
    {
        const auto p = h.in("p", {{"class", "a\"b<c>&'"},
                                  {"hidden", true},
                                  {"open", false},
                                  {"data-x", "gone", false},
                                  {"tabindex", 0}});
        h.text("<script>alert(\"1\")</script> & 'x'");
        h.empty("br").empty("path", {{"d", "M0 0"}});
    }
    EXPECT_EQ(h.take().text(),
              "<p class=\"a&quot;b&lt;c&gt;&amp;&#39;\" hidden tabindex=\"0\">"
              "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;"
              "<br><path d=\"M0 0\"/></p>");
}

TEST(Html, ShowsControlCharactersAndReplacesInvalidBytes) {
    EXPECT_EQ(escaped(std::string_view("a\0b\x1b[0m\x7f\n\t", 10)), "a␀b␛[0m␡\n\t");
    EXPECT_EQ(escaped("a\xff\xc3z"), "a\uFFFD\uFFFDz");
    EXPECT_EQ(escaped("ä→🙂"), "ä→🙂");
}

TEST(Html, IsolatesAndCutsForeignText) {
    Html h;
    h.foreign("\u202Eabc");
    EXPECT_EQ(h.take().text(), "<bdi>\u202Eabc</bdi>");
    h.foreign("ää<b>", 3);
    EXPECT_EQ(h.take().text(), "<bdi>ä…</bdi>");
    h.foreign("<b>", 3);
    EXPECT_EQ(h.take().text(), "<bdi>&lt;b&gt;</bdi>");
}

TEST(Html, LinksOnlyToSafeTargets) {
    struct Case {
        const char* target;
        bool safe;
    };
    for (const auto& c : std::initializer_list<Case>{{"/console/", true},
                                                     {"?a=b", true},
                                                     {"#main", true},
                                                     {"https://example.org/", true},
                                                     {"http://example.org/", true},
                                                     {"", true},
                                                     {"javascript:alert(1)", false},
                                                     {"JaVaScRiPt:alert(1)", false},
                                                     {"data:text/html,x", false},
                                                     {"//example.org/", false},
                                                     {"/\\example.org", false},
                                                     {"/a\nb", false},
                                                     {" javascript:alert(1)", false},
                                                     {"relative", false}}) {
        EXPECT_EQ(is_safe_target(c.target), c.safe) << c.target;
        Html h;
        h.link(c.target, "x");
        EXPECT_EQ(h.take().text().find("href=\"#\"") == std::string_view::npos, c.safe) << c.target;
    }
}

TEST(Url, EncodesSegmentsAndParameters) {
    EXPECT_EQ(Url({}).text(), "/console/");
    EXPECT_EQ(Url({"nodes", "a/b?c#d%&<ü"}).text(), "/console/nodes/a%2Fb%3Fc%23d%25%26%3C%C3%BC");
    EXPECT_EQ(Url({"nodes"}).with("x", "").with("q", "a&b=c d").with("z", "1").text(),
              "/console/nodes?q=a%26b%3Dc%20d&z=1");
}

}  // namespace
}  // namespace bunraku::console
