// SPDX-License-Identifier: Apache-2.0
// Tests the query API from the client's view: statuses, media types, headers, bodies. The expected
// values are those of PuppetDB 7.12.1.
#include "services/server/pdb_query.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

#include "net/http/router.h"
#include "store/db/command.h"
#include "store/db/writer.h"

using namespace bunraku;

namespace {

class PdbQuery : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        char name[] = "/tmp/bunraku-pdb-query-XXXXXX";
        directory_ = ::mkdtemp(name);
        std::string path = directory_ + "/store.sqlite3";
        auto writer = store::Writer::open(path, {});
        ASSERT_TRUE(writer) << writer.error().message;
        store::CommandHeader header;
        header.kind = store::CommandKind::ReplaceFacts;
        header.version = 5;
        header.certname = "web/1";
        header.received = 1'700'000'000'000;
        std::string body =
            R"({"certname":"web/1","environment":"prod","producer":"pm","values":{"kernel":"Linux"},"producer_timestamp":"2023-01-01T00:00:00.000Z"})";
        auto prepared = store::prepare_command(header, body, {});
        ASSERT_TRUE(prepared) << prepared.error().message;
        auto transaction = (*writer)->begin();
        ASSERT_TRUE((*prepared)->apply(**writer));
        ASSERT_TRUE(transaction->commit());
        router_ = new http::Router();
        router_->set_policy({.plain_is_trusted = true});
        server::add_query_routes(*router_, std::make_shared<store::QueryEngine>(path));
    }
    static void TearDownTestSuite() {
        delete router_;
        std::filesystem::remove_all(directory_);
    }

    static http::Response get(std::string target, std::string method = "GET", std::string body = "",
                              std::string accept = "") {
        http::Request r;
        r.method = std::move(method);
        r.target = target;
        std::size_t mark = target.find('?');
        r.path = target.substr(0, mark);
        if (mark != std::string::npos) r.query = *http::parse_query(target.substr(mark + 1));
        if (!accept.empty()) r.headers.set("Accept", accept);
        if (r.method == "POST") r.headers.set("Content-Type", "application/json");
        r.body = std::move(body);
        return router_->handle(r);
    }

    static inline std::string directory_;
    static inline http::Router* router_ = nullptr;
};

