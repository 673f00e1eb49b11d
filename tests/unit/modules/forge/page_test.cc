// Tests the HTML pages: text from untrusted sources must be escaped.
#include <gtest/gtest.h>

#include "core/codec/base64.h"
#include "core/value/rich_data.h"
#include "modules/forge/downloads.h"
#include "modules/forge/http_api.h"
#include "modules/forge/markdown.h"
#include "modules/forge/search.h"
#include "modules/forge/service.h"
#include "unit/modules/module/support.h"

namespace bunraku::forge {
namespace {

TEST(Markdown, Table) {
    const std::vector<std::pair<const char*, const char*>> cases = {
        {"", ""},
        {"one\ntwo\n\nthree", "<p>one\ntwo</p>\n<p>three</p>\n"},
        {"# A *b* #\n## C", "<h1>A <em>b</em></h1>\n<h2>C</h2>\n"},
        {"A\n=\n\nB\n---", "<h1>A</h1>\n<h2>B</h2>\n"},
        {"a `<b>` ``x ` y``", "<p>a <code>&lt;b&gt;</code> <code>x ` y</code></p>\n"},
        {"**b** __c__ *d* _e_ ~~f~~ ***g***",
         "<p><strong>b</strong> <strong>c</strong> <em>d</em> <em>e</em> <del>f</del> "
         "<em><strong>g</strong></em></p>\n"},
        {"snake_case_name 2 * 3 * 4 a*", "<p>snake_case_name 2 * 3 * 4 a*</p>\n"},
        {"\\*no\\* \\<b>", "<p>*no* &lt;b&gt;</p>\n"},
        {"one  \ntwo", "<p>one<br>\ntwo</p>\n"},
        {"- a\n- b\n  - c\n\n1. x\n2. y",
         "<ul>\n<li>a</li>\n<li>b\n<ul>\n<li>c</li>\n</ul>\n</li>\n</ul>\n<ol>\n<li>x</li>\n"
         "<li>y</li>\n</ol>\n"},
        {"- a\n\n- b", "<ul>\n<li><p>a</p>\n</li>\n<li><p>b</p>\n</li>\n</ul>\n"},
        {"3) x", "<ol start=\"3\">\n<li>x</li>\n</ol>\n"},
        {"> a\nb\n> - c", "<blockquote>\n<p>a\nb</p>\n<ul>\n<li>c</li>\n</ul>\n</blockquote>\n"},
        {"```puppet\nclass { '<x>': }\n```\nafter",
         "<pre><code>class { &#39;&lt;x&gt;&#39;: }\n</code></pre>\n<p>after</p>\n"},
        {"~~~\n```\nnever closed", "<pre><code>```\nnever closed\n</code></pre>\n"},
        {"    code\n\n    more", "<pre><code>code\n\nmore\n</code></pre>\n"},
        {"* * *", "<hr>\n"},
        {"|a|b|\n|---|:---:|\n|1|`x\\|y`|\n|2|",
         "<table><tr><th>a</th><th>b</th></tr>\n<tr><td>1</td><td><code>x\\|y</code></td></tr>\n"
         "<tr><td>2</td><td></td></tr>\n</table>\n"},
        // Links may only have http(s) targets; images become links.
        {"[x](https://h/a?b=1&c=\"2\")",
         "<p><a href=\"https://h/a?b=1&amp;c=&quot;2&quot;\" rel=\"nofollow "
         "noopener\">x</a></p>\n"},
        {"[x](<https://h/> \"t\") <http://h> http://h.example/x.",
         "<p><a href=\"https://h/\" rel=\"nofollow noopener\">x</a> <a href=\"http://h\" "
         "rel=\"nofollow noopener\">http://h</a> <a href=\"http://h.example/x\" rel=\"nofollow "
         "noopener\">http://h.example/x</a>.</p>\n"},
        {"[x](javascript:alert(1)) [y](data:text/html,z) [z](//evil) [w](#top) [v](./LICENSE)",
         "<p>x y z w v</p>\n"},
        {"[x](JavaScript:alert`1`)", "<p>x</p>\n"},
        {"[x](java\nscript:alert)", "<p>[x](java\nscript:alert)</p>\n"},
        {"![shield](https://h/s.svg) ![](javascript:x)",
         "<p><a href=\"https://h/s.svg\" rel=\"nofollow noopener\">shield</a> image</p>\n"},
        {"[![shield](https://h/s.svg)](https://h/b)",
         "<p><a href=\"https://h/b\" rel=\"nofollow noopener\">shield</a></p>\n"},
        {"[a [b](http://in)](http://out)",
         "<p>[a <a href=\"http://in\" rel=\"nofollow noopener\">b</a>](http://out)</p>\n"},
        // HTML is not passed through.
        {"<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"},
        {"a <img src=x onerror=alert(1)> b <!-- c -->",
         "<p>a &lt;img src=x onerror=alert(1)&gt; b &lt;!-- c --&gt;</p>\n"},
        {"<div>\n\n# x\n</div>", "<p>&lt;div&gt;</p>\n<h1>x</h1>\n<p>&lt;/div&gt;</p>\n"},
        {"[<b>](http://h/<b>)",
         "<p><a href=\"http://h/&lt;b&gt;\" rel=\"nofollow noopener\">&lt;b&gt;</a></p>\n"},
        {"&lt;b&gt;", "<p>&lt;b&gt;</p>\n"},
        {"[open](http://h [ ![ `` ** _ <", "<p>[open](http://h [ ![ `` ** _ &lt;</p>\n"},
    };
    for (const auto& [text, want] : cases) EXPECT_EQ(markdown_html(text), want) << text;
}

TEST(Markdown, EscapesForeignMarkup) {
    std::vector<std::string> hostile;
    for (const char* piece :
         {"[", "![", "*", "_",  "**a", "`", "``a",  "> ",  "- ",     "1. ", "[a](",
          "<", "|",  "#", "~~", "\\",  "h", "[]()", "*a_", "    - ", ">- ", "[![a]("}) {
        std::string text;
        while (text.size() < 20000) text += piece;
        hostile.push_back(text);
        hostile.push_back(text + "\n" + text);
        std::string lines;
        for (int i = 0; i < 2000; ++i)
            lines += std::string(static_cast<std::size_t>(i % 60), ' ') + piece + "x\n";
        hostile.push_back(lines);
    }
    using namespace std::string_literals;
    hostile.push_back("\0\xff\xfe<script>\r\n\x1b[31m"s);
    for (const std::string& text : hostile) {
        const std::string page = markdown_html(text);
        for (std::size_t at = 0; (at = page.find('<', at)) != std::string::npos; ++at) {
            ASSERT_TRUE(is_markdown_tag(std::string_view(page).substr(at)))
                << text.substr(0, 30) << ": " << page.substr(at, 60);
        }
    }
    EXPECT_FALSE(is_markdown_tag("<script>"));
    EXPECT_FALSE(is_markdown_tag("<a href=\"javascript:x\">"));
    EXPECT_FALSE(is_markdown_tag("<p onclick=x>"));
}

/// A repository whose modules contain hostile metadata.
class Pages : public testing::Test {
protected:
    Pages() : service({.root = scratch.path + "/forge", .token = "secret"}) {
        mount(router, service);
        ForgeStore& forge_store = service.forge_store();
        EXPECT_TRUE(forge_store.create("r"));
        const std::string lib =
            R"([{"name":"a/lib","version_requirement":">= 1.0.0"},{"name":"x/gone"}])";
        put("a-web", "1.0.0", lib, "# Web\n\nold\n");
        put("a-web", "1.1.0", lib, "# Web\n\n<script>alert(1)</script> **new**\n");
        put("a-lib", "1.0.0", "[]", "lib");
        put("b-webby", "2.0.0", R"([{"name":"a-web"}])", "x",
            R"x(,"tags":["<i>","web"],"project_page":"javascript:alert(1)")x");
        put("c-other", "1.0.0", "[]", "x", R"(,"summary":"</title><script>\u0001 web")");
        EXPECT_TRUE(forge_store.change_flags("r", [](Flags& f) -> base::Result<void> {
            f.deprecated.push_back({"c-other", "2020-01-01 00:00:00 +0000", "<b>bad</b>", "a-web"});
            return {};
        }));
        EXPECT_TRUE(forge_store.publish("r"));
    }
    void put(const std::string& name, const std::string& version, const std::string& needs,
             const std::string& readme, const std::string& more = {}) {
        const std::string top = name + "-" + version;
        const std::string bytes = http::gzip(module::test::tar(
            {{top + "/", "", '5'},
             {top + "/metadata.json", module::test::metadata(name, version, needs, more)},
             {top + "/README.md", readme},
             {top + "/data", std::string("\0\1", 2) + version}}));
        auto done = service.forge_store().upload("r", bytes);
        EXPECT_TRUE(done) << done.error().message;
    }
    http::Response ask(const std::string& target, const std::string& header = {},
                       const std::string& value = {}) {
        http::Request r;
        r.method = "GET";
        r.target = target;
        const std::size_t mark = target.find('?');
        r.path = target.substr(0, mark);
        if (mark != std::string::npos) r.query = *http::parse_query(target.substr(mark + 1));
        if (!header.empty()) r.headers.set(header, value);
        return router.handle(r);
    }
    std::string body(const std::string& target) {
        const http::Response r = ask(target);
        EXPECT_EQ(r.status, 200) << target;
        EXPECT_EQ(r.body.find("<script"), std::string::npos) << target << r.body;
        EXPECT_EQ(r.body.find("javascript:"), std::string::npos) << target << r.body;
        EXPECT_EQ(r.body.find("<i>"), std::string::npos) << target << r.body;
        EXPECT_EQ(r.body.find("<b>bad"), std::string::npos) << target << r.body;
        return r.body;
    }
    /// Returns the modules of a v3 response, in their order.
    std::string modules(const std::string& query) {
        base::Arena arena;
        const std::string text = ask("/pulp_puppet/forge/repository/r/v3/modules?" + query).body;
        auto v = value::parse_json(arena, text);
        EXPECT_TRUE(v) << text;
        std::string out;
        for (const auto& m : v->as_hash().find("results")->as_array()) {
            out += (out.empty() ? "" : " ") + std::string(m.as_hash().find("slug")->as_string());
        }
        return out;
    }
    static void has(const std::string& text, const std::string& what) {
        EXPECT_NE(text.find(what), std::string::npos) << "no " << what << " in " << text;
    }
    module::test::Scratch scratch;
    ForgeService service;
    http::Router router;
};

TEST_F(Pages, ShowContent) {
    has(body("/forge"), "<a href=\"/forge/r\">r</a></td><td>4 modules</td><td>5 releases</td>");
    const std::string all = body("/forge/r");
    has(all, "4 modules");
    has(all, "<a href=\"/forge/r/a-web\">a-web</a></td><td>1.1.0</td>");
    has(all, "<strong>deprecated</strong> &lt;/title&gt;");
    const std::string found = body("/forge/r?q=WEB");
    EXPECT_LT(found.find("/forge/r/a-web\""), found.find("/forge/r/b-webby\""));
    EXPECT_LT(found.find("/forge/r/b-webby\""), found.find("/forge/r/c-other\""));
    EXPECT_EQ(found.find("/forge/r/a-lib\""), std::string::npos);
    has(body("/forge/r?q=%22%3E%3Cscript%3E"), "value=\"&quot;&gt;&lt;script&gt;\"");
    const std::string web = body("/forge/r/a-web");
    has(web, "<h1>a-web 1.1.0</h1>");
    has(web, "&lt;script&gt;alert(1)&lt;/script&gt; <strong>new</strong>");
    has(web, "mod 'a-web', '1.1.0'");
    has(web, "<li><a href=\"/forge/r/a-lib\">a-lib</a> &gt;= 1.0.0</li>");
    has(web, "<li>x-gone &gt;= 0.0.0</li>");
    has(web, "Needed by 1</h2>\n<ul>\n<li><a href=\"/forge/r/b-webby\">b-webby</a> 2.0.0 needs");
    has(web, "/forge/r/a-web/diff?from=1.0.0&amp;to=1.1.0");
    has(body("/forge/r/a-web/1.0.0"), "<p>old</p>");
    has(body("/forge/r/c-other"),
        "<strong>Deprecated</strong> &lt;b&gt;bad&lt;/b&gt; Instead: <a "
        "href=\"/forge/r/a-web\">");
    has(body("/forge/r/b-webby"), "&lt;i&gt;");
    const std::string diff = body("/forge/r/a-web/diff?from=1.0.0&to=1.1.0");
    has(diff, "<span class=\"del\">-old</span>");
    has(diff, "<span class=\"add\">+&lt;script&gt;alert(1)&lt;/script&gt; **new**</span>");
    has(diff, "<h3>data</h3>\n<p>No text");
    has(body("/forge/r/a-web/diff?from=1.0.0&to=1.0.0"), "They hold the same files");
    for (const char* path : {"/forge/nope", "/forge/r/a-nope", "/forge/r/a-web/9.9.9", "/forge/r/x",
                             "/forge/r/a-web/1.0.0/x", "/forge/r/a-web/diff",
                             "/forge/..%2f..%2fetc", "/forge/r/a-web/diff?from=1.0.0&to=../x"}) {
        EXPECT_EQ(ask(path).status, 404) << path;
    }
    const http::Response page = ask("/forge/r/a-web");
    has(std::string(page.headers.get("Content-Security-Policy")), "default-src 'none'");
    EXPECT_EQ(page.headers.get("X-Content-Type-Options"), "nosniff");
}

TEST_F(Pages, Feeds) {
    const http::Response feed = ask("/forge/r/releases.atom");
    EXPECT_EQ(feed.headers.get("Content-Type"), "application/atom+xml;charset=utf-8");
    has(feed.body, "<title>New releases of r</title>");
    has(feed.body, "<id>urn:bunraku:forge:r:a-web-1.1.0</id>");
    has(feed.body, "<summary>&lt;/title&gt;&lt;script&gt; web</summary>");
    EXPECT_EQ(feed.body.find('\1'), std::string::npos);
    EXPECT_EQ(ask("/forge/r/releases.atom", "If-None-Match", std::string(feed.headers.get("ETag")))
                  .status,
              304);
    const std::string one = ask("/forge/r/a-web/releases.atom").body;
    has(one, "urn:bunraku:forge:r:a-web-1.0.0");
    EXPECT_EQ(one.find("a-lib"), std::string::npos);
}

TEST_F(Pages, AuthorsAreSorted) {
    const std::string v3 = "/pulp_puppet/forge/repository/r/v3";
    DownloadCounts& counts = service.downloads();
    const auto users = [&](const std::string& query) {
        std::string out;
        const std::string body = ask(v3 + "/users?" + query).body;
        for (std::size_t at = 0; (at = body.find("\"slug\":\"", at)) != std::string::npos;) {
            at += 8;
            out += (out.empty() ? "" : " ") + body.substr(at, body.find('"', at) - at);
        }
        return out;
    };
    EXPECT_EQ(users(""), "a b c");
    EXPECT_EQ(users("sort_by=username"), "a b c");
    EXPECT_EQ(users("sort_by=releases"), "a b c");
    counts.count("r", "c-other-1.0.0");
    counts.count("r", "c-other-1.0.0");
    counts.count("r", "b-webby-2.0.0");
    EXPECT_EQ(users("sort_by=downloads"), "c b a");
    EXPECT_EQ(users("sort_by=latest_release&limit=1").size(), 1U);
    EXPECT_EQ(ask(v3 + "/users?sort_by=rank").status, 400);
}

TEST_F(Pages, CountsAndOrders) {
    const std::string v3 = "/pulp_puppet/forge/repository/r/v3";
    for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(v3 + "/files/a-lib-1.0.0.tar.gz").status, 200);
    EXPECT_EQ(ask("/pulp/puppet/r/system/releases/a/a/a-web-1.0.0.tar.gz").status, 200);
    EXPECT_EQ(ask("/pulp/puppet_files/r/a-web-1.1.0.tar.gz").status, 200);
    // Partial and conditional requests do not count as downloads.
    EXPECT_EQ(ask(v3 + "/files/a-web-1.1.0.tar.gz", "Range", "bytes=10-").status, 206);
    const std::string tag(
        ask("/pulp/puppet_files/r/a-web-1.1.0.tar.gz", "Range", "bytes=5-9").headers.get("ETag"));
    EXPECT_EQ(ask(v3 + "/files/a-web-1.1.0.tar.gz", "If-None-Match", tag).status, 304);
    EXPECT_EQ(ask(v3 + "/files/a-web-9.9.9.tar.gz").status, 404);
    DownloadCounts& counts = service.downloads();
    EXPECT_EQ(counts.of_release("r", "a-lib-1.0.0"), 3U);
    EXPECT_EQ(counts.of_module("r", "a-web"), 2U);
    has(ask(v3 + "/releases/a-lib-1.0.0").body, "\"downloads\":3,");
    has(ask(v3 + "/modules/a-web?exclude_fields=current_release").body, "\"downloads\":2,");
    EXPECT_EQ(modules("sort_by=downloads"), "a-lib a-web b-webby c-other");
    EXPECT_EQ(modules("sort_by=rank&query=web"), "a-web b-webby c-other");
    EXPECT_EQ(modules("query=web"), "a-web b-webby c-other");
    EXPECT_EQ(ask(v3 + "/modules?sort_by=downloads").headers.get("ETag"), "");
    // Counts are added to those that other processes have written, and the next process reads them.
    counts.flush();
    EXPECT_EQ(service.forge_store().downloads("r"),
              "a-lib-1.0.0\t3\na-web-1.0.0\t1\na-web-1.1.0\t1\n");
    ForgeService other({.root = scratch.path + "/forge"});
    EXPECT_EQ(other.downloads().of_release("r", "a-lib-1.0.0"), 3U);
    other.downloads().count("r", "a-lib-1.0.0");
    other.downloads().flush();
    counts.count("r", "a-lib-1.0.0");
    counts.flush();
    EXPECT_EQ(counts.of_release("r", "a-lib-1.0.0"), 5U);
    EXPECT_EQ(counts.of_module("r", "a-lib"), 5U);
    // Counts of a removed repository are deleted.
    counts.count("r", "a-lib-1.0.0");
    ASSERT_TRUE(service.forge_store().remove_repository("r"));
    counts.flush();
    ASSERT_TRUE(service.forge_store().create("r"));
    EXPECT_EQ(service.forge_store().downloads("r"), "");
    EXPECT_EQ(counts.of_release("r", "a-lib-1.0.0"), 0U);
}

TEST_F(Pages, TextsAsHtml) {
    const std::string v3 = "/pulp_puppet/forge/repository/r/v3";
    has(ask(v3 + "/releases/a-web-1.0.0").body, R"("readme":"# Web\n\nold\n")");
    has(ask(v3 + "/releases/a-web-1.0.0?with_html=true").body,
        R"("readme":"<h1>Web</h1>\n<p>old</p>\n")");
    const std::string module = ask(v3 + "/modules/a-web?with_html=true").body;
    has(module, "&lt;script&gt;alert(1)&lt;/script&gt; <strong>new</strong>");
    has(module, R"("changelog":null)");
    base::Arena arena;
    for (const char* path :
         {"/v3/openapi.json", "/pulp_puppet/forge/repository/r/v3/openapi.json"}) {
        const std::string text = ask(path).body;
        auto api = value::parse_json(arena, text);
        ASSERT_TRUE(api) << api.error().message;
        EXPECT_EQ(api->as_hash().find("openapi")->as_string(), "3.0.3");
        const auto* paths = api->as_hash().find("paths");
        EXPECT_TRUE(paths->as_hash().find("/v3/modules/{module_slug}")->as_hash().find("patch"));
        // Every described path exists.
        for (const auto& e : paths->as_hash()) {
            std::string p(e.key.as_string());
            for (const auto& [name, value] :
                 {std::pair{"{module_slug}", "a-web"}, std::pair{"{release_slug}", "a-web-1.0.0"},
                  std::pair{"{filename}", "a-web-1.0.0.tar.gz"}, std::pair{"{user_slug}", "a"}}) {
                if (const std::size_t at = p.find(name); at != std::string::npos) {
                    p.replace(at, std::string_view(name).size(), value);
                }
            }
            if (p.find('{') != std::string::npos || p.find("search_filters") != std::string::npos)
                continue;
            EXPECT_EQ(ask("/pulp_puppet/forge/repository/r" + p).status, 200) << p;
        }
    }
}

TEST_F(Pages, PrivateRepositoriesNeedAuthentication) {
    RepositoryConfig config;
    config.closed = true;
    ASSERT_TRUE(service.forge_store().configure("r", config));
    for (const char* path :
         {"/forge/r", "/forge/r/a-web", "/forge/r/releases.atom",
          "/forge/r/a-web/diff?from=1.0.0&to=1.1.0", "/forge/%72/a-web", "/forge//r"}) {
        EXPECT_NE(ask(path).status, 200) << path;
    }
    EXPECT_EQ(ask("/forge").body.find("/forge/r"), std::string::npos);
    const http::Response shown = ask("/forge/r", "Authorization", "Bearer secret");
    EXPECT_EQ(shown.status, 200);
    EXPECT_EQ(shown.headers.get("Cache-Control"), "private");
    has(ask("/forge", "Authorization", "Bearer secret").body, "/forge/r");
}

}  // namespace
}  // namespace bunraku::forge
