// SPDX-License-Identifier: Apache-2.0
// Tests that a cached catalog equals a newly compiled one. An environment changes at random, and
// each response is compared with that of a site without a cache.
#include "services/server/catalog_cache.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <thread>

#include "compile/compiler/change.h"
#include "compile/site/site.h"
#include "core/sys/clock.h"
#include "core/value/build.h"
#include "net/http/wire.h"
#include "resources/catalog/agent_json.h"
#include "store/db/secrets.h"

namespace bunraku::server {
namespace {

namespace fs = std::filesystem;
using value::Value;

class CatalogCacheTest : public testing::Test {
protected:
    CatalogCacheTest() {
        char name[] = "/tmp/kept_test_XXXXXX";
        root_ = ::mkdtemp(name);
        write("manifests/site.pp", "include app\n");
        write("modules/app/manifests/init.pp", manifest(0));
        write("modules/app/manifests/other.pp", "class app::other { notify { 'other': } }\n");
        write("modules/app/templates/a.epp", "<%= $facts['number'] %> 0\n");
        write("modules/app/files/read", "0\n");
        write("hiera.yaml",
              "version: 5\nhierarchy:\n  - name: all\n    paths: ['%{facts.role}.yaml', "
              "'common.yaml']\n");
        write("data/common.yaml", "app::motd: '0'\nunread: '0'\n");
        settings_.set("environmentpath", root_ + "/envs");
        settings_.set("statedir", root_ + "/state");
        site::Options options;
        options.environment_timeout = "0";
        kept_site_ = std::make_unique<site::Site>(settings_, options);
        fresh_site_ = std::make_unique<site::Site>(settings_, options);
        cache_ = std::make_unique<CatalogCache>(root_ + "/kept", log_);
    }
    ~CatalogCacheTest() override { fs::remove_all(root_); }

    static std::string manifest(int version) {
        return fmt::format(R"(
            class app(String $motd) {{
              file {{ '/etc/motd': content => "${{motd}} {0}" }}
              file {{ '/etc/epp': content => epp('app/a.epp') }}
              file {{ '/etc/read': content => file('app/missing', 'app/read') }}
              if $facts['extra'] {{ include app::other }}
            }}
        )",
                           version);
    }
    void write(const std::string& path, const std::string& text) {
        const auto full = fs::path(root_) / "envs/production" / path;
        fs::create_directories(full.parent_path());
        std::ofstream(full.string() + ".new") << text;
        age(full.string() + ".new");
        fs::rename(full.string() + ".new", full);
        age(full.parent_path());
    }
    void remove(const std::string& path) {
        const auto full = fs::path(root_) / "envs/production" / path;
        fs::remove(full);
        age(full.parent_path());
    }
    /// Sets an old modification time that differs on each call, because a file that was written a
    /// second ago never counts as unchanged.
    void age(const fs::path& path) {
        fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(10) +
                                      std::chrono::seconds(++written_));
    }

