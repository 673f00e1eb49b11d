// SPDX-License-Identifier: Apache-2.0
// Tests that all responses to the requests of one run are of one version of the environment, while
// its link moves to another version between any two of them.
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <thread>

#include "compile/site/conditional_headers.h"
#include "core/codec/digest.h"
#include "core/sys/executor.h"
#include "net/http/network.h"
#include "net/http/wire.h"
#include "services/server/role.h"

namespace bunraku::server {
namespace {

namespace fs = std::filesystem;
using http::Response;

constexpr const char* kRecursive = "recurse=true&max_files=-1&links=follow&checksum_type=sha256";
constexpr const char* kT1 = "11111111-1111-4111-8111-111111111111";
constexpr const char* kT2 = "22222222-2222-4222-8222-222222222222";

std::string content_of(std::string_view what, int version) {
    return fmt::format("{} {}\n", what, version);
}

class Versions : public testing::Test {
protected:
    Versions() {
        char name[] = "/tmp/versions_test_XXXXXX";
        root_ = ::mkdtemp(name);
        for (const int v : {1, 2, 3}) make(v);
        move(1);
        settings_.set("environmentpath", root_ + "/envs");
        settings_.set("statedir", root_ + "/state");
        settings_.set("vardir", root_ + "/var");
        settings_.set("confdir", root_ + "/conf");
        settings_.set("basemodulepath", root_ + "/modules");
        settings_.set("storeconfigs", "false");
        settings_.set("reports", "none");
        fs::create_directories(root_ + "/state");
        start();
    }
    ~Versions() override {
        stop();
        fs::remove_all(root_);
    }
    void start() {
        aside_ = runtime_.executor({.threads = 1, .name = "aside"});
        context_ =
            std::make_unique<Context>(Context{settings_, counters_, log_, runtime_, http::sockets(),
                                              *aside_, "1", root_ + "/state", ""});
        context_->authorization = *http::read_authorization(settings_, log_);
        auto role = make_compiler_role(*context_);
        ASSERT_TRUE(role) << role.error().message;
        role_ = std::move(*role);
        router_ = std::make_unique<http::Router>();
        role_->mount(*router_);
    }
    void stop() {
        aside_->stop();
        role_->stop();
        role_.reset();
    }

    static std::string name_of(int v) { return fmt::format("{0:012x}-{0:016x}", v); }
    std::string folder(int v) const { return root_ + "/envs/.bunraku/production/" + name_of(v); }
    void write(int v, const std::string& path, const std::string& text) {
        const auto full = fs::path(folder(v)) / path;
        fs::create_directories(full.parent_path());
        std::ofstream(full) << text;
    }
    /// Creates a version. Everything that agents receive names it.
    void make(int v) {
        write(v, "manifests/site.pp",
              fmt::format("notify {{ 'catalog {}': }}\n"
                          "file {{ '/tmp/f': source => 'puppet:///modules/m/f' }}\n"
                          "notify {{ file('m/read'): }}\n",
                          v));
        write(v, "modules/m/files/f", content_of("file", v));
        write(v, "modules/m/files/read", content_of("read", v));
        write(v, "modules/m/lib/facter/v.rb", content_of("# plugin", v));
        write(v, "modules/m/facts.d/v.txt", content_of("fact", v));
    }
    /// Switches the environment to a version in one step.
    void move(int v) {
        const auto link = root_ + "/envs/production";
        fs::create_directory_symlink(".bunraku/production/" + name_of(v), link + ".new");
        fs::rename(link + ".new", link);
    }

