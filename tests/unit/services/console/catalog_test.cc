// SPDX-License-Identifier: Apache-2.0
// The page of a node's catalog, and paths in catalogs.
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

#include "fixture.h"
#include "services/console/catalog_graph.h"

namespace bunraku::console {
namespace {

using catalog::Relationship;
using How = CatalogGraph::Step::How;

/// Stage[main] contains Class[A] and Class[B]; A contains File[/a], B contains File[/b] and C.
CatalogGraph small_graph(std::vector<catalog::Relation> relations) {
    store::CatalogView view;
    for (const auto* reference :
         {"Stage main", "Class A", "File /a", "Class B", "File /b", "Class C", "Service s"}) {
        const std::string_view text = reference;
        const auto blank = text.find(' ');
        view.resources.push_back({std::string(text.substr(0, blank)),
                                  std::string(text.substr(blank + 1)), "", 0, false});
    }
    view.relations = {{0, 1, Relationship::Contains}, {1, 2, Relationship::Contains},
                      {0, 3, Relationship::Contains}, {3, 4, Relationship::Contains},
                      {3, 5, Relationship::Contains}, {5, 6, Relationship::Contains}};
    view.relations.insert(view.relations.end(), relations.begin(), relations.end());
    return CatalogGraph(std::move(view));
}

std::string path_text(const CatalogGraph& graph, std::string_view from, std::string_view to) {
    std::string out;
    for (const auto& step : graph.path(*graph.find(from), *graph.find(to))) {
        constexpr std::string_view kWords[] = {"", " > ", " < ", " -> ", " ~> "};
        out += kWords[static_cast<std::size_t>(step.how)];
        out += graph[step.resource].reference();
    }
    return out;
}

TEST(CatalogGraph, Containment) {
    const auto graph = small_graph({});
    EXPECT_EQ(graph.roots(), (std::vector<std::uint32_t>{0}));
    EXPECT_EQ(graph.count(0), 6u);
    EXPECT_EQ(graph.count(3), 3u);
    EXPECT_EQ(graph.count(6), 0u);
    EXPECT_EQ(graph.containers(6), (std::vector<std::uint32_t>{0, 3, 5}));
    EXPECT_EQ(graph.find("file[/a]"), 2u);
    EXPECT_FALSE(graph.find("File[/c]"));
    EXPECT_FALSE(graph.find("File"));
}

TEST(CatalogGraph, PathsFollowContainers) {
    const auto graph = small_graph({{1, 3, Relationship::Before}, {4, 5, Relationship::Notifies}});
    EXPECT_EQ(path_text(graph, "File[/a]", "Service[s]"),
              "File[/a] < Class[A] -> Class[B] > Class[C] > Service[s]");
    EXPECT_EQ(path_text(graph, "File[/b]", "Service[s]"), "File[/b] ~> Class[C] > Service[s]");
    EXPECT_EQ(path_text(graph, "Service[s]", "File[/a]"), "");
    EXPECT_EQ(path_text(graph, "File[/a]", "File[/a]"), "");
    // What a container holds is not managed after the container.
    EXPECT_EQ(path_text(graph, "Class[B]", "File[/b]"), "");
}

TEST(CatalogGraph, CyclesOfContainmentEnd) {
    // Catalogs of other programs: a cycle, a resource in itself, and one in two containers.
    const auto graph = small_graph({{6, 0, Relationship::Contains},
                                    {2, 2, Relationship::Contains},
                                    {1, 4, Relationship::Contains},
                                    {2, 4, Relationship::Before},
                                    {4, 2, Relationship::Before}});
    EXPECT_EQ(graph.roots(), (std::vector<std::uint32_t>{0}));
    EXPECT_EQ(graph.containers(4), (std::vector<std::uint32_t>{0, 3}));
    EXPECT_EQ(path_text(graph, "File[/a]", "File[/b]"), "File[/a] -> File[/b]");
    EXPECT_EQ(path_text(graph, "File[/a]", "Service[s]"), "");
}

class ConsoleCatalog : public ConsoleTest {
protected:
    void catalog(const std::string& certname, const std::string& resources,
                 const std::string& edges, const std::string& environment = "production") {
        submit(store::CommandKind::ReplaceCatalog, 9, certname,
               fmt::format(R"({{"certname":"{}","version":"v1","environment":"{}",)"
                           R"("transaction_uuid":null,"catalog_uuid":null,"code_id":"abc",)"
                           R"("producer":null,"producer_timestamp":"{}","resources":[{}],)"
                           R"("edges":[{}]}})",
                           certname, environment,
                           sys::iso8601_utc(sys::machine().now_ms() * 1'000'000, 3), resources,
                           edges));
    }
    static std::string resource(const std::string& type, const std::string& title,
                                const std::string& parameters = "{}", bool exported = false) {
        return fmt::format(R"({{"type":"{}","title":"{}","exported":{},"tags":[],"file":)"
                           R"("/m/init.pp","line":7,"parameters":{}}})",
                           type, title, exported, parameters);
    }
    static std::string edge(const std::string& source_type, const std::string& source,
                            const std::string& target_type, const std::string& target,
                            const std::string& relationship = "contains") {
        return fmt::format(R"({{"source":{{"type":"{}","title":"{}"}},"target":{{"type":"{}",)"
                           R"("title":"{}"}},"relationship":"{}"}})",
                           source_type, source, target_type, target, relationship);
    }
    /// A class with a file, a service and an exported resource.
    void small_catalog(const std::string& certname, const std::string& environment = "production") {
        catalog(certname,
                resource("Stage", "main") + "," + resource("Class", "Web") + "," +
                    resource("File", "/etc/web", R"({"content":"one\ntwo","mode":"0644"})") + "," +
                    resource("Service", "web", R"({"ensure":"running"})") + "," +
                    resource("Sshkey", "k", R"({"key":"AAA"})", true),
                edge("Stage", "main", "Class", "Web") + "," +
                    edge("Class", "Web", "File", "/etc/web") + "," +
                    edge("Class", "Web", "Service", "web") + "," +
                    edge("Class", "Web", "Sshkey", "k") + "," +
                    edge("File", "/etc/web", "Service", "web", "notifies"),
                environment);
    }
    static bool has(const http::Response& page, std::string_view text) {
        return page.body.find(text) != std::string::npos;
    }
};

TEST_F(ConsoleCatalog, ShowsContainmentAndParameters) {
    facts("web1.test", R"({"role":"web"})");
    const auto session = sign_in_as("viewer");
    EXPECT_TRUE(has(get("/nodes/web1.test/catalog", session), "No catalog"));
    small_catalog("web1.test");
    const auto page = get("/nodes/web1.test/catalog", session);
    ASSERT_EQ(page.status, 200);
    for (const char* text : {"5 resources", "1 exported", "<details open>", "Class[<bdi>Web</bdi>]",
                             "Sshkey[<bdi>k</bdi>]</a> <span class=\"m sm\">exported</span>",
                             "aria-label=\"4 resources in Stage[main]\""})
        EXPECT_TRUE(has(page, text)) << text << page.body;
    const auto chosen = get("/nodes/web1.test/catalog?resource=File%5B/etc/web%5D", session);
    for (const char* text :
         {"aria-current=\"true\"", "<bdi>mode</bdi>", "<bdi>0644</bdi>", "/m/init.pp:7",
          "managed before", "with refresh",
          "?resource=File%5B%2Fetc%2Fweb%5D&amp;why=mode#why\" aria-label=\"Why mode has this "
          "value\""})
        EXPECT_TRUE(has(chosen, text)) << text << chosen.body;
    const auto path =
        get("/nodes/web1.test/catalog?resource=File%5B/etc/web%5D&to=Service%5Bweb%5D", session);
    EXPECT_TRUE(has(path, "<span class=\"m\">notifies </span>")) << path.body;
    const auto back =
        get("/nodes/web1.test/catalog?resource=Service%5Bweb%5D&to=File%5B/etc/web%5D", session);
    EXPECT_TRUE(has(back, "This resource is managed after the other one:"));
    EXPECT_TRUE(
        has(get("/nodes/web1.test/catalog?resource=Sshkey%5Bk%5D&to=Service%5Bweb%5D", session),
            "No relationship orders"));
    EXPECT_EQ(get("/nodes/web1.test/catalog?resource=File%5B/none%5D", session).status, 404);
    const auto found = get("/nodes/web1.test/catalog?find=ETC/", session);
    EXPECT_TRUE(has(found, "1 found"));
    EXPECT_TRUE(has(get("/nodes/web1.test/catalog?find=zz", session), "No type or title"));
}

TEST_F(ConsoleCatalog, LargeCatalogsMakeSmallPages) {
    std::string resources = resource("Stage", "main"), edges;
    const auto add = [&](const std::string& container_type, const std::string& container,
                         const std::string& type, const std::string& title) {
        resources += "," + resource(type, title, R"({"mode":"0644"})");
        edges += (edges.empty() ? "" : ",") + edge(container_type, container, type, title);
    };
    for (int c = 0; c < 50; ++c) {
        add("Stage", "main", "Class", fmt::format("C{}", c));
        for (int i = 0; i < 100; ++i)
            add("Class", fmt::format("C{}", c), "File", fmt::format("/srv/data/{}/{}", c, i));
    }
    // 2,000 resources without a container.
    for (int i = 0; i < 2000; ++i) resources += "," + resource("Notify", fmt::format("n{}", i));
    facts("big.test", R"({"role":"web"})");
    catalog("big.test", resources, edges);
    const auto session = sign_in_as("viewer");
    const std::string here = "/nodes/big.test/catalog";
    for (const std::string query :
         {"", "?page=20", "?in=Class%5BC49%5D", "?in=Class%5BC49%5D&page=2",
          "?resource=File%5B/srv/data/49/99%5D", "?find=srv",
          "?resource=File%5B/srv/data/49/99%5D&to=Notify%5Bn1%5D"}) {
        const auto page = get(here + query, session);
        EXPECT_EQ(page.status, 200) << query;
        EXPECT_LT(page.body.size(), 150'000u) << query;
    }
    const auto first = get(here, session);
    EXPECT_TRUE(has(first, "7,051 resources")) << first.body.substr(0, 5000);
    EXPECT_TRUE(has(first, "Page 1 of ")) << first.body;
    EXPECT_TRUE(has(get(here + "?in=Class%5BC49%5D&page=2", session), "/srv/data/49/99"));
    // The chosen resource is shown, although it is the last of a long list.
    EXPECT_TRUE(has(get(here + "?resource=File%5B/srv/data/49/99%5D", session),
                    "aria-current=\"true\"><div class=\"row\"><a class=\"res\" "
                    "href=\"/console/nodes/big.test/catalog?resource=File%5B%2Fsrv%2Fdata%2F49%2F"
                    "99%5D\">"));
}

TEST_F(ConsoleCatalog, LongValuesAreCut) {
    std::string parameters = "{";
    for (int i = 0; i < 150; ++i)
        parameters += fmt::format(R"({}"p{}":"{}")", i ? "," : "", i, std::string(5000, 'x'));
    facts("long.test", R"({"role":"web"})");
    catalog("long.test", resource("File", "/a", parameters + "}"), "");
    const auto page = get("/nodes/long.test/catalog?resource=File%5B/a%5D", sign_in_as("viewer"));
    EXPECT_EQ(page.status, 200);
    EXPECT_LT(page.body.size(), 150'000u);
    EXPECT_TRUE(has(page, "<bdi>p149</bdi>"));
}

TEST_F(ConsoleCatalog, ViewersOfOtherEnvironmentsSeeNothing) {
    // The node ran in production, but its newest catalog is of staging.
    report("web1.test", {});
    small_catalog("web1.test", "staging");
    const auto page = get("/nodes/web1.test/catalog", sign_in_as("viewer", {"production"}));
    EXPECT_EQ(page.status, 200);
    EXPECT_TRUE(has(page, "No catalog"));
    EXPECT_FALSE(has(page, "Class[")) << page.body;
    EXPECT_TRUE(has(get("/nodes/web1.test/catalog", sign_in_as("viewer")), "Class["));
}

TEST_F(ConsoleCatalog, TextsOfCatalogsAreNeverMarkup) {
    const std::string evil = R"(<img src=x onerror=alert(1)>\"'</title>)";
    facts("evil.test", R"({"role":"web"})");
    catalog("evil.test",
            resource("Class", evil) + "," +
                resource("File", evil + "2",
                         fmt::format(R"({{"{0}":"{0}","lines":"{0}\n{0}","h":{{"{0}":["{0}"]}}}})",
                                     evil),
                         true),
            edge("Class", evil, "File", evil + "2"));
    const auto session = sign_in_as("viewer");
    const auto plain = std::string(R"(<img src=x onerror=alert(1)>"'</title>)");
    const auto encoded = http::percent_encode(plain);
    const std::vector<std::string> queries{
        "",
        "?find=img",
        "?in=Class%5B" + encoded + "%5D",
        "?resource=File%5B" + encoded + "2%5D",
        "?resource=File%5B" + encoded + "2%5D&why=" + encoded,
        "?resource=File%5B" + encoded + "2%5D&to=Class%5B" + encoded + "%5D"};
    for (const auto& query : queries) {
        const auto page = get("/nodes/evil.test/catalog" + query, session);
        EXPECT_EQ(page.status, 200) << query;
        for (const char* bad : {"<img", "onerror=alert(1)>", "\"'<", "'</title"})
            EXPECT_FALSE(has(page, bad)) << query << " " << bad;
    }
}

// The explanation names the level of Hiera, its file and line, and hides Sensitive values.
TEST_F(ConsoleCatalog, ExplainsValues) {
    const auto code = folder_ + "/code/environments/production";
    std::filesystem::create_directories(code + "/manifests");
    std::filesystem::create_directories(code + "/modules/web/manifests");
    std::filesystem::create_directories(code + "/data/role");
    const auto put = [&](const std::string& name, const std::string& text) {
        std::ofstream(code + "/" + name) << text;
    };
    put("hiera.yaml",
        "version: 5\ndefaults:\n  datadir: data\n  data_hash: yaml_data\nhierarchy:\n"
        "  - name: Role\n    path: \"role/%{facts.role}.yaml\"\n"
        "  - name: Common\n    path: common.yaml\n");
    put("data/common.yaml", "---\nweb::mode: '0600'\n");
    put("data/role/web.yaml", "---\nweb::mode: '0644'\n");
    put("manifests/site.pp", "node default { include web }\n");
    put("modules/web/manifests/init.pp",
        "class web (String $mode, Sensitive $secret = Sensitive('s3cr3t')) {\n"
        "  file { '/etc/web':\n    mode    => $mode,\n    content => $secret,\n  }\n}\n");
    settings_.set("environmentpath", folder_ + "/code/environments");
    settings_.set("node_terminus", "plain");
    stop();
    start();
    facts("web1.test", R"({"role":"web"})");
    small_catalog("web1.test");
    const auto session = sign_in_as("viewer");
    const std::string here = "/nodes/web1.test/catalog?resource=File%5B/etc/web%5D&why=";
    const auto mode = get(here + "mode", session);
    ASSERT_EQ(mode.status, 200);
    for (const char* text : {"Why <code>mode</code> is what it is", "data/role/web.yaml:2",
                             "modules/web/manifests/init.pp:3", "class=\"row hit\""})
        EXPECT_TRUE(has(mode, text)) << text << mode.body;
    for (const char* parameter : {"content", "*"}) {
        const auto page = get(here + parameter, session);
        EXPECT_TRUE(has(page, "init.pp:")) << page.body;
        EXPECT_FALSE(has(page, "s3cr3t")) << parameter;
    }
    // The class of the stored catalog differs from that of the code, so there is an answer, too.
    const auto other =
        get("/nodes/web1.test/catalog?resource=Service%5Bweb%5D&why=ensure", session);
    EXPECT_EQ(other.status, 200);
    EXPECT_TRUE(has(other, "the catalog does not have this") || has(other, "No explanation"))
        << other.body;
    // An environment without code, and one whose name is a path.
    for (const char* environment : {"none", "../production"}) {
        small_catalog("web2.test", environment);
        facts("web2.test", R"({"role":"web"})", environment);
        const auto page =
            get("/nodes/web2.test/catalog?resource=File%5B/etc/web%5D&why=mode", session);
        EXPECT_EQ(page.status, 200) << environment;
        EXPECT_TRUE(has(page, "No explanation")) << page.body;
    }
}

}  // namespace
}  // namespace bunraku::console
