// SPDX-License-Identifier: Apache-2.0
#include "compile/site/puppetdb_client.h"

#include <gtest/gtest.h>
#include <mutex>

#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "net/http/server.h"

namespace bunraku::site {
namespace {

using catalog::CollectorQuery;
using Kind = CollectorQuery::Kind;
using value::Value;

TEST(PuppetdbClient, CollectorsBecomeTheTerminusQuery) {
    base::Arena arena;
    auto text = [&](std::string_view s) { return value::make_string(arena, s); };
    EXPECT_EQ(collector_query_json("Exp::Entry", nullptr, "me"),
              R"(["and",["=","type","Exp::Entry"],["=","exported",true],)"
              R"(["not",["=","certname","me"]]])");
    auto query = CollectorQuery::join(
        Kind::And,
        CollectorQuery::join(Kind::Or, CollectorQuery::compare(Kind::Equal, "tag", text("ExP")),
                             CollectorQuery::compare(Kind::Equal, "title", text("T\""))),
        CollectorQuery::compare(Kind::NotEqual, "port", Value::integer(80)));
    EXPECT_EQ(collector_query_json("A", query.get(), "me"),
              R"(["and",["=","type","A"],["=","exported",true],["not",["=","certname","me"]],)"
              R"(["and",["or",["=","tag","exp"],["=","title","T\""]],)"
              R"(["not",["=",["parameter","port"],80]]]])");
}

TEST(PuppetdbClient, Configuration) {
    auto good = PuppetdbConfig::parse(
        "# c\n[main]\nserver_urls = https://a:8081, https://b/\nsoft_write_failure=true\n"
        "server_url_timeout = 5\nsticky_read_failover = true\n; x\n[other]\nserver_urls = no\n",
        "f");
    ASSERT_TRUE(good) << good.error().message;
    EXPECT_EQ(good->server_urls, (std::vector<std::string>{"https://a:8081", "https://b"}));
    EXPECT_TRUE(good->soft_write_failure);
    EXPECT_TRUE(good->sticky_read_failover);
    EXPECT_EQ(good->server_url_timeout, 5);
    EXPECT_EQ(PuppetdbConfig::parse("", "f")->server_urls[0], "https://puppetdb:8081");
    struct Case {
        const char *text, *message;
    };
    for (const auto& c : std::initializer_list<Case>{
             {"server_urls = https://a\n",
              "Setting 'server_urls = https://a' is illegal outside of section in PuppetDB config "
              "f:1"},
             {"[main]\nwhat\n", "Unparseable line 'what' in PuppetDB config f:2"},
             {"[main]\nserver_urls = http://a\n",
              "PuppetDB 'server_urls' must be https, found 'http://a'"},
             {"[main]\nserver_urls = https://a/x\n",
              "PuppetDB 'server_urls' cannot contain URL paths, found 'https://a/x'"},
             {"[main]\nmin_successful_submissions = 2\n",
              "command_broadcast must be set to true to use min_successful_submissions"},
             {"[main]\nmin_successful_submissions = 2\ncommand_broadcast = true\n",
              "min_successful_submissions (2) must be less than or equal to the number of "
              "server_urls (1)"},
         }) {
        auto config = PuppetdbConfig::parse(c.text, "f");
        ASSERT_FALSE(config) << c.text;
        EXPECT_EQ(config.error().message, c.message);
    }
}

/// A server that always returns the same response and records the requests.
struct Fake {
    std::mutex mutex;
    std::vector<std::string> asked;
    int status = 200;
    std::string answer = "[]";
    std::unique_ptr<http::Server> server;
    Fake() {
        http::Router router;
        router.add("*", "/{rest*}", http::Access::anyone(), [this](http::Request& r) {
            std::lock_guard lock(mutex);
            std::string line = r.method + " " + r.path;
            for (const auto& [name, v] : r.query)
                if (name != "producer-timestamp" && name != "checksum")
                    line += " " + name + "=" + v;
            auto body = http::decoded_body(r, 1 << 20);
            if (!body.body.empty()) line += " " + body.body;
            asked.push_back(line);
            return http::Response::json(status, answer);
        });
        http::ServerOptions options;
        options.listeners = {{}};
        server = std::move(*http::Server::start(std::move(router), std::move(options)));
    }
    std::string url() const { return server->urls()[0]; }
};

TEST(PuppetdbClient, FailoverAndCommands) {
    Fake first, second;
    base::MemorySink log;
    PuppetdbConfig config;
    config.server_urls = {first.url(), second.url()};
    config.sticky_read_failover = true;
    PuppetdbClient client(config, {}, log);
    base::Arena arena;
    first.status = 503;
    second.answer = R"([{"certname":"b","type":"A","title":"t","exported":true,"tags":["x"],)"
                    R"("file":"/f","line":3,"parameters":{"p":[1,{"k":null}],"q":null}},)"
                    R"({"certname":"a","type":"A","title":"u","parameters":{}}])";
    auto found = client.find("A", nullptr, "me", arena, {});
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->size(), 2u);
    EXPECT_EQ((*found)[0].certname, "a");
    const auto& r = (*found)[1].resource;
    EXPECT_EQ(r.ref.to_string(), "A[t]");
    EXPECT_EQ(r.line, 3);
    ASSERT_EQ(r.parameters.size(), 1u);
    EXPECT_EQ(value::to_json(r.parameters[0].value), R"([1,{"k":null}])");
    EXPECT_EQ(first.asked.size(), 1u);
    EXPECT_EQ(second.asked[0],
              R"(GET /pdb/query/v4/resources query=["and",["=","type","A"],["=","exported",true],)"
              R"(["not",["=","certname","me"]]])");
    // The client now tries the server that answered last first.
    second.answer = R"([{"count":1}])";
    auto rows = client.query(value::make_string(arena, "nodes{}"), arena);
    EXPECT_EQ(value::to_json(*rows), R"([{"count":1}])");
    EXPECT_EQ(first.asked.size(), 1u);
    EXPECT_EQ(second.asked[1], R"(POST /pdb/query/v4 {"query":"nodes{}"})");

    second.answer = R"({"uuid":"U"})";
    std::string payload = R"({"values":")" + std::string(5000, 'v') + "\"}";
    ASSERT_TRUE(client.submit("replace facts", 5, "n 1", 0, payload));
    EXPECT_EQ(second.asked[2],
              "POST /pdb/cmd/v1 version=5 certname=n 1 command=replace_facts " + payload);
    EXPECT_EQ(log.records.back().message,
              "'replace_facts' command for n 1 submitted to PuppetDB with UUID U");
    second.status = 500;
    auto failed = client.submit("replace facts", 5, "n", 0, "{}");
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().message.find("of the following 'server_urls': " + first.url() + ", " +
                                          second.url()),
              std::string::npos);
    config.soft_write_failure = true;
    EXPECT_TRUE(PuppetdbClient(config, {}, log).submit("replace facts", 5, "n", 0, "{}"));
    EXPECT_EQ(log.records.back().level, base::Level::Err);
    first.status = 400;
    first.answer = "bad\nquery";
    EXPECT_EQ(PuppetdbClient(config, {}, log)
                  .query(value::make_string(arena, "x"), arena)
                  .error()
                  .message,
              "[400 Bad Request] badquery");
    second.answer = "no array";
    second.status = 200;
    first.status = 500;
    EXPECT_FALSE(PuppetdbClient(config, {}, log).find("A", nullptr, "me", arena, {}));
}

}  // namespace
}  // namespace bunraku::site
