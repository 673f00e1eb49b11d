#include "http/router.h"

#include <gtest/gtest.h>

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

TEST(Router, ExactGoesBeforePlaceholderBeforeRest) {
    Router router;
    router.add("GET", "/a/{rest*}", named("rest"));
    router.add("GET", "/a/{x}/b", named("b"));
    router.add("GET", "/a/{x}", named("one"));
    router.add("GET", "/a/lit", named("lit"));
    router.add("POST", "/a/lit", named("post"));
    router.add("*", "/any", named("any"));
    router.add("GET", "/any", named("get"));
    router.add("GET", "/", named("root"));
    router.add("GET", "/m/{t}/{n}/{rest*}", named("m"));
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
             {"GET", "//a", "404"},
         }) {
        EXPECT_EQ(ask(router, c.method, c.path), c.answer) << c.method << " " << c.path;
    }
}

TEST(Router, AdmissionAndOtherwise) {
    Router router;
    RouteOptions options;
    options.max_body = 3;
    options.admit = [](const Request& r) -> std::optional<Response> {
        if (r.peer.common_name == "ok") return std::nullopt;
        return Response::text(403, "no");
    };
    router.add("GET", "/x", named("x"), options);
    router.otherwise(named("other"));
    Request r;
    r.method = "GET";
    r.path = "/x";
    EXPECT_EQ(router.handle(r).status, 403);
    r.peer.common_name = "ok";
    EXPECT_EQ(router.handle(r).body, "x");
    EXPECT_EQ(r.route, "/x");
    r.body = "1234";
    EXPECT_EQ(router.handle(r).status, 413);
    EXPECT_EQ(ask(router, "GET", "/y"), "other");
    Router moved = std::move(router);
    EXPECT_EQ(ask(moved, "GET", "/y"), "other");
}

}  // namespace
}  // namespace bunraku::http