TEST_F(PdbQuery, Answers) {
    struct Case {
        std::string_view target;
        int status;
        std::string_view type, body;
    } cases[] = {
        {"/pdb/query/v4/environments", 200, "application/json;charset=utf-8",
         R"([{"name":"prod"}])"},
        {"/pdb/query/v4/environments?pretty=true", 200, "application/json;charset=utf-8",
         "[ {\n  \"name\" : \"prod\"\n} ]"},
        {"/pdb/query/v4/environments/prod", 200, "application/json;charset=utf-8",
         "{\n  \"name\" : \"prod\"\n}"},
        {"/pdb/query/v4/nodes/nope", 404, "application/json;charset=utf-8",
         "{\n  \"error\" : \"No information is known about node nope\"\n}"},
        {"/pdb/query/v4/nodes/web%2F1/facts/kernel", 200, "application/json;charset=utf-8",
         R"([{"certname":"web/1","environment":"prod","name":"kernel","value":"Linux"}])"},
        {"/pdb/query/v4/facts/kernel/Darwin", 200, "application/json;charset=utf-8", "[]"},
        {"/pdb/query/v4/environments/nope/facts", 404, "application/json;charset=utf-8",
         "{\n  \"error\" : \"No information is known about environment nope\"\n}"},
        {"/pdb/query/v4/fact-names", 200, "application/json;charset=utf-8", R"(["kernel"])"},
        {"/pdb/query/v4?query=nodes%5Bcertname%5D%7B%7D", 200, "application/json;charset=utf-8",
         R"([{"certname":"web/1"}])"},
        {"/pdb/query/v4?query=nodes%7B%7D&ast_only=true", 200, "application/json;charset=utf-8",
         "[ \"from\", \"nodes\" ]"},
        {"/pdb/query/v4", 400, "text/plain;charset=utf-8",
         "Missing required query parameter 'query'"},
        {"/pdb/query/v4/nodes?bogus=1", 400, "text/plain;charset=utf-8",
         "Unsupported query parameter 'bogus'"},
        {"/pdb/query/v4/nodes?limit=0", 400, "text/plain;charset=utf-8",
         "Illegal value '0' for :limit; expected a positive non-zero integer."},
        {"/pdb/query/v4/environments?limit=%2B1&order_by=", 200, "application/json;charset=utf-8",
         R"([{"name":"prod"}])"},
        {"/pdb/query/v4/event-counts?summarize_by=certname&counts_filter=", 200,
         "application/json;charset=utf-8", "[]"},
        {"/pdb/query/v4/aggregate-event-counts?summarize_by=", 400, "text/plain;charset=utf-8",
         "Unsupported value for 'summarize_by': ''"},
        // For paths below an environment, its existence is checked first; for paths below a node,
        // last.
        {"/pdb/query/v4/environments/nope/facts?bogus=1", 404, "application/json;charset=utf-8",
         "{\n  \"error\" : \"No information is known about environment nope\"\n}"},
        {"/pdb/query/v4/nodes/nope/facts?bogus=1", 400, "text/plain;charset=utf-8",
         "Unsupported query parameter 'bogus'"},
        {"/pdb/query/v4/environments/prod?query=x", 400, "text/plain;charset=utf-8",
         "Unsupported query parameter 'query'"},
        {"/pdb/query/v4/nodes?order_by=x", 400, "text/plain;charset=utf-8",
         "Illegal value 'x' for :order_by; expected a JSON array of maps."},
        {"/pdb/query/v4/nodes?query=%5B%5D", 400, "text/plain;charset=utf-8",
         "[] is not well-formed: queries must contain at least one operator"},
        {"/pdb/query/v4/event-counts", 400, "text/plain;charset=utf-8",
         "Missing required query parameter 'summarize_by'"},
        {"/pdb/query/v3/nodes", 404, "text/plain;charset=utf-8",
         "The v3 API has been retired; please use v4"},
    };
    for (const Case& c : cases) {
        http::Response r = get(std::string(c.target));
        EXPECT_EQ(r.status, c.status) << c.target << "\n" << r.body;
        EXPECT_EQ(r.headers.get("Content-Type"), c.type) << c.target;
        EXPECT_EQ(r.body, c.body) << c.target;
    }
}

TEST_F(PdbQuery, MethodsAndHeaders) {
    EXPECT_EQ(get("/pdb/query/v4/nodes", "PUT").body, "PuppetDB queries must be made via GET/POST");
    EXPECT_EQ(get("/pdb/query/v4/nodes", "GET", "", "text/html, application/json;q=0.5").status,
              406);
    EXPECT_EQ(get("/pdb/query/v4/nodes", "GET", "", "text/html, */*").status, 200);
    EXPECT_EQ(get("/pdb/query/v4/nodes", "GET", "", "application/JSON").status, 200);
    http::Response r = get("/pdb/query/v4/nodes", "POST",
                           R"({"query":["extract","certname",["~","certname","web"]],"limit":1,)"
                           R"("include_total":true,"order_by":[{"field":"certname"}]})");
    EXPECT_EQ(r.body, R"([{"certname":"web/1"}])");
    EXPECT_EQ(r.headers.get("X-Records"), "1");
    http::Request form;
    form.method = "POST";
    form.path = form.target = "/pdb/query/v4/nodes";
    form.headers.set("Content-Type", "application/x-www-form-urlencoded");
    EXPECT_EQ(router_->handle(form).status, 415);
    form.headers.set("Content-Type", "application/JSON");
    EXPECT_EQ(router_->handle(form).status, 200);
}

}  // namespace
