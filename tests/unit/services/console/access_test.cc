// SPDX-License-Identifier: Apache-2.0
// Access to the console: sessions, forms, roles, environments.
#include <filesystem>
#include <fstream>

#include "fixture.h"
#include "services/console/page.h"
#include "store/db/writer.h"

namespace bunraku::console {
namespace {

class ConsoleAccess : public ConsoleTest {};

/// Returns a path for a page, with something in the place of each placeholder.
std::string example_path(const Page& page) {
    std::string out(page.path);
    for (auto open = out.find('{'); open != std::string::npos; open = out.find('{'))
        out.replace(open, out.find('}') - open + 1, "x");
    return "/console" + out;
}

TEST_F(ConsoleAccess, EveryPageNeedsASession) {
    for (const Page& page : all_pages()) {
        const auto path = example_path(page);
        const auto answer = ask(std::string(page.method), path);
        EXPECT_EQ(answer.status, page.method == "GET" ? 303 : 401) << path;
        if (page.method == "GET") {
            EXPECT_TRUE(answer.headers.get("Location").starts_with("/console/sign-in?to="));
            EXPECT_EQ(ask("GET", path, {{"Authorization", "Bearer bnrk_wrong"}}).status, 303);
            EXPECT_EQ(ask("GET", path, {{"Cookie", "bunraku-console=wrong"}}).status, 303);
        }
        EXPECT_EQ(answer.body.find("<table"), std::string::npos);
    }
    EXPECT_EQ(get("/no/such/page").status, 303);
    // Programs get no redirect.
    http::Request request{.method = "GET", .target = "/console/", .path = "/console/"};
    EXPECT_EQ(router_.handle(request).status, 401);
}

TEST_F(ConsoleAccess, EveryPageChecksTheRole) {
    const auto viewer = sign_in_as("viewer");
    const auto secret = csrf(viewer);
    for (const Page& page : all_pages()) {
        const auto answer =
            ask(std::string(page.method), example_path(page), viewer, "csrf=" + secret);
        EXPECT_EQ(answer.status == 403, page.right != Right::View) << page.path << answer.status;
    }
}

TEST_F(ConsoleAccess, EveryFormNeedsItsSecret) {
    const auto admin = sign_in_as("admin");
    const auto other = csrf(sign_in_as("admin"));
    const auto own = csrf(admin);
    for (const Page& page : all_pages()) {
        if (page.method != "POST") continue;
        const auto path = example_path(page);
        EXPECT_EQ(ask("POST", path, admin).status, 403) << path;
        EXPECT_EQ(ask("POST", path, admin, "csrf=").status, 403) << path;
        EXPECT_EQ(ask("POST", path, admin, "csrf=" + other).status, 403) << path;
        auto foreign = admin;
        foreign.emplace_back("Origin", "https://evil.example.org");
        EXPECT_EQ(ask("POST", path, foreign, "csrf=" + own).status, 403) << path;
        foreign = admin;
        foreign.emplace_back("Sec-Fetch-Site", "cross-site");
        EXPECT_EQ(ask("POST", path, foreign, "csrf=" + own).status, 403) << path;
    }
}

TEST_F(ConsoleAccess, SignInStartsANewSession) {
    const auto text = token("alice", "viewer");
    // An attacker who plants a session id gains nothing.
    const auto answer = ask("POST", "/console/sign-in", {{"Cookie", "bunraku-console=planted"}},
                            "token=" + text + "&to=/console/nodes?state=failed");
    EXPECT_EQ(answer.status, 303);
    EXPECT_EQ(answer.headers.get("Location"), "/console/nodes?state=failed");
    const std::string cookie(answer.headers.get("Set-Cookie"));
    EXPECT_TRUE(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict")) << cookie;
    EXPECT_EQ(cookie.find("planted"), std::string::npos);
    EXPECT_EQ(get("/account", {{"Cookie", "bunraku-console=planted"}}).status, 303);
    const Headers session{{"Cookie", "a=b; " + cookie_of(answer) + "; c=d"}};
    EXPECT_NE(get("/account", session).body.find("<bdi>alice</bdi>"), std::string::npos);
    // Signing in again ends the old session.
    const auto again = ask("POST", "/console/sign-in", session, "token=" + text + "&to=");
    EXPECT_NE(cookie_of(again), cookie_of(answer));
    EXPECT_EQ(get("/account", session).status, 303);
}

TEST_F(ConsoleAccess, CookiesAreSecureOverTls) {
    peer_.tls = true;
    const auto answer =
        ask("POST", "/console/sign-in", {}, "token=" + token("a", "viewer") + "&to=");
    const std::string cookie(answer.headers.get("Set-Cookie"));
    EXPECT_TRUE(cookie.starts_with("__Host-bunraku-console=")) << cookie;
    EXPECT_TRUE(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict; Secure")) << cookie;
}

TEST_F(ConsoleAccess, RefusesTokensWithoutARole) {
    const auto query = tokens_->create({.name = "q", .scopes = {"all"}}).value();
    auto answer = ask("POST", "/console/sign-in", {}, "token=" + query + "&to=");
    EXPECT_EQ(answer.status, 403);
    EXPECT_NE(answer.body.find("no role in the console"), std::string::npos);
    answer = ask("POST", "/console/sign-in", {}, "token=wrong&to=");
    EXPECT_EQ(answer.status, 403);
    EXPECT_FALSE(answer.headers.has("Set-Cookie"));
    const auto good = token("a", "viewer");
    EXPECT_EQ(
        ask("POST", "/console/sign-in", {{"Origin", "http://evil.test"}}, "token=" + good + "&to=")
            .status,
        403);
    EXPECT_EQ(ask("POST", "/console/sign-in", {{"Origin", "http://console.test"}},
                  "token=" + good + "&to=")
                  .status,
              303);
}

TEST_F(ConsoleAccess, SessionsEndWithTheirToken) {
    const auto session = sign_in(token("alice", "viewer"));
    EXPECT_EQ(get("/account", session).status, 200);
    ASSERT_TRUE(tokens_->revoke("alice").value());
    EXPECT_EQ(get("/account", session).status, 303);
}

TEST_F(ConsoleAccess, SignOutNeedsTheSecret) {
    const auto session = sign_in_as("viewer");
    const auto secret = csrf(session);
    ask("POST", "/console/sign-out", session, "csrf=wrong");
    EXPECT_EQ(get("/account", session).status, 200);
    const auto answer = ask("POST", "/console/sign-out", session, "csrf=" + secret);
    EXPECT_NE(answer.headers.get("Set-Cookie").find("Max-Age=0"), std::string::npos);
    EXPECT_EQ(get("/account", session).status, 303);
}

TEST_F(ConsoleAccess, TokensInHeadersReadWithoutASession) {
    const auto text = token("script", "admin");
    const auto answer = get("/account", {{"Authorization", "Bearer " + text}});
    EXPECT_EQ(answer.status, 200);
    EXPECT_FALSE(answer.headers.has("Set-Cookie"));
    for (const Page& page : all_pages()) {
        if (page.method != "POST") continue;
        EXPECT_EQ(
            ask("POST", example_path(page), {{"Authorization", "Bearer " + text}}, "csrf=").status,
            403);
    }
}

TEST_F(ConsoleAccess, TheLinkWorksOnceOnThisMachine) {
    console_->listening({"http://127.0.0.1:8080"});
    // The secret is in a file of the server's user and on the terminal, but not in the log.
    ASSERT_EQ(log_.records.size(), 1u);
    EXPECT_EQ(
        log_.records[0].message,
        "The console is at http://127.0.0.1:8080/console/. To sign in once from this machine, "
        "open the link in " +
            folder_ + "/console-link");
    std::string line;
    ASSERT_TRUE(std::getline(std::ifstream(folder_ + "/console-link"), line));
    EXPECT_EQ(std::filesystem::status(folder_ + "/console-link").permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    const auto at = line.find("/console/link/");
    ASSERT_NE(at, std::string::npos) << line;
    const auto link = line.substr(at);
    EXPECT_EQ(ask("GET", link).status, 403);
    peer_.loopback = true;
    EXPECT_EQ(ask("GET", "/console/link/wrong").status, 403);
    const auto answer = ask("GET", link);
    EXPECT_EQ(answer.status, 303);
    EXPECT_NE(get("/account", {{"Cookie", cookie_of(answer)}}).body.find("admin"),
              std::string::npos);
    EXPECT_EQ(ask("GET", link).status, 403);
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/console-link"));
}

TEST_F(ConsoleAccess, TheLinkDoesNotWorkThroughAProxy) {
    peer_ = {.address = "127.0.0.1", .loopback = true};
    std::ofstream(folder_ + "/console.conf") << "[proxy]\naddresses = 127.0.0.1\n";
    ASSERT_TRUE(console_->reload());
    console_->listening({"http://127.0.0.1:8080"});
    std::string line;
    ASSERT_TRUE(std::getline(std::ifstream(folder_ + "/console-link"), line));
    EXPECT_EQ(ask("GET", line.substr(line.find("/console/"))).status, 403);
    console_->stop();
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/console-link"));
}

TEST_F(ConsoleAccess, CookiesAreSecureBehindAProxyWithTls) {
    const auto secure_with = [&](const Headers& headers) {
        const auto answer =
            ask("POST", "/console/sign-in", headers,
                fmt::format("token={}&to=", token(fmt::format("t{}", number_++), "viewer")));
        const std::string cookie(answer.headers.get("Set-Cookie"));
        EXPECT_EQ(cookie.starts_with("__Host-bunraku-console="), cookie.ends_with("; Secure"));
        return cookie.ends_with("; Secure");
    };
    std::ofstream(folder_ + "/console.conf") << "[proxy]\naddresses = 198.51.100.1\n";
    ASSERT_TRUE(console_->reload());
    // The header of other clients counts for nothing.
    EXPECT_FALSE(secure_with({{"X-Forwarded-Proto", "https"}}));
    peer_.address = "198.51.100.1";
    EXPECT_TRUE(secure_with({{"X-Forwarded-Proto", "https"}}));
    EXPECT_FALSE(secure_with({{"X-Forwarded-Proto", "http"}}));
    EXPECT_FALSE(secure_with({{"X-Forwarded-Proto", "https"}, {"X-Forwarded-Proto", "https"}}));
    EXPECT_FALSE(secure_with({}));
    std::ofstream(folder_ + "/console.conf")
        << "[proxy]\naddresses = 198.51.100.1\nscheme_header = X-Scheme\n";
    ASSERT_TRUE(console_->reload());
    EXPECT_FALSE(secure_with({{"X-Forwarded-Proto", "https"}}));
    EXPECT_TRUE(secure_with({{"X-Scheme", "HTTPS"}}));
    // The session is found again under the name of its cookie.
    const Headers proxied{{"X-Scheme", "https"}};
    const auto answer =
        ask("POST", "/console/sign-in", proxied, "token=" + token("again", "viewer") + "&to=");
    EXPECT_EQ(get("/account", {{"X-Scheme", "https"}, {"Cookie", cookie_of(answer)}}).status, 200);
    EXPECT_EQ(get("/account", {{"Cookie", cookie_of(answer)}}).status, 303);
}

TEST_F(ConsoleAccess, WithoutAnAuditLineNobodySignsIn) {
    std::filesystem::create_directory(folder_ + "/console-audit.jsonl");
    const auto answer =
        ask("POST", "/console/sign-in", {}, "token=" + token("alice", "viewer") + "&to=");
    EXPECT_EQ(answer.status, 500);
    EXPECT_FALSE(answer.headers.has("Set-Cookie"));
    EXPECT_NE(answer.body.find("The audit log cannot be written"), std::string::npos);
    EXPECT_EQ(answer.body.find(folder_), std::string::npos) << answer.body;
    ASSERT_EQ(log_.records.size(), 1u);
    EXPECT_NE(log_.records[0].message.find(folder_), std::string::npos);
    // Certificates start no session either.
    std::ofstream(folder_ + "/console.conf") << "[certificates]\nalice = operator\n";
    ASSERT_TRUE(console_->reload());
    auto certificate = std::make_shared<http::ClientCertificate>();
    certificate->name = "alice";
    certificate->trust = http::ClientCertificate::Trust::Verified;
    peer_.certificate = certificate;
    EXPECT_EQ(get("/account").status, 303);
}

TEST_F(ConsoleAccess, CertificatesMustBeListed) {
    std::ofstream(folder_ + "/console.conf") << "[certificates]\nalice = operator\n";
    ASSERT_TRUE(console_->reload());
    const auto with = [&](const std::string& name) {
        auto certificate = std::make_shared<http::ClientCertificate>();
        certificate->name = name;
        certificate->trust = http::ClientCertificate::Trust::Verified;
        peer_.certificate = certificate;
        peer_.tls = true;
    };
    with("web1.example.org");
    EXPECT_EQ(get("/account").status, 303);
    with("alice");
    const auto answer = get("/account");
    EXPECT_EQ(answer.status, 200);
    const Headers session{{"Cookie", cookie_of(answer)}};
    EXPECT_FALSE(get("/account", session).headers.has("Set-Cookie"));
    // The session belongs to the certificate.
    with("web1.example.org");
    EXPECT_EQ(get("/account", session).status, 303);
    // Rights are those of the file as it is now.
    with("alice");
    std::ofstream(folder_ + "/console.conf") << "[certificates]\nalice = bad\n";
    EXPECT_FALSE(console_->reload());
    EXPECT_EQ(get("/account").status, 200);
    std::ofstream(folder_ + "/console.conf") << "";
    ASSERT_TRUE(console_->reload());
    EXPECT_EQ(get("/account").status, 303);
}

TEST_F(ConsoleAccess, ResponsesForbidFramesAndScripts) {
    const auto session = sign_in_as("viewer");
    for (const auto& answer : {get("/", session), get("/none", session), get("/sign-in"), get("/"),
                               get("/link/x"), ask("POST", "/console/sign-in")}) {
        EXPECT_EQ(answer.headers.get("Content-Security-Policy"),
                  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
                  "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri "
                  "'none'");
        EXPECT_EQ(answer.headers.get("X-Frame-Options"), "DENY");
        EXPECT_EQ(answer.headers.get("X-Content-Type-Options"), "nosniff");
        EXPECT_EQ(answer.headers.get("Referrer-Policy"), "same-origin");
        EXPECT_EQ(answer.headers.get("Cache-Control"), "no-store");
    }
}

TEST_F(ConsoleAccess, RedirectsStayInTheConsole) {
    const auto text = token("a", "viewer");
    for (const char* target : {"https://evil.test/", "//evil.test/", "/other", "javascript:1",
                               "/console/%0d%0aX: y\r\nX: y", "/console\\x"}) {
        const auto answer = ask("POST", "/console/sign-in", {},
                                fmt::format("token={}&to={}", text, http::percent_encode(target)));
        EXPECT_EQ(answer.status, 303);
        const auto location = answer.headers.get("Location");
        EXPECT_TRUE(location.starts_with("/console/")) << location;
        EXPECT_EQ(location.find_first_of("\r\n"), std::string_view::npos) << location;
    }
}

TEST_F(ConsoleAccess, ViewersSeeOnlyTheirEnvironments) {
    report("web1.test", {});
    report("db1.test",
           {.status = "failed", .environment = "staging", .events = event("failure", "it broke")});
    const auto viewer = sign_in_as("viewer", {"production"});
    const auto all = sign_in_as("viewer");
    for (const char* path : {"/", "/nodes", "/failures", "/nodes?state=failed"}) {
        EXPECT_EQ(get(path, viewer).body.find("db1"), std::string::npos) << path;
        EXPECT_EQ(get(path, viewer).body.find("it broke"), std::string::npos) << path;
    }
    EXPECT_NE(get("/nodes", all).body.find("db1.test"), std::string::npos);
    EXPECT_EQ(get("/nodes/db1.test", all).status, 200);
    for (const Page& page : all_pages()) {
        std::string path(page.path);
        if (page.method != "GET" || path.find("{node}") == std::string::npos) continue;
        path.replace(path.find("{node}"), 6, "db1.test");
        if (path.find('{') != std::string::npos) continue;
        EXPECT_EQ(get(path, viewer).status, 404) << path;
    }
    EXPECT_EQ(get("/nodes?filter=certname~%22db%22", viewer).status, 404);
}

// The node has moved from staging to production.
TEST_F(ConsoleAccess, ViewersSeeOnlyRunsOfTheirEnvironments) {
    report("web1.test", {.status = "failed",
                         .environment = "staging",
                         .events = event("failure", "it broke"),
                         .age_ms = 120'000});
    const auto staging = get("/nodes/web1.test/runs", sign_in_as("viewer")).body;
    const auto at = staging.find("/console/runs/");
    const auto hidden = staging.substr(at, staging.find('"', at) - at);
    report("web1.test", {.age_ms = 60'000});
    const auto all = sign_in_as("viewer");
    // The fleet is read at most once a second.
    for (int i = 0;
         i < 600 && get("/nodes?state=failed", all).body.find("web1") != std::string::npos; ++i)
        sys::machine().sleep(std::chrono::milliseconds(100));
    const auto viewer = sign_in_as("viewer", {"production"});
    for (const char* path : {"/nodes/web1.test", "/nodes/web1.test/runs"}) {
        EXPECT_EQ(get(path, viewer).body.find(hidden), std::string::npos) << path;
        EXPECT_NE(get(path, all).body.find(hidden), std::string::npos) << path;
    }
    EXPECT_NE(get("/nodes/web1.test", viewer).body.find("Last 1 run"), std::string::npos);
    EXPECT_EQ(get("/nodes/web1.test", viewer).body.find(">2 runs<"), std::string::npos);
    const std::string strip = "last 1 runs, oldest first: unchanged";
    EXPECT_NE(get("/nodes", viewer).body.find(strip), std::string::npos);
    EXPECT_EQ(ask("GET", hidden, viewer).status, 404);
    const auto shown = get("/nodes/web1.test/runs", viewer).body;
    const auto own = shown.find("/console/runs/");
    const auto run = ask("GET", shown.substr(own, shown.find('"', own) - own), viewer);
    EXPECT_EQ(run.status, 200);
    EXPECT_EQ(run.body.find("Older run"), std::string::npos);
}

TEST_F(ConsoleAccess, ErrorsOfTheDatabaseAreOnlyInTheLog) {
    report("web1.test", {});
    const auto session = sign_in_as("viewer");
    EXPECT_EQ(get("/nodes/web1.test", session).status, 200);
    // Another program has changed the schema.
    context_->store
        ->with_writer([](store::Writer& writer) {
            return writer.db().execute("ALTER TABLE reports RENAME TO secret_table_name");
        })
        .value();
    const auto page = get("/nodes/web1.test/runs", session);
    EXPECT_GE(page.status, 400);
    for (const char* text : {"reports", "no such table", "SELECT"})
        EXPECT_EQ(page.body.find(fmt::format("{}</bdi>", text)), std::string::npos) << page.body;
    EXPECT_EQ(page.body.find("no such table"), std::string::npos) << page.body;
    ASSERT_FALSE(log_.records.empty());
    EXPECT_NE(log_.records.back().message.find("no such table"), std::string::npos)
        << log_.records.back().message;
}

TEST_F(ConsoleAccess, SignInsAreAudited) {
    sign_in(token("alice", "viewer"));
    std::ifstream file(folder_ + "/console-audit.jsonl");
    std::string line;
    ASSERT_TRUE(std::getline(file, line));
    EXPECT_NE(line.find(R"("who":"alice","role":"viewer","via":"token","address":"192.0.2.1",)"
                        R"("action":"sign-in","target":"","result":"done"})"),
              std::string::npos)
        << line;
}

}  // namespace
}  // namespace bunraku::console
