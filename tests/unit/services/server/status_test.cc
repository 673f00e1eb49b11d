// SPDX-License-Identifier: Apache-2.0
// Tests PuppetDB's endpoints other than commands and queries; the responses were compared with
// PuppetDB 7.12.1.
#include "services/server/status.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/arena.h"
#include "core/value/rich_data.h"
#include "services/server/debug_status.h"
#include "services/server/front_page.h"

namespace bunraku::server {
namespace {

struct Site {
    base::Counters counters;
    http::Router router;
    std::string state = "running";
    Site() {
        router.set_policy({.plain_is_trusted = true});
        mount_meta(router);
        mount_metrics(router, counters);
        mount_jolokia(router, counters, http::Access::listed());
        mount_status(router, [this] {
            return std::vector<ServiceStatus>{{"puppetdb-status", "8", state, "{\"x\":1}"},
                                              {"status-service", "1"}};
        });
    }
    http::Response ask(std::string path, std::string method = "GET", std::string body = {}) {
        http::Request r;
        r.method = std::move(method);
        auto mark = path.find('?');
        r.path = path.substr(0, mark);
        if (mark != std::string::npos) r.query = *http::parse_query(path.substr(mark + 1));
        r.body = std::move(body);
        return router.handle(r);
    }
};

/// Returns the number of threads of this process, which includes a thread of ThreadSanitizer.
std::ptrdiff_t threads() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

TEST(Status, Services) {
    Site site;
    struct Case {
        const char* path;
        int status;
        const char* body;
    };
    for (const auto& c : std::initializer_list<Case>{
             {"/status/v1/services/status-service", 200,
              R"({"service_version":"1","service_status_version":1,"detail_level":"info",)"
              R"("state":"running","status":{},"active_alerts":[],)"
              R"("service_name":"status-service"})"},
             {"/status/v1/services/puppetdb-status?level=debug", 200,
              R"({"service_version":"8","service_status_version":1,"detail_level":"debug",)"
              R"("state":"running","status":{"x":1},"active_alerts":[],)"
              R"("service_name":"puppetdb-status"})"},
             {"/status/v1/services/nosuch", 404,
              R"({"kind":"service-not-found","msg":"No status information found for service )"
              R"(nosuch"})"},
             {"/status/v1/services/nosuch?level=bogus", 404,
              R"({"kind":"service-not-found","msg":"No status information found for service )"
              R"(nosuch"})"},
             {"/status/v1/services/status-service?service_status_version=1", 200,
              R"({"service_version":"1","service_status_version":1,"detail_level":"info",)"
              R"("state":"running","status":{},"active_alerts":[],)"
              R"("service_name":"status-service"})"},
             {"/status/v1/services/puppetdb-status?service_status_version=2", 400,
              R"({"kind":"service-status-version-not-found","msg":"No status function with )"
              R"(version 2 found for service puppetdb-status"})"},
             {"/status/v1/services/puppetdb-status?service_status_version=x", 400,
              R"({"kind":"data-invalid","msg":"Invalid service_status_version. Should be an )"
              R"(integer but was x"})"},
             {"/pdb/meta/v1/version?x=1", 400, "Unsupported query parameter 'x'"},
             {"/status/v1/services?level=bogus", 400,
              R"({"kind":"data-invalid","msg":"Invalid level: :bogus"})"},
             {"/status/v1/simple", 200, "running"},
             {"/status/v1/simple/puppetdb-status", 200, "running"},
             {"/status/v1/simple/nosuch", 404, "not found: nosuch"},
             {"/status/v1/simple?timeout=x", 400,
              "Invalid timeout. Should be an integer but was x"},
             {"/status/v1/simple/puppetdb-status?timeout=0", 400,
              "Invalid timeout. Timeout must be greater than zero but was 0"},
             {"/status/v1/simple/nosuch?timeout=x", 404, "not found: nosuch"},
             {"/status/v1/simple?timeout=1", 200, "running"},
             {"/status/v1/services?timeout=", 400,
              R"({"kind":"data-invalid","msg":"Invalid timeout. Should be an integer but was "})"},
             {"/status/v1/services/puppetdb-status?timeout=1.5", 400,
              R"({"kind":"data-invalid","msg":"Invalid timeout. Should be an integer but was )"
              R"(1.5"})"},
             {"/pdb/meta/v1/version/latest", 200,
              "{\n  \"newer\" : false,\n  \"version\" : \"8.8.1\",\n  \"link\" : null\n}"},
             {"/pdb/query/v3/nodes", 404, "The v3 API has been retired; please use v4"},
             {"/pdb/query/v1", 404, "The v1 API has been retired; please use v4"},
             {"/pdb/query/v5/x", 404, "Not Found"},
             {"/nowhere", 404, "Not Found"},
         }) {
        auto answer = site.ask(c.path);
        EXPECT_EQ(answer.status, c.status) << c.path;
        EXPECT_EQ(answer.body, c.body) << c.path;
    }
    site.state = "error";
    EXPECT_EQ(site.ask("/status/v1/simple").status, 503);
    EXPECT_EQ(site.ask("/status/v1/simple").body, "error");
    EXPECT_EQ(site.ask("/status/v1/simple/status-service").status, 200);
}