    /// `path` is below /puppet/v3. `run` is the header Bunraku-Run; empty for Puppet's agent.
    Response ask(const std::string& method, const std::string& path, const std::string& body = {},
                 const std::string& run = {}, const std::string& who = "n1",
                 const http::Headers& headers = {}) {
        http::Request r;
        r.headers = headers;
        r.method = method;
        r.target = "/puppet/v3/" + path;
        const auto mark = r.target.find('?');
        r.path = r.target.substr(0, mark);
        if (mark != std::string::npos) r.query = *http::parse_query(r.target.substr(mark + 1));
        r.body = body;
        r.headers.set("Accept", path.starts_with("file_content") ? "application/octet-stream"
                                                                 : "application/json");
        if (method == "POST") r.headers.set("Content-Type", "application/x-www-form-urlencoded");
        if (method == "PUT") r.headers.set("Content-Type", "application/json");
        if (!run.empty()) r.headers.set(site::kRunHeader, run);
        r.peer.tls = true;
        auto certificate = std::make_shared<http::ClientCertificate>();
        certificate->trust = http::ClientCertificate::Trust::Verified;
        certificate->name = who;
        r.peer.certificate = certificate;
        return router_->handle(r);
    }
    static std::string text_of(const Response& response) {
        if (!response.file) return response.body;
        std::ifstream in(response.file->path);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    /// Returns the version that a response names by `what`; 0 if it names none.
    static int version_in(const std::string& text, std::string_view what) {
        int out = 0;
        for (const int v : {1, 2, 3}) {
            if (text.find(fmt::format("{} {}", what, v)) == std::string::npos) continue;
            EXPECT_EQ(out, 0) << text;
            out = v;
        }
        return out;
    }
    /// Returns the version whose file has the digest in a list of metadata; 0 if there is none.
    static int version_of_digest(const std::string& text, std::string_view what) {
        for (const int v : {1, 2, 3}) {
            if (text.find(codec::hex_digest(codec::DigestKind::Sha256, content_of(what, v))) !=
                std::string::npos)
                return v;
        }
        return 0;
    }
    static std::string catalog_form(const std::string& transaction, const std::string& who = "n1") {
        return fmt::format(
            "environment=production&facts_format=application%2Fjson&"
            "facts=%257B%2522name%2522%253A%2522{}%2522%252C%2522values%2522%253A"
            "%257B%257D%257D&static_catalog=true&checksum_type=sha256"
            "&transaction_uuid={}",
            who, transaction);
    }
    static std::string report(const std::string& transaction, const std::string& who = "n1") {
        return fmt::format(
            R"({{"host":"{}","time":"2024-01-01T00:00:00Z","logs":[],"metrics":{{}},)"
            R"("resource_statuses":{{}},"transaction_uuid":"{}"}})",
            who, transaction);
    }

    /// The requests of a run in order. Each returns the version of its response; 0 if the response
    /// does not depend on it.
    struct Agent {
        std::string transaction, run, who = "n1";
        bool asks_node = true, looks_for_plugins = true;
    };
    std::vector<std::function<int()>> requests(const Agent& a) {
        const auto get = [this, a](const std::string& path) {
            auto out = ask("GET", path, {}, a.run, a.who);
            EXPECT_EQ(out.status, 200) << path << text_of(out);
            return text_of(out);
        };
        std::vector<std::function<int()>> out;
        if (a.asks_node)
            out.emplace_back([get, a] {
                get(fmt::format("node/{}?environment=production&transaction_uuid={}", a.who,
                                a.transaction));
                return 0;
            });
        if (a.looks_for_plugins)
            out.emplace_back([get] {
                get("file_metadatas/plugins?environment=production&recurse=false&links=manage");
                return 0;
            });
        out.emplace_back([get] {
            return version_of_digest(
                get(fmt::format("file_metadatas/pluginfacts?environment=production&{}",
                                kRecursive)),
                "fact");
        });
        out.emplace_back([get] {
            return version_of_digest(
                get(fmt::format("file_metadatas/plugins?environment=production&{}", kRecursive)),
                "# plugin");
        });
        out.emplace_back([get] {
            return version_in(get("file_content/plugins/facter/v.rb?environment=production"),
                              "# plugin");
        });
        out.emplace_back([this, a] {
            const auto answer =
                ask("POST", "catalog/" + a.who, catalog_form(a.transaction, a.who), a.run, a.who);
            EXPECT_EQ(answer.status, 200) << answer.body;
            const auto text = http::decode_content(
                std::string(answer.headers.get("Content-Encoding")), answer.body, 1 << 20);
            const int v = version_in(text.body, "catalog");
            EXPECT_EQ(version_in(text.body, "read"), v);
            EXPECT_EQ(version_of_digest(text.body, "file"), v);
            return v;
        });
        out.emplace_back([get] {
            return version_of_digest(
                get("file_metadata/modules/m/f?environment=production&checksum_type=sha256"),
                "file");
        });
        out.emplace_back([get] {
            return version_in(get("file_content/modules/m/f?environment=production"), "file");
        });
        out.emplace_back([this, a] {
            const auto answer = ask("PUT", fmt::format("report/{}?environment=production", a.who),
                                    report(a.transaction, a.who), a.run, a.who);
            EXPECT_EQ(answer.status, 200) << answer.body;
            return 0;
        });
        return out;
    }
    /// Runs an agent. The link moves to `to` before the request with the number `at`. Returns the
    /// version of all responses, or -1 if they differ.
    int run(const Agent& agent, int to = 0, std::size_t at = 0) {
        int out = 0;
        const auto all = requests(agent);
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (to != 0 && i == at) move(to);
            const int v = all[i]();
            if (v != 0 && out != 0 && v != out) return -1;
            if (v != 0) out = v;
        }
        return out;
    }
    double counted(std::string_view name) const { return counters_.value(name); }
    /// Files that changed a moment ago are not cached.
    static void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }

    std::string root_;
    base::MemorySink log_;
    config::Settings settings_ = config::Settings::defaults();
    base::Counters counters_;
    sys::Runtime& runtime_ = http::sockets().runtime();
    std::unique_ptr<sys::Executor> aside_;
    std::unique_ptr<Context> context_;
    std::unique_ptr<http::Router> router_;
    std::unique_ptr<Role> role_;
};

TEST_F(Versions, RunOfPuppetsAgentHasOneVersion) {
    const auto many = requests({.transaction = kT1, .run = {}}).size();
    for (std::size_t at = 0; at < many; ++at) {
        move(1);
        const auto transaction = [&](int n) { return fmt::format("{}-{}", at, n); };
        // Nothing of a version was returned before the search of plugins.
        EXPECT_EQ(run({.transaction = transaction(1), .run = {}}, 2, at), at < 2 ? 2 : 1) << at;
        EXPECT_EQ(run({.transaction = transaction(2), .run = {}}), 2) << at;
    }
}

TEST_F(Versions, RunOfOurAgentHasOneVersion) {
    const auto many = requests({.transaction = kT1, .run = {}}).size();
    for (std::size_t at = 0; at < many; ++at) {
        move(1);
        const auto transaction = [&](int n) { return fmt::format("{}-{}", at, n); };
        const Agent first{.transaction = transaction(1), .run = transaction(1)};
        EXPECT_EQ(run(first, 2, at), at < 1 ? 2 : 1) << at;
        EXPECT_EQ(run({.transaction = transaction(2), .run = transaction(2)}), 2) << at;
    }
}

TEST_F(Versions, RunWithoutSearchOfPluginsHasOneVersion) {
    for (const bool asks_node : {true, false}) {
        Agent agent{
            .transaction = {}, .run = {}, .asks_node = asks_node, .looks_for_plugins = false};
        const auto many = requests(agent).size();
        for (std::size_t at = 0; at < many; ++at) {
            move(1);
            agent.transaction = fmt::format("{}-{}-1", asks_node, at);
            EXPECT_EQ(run(agent, 2, at), at == 0 ? 2 : 1) << at;
            // The report made the node idle.
            agent.transaction = fmt::format("{}-{}-2", asks_node, at);
            EXPECT_EQ(run(agent), 2) << at;
        }
    }
}

TEST_F(Versions, KilledRunIsFollowedByANewVersion) {
    const auto first = requests({.transaction = kT1, .run = {}});
    for (std::size_t i = 0; i + 1 < first.size(); ++i) first[i]();
    move(2);
    EXPECT_EQ(run({.transaction = kT2, .run = {}}), 2);
    // Late reports change nothing.
    const auto third = requests({.transaction = "t3", .run = {}});
    for (std::size_t i = 0; i < 4; ++i) third[i]();
    move(3);
    (void)ask("PUT", "report/n1?environment=production", report(kT1));
    (void)ask("PUT", "report/n1?environment=production", report(kT2));
    for (std::size_t i = 4; i + 2 < third.size(); ++i) EXPECT_EQ(third[i](), 2) << i;
}

TEST_F(Versions, NodesAreIndependent) {
    const auto first = requests({.transaction = kT1, .run = {}});
    for (std::size_t i = 0; i < 3; ++i) first[i]();
    move(2);
    EXPECT_EQ(run({.transaction = kT2, .run = {}, .who = "n2"}), 2);
    for (std::size_t i = 3; i + 1 < first.size(); ++i) EXPECT_EQ(first[i](), 1) << i;
}

TEST_F(Versions, RemovedVersionIsAnErrorUntilTheNextRun) {
    const auto first = requests({.transaction = kT1, .run = {}});
    for (std::size_t i = 0; i < 3; ++i) first[i]();
    move(2);
    fs::remove_all(folder(1));
    const auto refused = ask("GET", "file_content/modules/m/f?environment=production");
    EXPECT_EQ(refused.status, 503) << text_of(refused);
    EXPECT_FALSE(refused.headers.get("Retry-After").empty());
    EXPECT_NE(refused.body.find("does not exist any more"), std::string::npos) << refused.body;
    EXPECT_EQ(ask("POST", "catalog/n1", catalog_form(kT1)).status, 503);
    EXPECT_EQ(run({.transaction = kT2, .run = {}}), 2);
}

TEST_F(Versions, RequestsOutsideOfRunsGetTheBase) {
    const auto version = [&] {
        const auto answer = ask("POST", "catalog/n1", catalog_form(""));
        return version_in(http::decode_content(std::string(answer.headers.get("Content-Encoding")),
                                               answer.body, 1 << 20)
                              .body,
                          "catalog");
    };
    EXPECT_EQ(version(), 1);
    move(2);
    EXPECT_EQ(version(), 2);
}

/// Copies a version to another one that differs only in what no node reads.
class EqualVersions : public Versions {
protected:
    EqualVersions() {
        fs::remove_all(folder(2));
        fs::copy(folder(1), folder(2), fs::copy_options::recursive);
        write(2, "modules/other/manifests/init.pp", "class other { }\n");
        write(2, "modules/m/files/unread", "unread\n");
        fs::create_directories(folder(1) + "/modules/other");
        settle();
    }
    http::Headers conditional(const Response& catalog) {
        http::Headers out;
        out.set("If-None-Match", catalog.headers.get("ETag"));
        // No fact is read, so the fingerprint is that of no fact.
        out.set(site::kFactsHeader, fingerprint_);
        out.set(site::kPluginsHeader, catalog.headers.get(site::kPluginsHeader));
        return out;
    }
    Response catalog(const std::string& transaction, const std::string& who = "n1") {
        http::Headers headers;
        headers.set(site::kFactsHeader, "all");
        return ask("POST", "catalog/" + who, catalog_form(transaction, who), transaction, who,
                   headers);
    }
    Response check(const std::string& transaction, const Response& last,
                   const std::string& who = "n1") {
        return ask("GET",
                   fmt::format("catalog/{}?environment=production&static_catalog=true"
                               "&checksum_type=sha256&transaction_uuid={}",
                               who, transaction),
                   {}, transaction, who, conditional(last));
    }
    const std::string fingerprint_ = codec::short_digest("");
};

TEST_F(EqualVersions, CachedCatalogsSurviveAMove) {
    const auto first = catalog("t1");
    EXPECT_EQ(first.status, 200) << first.body;
    EXPECT_EQ(counted("bunraku_catalogs_compiled_total"), 1);
    const std::string etag(first.headers.get("ETag"));
    ASSERT_FALSE(etag.empty());
    EXPECT_EQ(catalog("t2").headers.get("ETag"), etag);
    move(2);
    EXPECT_EQ(check("t4", first).status, 304);
    const auto second = catalog("t3");
    EXPECT_EQ(second.headers.get("ETag"), etag);
    EXPECT_EQ(second.headers.get(site::kPluginsHeader), first.headers.get(site::kPluginsHeader));
    EXPECT_EQ(counted("bunraku_catalogs_compiled_total"), 1);
}

TEST_F(EqualVersions, UnchangedRunStaysUnchangedAcrossMoves) {
    const auto first = catalog("t1");
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(check(fmt::format("u{}", i), first).status, 304) << i;
        move(2 - i % 2);
    }
    EXPECT_EQ(counted("bunraku_catalogs_compiled_total"), 1);
    // If a plugin has changed, the agent requests everything.
    move(3);
    EXPECT_EQ(check("v", first).status, 412);
}

