// SPDX-License-Identifier: Apache-2.0
// Tests the command and admin endpoints. For accepted commands, the responses are those of PuppetDB
// 7.12.
#include "services/server/pdb_command.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/server/pdb_admin.h"

namespace bunraku::server {
namespace {

class PdbCommand : public testing::Test {
protected:
    void SetUp() override {
        std::string name = std::filesystem::temp_directory_path() / "bunraku-command-XXXXXX";
        folder_ = mkdtemp(name.data());
        store::ServiceOptions options;
        options.database = folder_ + "/s";
        options.queue_folder = folder_ + "/q";
        options.durable = false;
        options.counters = &counters_;
        options.max_command_size = 100000;
        auto started = store::Service::start(std::move(options));
        ASSERT_TRUE(started) << started.error().message;
        service_ = std::move(*started);
        router_.set_policy({.plain_is_trusted = true});
        add_command_routes(router_, service_);
        add_admin_routes(router_, service_);
    }
    void TearDown() override {
        router_ = http::Router();
        service_.reset();
        std::filesystem::remove_all(folder_);
    }

    http::Response send(std::string_view target, std::string body,
                        std::initializer_list<std::pair<const char*, std::string>> headers = {}) {
        http::Request request;
        request.method = "POST";
        request.target = target;
        std::size_t mark = target.find('?');
        request.path = target.substr(0, mark);
        if (mark != std::string_view::npos) {
            auto query = http::parse_query(target.substr(mark + 1));
            if (query) request.query = *query;
        }
        request.headers.set("Content-Type", "application/json");
        for (const auto& [name, value] : headers) request.headers.set(name, value);
        request.body = std::move(body);
        return router_.handle(request);
    }
    /// Returns "400 text".
    std::string answer(std::string_view target, std::string body,
                       std::initializer_list<std::pair<const char*, std::string>> headers = {}) {
        http::Response r = send(target, std::move(body), headers);
        return fmt::format("{} {}", r.status, r.body);
    }

    std::string folder_;
    base::Counters counters_;
    std::shared_ptr<store::Service> service_;
    http::Router router_;
};

constexpr const char* kFacts =
    R"({"certname":"n","environment":"e","producer":"p","producer_timestamp":)"
    R"("2023-11-14T22:13:21Z","values":{"a":1}})";

TEST_F(PdbCommand, RefusesInvalidRequests) {
    struct {
        const char* target;
        std::string body, answer;
    } cases[] = {
        {"/pdb/cmd/v1?certname=a&command=replace_facts", kFacts,
         R"(400 {"error":"Command \"replace facts\" for certname \"a\" is invalid. Version must be)"
         R"( a valid integer."})"},
        {"/pdb/cmd/v1?command=replace_facts&version=5", kFacts,
         R"(400 {"error":"Command \"replace facts\" for certname nil is invalid. Command is missing)"
         R"( required parameters: certname."})"},
        {"/pdb/cmd/v1?command=replace_facts&version=five&certname=n", kFacts,
         R"(400 {"error":"Command \"replace facts\" for certname \"n\" is invalid. Version must be)"
         R"( a valid integer."})"},
        {"/pdb/cmd/v1?command=replace_facts&version=5&certname=n&bogus=1", kFacts,
         R"(400 {"error":"Command \"replace facts\" for certname \"n\" is invalid. Command has)"
         R"( invalid parameters: bogus."})"},
        {"/pdb/cmd/v1?command=replace_facts&version=5&certname=+", kFacts,
         R"(400 {"error":"Command \"replace facts\" for certname \" \" is invalid. Certname must be)"
         R"( a non-empty string."})"},
        {"/pdb/cmd/v1?command=make_coffee&version=5&certname=n", kFacts,
         R"(400 {"error":"Command \"make coffee\" for certname \"n\" is invalid. Command must be one)"
         R"( of: configure expiration, deactivate node, replace catalog, replace catalog inputs,)"
         R"( replace facts, store report."})"},
        {"/pdb/cmd/v1?command=store_report&version=2&certname=n", kFacts,
         R"(400 {"error":"Command \"store report\" for certname \"n\" is invalid. Version 2 of)"
         R"( command \"store report\" is retired. The minimum supported version is 3."})"},
        {"/pdb/cmd/v1", R"({"command":"replace facts","version":5,"payload":"x"})",
         R"(400 {"error":"Command \"replace facts\" for certname nil is invalid. Command was)"
         R"( submitted without query parameters (old format). The payload value must be a JSON)"
         R"( map."})"},
        {"/pdb/cmd/v1",
         R"({"command":"replace facts","version":99999999999,"payload":{"certname":"n"}})",
         R"(400 {"error":"Command \"replace facts\" for certname \"n\" is invalid. Version must be)"
         R"( a valid integer."})"},
        {"/pdb/cmd/v1",
         R"({"command":"replace facts","version":5,"payload":{"values":{}},"certname":"n"})",
         R"(400 {"error":"Command \"replace facts\" for certname nil is invalid. Command is missing)"
         R"( required parameters: certname."})"},
        {"/pdb/cmd/v1", "{",
         R"(400 {"error":"Command nil for certname nil is invalid. Command was submitted without)"
         R"( query parameters (old format). The request body must be a JSON map with required keys:)"
         R"( command, version, payload."})"},
    };
    for (const auto& c : cases) EXPECT_EQ(answer(c.target, c.body), c.answer);
    const char* good = "/pdb/cmd/v1?command=replace_facts&version=5&certname=n";
    EXPECT_EQ(answer(good, kFacts, {{"Content-Encoding", "br"}}),
              "415 content encoding br not supported");
    EXPECT_EQ(answer(good, kFacts, {{"Accept", "text/html"}}), "406 must accept application/json");
    EXPECT_EQ(answer(good, kFacts, {{"X-Uncompressed-Length", "1000000"}}),
              "413 Command rejected due to size exceeding max-command-size");
    EXPECT_EQ(send(good, kFacts, {{"Content-Type", "text/plain"}}).status, 415);
    EXPECT_EQ(send(good, "no gzip", {{"Content-Encoding", "gzip"}}).status, 400);
    EXPECT_EQ(
        send(good, http::gzip(std::string(200000, ' ')), {{"Content-Encoding", "gzip"}}).status,
        413);
    EXPECT_EQ(service_->health().queue.depth, 0U);
}