/// Returns the response without its time.
std::string jolokia(Site& site, const std::string& path, const std::string& body = {}) {
    auto out = site.ask(path, body.empty() ? "GET" : "POST", body).body;
    for (std::size_t at; (at = out.find(",\"timestamp\":")) != std::string::npos;)
        out.erase(at, out.find(',', at + 1) - at);
    return out;
}

TEST(FrontPage, ListsExistingApis) {
    http::Router router;
    mount_front_page(router, {"store", "forge"}, "<1>");
    http::Request r;
    r.method = "GET";
    r.path = "/";
    const auto page = router.handle(r);
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.headers.get("Content-Type"), "text/html;charset=utf-8");
    for (const char* there : {"Version &lt;1&gt;. This server is: store, forge.", "/pdb/query/v4",
                              "<a href=\"/v3/modules\">", "/metrics/v2"})
        EXPECT_NE(page.body.find(there), std::string::npos) << there;
    for (const char* elsewhere : {"/puppet/v3", "/puppet-ca"})
        EXPECT_EQ(page.body.find(elsewhere), std::string::npos) << elsewhere;
}

TEST(Status, MatchesPuppetserverMetrics) {
    Site site;
    auto& c = site.counters;
    EXPECT_EQ(jolokia(site, "/metrics/v2/search/puppetserver:*").find("puppetlabs"),
              std::string::npos);
    c.gauge("bunraku_compile_slots", "").set(2);
    c.gauge("bunraku_compile_slots_free", "").set(1);
    c.histogram(kCompileTime, "").record(3000);
    c.histogram("bunraku_http_request_seconds", "", {{"route", "/puppet/v3/catalog/{node}"}})
        .record(2000);
    c.histogram("bunraku_http_request_seconds", "", {{"route", "/metrics"}}).record(1);
    const auto read = [&](const std::string& name) {
        const auto text = jolokia(site, "/metrics/v2/read/puppetserver:name=" + name);
        const auto at = text.find("\"value\":") + 8;
        return text.substr(at, text.rfind(",\"status\"") - at);
    };
    EXPECT_EQ(read("puppetlabs.localhost.jruby.num-free-jrubies/Value"), "1");
    EXPECT_EQ(read("puppetlabs.localhost.compiler.compile/Count"), "1");
    EXPECT_EQ(read("puppetlabs.localhost.http.total-requests/Mean"), "2.0");
    EXPECT_EQ(read("\"puppetlabs.localhost.http.puppet-v3-catalog-/\\*/-requests\"/Max"), "2.0");
    EXPECT_EQ(read("\"puppetlabs.localhost.http.puppet-v3-catalog-/\\*/-percentage\"/Value"),
              "100.0");
    EXPECT_EQ(route_metrics(c),
              R"({"experimental":{"http-metrics":[)"
              R"({"route-id":"total","count":1,"mean":2,"aggregate":2},)"
              R"({"route-id":"puppet-v3-catalog-/*/","count":1,"mean":2,"aggregate":2}],)"
              R"("http-client-metrics":[]}})");
    const auto pool = pool_metrics({.asked = 4, .refused = 1, .total = 2, .free = 1}, c);
    for (const char* part : {R"("num-jrubies":2,"num-free-jrubies":1,"requested-count":4)",
                             R"("queue-limit-hit-rate":0.2500)", R"("average-borrow-time":3)",
                             R"("puppet-v3-catalog":{"count":1,"mean":2,"max":2)"})
        EXPECT_NE(pool.find(part), std::string::npos) << part << "\n" << pool;
    base::Arena arena;
    for (const auto& json : {pool, jvm_metrics(), profiler_metrics(c)})
        EXPECT_TRUE(value::parse_json(arena, json)) << json;
}

TEST(Status, Routes) {
    for (const auto& [pattern, name] : std::initializer_list<std::pair<const char*, const char*>>{
             {"/puppet/v3/file_content/{key*}", "puppet-v3-file_content-/*/"},
             {"/puppet/v3/environments", "puppet-v3-environments"},
             {"/puppet/v3/environment_classes", "puppet-v3-environment_classes-/*/"},
             {"/puppet/v3/tasks/{module}/{name}", "puppet-v3-tasks-:module-name-:task-name"},
             {"/puppet/v4/catalog", "puppet-v4-catalog"},
             {"/puppet/{rest*}", ""},
             {"/status/v1/simple", ""}})
        EXPECT_EQ(puppetserver_route(pattern), name) << pattern;
}

