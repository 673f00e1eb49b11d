#include <gtest/gtest.h>

#include "core/codec/base64.h"
#include "core/value/rich_data.h"
#include "modules/forge/http_api.h"
#include "modules/forge/json_upload.h"
#include "modules/forge/service.h"
#include "unit/modules/module/support.h"

namespace bunraku::forge {
namespace {

using http::Request;
using http::Response;

std::string deps(const std::string& names) {
    std::string out = "[";
    for (std::size_t at = 0; at < names.size();) {
        std::size_t end = names.find(' ', at);
        if (end == std::string::npos) end = names.size();
        out += fmt::format(R"({}{{"name":"{}","version_requirement":">= 1.0.0"}})",
                           out.size() > 1 ? "," : "", names.substr(at, end - at));
        at = end + 1;
    }
    return out + "]";
}

/// Repository one contains a/web, which needs a/lib, which needs b/missing. It also tests that
/// versions compare as numbers, and a cyclic dependency. Repository two contains a newer a/lib.
class Api : public testing::Test {
protected:
    Api() : service({.root = scratch.path + "/forge", .token = "secret"}) {
        mount(router, service);
        ForgeStore& forge_store = service.forge_store();
        EXPECT_TRUE(forge_store.create("one"));
        EXPECT_TRUE(forge_store.create("two"));
        put("one", module::test::release("a-web", "1.0.0", deps("a/lib"), R"(,"tags":["httpd"])"));
        put("one", module::test::release("a-web", "1.10.0", deps("a-lib"), R"(,"tags":["httpd"])"));
        put("one", module::test::release("a-web", "1.9.0"));
        put("one", module::test::release("a-web", "2.0.0-rc1"));
        put("one", module::test::release("a-lib", "1.0.0", deps("b/missing")));
        put("one", module::test::release("a-lib", "1.1.0"));
        put("one", module::test::release("c-ringa", "1.0.0", deps("c/ringb")));
        put("one", module::test::release("c-ringb", "1.0.0", deps("c/ringa")));
        put("two", module::test::release("a-lib", "3.0.0"));
        EXPECT_TRUE(forge_store.publish("one"));
        EXPECT_TRUE(forge_store.publish("two"));
        EXPECT_TRUE(forge_store.access().bind("both", "one"));
        EXPECT_TRUE(forge_store.access().bind("both", "two"));
    }
    void put(const std::string& repo, const std::string& bytes) {
        auto slug = service.forge_store().upload(repo, bytes);
        EXPECT_TRUE(slug) << (slug ? "" : slug.error().message);
    }
    Response ask(const std::string& target, const std::string& method = "GET",
                 std::vector<std::pair<std::string, std::string>> headers = {},
                 const std::string& body = "") {
        Request r;
        r.method = method;
        r.target = target;
        const std::size_t mark = target.find('?');
        r.path = target.substr(0, mark);
        if (mark != std::string::npos) r.query = *http::parse_query(target.substr(mark + 1));
        for (auto& [k, v] : headers) r.headers.add(k, v);
        r.body = body;
        return router.handle(r);
    }
    std::string basic(const std::string& pair) { return "Basic " + codec::base64_encode(pair); }
    value::Value json(const Response& r) {
        bodies.push_back(r.body);
        auto v = value::parse_json(arena, bodies.back());
        EXPECT_TRUE(v) << r.body;
        return v ? *v : value::Value();
    }
    /// Returns a v1 response as "key:version version;key:...".
    std::string shape(const Response& r) {
        std::string out;
        const value::Value data = json(r);
        for (const auto& e : data.as_hash()) {
            if (!out.empty()) out += ';';
            out += std::string(e.key.as_string()) + ":";
            for (const auto& u : e.value.as_array()) {
                if (!out.ends_with(':')) out += ' ';
                out += u.as_hash().find("version")->as_string();
            }
        }
        return out;
    }
    module::test::Scratch scratch;
    ForgeService service;
    http::Router router;
    base::Arena arena;
    std::vector<std::string> bodies;
    const std::string one = "/pulp_puppet/forge/repository/one";
    const std::string both = "/pulp_puppet/forge/consumer/both";
};

TEST_F(Api, V1Closure) {
    const std::string v1 = "/api/v1/releases.json?module=";
    const std::vector<std::pair<std::string, std::string>> cases = {
        {one + v1 + "a/web", "a/web:2.0.0-rc1"},
        {one + v1 + "a/web&version=1.10.0", "a/web:1.10.0;a/lib:1.0.0 1.1.0;b/missing:"},
        {one + v1 + "a-web&version=1.0.0", "a/web:1.0.0;a/lib:1.0.0 1.1.0;b/missing:"},
        {one + v1 + "a%2Fweb&version=1.9.0", "a/web:1.9.0"},
        {one + v1 + "a/lib", "a/lib:1.1.0"},
        {one + v1 + "c/ringa", "c/ringa:1.0.0;c/ringb:1.0.0"},
        {both + v1 + "a/lib", "a/lib:3.0.0"},
        {both + v1 + "a/lib&version=1.1.0", "a/lib:1.1.0"},
    };
    for (const auto& [target, want] : cases) EXPECT_EQ(shape(ask(target)), want) << target;
    const Response none = ask(one + v1 + "no/such&version=1.0.0");
    EXPECT_EQ(none.status, 404);
    EXPECT_EQ(json(none).as_hash().find("error")->as_string(),
              "Module no/such has no release 1.0.0");
    EXPECT_EQ(ask(one + "/api/v1/releases.json").status, 400);
    EXPECT_EQ(ask(one + v1 + "justname").status, 400);
}

TEST_F(Api, Addressing) {
    struct Case {
        std::string target, authorization;
        int status;
    };
    const std::string v1 = "/api/v1/releases.json?module=a/lib", v3 = "/v3/modules/a-lib";
    const std::vector<Case> cases = {
        {v1, "", 401},
        {v3, "", 401},
        {v1, basic(".:."), 401},
        {v1, basic(".:one"), 200},
        {v3, basic("both:."), 200},
        {v3, basic("both:two"), 200},
        {v1, basic(".:nope"), 404},
        {v1, basic("nobody:."), 404},
        {v1, "Basic !!!", 401},
        {v1, "Bearer x", 401},
        {one + v1, "", 200},
        {"/pulp_puppet/forge/repository/nope" + v3, "", 404},
        {"/pulp_puppet/forge/team/one" + v3, "", 404},
        {"/pulp_puppet/forge/repository/..%2fone" + v3, "", 404},
        {"/pulp/puppet/one/.records", "", 404},
        {"/pulp/puppet/one/.dependency_db", "", 404},
        {"/pulp/puppet/one/../two/modules.json", "", 400},
        {"/pulp/puppet/one/", "", 200},
        {"/pulp/puppet/one/modules.json", "", 200},
        {"/pulp/puppet_files/one/PULP_MANIFEST", "", 200},
        {one + "/pulp/puppet/one/system/releases/a/a/a-lib-1.1.0.tar.gz", "", 200},
        {one + "/v3/files/..%2f..%2fmodules.json", "", 400},
    };
    for (const Case& c : cases) {
        std::vector<std::pair<std::string, std::string>> headers;
        if (!c.authorization.empty()) headers.emplace_back("Authorization", c.authorization);
        EXPECT_EQ(ask(c.target, "GET", headers).status, c.status)
            << c.target << " " << c.authorization;
    }
    EXPECT_EQ(ask(one + v3, "PUT").status, 401);
    EXPECT_EQ(ask("/pulp/puppet/one/modules.json", "POST").status, 405);
}

TEST_F(Api, PagesAndFields) {
    auto page = json(ask(one + "/v3/releases?module=a/web&limit=2&exclude_fields=readme,metadata"));
    const value::HashRep& p = page.as_hash().find("pagination")->as_hash();
    EXPECT_EQ(p.find("next")->as_string(),
              "/v3/releases?module=a-web&exclude_fields=readme,metadata&limit=2&offset=2");
    EXPECT_TRUE(p.find("previous")->is_undef());
    EXPECT_EQ(p.find("total")->as_integer(), 4);
    std::string versions;
    for (const auto& r : page.as_hash().find("results")->as_array()) {
        versions += std::string(r.as_hash().find("version")->as_string()) + " ";
        EXPECT_EQ(r.as_hash().find("readme"), nullptr);
        EXPECT_EQ(r.as_hash().find("metadata"), nullptr);
        EXPECT_NE(r.as_hash().find("file_md5"), nullptr);
    }
    EXPECT_EQ(versions, "2.0.0-rc1 1.10.0 ");
    auto module = json(ask(both + "/v3/modules/a-lib?exclude_fields=changelog+releases"));
    EXPECT_EQ(module.as_hash().find("current_release")->as_hash().find("version")->as_string(),
              "3.0.0");
    EXPECT_EQ(module.as_hash().find("releases"), nullptr);
    // Stable releases have priority over pre-releases.
    module = json(ask(one + "/v3/modules/a-web"));
    EXPECT_EQ(module.as_hash().find("current_release")->as_hash().find("version")->as_string(),
              "1.10.0");
    for (const char* bad :
         {"limit=0", "limit=101", "limit=x", "offset=-1", "offset=x", "puppet_requirement=what"}) {
        EXPECT_EQ(ask(one + "/v3/releases?" + bad).status, 400) << bad;
    }
    const auto total = [&](const std::string& query) {
        auto v = json(ask(one + "/v3/modules?" + query));
        return v.as_hash().find("pagination")->as_hash().find("total")->as_integer();
    };
    EXPECT_EQ(total("query=httpd"), 1);
    EXPECT_EQ(total("tag=httpd"), 1);
    EXPECT_EQ(total("tag=http"), 0);
    EXPECT_EQ(total("owner=c"), 2);
    EXPECT_EQ(total("with_tasks=true"), 4);
    EXPECT_EQ(total("slugs=a-web,c-ringa"), 2);
    EXPECT_EQ(ask(one + "/v3/modules?slugs=no-such").status, 404);
    EXPECT_EQ(ask(one + "/v3/modules/nosuch").status, 400);
    EXPECT_EQ(ask(one + "/v3/releases/a-web1.0.0").status, 400);
    EXPECT_EQ(ask(one + "/v3/releases/a-web-9.9.9").status, 404);
}

TEST_F(Api, ConditionsAndRanges) {
    const std::string file = one + "/v3/files/a-lib-1.1.0.tar.gz";
    const Response whole = ask(file);
    ASSERT_TRUE(whole.file);
    const std::uint64_t size = whole.file->length;
    EXPECT_FALSE(whole.compressible);
    const std::string tag(whole.headers.get("ETag"));
    EXPECT_EQ(ask(file, "GET", {{"If-None-Match", "\"x\", " + tag}}).status, 304);
    EXPECT_EQ(ask(file, "GET", {{"If-None-Match", "\"x\""}}).status, 200);
    struct Case {
        std::string range;
        int status;
        std::uint64_t offset, length;
    };
    const std::vector<Case> cases = {
        {"bytes=10-19", 206, 10, 10},   {"bytes=10-", 206, 10, size - 10},
        {"bytes=-5", 206, size - 5, 5}, {"bytes=0-999999", 206, 0, size},
        {"bytes=5-1", 200, 0, size},    {"bytes=1-2,4-5", 200, 0, size},
        {"bytes=x", 200, 0, size},      {"lines=1-2", 200, 0, size},
        {"bytes=999999-", 416, 0, 0},   {"bytes=-0", 416, 0, 0},
    };
    for (const Case& c : cases) {
        const Response r = ask(file, "GET", {{"Range", c.range}});
        EXPECT_EQ(r.status, c.status) << c.range;
        if (!r.file) continue;
        EXPECT_EQ(r.file->offset, c.offset) << c.range;
        EXPECT_EQ(r.file->length, c.length) << c.range;
    }
    EXPECT_EQ(ask(file, "GET", {{"Range", "bytes=0-1"}, {"If-Range", "\"other\""}}).status, 200);
    const std::string list = one + "/v3/releases";
    const Response before = ask(list);
    const std::string old(before.headers.get("ETag")), when(before.headers.get("Last-Modified"));
    EXPECT_EQ(ask(list, "GET", {{"If-None-Match", old}}).status, 304);
    EXPECT_EQ(ask(list, "GET", {{"If-Modified-Since", when}}).status, 304);
    // A publish in the same second changes both responses.
    put("one", module::test::release("z-new", "1.0.0"));
    ASSERT_TRUE(service.forge_store().publish("one"));
    EXPECT_EQ(ask(list, "GET", {{"If-None-Match", old}}).status, 200);
    EXPECT_EQ(ask(list, "GET", {{"If-Modified-Since", when}}).status, 200);
}

TEST_F(Api, SnapshotsAreFrozen) {
    put("one", module::test::release("z-new", "1.0.0"));
    EXPECT_EQ(ask(one + "/v3/modules/z-new").status, 404);
    ASSERT_TRUE(service.forge_store().publish("one"));
    EXPECT_EQ(ask(one + "/v3/modules/z-new").status, 200);
    EXPECT_EQ(*service.forge_store().remove("one", *module::parse_module_name("z-new"), "1.0.0"),
              1);
    EXPECT_EQ(ask(one + "/v3/files/z-new-1.0.0.tar.gz").status, 200);
    ASSERT_TRUE(service.forge_store().publish("one"));
    EXPECT_EQ(ask(one + "/v3/files/z-new-1.0.0.tar.gz").status, 404);
    ASSERT_TRUE(service.forge_store().access().unbind("both", "two"));
    EXPECT_EQ(shape(ask(both + "/api/v1/releases.json?module=a/lib")), "a/lib:1.1.0");
    ASSERT_TRUE(service.forge_store().remove_repository("one"));
    EXPECT_EQ(ask(one + "/v3/modules/a-web").status, 404);
    EXPECT_TRUE(service.forge_store().access().bindings().empty());
}

TEST_F(Api, UploadsConflict) {
    const std::string first = module::test::release("x-y", "1.0.0");
    put("one", first);
    put("one", first);
    auto other = service.forge_store().upload(
        "one", module::test::release("x-y", "1.0.0", "[]", R"(,"a":1)"));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, 409);
    auto named = service.forge_store().upload("one", first, "x-y-2.0.0.tar.gz");
    ASSERT_FALSE(named);
    EXPECT_EQ(named.error().code, 400);
}

TEST_F(Api, Writes) {
    const std::string url = one + "/v3/releases";
    const std::string body = fmt::format(
        R"({{"file":"{}"}})", codec::base64_encode(module::test::release("p-q", "1.0.0")));
    const std::pair<std::string, std::string> type{"Content-Type", "application/json"},
        good{"Authorization", "Bearer secret"}, wrong{"Authorization", "Bearer nope"};
    EXPECT_EQ(ask(url, "POST", {type}, body).status, 401);
    EXPECT_EQ(ask(url, "POST", {type, wrong}, body).status, 403);
    EXPECT_EQ(ask(url, "POST", {type, good}, "{no").status, 400);
    EXPECT_EQ(ask("/v3/releases", "POST", {type, good}, body).status, 400);
    EXPECT_EQ(
        ask("/pulp_puppet/forge/repository/nope/v3/releases", "POST", {type, good}, body).status,
        404);
    const Response made = ask(url, "POST", {type, good}, body);
    EXPECT_EQ(made.status, 201);
    EXPECT_EQ(json(made).as_hash().find("file_uri")->as_string(), "/v3/files/p-q-1.0.0.tar.gz");
    EXPECT_EQ(ask(one + "/v3/modules/p-q").status, 200);
    EXPECT_EQ(ask(url, "POST", {type, good}, body).status, 409);
    const std::string part =
        "--xx\r\nContent-Disposition: form-data; name=\"file\"; "
        "filename=\"f\"\r\n\r\n" +
        module::test::release("p-q", "1.1.0") + "\r\n--xx--\r\n";
    EXPECT_EQ(
        ask(url, "POST", {{"Content-Type", "multipart/form-data; boundary=xx"}, good}, part).status,
        201);
    EXPECT_EQ(ask(one + "/v3/modules/p-q", "PATCH", {good},
                  R"({"action":"deprecate","params":{"reason":"old","replacement_slug":"a-web"}})")
                  .status,
              204);
    auto module = json(ask(one + "/v3/modules/p-q"));
    EXPECT_EQ(module.as_hash().find("deprecated_for")->as_string(), "old");
    EXPECT_EQ(ask(url + "/p-q-1.1.0", "DELETE", {good}).status, 400);
    EXPECT_EQ(ask(url + "/p-q-1.1.0?reason=bad", "DELETE", {good}).status, 204);
    EXPECT_EQ(ask(url + "/p-q-1.1.0?reason=bad", "DELETE", {good}).status, 404);
    EXPECT_EQ(ask(one + "/v3/files/p-q-1.1.0.tar.gz").status, 404);
    EXPECT_EQ(ask(url + "/p-q-1.1.0").status, 404);
    EXPECT_EQ(ask(url + "/p-q-1.1.0?show_deleted=true").status, 200);
    EXPECT_EQ(ask(one + "/v3/modules/p-q?reason=gone", "DELETE", {good}).status, 204);
    EXPECT_EQ(ask(one + "/v3/modules/p-q").status, 404);
    // A token may write only in its own repositories.
    auto token = service.forge_store().access().add_token("ci", {"two"});
    ASSERT_TRUE(token);
    const std::pair<std::string, std::string> own{"Authorization", "Bearer " + *token};
    EXPECT_EQ(ask(url, "POST", {type, own}, body).status, 403);
    EXPECT_EQ(
        ask("/pulp_puppet/forge/repository/two/v3/releases", "POST", {type, own}, body).status,
        201);
    ASSERT_TRUE(service.forge_store().access().remove_token("ci"));
    EXPECT_EQ(
        ask("/pulp_puppet/forge/repository/two/v3/releases", "POST", {type, own}, body).status,
        403);
}

// A client without write access gets the refusal before it has sent the whole body, for every
// spelling of the path. Routes without uploads do not accept long bodies.
TEST_F(Api, RefusedBeforeTheBody) {
    ASSERT_TRUE(service.forge_store().access().add_token("ci", {"two"}).has_value());
    auto before_body = [&](const std::string& method, const std::string& path,
                           const std::string& token, std::uint64_t* limit) {
        Request r;
        r.method = method;
        r.path = path;
        if (!token.empty()) r.headers.set("Authorization", token);
        auto found = router.match(r);
        *limit = found.options->max_body;
        auto refused = router.refusal(found, r);
        return refused ? refused->status : 0;
    };
    const std::string two = "/pulp_puppet/forge/repository/two";
    struct Case {
        const char* method;
        std::string path;
        // expected status per kind of client; 0 means that the server reads the body
        int none, wrong, good;
        bool upload;
    };
    const Case cases[] = {
        {"POST", one + "/v3/releases", 401, 403, 0, true},
        {"POST", two + "/v3/releases", 401, 403, 0, true},
        {"POST", "/v3/releases", 401, 403, 400, true},
        {"POST", "/v3/%72eleases", 401, 403, 400, true},
        {"POST", one + "/%763/releases", 401, 403, 0, true},
        {"POST", "/v3/search_filters", 401, 403, 0, false},
        {"POST", "/v3/search%5Ffilters", 401, 403, 0, false},
        {"POST", "/v3/search%5ffilter%73", 401, 403, 0, false},
        {"PUT", "/v3/search_filters/1", 401, 403, 0, false},
        {"DELETE", "/v3/search_filters/1", 401, 403, 0, false},
        {"GET", "/v3/search_filters", 401, 403, 0, false},
        {"HEAD", "/v3/search_filters", 401, 403, 0, false},
        {"POST", one + "/v3/search_filters", 401, 403, 0, false},
        {"POST", "/v3/search_filters/", 401, 403, 400, false},
        {"POST", "/v3/search_filtersX", 401, 403, 400, false},
        {"PUT", one + "/v3/releases", 401, 403, 0, false},
        {"PATCH", one + "/v3/modules/a-web", 401, 403, 0, false},
        {"DELETE", one + "/v3/releases/a-web-1.0.0", 401, 403, 0, false},
        {"POST", one + "/v3/anything", 401, 403, 0, false},
        {"POST", "/api/v1/releases.json", 405, 405, 405, false},
        {"POST", "/modules.json", 405, 405, 405, false},
        {"PUT", "/pulp/puppet/one/x", 405, 405, 405, false},
        {"POST", "/pulp_puppet/x", 404, 404, 404, false},
        {"GET", "/v3/modules", 0, 0, 0, false},
        {"POST", "//v3/search_filters", 0, 0, 0, false},  // status 400, see below
    };
    for (const Case& c : cases) {
        std::uint64_t limit = 0;
        const std::string what = std::string(c.method) + " " + c.path;
        EXPECT_EQ(before_body(c.method, c.path, "", &limit), c.none) << what;
        EXPECT_EQ(before_body(c.method, c.path, "Bearer nope", &limit), c.wrong) << what;
        EXPECT_EQ(before_body(c.method, c.path, "bearer nope", &limit), c.wrong) << what;
        EXPECT_EQ(before_body(c.method, c.path, "Basic YTpi", &limit), c.none) << what;
        EXPECT_EQ(before_body(c.method, c.path, "Bearer secret", &limit), c.good) << what;
        if (c.upload) {
            EXPECT_GT(limit, 10u << 20) << what;
        } else {
            EXPECT_LE(limit, 1u << 20) << what;
        }
    }
    EXPECT_EQ(ask("//v3/search_filters", "POST").status, 400);
}

TEST(JsonUpload, DecodesInPlace) {
    struct Case {
        std::string body;
        std::optional<std::string> file;
    };
    for (const Case& c : std::initializer_list<Case>{
             {R"({"file":"aGVsbG8="})", "hello"},
             {R"({"file":""})", ""},
             {R"( {"x":[{"file":"no"}],"file" : "aGVs\nbG8=\n" , "y":"file"} )", "hello"},
             {R"({"file":"aGVs\u000abG8\u003D"})", "hello"},
             {R"({"file":"\/\/\/\/+w=="})", "\xff\xff\xff\xfb"},
             {R"({"a":"\"file\":\"bm8=\"","file":"eWVz"})", "yes"},
             {R"({"file":"bm8=","file":"eWVz"})", "yes"},
             {R"({"file":"aGVsbG8="}x)", std::nullopt},
             {R"({"file":"aGVsbG8"})", std::nullopt},
             {R"({"file":"aGVsbG8=="})", std::nullopt},
             {R"({"file":"aGVs=bG8"})", std::nullopt},
             {R"({"file":"a"})", std::nullopt},
             {R"({"file":"===="})", std::nullopt},
             {R"({"file":"aG!s"})", std::nullopt},
             {R"({"file":"aG\u00e9s"})", std::nullopt},
             {R"({"file":"aG\u0"})", std::nullopt},
             {R"({"file":"aGVs\)", std::nullopt},
             {"{\"file\":\"aGVs\nbG8=\"}", std::nullopt},
             {R"({"file":1})", std::nullopt},
             {R"({"file":"eWVz","file":1})", std::nullopt},
             {R"({"file":["eWVz"]})", std::nullopt},
             {R"({"file" "eWVz"})", std::nullopt},
             {R"({"file":"eWVz" "eWVz"})", std::nullopt},
             {R"(["file","eWVz"])", std::nullopt},
             {R"({"x":{"file":"eWVz"}})", std::nullopt},
             {R"("file")", std::nullopt},
             {"", std::nullopt},
             {"{no", std::nullopt},
         }) {
        std::string body = c.body;
        auto file = unpack_json_upload(body);
        EXPECT_EQ(file.has_value(), c.file.has_value()) << c.body;
        if (file && c.file) {
            EXPECT_EQ(*file, *c.file) << c.body;
            EXPECT_GE(file->data(), body.data());
            EXPECT_LE(file->data() + file->size(), body.data() + body.size());
        }
    }
}

TEST_F(Api, SearchFilters) {
    const std::pair<std::string, std::string> good{"Authorization", "Bearer secret"};
    EXPECT_EQ(ask("/v3/search_filters").status, 401);
    EXPECT_EQ(ask("/v3/search_filters?search_filter_slug=apache", "POST", {good}).status, 200);
    EXPECT_EQ(ask("/v3/search_filters?search_filter_slug=apache", "POST", {good}).status, 409);
    EXPECT_NE(ask("/v3/search_filters", "GET", {good}).body.find("apache"), std::string::npos);
    EXPECT_EQ(ask("/v3/search_filters/1", "DELETE", {good}).status, 204);
    EXPECT_EQ(ask("/v3/search_filters/1", "DELETE", {good}).status, 404);
}

}  // namespace
}  // namespace bunraku::forge