    struct Facts {
        int number = 0, uptime = 0;
        bool extra = false;
        std::string role = "web";
    };
    static site::NodeRequest request(const Facts& said) {
        site::NodeRequest out;
        out.arena = std::make_shared<base::Arena>();
        out.node = "n1";
        value::HashBuilder facts(*out.arena);
        facts.set("number", Value::integer(said.number));
        facts.set("uptime", Value::integer(said.uptime));
        facts.set("role", value::make_string(*out.arena, said.role));
        if (said.extra) facts.set("extra", Value::boolean(true));
        out.facts.values = facts.build();
        return out;
    }
    /// Removes the version stamps.
    static std::string without_stamps(std::string json) {
        for (const std::string_view name : {"\"version\":", "\"catalog_uuid\":"}) {
            const auto at = json.find(name);
            json.erase(at, json.find(',', at) - at);
        }
        return json;
    }
    std::string fresh(const Facts& facts) {
        const auto session = fresh_site_->session(request(facts), log_);
        return without_stamps(catalog::to_agent_json(*session->compile().catalog));
    }
    /// Returns the server's response; `kept` reports whether the cache had it.
    std::string answer(const Facts& facts, bool& kept) { return answer(facts, kept, key_); }
    std::string answer(const Facts& facts, bool& kept, const CatalogCache::Key& key) {
        auto asked = request(facts);
        asked.node = key.node;
        asked.record.trace = true;
        const auto session = kept_site_->session(std::move(asked), *sink_);
        const auto found = cache_->find(key, *session);
        if (found && !found->to_compare) {
            kept = true;
            const auto packed = cache_->packed(key, *found).value_or("gone");
            return without_stamps(http::decode_content("gzip", packed, 1 << 20).body);
        }
        kept = false;
        const auto began = sys::make_real_clock()->now_ns();
        const auto compiled = session->compile();
        const auto json = catalog::to_agent_json(*compiled.catalog);
        (void)cache_->keep(key, *session, compiled, json, {}, began);
        return without_stamps(json);
    }
    /// Waits, because files that were just written are not trusted.
    static void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }

    std::string root_;
    int written_ = 0;
    base::MemorySink log_;
    base::NullSink silent_;
    base::LogSink* sink_ = &log_;  ///< log of the compiles
    config::Settings settings_ = config::Settings::defaults();
    std::unique_ptr<site::Site> kept_site_, fresh_site_;
    std::unique_ptr<CatalogCache> cache_;
    const CatalogCache::Key key_{"n1", "production", "rich"};
};

TEST_F(CatalogCacheTest, CachedCatalogEqualsCompiledCatalog) {
    std::mt19937 rng(20261124);
    const auto number = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(rng); };
    Facts facts;
    int kept_answers = 0;
    for (int step = 0; step < 120; ++step) {
        const int version = number(3);
        switch (number(13)) {
            case 0: write("modules/app/manifests/init.pp", manifest(version)); break;
            case 1:
                write("modules/app/templates/a.epp",
                      fmt::format("<%= $facts['number'] %> {}\n", version));
                break;
            case 2: write("modules/app/files/read", fmt::format("{}\n", version)); break;
            case 3:
                if (version == 0)
                    remove("modules/app/files/missing");
                else
                    write("modules/app/files/missing", fmt::format("missing {}\n", version));
                break;
            case 4:
                write("data/common.yaml",
                      fmt::format("app::motd: '{}'\nunread: '{}'\n", number(2), step));
                break;
            case 5:
                if (version == 0)
                    remove("data/web.yaml");
                else
                    write("data/web.yaml", fmt::format("app::motd: 'web {}'\n", version));
                break;
            case 6: facts.number = version; break;
            case 7: facts.uptime = step; break;
            case 8: facts.extra = version == 0; break;
            case 9: facts.role = version == 0 ? "db" : "web"; break;
            case 10:
                write("modules/app/manifests/other.pp",
                      fmt::format("class app::other {{ notify {{ 'other{}': }} }}\n", version));
                break;
            case 11:
                write("modules/app/manifests/init.pp", "# a comment\n" + manifest(version));
                break;
            default: break;
        }
        if (number(4) != 0) settle();
        bool kept = false;
        const auto got = answer(facts, kept);
        ASSERT_EQ(got, fresh(facts)) << "step " << step << (kept ? ", kept" : ", compiled");
        if (kept) ++kept_answers;
    }
    EXPECT_GT(kept_answers, 20);
    for (const auto& d : log_.records) EXPECT_NE(d.level, base::Level::Err) << d.message;
}

TEST_F(CatalogCacheTest, FingerprintOfRelevantFactsIsEnough) {
    Facts facts;
    settle();
    bool kept = false;
    (void)answer(facts, kept);
    EXPECT_FALSE(kept);
    facts.uptime = 7;
    const auto session = kept_site_->session(request(facts), log_);
    const auto found = cache_->find(key_, *session);
    ASSERT_TRUE(found);
    EXPECT_EQ(*found->facts, (std::vector<std::string>{"extra", "number", "role"}));
    const auto print = compiler::facts_fingerprint(session->facts(), *found->facts);

    site::NodeRequest bare;
    bare.arena = std::make_shared<base::Arena>();
    bare.node = "n1";
    const auto without = kept_site_->session(std::move(bare), log_);
    const auto again = cache_->find(key_, *without, &print);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->etag, found->etag);
    const std::string other = "another";
    EXPECT_FALSE(cache_->find(key_, *without, &other));
    // A request with a wrong fingerprint does not affect the cache.
    EXPECT_TRUE(cache_->find(key_, *without, &print));
}