TEST(Status, Jolokia) {
    Site site;
    site.counters.gauge("bunraku_command_queue_depth", "").set(7);
    site.counters.gauge("bunraku_population_active_nodes", "").set(3);
    site.counters.gauge("bunraku_population_resources", "").set(12);
    site.counters
        .histogram("bunraku_command_processing_seconds", "", {{"command", "replace facts"}})
        .record(2000);
    site.counters.histogram("bunraku_command_processing_seconds", "", {{"command", "store report"}})
        .record(4000);
    site.counters.histogram("bunraku_http_request_seconds", "", {{"route", "/a/{b}"}}).record(5);
    for (const char* version : {"8", "9", "9", "other"}) {
        base::Labels labels{{"command", "replace catalog"}, {"version", version}};
        site.counters.counter("bunraku_commands_received_total", "", labels).add();
        site.counters.histogram("bunraku_command_processing_seconds", "", labels).record(1000);
    }
    const std::string depth =
        R"({"request":{"mbean":"puppetlabs.puppetdb.mq:name=global.depth","type":"read"},)"
        R"("value":{"Count":7},"status":200})";
    EXPECT_EQ(jolokia(site, "/metrics/v2/read/puppetlabs.puppetdb.mq:name=global.depth"), depth);
    EXPECT_EQ(jolokia(site, "/metrics/v2/read/puppetlabs.puppetdb.population:name=num-nodes/Value"),
              R"({"request":{"mbean":"puppetlabs.puppetdb.population:name=num-nodes",)"
              R"("attribute":"Value","type":"read"},"value":3,"status":200})");
    EXPECT_EQ(
        jolokia(site,
                "/metrics/v2/read/puppetlabs.puppetdb.population:name=avg-resources-per-node"),
        R"({"request":{"mbean":"puppetlabs.puppetdb.population:name=avg-resources-per-node",)"
        R"("type":"read"},"value":{"Value":4.0},"status":200})");
    EXPECT_EQ(jolokia(site, "/metrics/v2/read/a.b:name=x"),
              R"({"request":{"mbean":"a.b:name=x","type":"read"},"error_type":)"
              R"("javax.management.InstanceNotFoundException","error":)"
              R"("javax.management.InstanceNotFoundException : a.b:name=x","status":404})");
    const std::string seen = "/metrics/v2/read/puppetlabs.puppetdb.mq:name=global.depth/";
    EXPECT_EQ(jolokia(site, seen + "Count,Nosuch"),
              R"({"request":{"mbean":"puppetlabs.puppetdb.mq:name=global.depth","attribute":)"
              R"(["Count","Nosuch"],"type":"read"},"error_type":)"
              R"("javax.management.AttributeNotFoundException","error":)"
              R"("javax.management.AttributeNotFoundException : No such attribute: Nosuch",)"
              R"("status":404})");
    EXPECT_EQ(jolokia(site, "/metrics/v2/read/*:name=num-n*/Value"),
              R"({"request":{"mbean":"*:name=num-n*","attribute":"Value","type":"read"},"value":)"
              R"({"puppetlabs.puppetdb.population:name=num-nodes":{"Value":3}},"status":200})");
    EXPECT_EQ(jolokia(site, "/metrics/v2/read/puppetlabs.puppetdb.nosuch:*"),
              R"({"request":{"mbean":"puppetlabs.puppetdb.nosuch:*","type":"read"},"error_type":)"
              R"("javax.management.InstanceNotFoundException","error":)"
              R"("javax.management.InstanceNotFoundException : No MBean with pattern )"
              R"(puppetlabs.puppetdb.nosuch:* found for reading attributes","status":404})");
    EXPECT_EQ(jolokia(site, "/metrics/v2/list/puppetlabs.puppetdb.mq/name=global.depth"),
              R"({"request":{"path":"puppetlabs.puppetdb.mq/name=global.depth","type":"list"},)"
              R"("value":{"attr":{"Count":{"rw":false,"type":"long","desc":""}},"desc":""},)"
              R"("status":200})");
    EXPECT_EQ(jolokia(site, "/metrics/v2/list/nosuch"),
              R"({"request":{"path":"nosuch","type":"list"},"value":{},"status":200})");
    EXPECT_EQ(jolokia(site, "/metrics/v2/search/bad"),
              R"({"error_type":"java.lang.IllegalArgumentException","error":)"
              R"("java.lang.IllegalArgumentException : Invalid object name. Key properties cannot )"
              R"(be empty","status":400})");
    EXPECT_EQ(jolokia(site, "/metrics/v2",
                      R"({"type":"READ","mbean":"puppetlabs.puppetdb.mq:name=global.depth",)"
                      R"("attribute":["Count"]})"),
              R"({"request":{"mbean":"puppetlabs.puppetdb.mq:name=global.depth","attribute":)"
              R"("Count","type":"read"},"value":{"Count":7},"status":200})");
    EXPECT_EQ(
        jolokia(site, "/metrics/v2/read/java.lang:type=Threading/ThreadCount"),
        fmt::format(R"({{"request":{{"mbean":"java.lang:type=Threading","attribute":"ThreadCount",)"
                    R"("type":"read"}},"value":{},"status":200}})",
                    threads()));
    EXPECT_EQ(jolokia(site, "/metrics/v2", "{}"),
              R"({"error_type":"java.lang.IllegalArgumentException","error":)"
              R"("java.lang.IllegalArgumentException : No type given","status":400})");
    EXPECT_EQ(jolokia(site, "/metrics/v2/bogus"),
              R"({"error_type":"java.lang.IllegalArgumentException","error":)"
              R"("java.lang.IllegalArgumentException : No type with name 'bogus' exists",)"
              R"("status":400})");
    EXPECT_EQ(jolokia(site, "/metrics/v2",
                      R"([{"type":"read","mbean":"puppetlabs.puppetdb.mq:name=global.depth"}])"),
              "[" + depth + "]");
    for (const char* bad : {"xx", "1", "[[[]]]", "[1,{\"type\":{}}]", "{}"}) {
        EXPECT_EQ(site.ask("/metrics/v2", "POST", bad).status, 200) << bad;
    }
    auto processing =
        jolokia(site, "/metrics/v2/read/puppetlabs.puppetdb.storage:name=replace-facts-time");
    EXPECT_NE(processing.find("\"Count\":1"), std::string::npos) << processing;
    EXPECT_NE(processing.find("\"Mean\":2.0,"), std::string::npos) << processing;
    struct {
        const char *name, *value;
    } counts[] = {
        {"mq:name=global.processed", "6"},
        {"mq:name=replace catalog.9.processed", "2"},
        {"mq:name=replace catalog.8.seen", "1"},
        {"mq:name=replace catalog.9.processing-time", "2"},
        {"mq:name=replace catalog.9.ignored", "0"},
        {"storage:name=replace-catalog-time", "4"},
        {"storage:name=new-catalogs", "4"},
    };
    for (const auto& c : counts) {
        EXPECT_NE(
            jolokia(site, fmt::format("/metrics/v2/read/puppetlabs.puppetdb.{}/Count", c.name))
                .find(fmt::format("\"value\":{},", c.value)),
            std::string::npos)
            << c.name;
    }
    EXPECT_NE(
        jolokia(site, "/metrics/v2/read/puppetlabs.puppetdb.mq:name=replace catalog.other.seen")
            .find("InstanceNotFound"),
        std::string::npos);
    EXPECT_NE(jolokia(site,
                      "/metrics/v2/read/puppetlabs.puppetdb.http:name=/a/{b}.service-time/"
                      "Count")
                  .find("\"value\":1"),
              std::string::npos);
    EXPECT_NE(jolokia(site, "/metrics/v2/search/*:type=Memory").find("[\"java.lang:type=Memory\"]"),
              std::string::npos);
    base::Arena arena;
    for (const char* path : {"/metrics/v2/list", "/metrics/v2", "/metrics/v2/version",
                             "/metrics/v2/read/puppetlabs.puppetdb.mq:name=*",
                             "/metrics/v2/read/java.lang:type=Memory/HeapMemoryUsage/used"}) {
        auto answer = site.ask(path);
        auto data = value::parse_json(arena, answer.body);
        ASSERT_TRUE(data) << path << answer.body;
        EXPECT_TRUE(data->as_hash().find("value")) << path;
    }
    auto text = site.ask("/metrics").body;
    EXPECT_NE(text.find("\nbunraku_command_queue_depth 7\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nprocess_resident_memory_bytes "), std::string::npos);
}

}  // namespace
}  // namespace bunraku::server
