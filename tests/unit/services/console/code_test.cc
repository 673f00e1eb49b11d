// SPDX-License-Identifier: Apache-2.0
// The pages of classes and keys, and of modules.
#include <filesystem>
#include <fstream>

#include "fixture.h"

namespace bunraku::console {
namespace {

class ConsoleCode : public ConsoleTest {
protected:
    void SetUp() override {
        ConsoleTest::SetUp();
        settings_.set("environmentpath", folder_ + "/environments");
        write("manifests/site.pp", "node default { include \"ntp::${facts['role']}\" }\n");
        write("hiera.yaml", "version: 5\nhierarchy: [{name: all, path: common.yaml}]\n");
        write("data/common.yaml", "ntp::web::port: 123\nnever::read: secret-value\n");
        write("modules/ntp/metadata.json",
              R"({"name":"acme-ntp","version":"1.2.3","author":"acme","summary":"s",)"
              R"("license":"x","source":"s","dependencies":[]})");
        write("modules/ntp/manifests/web.pp",
              "# Serves the *time* <script>alert(1)</script>.\n"
              "# @param port The port <b>x</b>.\n"
              "class ntp::web(Integer $port = 5) { }\n");
        write("modules/ntp/manifests/db.pp", "class ntp::db { }\n");
        write("modules/ntp/manifests/unused.pp", "class ntp::unused { }\n");
        write("manifests/site.pp", "include ntp\n", "secret");
        stop();
        start();
        facts("web1.test", R"({"role":"web"})");
        facts("web2.test", R"({"role":"web"})");
        facts("db1.test", R"({"role":"db"})");
    }
    void write(const std::string& path, const std::string& text,
               const std::string& environment = "production") {
        const auto file = folder_ + "/environments/" + environment + "/" + path;
        std::filesystem::create_directories(std::filesystem::path(file).parent_path());
        std::ofstream(file) << text;
    }
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

TEST_F(ConsoleCode, CountsReaders) {
    const auto session = sign_in_as("viewer");
    const auto classes = ended("/code", session);
    ASSERT_EQ(classes.status, 200) << classes.body;
    EXPECT_TRUE(has(classes, "Compiled 3 of 3 nodes")) << classes.body;
    EXPECT_TRUE(has(
        classes, "href=\"/console/code/class?environment=production&amp;name=ntp%3A%3Aweb\">2</a>"))
        << classes.body;
    const auto unused = get("/code?unused=true", session);
    EXPECT_TRUE(has(unused, "ntp::unused"));
    EXPECT_FALSE(has(unused, "ntp::db"));
    const auto keys = get("/code?kind=key", session);
    EXPECT_TRUE(has(keys, "ntp::web::port")) << keys.body;
    EXPECT_TRUE(has(get("/code?kind=key&unused=true", session), "never::read"));
    EXPECT_TRUE(has(get("/code?find=zz", session), "Nothing matches"));
    const auto search = get("/search?q=ntp", session);
    EXPECT_TRUE(has(search, "/console/code/class?environment=production&amp;name=ntp%3A%3Adb"))
        << search.body;
    EXPECT_TRUE(has(get("/search?q=port", session), "/console/code/key?"));
}

TEST_F(ConsoleCode, Definitions) {
    const auto session = sign_in_as("viewer");
    const auto page = ended("/code/class?name=ntp%3A%3Aweb", session);
    ASSERT_EQ(page.status, 200) << page.body;
    for (const char* text :
         {"modules/ntp/manifests/web.pp:3", "<em>time</em>", "&lt;script&gt;", "Read by 2 nodes",
          "/console/nodes/web2.test", "The port &lt;b&gt;x&lt;/b&gt;.", "Integer"})
        EXPECT_TRUE(has(page, text)) << text << page.body;
    EXPECT_FALSE(has(page, "db1.test"));
    const auto key = ended("/code/key?name=never%3A%3Aread", session);
    EXPECT_TRUE(has(key, "data/common.yaml"));
    EXPECT_TRUE(has(key, "Never read"));
    EXPECT_FALSE(has(key, "secret-value"));
    EXPECT_EQ(get("/code/class?name=none", session).status, 404);
    EXPECT_EQ(get("/code/nothing?name=none", session).status, 404);
}

TEST_F(ConsoleCode, RestrictedViewers) {
    const auto session = sign_in_as("viewer", {"production"});
    const auto page = ended("/code", session);
    EXPECT_EQ(page.status, 200);
    EXPECT_FALSE(has(page, "secret"));
    EXPECT_EQ(get("/code?environment=secret", session).status, 404);
    EXPECT_EQ(get("/code/class?name=ntp&environment=secret", session).status, 404);
    EXPECT_EQ(get("/code?environment=..", session).status, 404);
    EXPECT_EQ(get("/exports", session).status, 403);
    const auto modules = ended("/modules/acme-ntp", session);
    EXPECT_TRUE(has(modules, "production"));
    EXPECT_FALSE(has(modules, "secret"));
    EXPECT_FALSE(has(get("/schema.json", session), "\"role\""));
}

TEST_F(ConsoleCode, Modules) {
    write("modules/ntp/metadata.json",
          R"({"name":"acme-ntp","version":"1.3.0","author":"acme","summary":"s",)"
          R"("license":"x","source":"s","dependencies":[]})",
          "secret");
    const auto session = sign_in_as("viewer");
    const auto modules = ended("/modules", session);
    ASSERT_EQ(modules.status, 200) << modules.body;
    EXPECT_TRUE(has(modules, "href=\"/console/modules/acme-ntp\"")) << modules.body;
    EXPECT_TRUE(has(modules, "1.2.3"));
    EXPECT_TRUE(has(modules, " in production"));
    EXPECT_TRUE(has(modules, " in secret"));
    const auto module = ended("/modules/acme-ntp", session);
    EXPECT_TRUE(has(module, "href=\"/console/nodes?environment=production\">3</a>")) << module.body;
    EXPECT_EQ(get("/modules/none", session).status, 404);
    EXPECT_TRUE(has(get("/modules?find=zz", session), "No module"));
}

TEST_F(ConsoleCode, Schema) {
    const auto session = sign_in_as("viewer");
    const auto schema = get("/schema.json", session);
    EXPECT_EQ(schema.headers.get("Content-Type"), "application/json");
    EXPECT_TRUE(has(schema, "\"nodes\":{\"fields\":[[\"cached_catalog_status\",\"text\"]"))
        << schema.body;
    EXPECT_TRUE(has(schema, "\"facts\":[\"role\"]"));
}

}  // namespace
}  // namespace bunraku::console