// Several nodes compile in parallel while files change. Afterwards, every response must equal a
// compile.
TEST_F(CatalogCacheTest, ParallelCompiles) {
    sink_ = &silent_;
    std::atomic<bool> ended = false;
    std::vector<std::thread> nodes;
    for (int i = 0; i < 4; ++i) {
        nodes.emplace_back([&, i] {
            const CatalogCache::Key key{fmt::format("n{}", i), "production", "rich"};
            while (!ended) {
                bool kept = false;
                (void)answer({.number = i}, kept, key);
            }
        });
    }
    for (int step = 0; step < 10; ++step) {
        write("data/common.yaml", fmt::format("app::motd: '{}'\n", step));
        write("modules/app/manifests/init.pp", manifest(step % 3));
        settle();
    }
    ended = true;
    for (auto& each : nodes) each.join();
    for (int i = 0; i < 4; ++i) {
        const CatalogCache::Key key{fmt::format("n{}", i), "production", "rich"};
        auto asked = request({.number = i});
        asked.node = key.node;
        const auto session = fresh_site_->session(std::move(asked), *sink_);
        const auto expected = without_stamps(catalog::to_agent_json(*session->compile().catalog));
        bool kept = false;
        EXPECT_EQ(answer({.number = i}, kept, key), expected);
    }
}

TEST_F(CatalogCacheTest, ReportsFailedComparison) {
    settle();
    bool kept = false;
    (void)answer({}, kept);
    const auto open = [&] { return kept_site_->session(request({}), log_); };
    const auto find_one_to_compare = [&] {
        for (int i = 0; i < 100; ++i) {
            const auto found = cache_->find(key_, *open());
            if (!found || found->to_compare) return found;
        }
        return std::optional<CatalogCache::CachedCatalog>();
    };
    const auto session = open();
    const auto json = catalog::to_agent_json(*session->compile().catalog);
    // A comparison that is not due, one that is due and correct, and one for another environment.
    cache_->compare(key_, *session, "{}");
    ASSERT_TRUE(find_one_to_compare());
    cache_->compare(key_, *session, json);
    cache_->compare({"n2", "production", "rich"}, *session, "{}");
    for (const auto& d : log_.records) EXPECT_EQ(d.level, base::Level::Debug) << d.message;
    EXPECT_TRUE(cache_->find(key_, *session));
    // A catalog that differs although no recorded read has changed.
    ASSERT_TRUE(find_one_to_compare());
    cache_->compare(key_, *session, "{}");
    ASSERT_FALSE(log_.records.empty());
    EXPECT_TRUE(log_.records.back().message.starts_with(
        "The catalog of n1 in environment production changed although nothing that it reads has "
        "changed"))
        << log_.records.back().message;
    EXPECT_FALSE(cache_->find(key_, *session));
}

// The code changes between the check of the cached catalog and the compile that is compared with
// it.
TEST_F(CatalogCacheTest, ChangeDuringComparisonIsNotAnError) {
    settle();
    bool kept = false;
    (void)answer({}, kept);
    const auto open = [&] {
        auto asked = request({});
        asked.record.trace = true;
        return kept_site_->session(std::move(asked), log_);
    };
    auto session = open();
    for (int i = 0; i < 99; ++i) {
        const auto found = cache_->find(key_, *session);
        ASSERT_TRUE(found) << i;
        EXPECT_FALSE(found->to_compare) << i;
        session = open();
    }
    const auto found = cache_->find(key_, *session);
    ASSERT_TRUE(found);
    ASSERT_TRUE(found->to_compare);
    write("data/common.yaml", "app::motd: 'new'\nunread: '0'\n");
    const auto began = sys::make_real_clock()->now_ns();
    const auto compiled = session->compile();
    (void)cache_->keep(key_, *session, compiled, catalog::to_agent_json(*compiled.catalog), {},
                       began);
    for (const auto& d : log_.records) EXPECT_EQ(d.level, base::Level::Debug) << d.message;
    settle();
    EXPECT_EQ(answer({}, kept), fresh({}));
    EXPECT_EQ(answer({}, kept), fresh({}));
    EXPECT_TRUE(kept);
}