TEST_F(EqualVersions, AlternatingVersionsKeepTheirCaches) {
    // n1 stays in a run of version 1, n2 runs with version 2.
    (void)catalog("a");
    move(2);
    settle();
    (void)catalog("b", "n2");
    const auto compiled = counted("bunraku_catalogs_compiled_total");
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(catalog("a").status, 200);
        EXPECT_EQ(catalog(fmt::format("b{}", i), "n2").status, 200);
    }
    EXPECT_EQ(counted("bunraku_catalogs_compiled_total"), compiled);
}

TEST_F(Versions, AChangedFileMakesANewCatalog) {
    settle();
    const auto compile = [&](const std::string& transaction) {
        http::Headers headers;
        headers.set(site::kFactsHeader, "all");
        const auto answer =
            ask("POST", "catalog/n1", catalog_form(transaction), transaction, "n1", headers);
        return version_in(http::decode_content(std::string(answer.headers.get("Content-Encoding")),
                                               answer.body, 1 << 20)
                              .body,
                          "catalog");
    };
    EXPECT_EQ(compile("t1"), 1);
    move(2);
    EXPECT_EQ(compile("t2"), 2);
    move(1);
    EXPECT_EQ(compile("t3"), 1);
    // The same site.pp, but another file that the catalog inlines.
    fs::remove_all(folder(3));
    fs::copy(folder(1), folder(3), fs::copy_options::recursive);
    write(3, "modules/m/files/f", content_of("file", 3));
    settle();
    move(3);
    const auto answer = ask("POST", "catalog/n1", catalog_form("t4"), "t4");
    EXPECT_EQ(
        version_of_digest(http::decode_content(std::string(answer.headers.get("Content-Encoding")),
                                               answer.body, 1 << 20)
                              .body,
                          "file"),
        3);
}

}  // namespace
}  // namespace bunraku::server