TEST_F(PdbCommand, AcceptsBothCommandForms) {
    const char* wait =
        "/pdb/cmd/v1?command=replace%20facts&version=5&certname=n&checksum=x"
        "&producer-timestamp=2023-11-14T22:13:21.000Z&secondsToWaitForCompletion=20";
    http::Response r = send(wait, http::gzip(kFacts), {{"Content-Encoding", "gzip"}});
    EXPECT_EQ(r.status, 200);
    EXPECT_TRUE(r.body.ends_with(R"(","processed":true,"timed_out":false})")) << r.body;
    r = send("/pdb/cmd/v1",
             fmt::format(R"({{"command":"replace facts","version":5,"payload":{}}})", kFacts));
    EXPECT_EQ(r.status, 200);
    EXPECT_EQ(r.body.size(),
              std::string(R"({"uuid":"00000000-0000-0000-0000-000000000000"})").size());
    std::string older = kFacts;
    older.replace(older.find("2023-11-14T22:13:21Z"), 20, "2020-01-01T00:00:00Z");
    EXPECT_EQ(send(wait, older).status, 200);
    EXPECT_EQ(send("/pdb/cmd/v1?command=replace_facts&version=77&certname=n"
                   "&secondsToWaitForCompletion=20",
                   "{}")
                  .status,
              503);
    // An error in the content is visible only to clients that wait for completion.
    r = send(wait, "{bad");
    EXPECT_EQ(r.status, 503);
    EXPECT_TRUE(r.body.find(R"("processed":true,"timed_out":false,"error":"Json parse error)") !=
                std::string::npos)
        << r.body;
    struct {
        const char *name, *version;
        double value;
    } counts[] = {{"received", "5", 4},    {"processed", "5", 2}, {"ignored", "5", 1},
                  {"fatal", "5", 1},       {"fatal", "77", 0},    {"fatal", "other", 1},
                  {"received", "other", 1}};
    for (const auto& c : counts) {
        EXPECT_EQ(counters_.value(fmt::format("bunraku_commands_{}_total", c.name),
                                  {{"command", "replace facts"}, {"version", c.version}}),
                  c.value)
            << c.name << ' ' << c.version;
    }
}

TEST_F(PdbCommand, Admin) {
    const char* cmd = "/pdb/admin/v1/cmd";
    EXPECT_EQ(answer(cmd, R"({"command":"clean","version":1,"payload":[]})"), R"(200 {"ok":true})");
    EXPECT_EQ(answer(cmd, R"({"command":"clean","version":1,"payload":["expire_nodes",)"
                          R"(["purge_nodes",{"batch_limit":5}],"other"]})"),
              R"(200 {"ok":true})");
    EXPECT_EQ(answer(cmd, R"({"command":"delete","version":1,"payload":{"certname":"n"}})"),
              R"(200 {"deleted":"n"})");
    // {} is not [], which would run all cleanups.
    for (const char* bad : {"[\"all\"]", "{}", "null", "\"other\"", "[[\"purge_nodes\",{}]]",
                            "[[\"other\",{\"batch_limit\":1}]]", "[],\"more\":1"}) {
        EXPECT_EQ(
            send(cmd, fmt::format(R"({{"command":"clean","version":1,"payload":{}}})", bad)).status,
            400)
            << bad;
    }
    for (const char* good : {"[\"gc_catalogs\",\"gc_fact_paths\"]", "[\"other\",\"other\"]"}) {
        EXPECT_EQ(send(cmd, fmt::format(R"({{"command":"clean","version":1,"payload":{}}})", good))
                      .status,
                  200)
            << good;
    }
    EXPECT_EQ(send(cmd, R"({"command":"delete","version":2,"payload":{"certname":"n"}})").status,
              400);
    EXPECT_EQ(send(cmd, "[").status, 400);
    EXPECT_EQ(send("/pdb/admin/v1/summary-stats", "").status, 200);
    EXPECT_EQ(send("/pdb/admin/v1/archive", "nothing").status, 400);
}

}  // namespace
}  // namespace bunraku::server
