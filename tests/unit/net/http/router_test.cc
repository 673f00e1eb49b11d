// SPDX-License-Identifier: Apache-2.0
#include "net/http/router.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <optional>
#include <type_traits>

#include "net/http/path.h"

namespace bunraku::http {
namespace {

Handler named(std::string name) {
    return [name](Request& r) {
        std::string out = name;
        for (const auto& [n, v] : r.params) out += " " + n + "=" + v;
        return Response::text(200, out);
    };
}

std::string ask(const Router& router, std::string method, std::string path) {
    Request r;
    r.method = std::move(method);
    r.path = std::move(path);
    auto response = router.handle(r);
    if (response.status != 200) {
        auto allow = response.headers.get("Allow");
        return std::to_string(response.status) + (allow.empty() ? "" : " ") + std::string(allow);
    }
    return response.body;
}

TEST(Router, ExactPatternsHavePriority) {
    Router router;
    router.add("GET", "/a/{rest*}", Access::anyone(), named("rest"));
    router.add("GET", "/a/{x}/b", Access::anyone(), named("b"));
    router.add("GET", "/a/{x}", Access::anyone(), named("one"));
    router.add("GET", "/a/lit", Access::anyone(), named("lit"));
    router.add("POST", "/a/lit", Access::anyone(), named("post"));
    router.add("*", "/any", Access::anyone(), named("any"));
    router.add("GET", "/any", Access::anyone(), named("get"));
    router.add("GET", "/", Access::anyone(), named("root"));
    router.add("GET", "/m/{t}/{n}/{rest*}", Access::anyone(), named("m"));
    struct Case {
        const char *method, *path, *answer;
    };
    for (const auto& c : std::initializer_list<Case>{
             {"GET", "/", "root"},
             {"HEAD", "/", "root"},
             {"GET", "/a/lit", "lit"},
             {"GET", "/a/%6cit", "lit"},
             {"POST", "/a/lit", "post"},
             {"PUT", "/a/lit", "405 GET, HEAD, POST"},
             {"GET", "/a/x", "one x=x"},
             {"GET", "/a/x%2Fy", "one x=x/y"},
             {"GET", "/a/lit/b", "b x=lit"},
             {"GET", "/a/x/c", "rest rest=x/c"},
             {"GET", "/a/", "rest rest="},
             {"GET", "/a/x/b/", "rest rest=x/b/"},
             {"GET", "/a", "404"},
             {"GET", "/a/%ff", "400"},
             {"GET", "/any", "get"},
             {"DELETE", "/any", "any"},
             {"GET", "/m/1/2/3/4%20", "m t=1 n=2 rest=3/4 "},
             {"GET", "/m/1/2", "404"},
             {"GET", "//a", "400"},
         }) {
        EXPECT_EQ(ask(router, c.method, c.path), c.answer) << c.method << " " << c.path;
    }
}

TEST(Router, AccessAndFallbackRoute) {
    Router router;
    RouteOptions options;
    options.max_body = 3;
    router.add("GET", "/x", Access::rule([](const Request& r) -> std::optional<Response> {
                   if (r.headers.get("Token") == "ok") return std::nullopt;
                   return Response::text(403, "no");
               }),
               named("x"), options);
    router.otherwise(Access::anyone(), named("other"));
    Request r;
    r.method = "GET";
    r.path = "/x";
    EXPECT_EQ(router.handle(r).status, 403);
    r.headers.set("Token", "ok");
    EXPECT_EQ(router.handle(r).body, "x");
    EXPECT_EQ(r.route, "/x");
    r.body = "1234";
    EXPECT_EQ(router.handle(r).status, 413);
    EXPECT_EQ(ask(router, "GET", "/y"), "other");
    Router moved = std::move(router);
    EXPECT_EQ(ask(moved, "GET", "/y"), "other");
}

// A route that does not declare its access must not compile.
template <class R>
concept AddsWithoutAccess =
    requires(R router, Handler handler) { router.add("GET", "/", handler); };
static_assert(!AddsWithoutAccess<Router>);
static_assert(!std::is_default_constructible_v<Access>);

TEST(Router, CanonicalPath) {
    struct Case {
        std::string_view path, canonical;  // empty if the path is refused
    };
    using namespace std::string_view_literals;
    for (const auto& c : std::initializer_list<Case>{
             {"/", "/"},
             {"/a/b/", "/a/b/"},
             {"/p%64b/%63md", "/pdb/cmd"},
             {"/%70%64%62", "/pdb"},
             {"/a%2fb%2Fc", "/a%2Fb%2Fc"},
             {"/a%3bx;y%3D=", "/a;x;y=="},
             {"/%7euser/-._~", "/~user/-._~"},
             {"/a%20b%0a", "/a%20b%0A"},
             {"/\xc3\xa4%C3%a4", "/%C3%A4%C3%A4"},
             {"/a\"<>\\^`{|}", "/a%22%3C%3E%5C%5E%60%7B%7C%7D"},
             {"/a%25b%252e%252e", "/a%25b%252e%252e"},
             {"/...", "/..."},
             {"/..;/a", "/..;/a"},
             {"/a/..%2Fb", "/a/..%2Fb"},
             {"", ""},
             {"a", ""},
             {"//", ""},
             {"//a", ""},
             {"/a//b", ""},
             {"/a//", ""},
             {"/.", ""},
             {"/..", ""},
             {"/./a", ""},
             {"/a/../b", ""},
             {"/a/%2e%2E/b", ""},
             {"/a/.%2e", ""},
             {"/a/%2e", ""},
             {"/a%00", ""},
             {"/a\0b"sv, ""},
             {"/%", ""},
             {"/%4", ""},
             {"/%zz", ""},
             {"/%%64", ""},
             {"/%u0064", ""},
             {"/%c0%ae%c0%ae/a", ""},  // overlong ".."
             {"/%c0%afa", ""},         // overlong "/"
             {"/\xc0\xaf", ""},
             {"/%e0%80%af", ""},
             {"/%ed%a0%80", ""},  // a surrogate
             {"/%ff", ""},
             // File keys: every slash is a separator.
             {"/puppet/v3/file_content/a//b", "/puppet/v3/file_content/a/b"},
             {"/puppet/v3/file_content//a/", "/puppet/v3/file_content/a/"},
             {"/puppet/v3/file_content/a%2f%2Fb%252Fc", "/puppet/v3/file_content/a/b%252Fc"},
             {"/puppet/v3/file_bucket_file/md5/1//etc", "/puppet/v3/file_bucket_file/md5/1/etc"},
             {"/puppet/v3/static_file_content/a%2fb", "/puppet/v3/static_file_content/a/b"},
             {"/puppet/v3/file_content/a%2f..%2fb", ""},
             {"/puppet/v3/file_content/a/..%2fb", ""},
             {"/puppet/v3/file_content/%2e%2fb", ""},
             {"/puppet/v3/file_content/a%0ab", ""},
             {"/puppet/v3/file_content/a%7fb", ""},
             // In all other paths below /puppet, an encoded slash is not allowed.
             {"/puppet/v3/catalog/a%2fb", ""},
             {"/puppet/v3/file_content%2fa", ""},
             {"/puppet%2fv3", ""},
             {"/puppet-ca/v1/certificate%2Fa", ""},
             {"/puppet/v3//catalog/a", ""},
             {"/puppet/v3/catalog/%0a", ""},
             {"/pdb/query/v4/resources/File/%2Fa", "/pdb/query/v4/resources/File/%2Fa"},
         }) {
        auto canonical = canonical_path(c.path);
        EXPECT_EQ(canonical.value_or(""), c.canonical) << c.path;
        // The canonical path is its own canonical form.
        if (canonical) {
            EXPECT_EQ(canonical_path(*canonical), canonical);
            EXPECT_EQ(decoded_path(*canonical), decoded_path(c.path));
        }
    }
}

ClientCertificate certificate(std::string name, ClientCertificate::Trust trust) {
    ClientCertificate out;
    out.name = std::move(name);
    out.trust = trust;
    return out;
}

// For every spelling, a path is either refused or requires the same access from every client.
TEST(Router, AccessOfEverySpelling) {
    using Trust = ClientCertificate::Trust;
    Router router;
    std::string ran;
    auto add = [&](const char* pattern, Access access) {
        router.add("*", pattern, std::move(access), [&ran](Request& r) {
            ran = r.route;
            return Response::text(200, "");
        });
    };
    add("/open/cmd/v1", Access::anyone());
    add("/local/cmd/v1", Access::local_only());
    add("/cert/cmd/v1", Access::certificate());
    add("/list/cmd/v1", Access::listed());
    add("/list/{rest*}", Access::listed());
    add("/rule/cmd/v1", Access::rule([](const Request& r) -> std::optional<Response> {
            // The rule depends on the path, as a rule in auth.conf does; it gets the path that the
            // router matched.
            if (r.path == "/rule/cmd/v1" && r.peer.name() != "listed")
                return Response::text(403, "");
            return std::nullopt;
        }));
    AccessPolicy policy;
    policy.allow_list = [](const Request& r) -> std::optional<Response> {
        if (r.peer.name() == "listed") return std::nullopt;
        return Response::text(403, "");
    };
    router.set_policy(policy);

    struct Who {
        const char* what;
        std::optional<ClientCertificate> certificate;
        bool tls, loopback;
        const char* routes;  // the routes that allow the request
    };
    const Who people[] = {
        {"no certificate", {}, true, false, "open"},
        {"none, from here", {}, true, true, "open local"},
        {"plain HTTP", {}, false, false, "open"},
        {"foreign", certificate("listed", Trust::Untrusted), true, false, "open"},
        {"revoked", certificate("listed", Trust::Revoked), true, false, "open"},
        {"not listed", certificate("other", Trust::Verified), true, false, "open cert"},
        {"no name", certificate("", Trust::Verified), true, false, "open cert"},
        {"listed", certificate("listed", Trust::Verified), true, false, "open cert list rule"},
        {"listed, from here", certificate("listed", Trust::Verified), true, true,
         "open local cert list rule"},
    };
    // "X" is the first segment, "Y" has its second letter encoded, "Z" has all letters encoded.
    const char* spellings[] = {
        "/X/cmd/v1",        "/Y/cmd/v1",          "/Z/cmd/v1",        "/X/%63md/v1",
        "/X/cmd/%76%31",    "//X/cmd/v1",         "/X//cmd/v1",       "/X/cmd//v1",
        "/./X/cmd/v1",      "/X/./cmd/v1",        "/X/x/../cmd/v1",   "/x/../X/cmd/v1",
        "/%2e/X/cmd/v1",    "/x/%2e%2e/X/cmd/v1", "/x/.%2E/X/cmd/v1", "/X%2fcmd%2Fv1",
        "/X%2Fcmd/v1",      "/%2FX/cmd/v1",       "/X;a=b/cmd/v1",    "/X/cmd/v1;a",
        "/X/cmd;/v1",       "/;/X/cmd/v1",        "/X/cmd/v1/",       "/X/cmd/v1%00",
        "/X/cmd/v1%20",     "/X/cmd/v1%2e",       "/X/cmd/v1.",       "/X%5ccmd/v1",
        "/x/..%2fX/cmd/v1", "/x/..;/X/cmd/v1",    "/%58/cmd/v1",      "/%c0%afX/cmd/v1",
        "/X/%c1%a3md/v1",   "/X/cmd/v%u0031",     "/X/cmd/v1%",       "/X/CMD/v1",
    };
    int reached = 0;
    for (const auto& who : people) {
        for (std::string_view route : {"open", "local", "cert", "list", "rule"}) {
            for (std::string spelling : spellings) {
                std::string encoded;
                for (char c : route)
                    encoded += fmt::format("%{:02x}", static_cast<unsigned char>(c));
                for (const auto& [mark, text] :
                     {std::pair<char, std::string>{'X', std::string(route)},
                      {'Y', std::string(route.substr(0, 1)) + encoded.substr(3, 3) +
                                std::string(route.substr(2))},
                      {'Z', encoded}}) {
                    auto at = spelling.find(mark);
                    if (at != std::string::npos) spelling.replace(at, 1, text);
                }
                Request r;
                r.method = "POST";
                r.path = spelling;
                r.peer.tls = who.tls;
                r.peer.loopback = who.loopback;
                if (who.certificate)
                    r.peer.certificate = std::make_shared<ClientCertificate>(*who.certificate);
                ran.clear();
                int status = router.handle(r).status;
                bool may = std::string_view(who.routes).find(route) != std::string_view::npos;
                if (!ran.empty()) {
                    ++reached;
                    EXPECT_TRUE(may) << who.what << " " << spelling;
                    EXPECT_TRUE(ran.starts_with("/" + std::string(route))) << spelling;
                } else {
                    EXPECT_TRUE(status == 400 || status == 404 || (status == 403 && !may))
                        << who.what << " " << spelling << " " << status;
                }
            }
        }
    }
    EXPECT_GT(reached, 100);
}

}  // namespace
}  // namespace bunraku::http