TEST_F(CatalogCacheTest, DoesNotCacheTimeAndRandomNumbers) {
    write("manifests/site.pp", "notify { \"${Timestamp.new}\": }\n");
    settle();
    bool kept = false;
    for (int i = 0; i < 3; ++i) {
        (void)answer({}, kept);
        EXPECT_FALSE(kept);
    }
    EXPECT_EQ(cache_->size(), 0u);
}

TEST_F(CatalogCacheTest, ReasonsOfCompiles) {
    const auto said = [&] {
        const auto decision = cache_->reasons().find("n1");
        if (!decision) return std::string("nothing");
        return fmt::format("{}{} {}/{}", decision->served ? "served" : decision->reason,
                           decision->details.empty()
                               ? std::string()
                               : fmt::format(" [{}]", fmt::join(decision->details, ", ")),
                           decision->served_total, decision->compiled_total);
    };
    const auto file = [&](const char* path) { return root_ + "/envs/production/" + path; };
    bool kept = false;
    settle();
    EXPECT_EQ(said(), "nothing");
    (void)answer({}, kept);
    EXPECT_EQ(said(), "no catalog of this node is cached yet 0/1");
    (void)answer({}, kept);
    EXPECT_EQ(said(), "served 1/1");
    (void)answer({.number = 1, .uptime = 9}, kept);
    EXPECT_EQ(said(), "facts that it reads changed [fact number] 1/2");
    write("modules/app/files/read", "1\n");
    settle();
    (void)answer({.number = 1}, kept);
    EXPECT_EQ(said(), fmt::format("code or data that it reads changed [file {}] 1/3",
                                  file("modules/app/files/read")));
    write("manifests/site.pp", "notify { \"${Timestamp.new}\": }\n");
    settle();
    (void)answer({}, kept);
    (void)answer({}, kept);
    EXPECT_EQ(said(), "it has reads that cannot be checked again [clock] 1/5");
}

// Another server with the same folder needs no compile for its first responses.
TEST_F(CatalogCacheTest, RestartUsesCachedCatalogs) {
    const auto restart = [&](const std::string& program = {}) {
        cache_.reset();
        site::Options options;
        options.environment_timeout = "0";
        kept_site_ = std::make_unique<site::Site>(settings_, options);
        cache_ = std::make_unique<CatalogCache>(root_ + "/kept", log_, program);
    };
    settle();
    bool kept = false;
    const auto first = answer({}, kept);
    EXPECT_FALSE(kept);
    restart();
    EXPECT_EQ(answer({}, kept), first);
    EXPECT_TRUE(kept);
    // Other facts, other code, and a file that did not exist before.
    restart();
    EXPECT_EQ(answer({.number = 7}, kept), fresh({.number = 7}));
    EXPECT_FALSE(kept);
    for (const auto& [path, text] : std::initializer_list<std::pair<const char*, std::string>>{
             {"modules/app/manifests/init.pp", manifest(1)},
             {"data/common.yaml", "app::motd: 'other'\n"},
             {"modules/app/files/missing", "not any more\n"}}) {
        restart();
        write(path, text);
        settle();
        EXPECT_EQ(answer({}, kept), fresh({})) << path;
        EXPECT_FALSE(kept) << path;
    }
    restart();
    (void)answer({}, kept);
    EXPECT_TRUE(kept);
    restart("another program");
    (void)answer({}, kept);
    EXPECT_FALSE(kept);
    // A damaged cache file counts as missing, whatever its damage is.
    settle();
    restart();
    (void)answer({}, kept);
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(root_ + "/kept"))
        if (entry.path().extension() != ".gz") files.push_back(entry.path());
    EXPECT_GE(files.size(), 2U);
    for (const auto& path : files) {
        restart();
        (void)answer({}, kept);
        restart();
        std::fstream(path, std::ios::in | std::ios::out).seekp(40) << "damage";
        EXPECT_EQ(answer({}, kept), fresh({})) << path;
    }
}

