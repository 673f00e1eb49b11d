// SPDX-License-Identifier: Apache-2.0
// The page that compares two states of the code.
#include <filesystem>
#include <fstream>

#include "fixture.h"

namespace bunraku::console {
namespace {

class ConsoleChange : public ConsoleTest {
protected:
    void SetUp() override {
        ConsoleTest::SetUp();
        settings_.set("environmentpath", folder_ + "/environments");
        for (const char* name : {"production", "feature", "secret"})
            write(name, "manifests/site.pp", kManifest);
        stop();
        start();
        facts("web1.test", R"({"role":"web"})");
        facts("web2.test", R"({"role":"web"})");
        facts("db1.test", R"({"role":"db"})");
        facts("other.test", R"({"role":"web"})", "secret");
    }
    static constexpr const char* kManifest =
        "node default { file { \"/etc/${facts['role']}\": mode => '0644' } }\n";
    void write(const std::string& environment, const std::string& path, const std::string& text) {
        const auto file = folder_ + "/environments/" + environment + "/" + path;
        std::filesystem::create_directories(std::filesystem::path(file).parent_path());
        std::ofstream(file) << text;
    }
    /// Returns the page once the comparison has ended.
    http::Response ended(const std::string& path, const Headers& session) {
        while (true) {
            auto page = get(path, session);
            if (page.body.find("data-poll") == std::string::npos) return page;
            sys::machine().sleep(std::chrono::milliseconds(20));
        }
    }
    static bool has(const http::Response& page, std::string_view text) {
        return page.body.find(text) != std::string::npos;
    }
};

TEST_F(ConsoleChange, GroupsWithNodesAndCauses) {
    write("feature", "manifests/site.pp",
          "node default { file { \"/etc/${facts['role']}\": mode => '0600' } }\n");
    const auto session = sign_in_as("viewer");
    const auto start = get("/change", session);
    EXPECT_TRUE(has(start, "from=production&amp;to=feature")) << start.body;
    const auto page = ended("/change?from=production&to=feature", session);
    ASSERT_EQ(page.status, 200) << page.body;
    EXPECT_TRUE(has(page, "3 of 3 nodes change")) << page.body;
    EXPECT_TRUE(has(page, "File[/etc/web] mode"));
    EXPECT_TRUE(has(page, "<span class=\"d\">-0644</span>"));
    EXPECT_TRUE(has(page, "manifests/site.pp"));
    EXPECT_TRUE(has(page, "web[1-2].test"));
    EXPECT_TRUE(has(page, "href=\"/console/nodes/db1.test\""));
    EXPECT_FALSE(has(page, "other.test"));
    EXPECT_FALSE(has(page, "http-equiv=\"refresh\""));
    const auto json = get("/change.json?from=production&to=feature", session);
    EXPECT_EQ(json.status, 200);
    EXPECT_TRUE(has(json, "\"changed\":3")) << json.body;
    EXPECT_TRUE(has(get("/change.md?from=production&to=feature", session), "3 of 3 nodes change"));
}

TEST_F(ConsoleChange, NoChangesAndFailures) {
    const auto session = sign_in_as("viewer");
    EXPECT_TRUE(has(ended("/change?from=production&to=feature", session), "No catalog changes"));
    write("feature", "manifests/site.pp", "fail('<b>no</b>')\n");
    write("feature", "data/new.yaml", "a: 1\n");
    // The version of a folder is used for some seconds, so another pair is compared.
    write("secret", "manifests/site.pp", "fail('<b>no</b>')\n");
    const auto page = ended("/change?from=production&to=secret", session);
    EXPECT_TRUE(has(page, "3 fail")) << page.body;
    EXPECT_TRUE(has(page, "Look at these first"));
    EXPECT_TRUE(has(page, "&lt;b&gt;no&lt;/b&gt;"));
}

TEST_F(ConsoleChange, BadStates) {
    const auto session = sign_in_as("viewer");
    for (const char* bad : {"none", "..", "a/b", "-x", "production@", "production@-x",
                            "production@no-such", "production@%3B"})
        EXPECT_EQ(get(fmt::format("/change?from=production&to={}", bad), session).status, 404)
            << bad;
    EXPECT_EQ(get("/change?from=feature&to=production", session).status, 404);
    EXPECT_TRUE(has(get("/change?from=feature&to=production", session),
                    "No node uses the environment feature."));
    EXPECT_EQ(get("/change.json?from=none&to=production", session).status, 404);
}

TEST_F(ConsoleChange, RestrictedViewers) {
    const auto session = sign_in_as("viewer", {"production"});
    const auto start = get("/change", session);
    EXPECT_FALSE(has(start, "secret")) << start.body;
    const auto refused = get("/change?from=secret&to=production", session);
    EXPECT_EQ(refused.status, 404);
    EXPECT_TRUE(has(refused, "There is no environment &#39;secret&#39;.") ||
                has(refused, "There is no environment 'secret'."))
        << refused.body;
    EXPECT_EQ(get("/change.json?from=production&to=secret", session).status, 404);
    EXPECT_EQ(ended("/change?from=production&to=production", session).status, 200);
}

TEST_F(ConsoleChange, CommitsNeedAnOperator) {
    const auto git = [&](const std::string& command) {
        const auto whole = "git -C '" + folder_ + "/environments/production' -c user.name=t" +
                           " -c user.email=t@example.org " + command + " >/dev/null 2>&1";
        ASSERT_EQ(std::system(whole.c_str()), 0) << command;
    };
    git("init -b main");
    git("add .");
    git("commit -m one");
    write("production", "manifests/site.pp",
          "node default { file { \"/etc/${facts['role']}\": mode => '0640' } }\n");
    git("commit -am two");
    const std::string path = "/change?from=production@main~1&to=production@main";
    const auto viewer = sign_in_as("viewer"), operator_ = sign_in_as("operator");
    const auto refused = get(path, viewer);
    EXPECT_EQ(refused.status, 403);
    EXPECT_TRUE(has(refused, "Only an operator can start a comparison")) << refused.body;
    const auto page = ended(path, operator_);
    EXPECT_TRUE(has(page, "3 of 3 nodes change")) << page.body;
    EXPECT_TRUE(has(page, "Link to these commits: <a href=\"/console/change?from=production%40"));
    EXPECT_TRUE(has(get(path, viewer), "3 of 3 nodes change"));
}

TEST_F(ConsoleChange, Actions) {
    const auto session = sign_in_as("viewer");
    (void)ended("/change?from=production&to=feature", session);
    const std::string body = "from=production&to=feature&action=again";
    EXPECT_EQ(ask("POST", "/console/change", session, body).status, 403);
    const auto secret = "csrf=" + csrf(session) + "&";
    const auto done = ask("POST", "/console/change", session, secret + body);
    EXPECT_EQ(done.status, 303);
    EXPECT_EQ(done.headers.get("Location"), "/console/change?from=production&to=feature");
    EXPECT_EQ(ask("POST", "/console/change", session, secret + "from=production&to=feature").status,
              404);
    const auto page = ended("/change?from=production&to=feature", session);
    EXPECT_TRUE(has(page, "No catalog changes"));
}

}  // namespace
}  // namespace bunraku::console