TEST_F(CatalogCacheTest, DiskCacheIsEncrypted) {
    const auto restart = [&](const std::string& key) {
        cache_.reset();
        site::Options options;
        options.environment_timeout = "0";
        kept_site_ = std::make_unique<site::Site>(settings_, options);
        cache_ = std::make_unique<CatalogCache>(root_ + "/kept", log_, "",
                                                std::make_shared<store::Secrets>(root_ + key));
    };
    write("data/common.yaml", "app::motd: 'Pl4nted'\n");
    settle();
    restart("/first/store.key");
    bool kept = false;
    const auto first = answer({}, kept);
    EXPECT_NE(first.find("Pl4nted"), std::string::npos);
    restart("/first/store.key");
    EXPECT_EQ(answer({}, kept), first);
    EXPECT_TRUE(kept);
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(root_ + "/kept")) {
        if (!entry.is_regular_file() || entry.file_size() == 0) continue;
        ++files;
        std::ifstream in(entry.path(), std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(in), {}};
        EXPECT_EQ(bytes.find("Pl4nted"), std::string::npos) << entry.path();
        // The names of reads are not secret. A checksum may precede the encrypted data.
        if (entry.path().extension() == ".reads") continue;
        EXPECT_LT(bytes.find("BSEAL"), 100U) << entry.path();
    }
    EXPECT_GE(files, 2);
    // Without the key, the cache is empty.
    restart("/second/store.key");
    EXPECT_EQ(answer({}, kept), fresh({}));
    EXPECT_FALSE(kept);
}

// The store is queried again for exported resources, and their content is compared.
TEST_F(CatalogCacheTest, CachedUntilExportsChange) {
    settings_.set("storeconfigs", "true");
    fs::create_directories(root_ + "/state");
    site::Options options;
    options.environment_timeout = "0";
    kept_site_ = std::make_unique<site::Site>(settings_, options);
    fresh_site_ = std::make_unique<site::Site>(settings_, options);
    write("manifests/site.pp", R"(
        if $facts['role'] == 'web' { @@notify { "of ${facts['number']}": tag => 'a' } }
        else { Notify <<| tag == 'a' and title != 'of 5' |>> Notify <<| tag == 'b' |>> }
    )");
    settle();
    const auto exports = [&](int number) {
        auto asked = request({.number = number});
        asked.node = "web";
        const auto session = fresh_site_->session(std::move(asked), log_);
        fresh_site_->store(session->compile(), log_);
    };
    const Facts collector{.role = "db"};
    bool kept = false;
    for (const int number : {1, 1, 2, 5}) {
        exports(number);
        EXPECT_EQ(answer(collector, kept), fresh(collector)) << number;
        EXPECT_EQ(answer(collector, kept), fresh(collector)) << number;
        EXPECT_TRUE(kept) << number;
        // The same export again is not a change.
        exports(number);
        (void)answer(collector, kept);
        EXPECT_TRUE(kept) << number;
    }
    exports(3);
    EXPECT_EQ(answer(collector, kept), fresh(collector));
    EXPECT_FALSE(kept);
}

TEST_F(CatalogCacheTest, VerifiesOneOfAHundred) {
    settle();
    int compiled = 0;
    for (int i = 0; i < 201; ++i) {
        bool kept = false;
        (void)answer({}, kept);
        if (!kept) ++compiled;
    }
    EXPECT_EQ(compiled, 3);
    for (const auto& d : log_.records) EXPECT_EQ(d.level, base::Level::Debug) << d.message;
}

}  // namespace
}  // namespace bunraku::server
