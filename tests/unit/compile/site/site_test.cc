// SPDX-License-Identifier: Apache-2.0
#include "compile/site/site.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "core/value/build.h"
#include "resources/catalog/agent_json.h"

namespace bunraku::site {
namespace {

namespace fs = std::filesystem;
using value::Value;

class SiteTest : public testing::Test {
protected:
    SiteTest() {
        char name[] = "/tmp/site_test_XXXXXX";
        root_ = ::mkdtemp(name);
        for (const char* environment : {"one", "two"}) {
            const std::string at = fmt::format("envs/{}/", environment);
            write(at + "manifests/site.pp", R"(
                node /^n[01]/ { include app app::part { 'odd': port => 8000 } }
                node default { include app }
            )");
            write(at + "modules/app/manifests/init.pp", R"(
                class app(String $motd, Array[App::Port] $ports) {
                  $ports.each |$i, $p| { app::part { "p${i}": port => app::twice($p) } }
                  file { '/etc/motd': content => "${motd} ${environment} ${facts['number']}" }
                  file { '/etc/epp': content => epp('app/app.epp') }
                  notify { "${settings::environment} ${settings::digest_algorithm}": }
                }
            )");
            write(at + "modules/app/manifests/part.pp", R"(
                define app::part(App::Port $port) { file { "/etc/${title}": content => "${port}" } }
            )");
            write(at + "modules/app/functions/twice.pp",
                  "function app::twice(Integer $x) >> Integer { $x * 2 }");
            write(at + "modules/app/types/port.pp", "type App::Port = Integer[1, 65535]");
            write(at + "modules/app/templates/app.epp", "<%= $facts['number'] %>\n");
            write(at + "hiera.yaml",
                  "version: 5\nhierarchy:\n  - name: all\n    path: common.yaml\n");
            set_data(environment, 0);
        }
        settings_.set("environmentpath", root_ + "/envs");
        settings_.set("environment", "one");
        settings_.set("statedir", root_ + "/state");
    }
    ~SiteTest() override { fs::remove_all(root_); }

    /// Replaces the file atomically, as a deployment does.
    void write(const std::string& path, const std::string& text) {
        const auto full = fs::path(root_) / path;
        fs::create_directories(full.parent_path());
        std::ofstream(full.string() + ".new") << text;
        fs::rename(full.string() + ".new", full);
    }
    void set_data(std::string_view environment, int version) {
        write(fmt::format("envs/{}/data/common.yaml", environment),
              fmt::format("app::motd: 'data {}'\napp::ports: [80, 443]\n", version));
    }
    void set_function(int factor) {
        write("envs/one/modules/app/functions/twice.pp",
              fmt::format("function app::twice(Integer $x) >> Integer {{ $x * {} }}", factor));
    }

    static NodeRequest request(int node, const std::string& environment = {}) {
        NodeRequest out;
        out.arena = std::make_shared<base::Arena>();
        out.node = fmt::format("n{}", node);
        value::HashBuilder facts(*out.arena);
        facts.set("number", Value::integer(node));
        out.facts.values = facts.build();
        if (!environment.empty()) out.overlay.set("environment", environment);
        return out;
    }
    /// Returns the catalog as the agent gets it, without the parts that differ for every compile.
    static std::string text_of(const Compiled& compiled) {
        compiled.catalog->catalog_uuid.clear();
        compiled.catalog->version.clear();
        std::string out;
        catalog::AgentJsonOptions json;
        json.naming = compiled.naming.get();
        catalog::write_agent_json(out, *compiled.catalog, json);
        return out;
    }
    static std::string error_of(const std::function<void()>& action) {
        try {
            action();
        } catch (const base::PuppetError& e) {
            return e.full_text();
        }
        return "nothing was thrown";
    }
    std::string alone(NodeRequest request) {
        Site site(settings_);
        return text_of(site.compile(std::move(request), log_));
    }

    std::string root_;
    config::Settings settings_ = config::Settings::defaults();
    base::NullSink log_;
};

TEST_F(SiteTest, CompilesRequestedNodes) {
    Site site(settings_);
    auto asked = request(0);
    asked.record.trace = true;
    const auto compiled = site.compile(std::move(asked), log_);
    EXPECT_EQ(compiled.node, "n0");
    EXPECT_EQ(compiled.environment->name(), "one");
    EXPECT_EQ(compiled.catalog->environment, "one");
    EXPECT_NE(text_of(compiled).find("data 0 one 0"), std::string::npos);
    const auto read = compiled.trace->items();
    EXPECT_TRUE(std::ranges::any_of(read, [](const auto& each) {
        return each.first.kind == environment::Read::Data && each.first.detail == "app::motd";
    }));
    std::vector<std::string_view> passes;
    for (const auto& pass : compiled.timings) passes.push_back(pass.name);
    EXPECT_EQ(passes,
              (std::vector<std::string_view>{
                  "classify", "environment", "facts", "check_environment", "set_node_parameters",
                  "create_settings", "evaluate_main", "evaluate_node", "evaluate_node_classes",
                  "evaluate_generators", "finish", "fail_on_unevaluated", "validate"}));
}

// A catalog and everything it refers to can outlive the site that compiled it.
TEST_F(SiteTest, CatalogOutlivesSite) {
    std::optional<Compiled> compiled;
    {
        Site site(settings_);
        compiled = site.compile(request(1), log_);
    }
    EXPECT_EQ(text_of(*compiled), alone(request(1)));
}

TEST_F(SiteTest, OverlaysAffectOneCompileOnly) {
    Site site(settings_);
    constexpr int kRounds = 20;
    std::vector<std::future<Compiled>> futures;
    auto asked = [](int i) {
        auto out = request(i % 3, i % 2 ? "two" : "one");
        if (i % 4 < 2) out.overlay.set("digest_algorithm", i % 4 ? "sha512" : "md5");
        return out;
    };
    std::string expected[12];
    for (int i = 0; i < 12; ++i) expected[i] = alone(asked(i));
    EXPECT_NE(expected[1].find("two sha512"), std::string::npos);
    EXPECT_NE(expected[2].find("one sha256"), std::string::npos);
    for (int i = 0; i < kRounds * 12; ++i)
        futures.push_back(site.submit(asked(i), std::make_shared<base::NullSink>()));
    for (int i = 0; i < kRounds * 12; ++i)
        EXPECT_EQ(text_of(futures[static_cast<std::size_t>(i)].get()), expected[i % 12]) << i;
    EXPECT_EQ(site.settings().text("environment"), "one");
    EXPECT_EQ(site.settings().text("digest_algorithm"), "sha256");
}

// Every catalog must match a state that the files had between its start and its end.
TEST_F(SiteTest, ThreadsCompileWhileFilesChange) {
    constexpr int kThreads = 8, kRounds = 25, kNodes = 3;
    // The largest version must still give a valid port.
    constexpr int kVersions = 140;
    Options options;
    options.environment_timeout = "0";
    Site site(settings_, options);
    std::atomic<int> begun{0}, written{0};  // version numbers
    std::atomic<int> working{kThreads};
    std::thread editor([&] {
        for (int v = 1; v < kVersions && working > 0; ++v) {
            begun = v;
            set_data("one", v);
            set_function(1 + v);
            written = v;
        }
    });
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            base::NullSink log;
            for (int i = 0; i < kRounds; ++i) {
                const int first = written;
                const auto text = text_of(site.compile(request((t + i) % kNodes, "one"), log));
                const int last = begun;
                auto number_behind = [&](std::string_view words) {
                    const auto at = text.find(words);
                    return at == text.npos ? -1 : std::atoi(text.c_str() + at + words.size());
                };
                const int data = number_behind("\"content\":\"data ");
                // The first port is 80 times the factor in the function.
                const auto part = text.find("\"title\":\"/etc/p0\"");
                const auto content = text.find("\"content\":\"", part);
                const int factor = std::atoi(text.c_str() + content + 11) / 80 - 1;
                const bool factor_known = factor >= first && factor <= last;
                if (data < first || data > last || !(factor_known || (first == 0 && factor == 1)))
                    ++wrong;
            }
            --working;
        });
    }
    for (auto& t : threads) t.join();
    editor.join();
    EXPECT_EQ(wrong, 0);
    for (int n = 0; n < kNodes; ++n)
        EXPECT_EQ(text_of(site.compile(request(n), log_)), alone(request(n)));
}

// Files of a module, Hiera data and the main manifest change back and forth. Every catalog must
// equal one that a sequential compile gives for some state of the files.
TEST_F(SiteTest, EightThreadsCompileTwoHundredTimesWhileFilesChange) {
    constexpr int kThreads = 8, kRounds = 200;
    const std::string folder = root_ + "/envs/nodes";
    fs::copy(BUNRAKU_TEST_DATA "/mutation/site", folder, fs::copy_options::recursive);
    struct Change {
        std::string path;
        std::string_view from, to;
        std::string before, after;
    };
    std::vector<Change> changes{
        {"data/common.yaml", "Welcome to", "Hello", {}, {}},
        {"modules/base/templates/motd.epp", "<%= $text %>", "<%= $text %>\n--", {}, {}},
        {"modules/base/manifests/init.pp", "ensure => latest", "ensure => absent", {}, {}},
        {"manifests/site.pp", "node default {", "node default {\n  notify { 'default': }", {}, {}}};
    for (auto& change : changes) {
        std::ostringstream text;
        text << std::ifstream(folder + "/" + change.path).rdbuf();
        change.before = change.after = text.str();
        const auto at = change.after.find(change.from);
        ASSERT_NE(at, std::string::npos) << change.path;
        change.after.replace(at, change.from.size(), change.to);
    }
    auto put = [&](const Change& change, bool changed) {
        write("envs/nodes/" + change.path, changed ? change.after : change.before);
    };
    const std::vector<std::string> nodes{"web.example.org", "db1.example.org", "other.example.org"};
    auto asked = [&](std::size_t n) {
        NodeRequest out;
        out.node = nodes[n];
        out.facts.kind = FactSource::Kind::File;
        out.facts.file = fmt::format("{}/facts/{}.json", folder, nodes[n]);
        out.overlay.set("environment", "nodes");
        out.record.trace = true;
        return out;
    };
    // Compiles sequentially in each of the sixteen states.
    std::vector<std::set<std::string>> known(nodes.size());
    for (unsigned state = 0; state < 1U << changes.size(); ++state) {
        for (std::size_t i = 0; i < changes.size(); ++i) put(changes[i], (state >> i & 1) != 0);
        for (std::size_t n = 0; n < nodes.size(); ++n) known[n].insert(alone(asked(n)));
    }
    // The last change affects only one node.
    EXPECT_EQ(known[0].size(), 8U);
    EXPECT_EQ(known[1].size(), 8U);
    EXPECT_EQ(known[2].size(), 16U);
    for (const auto& change : changes) put(change, false);

    Options options;
    options.environment_timeout = "0";
    Site site(settings_, options);
    std::atomic<int> working{kThreads}, wrong{0};
    std::mutex mutex;
    std::vector<std::set<std::string>> seen(nodes.size());
    std::string unknown;
    std::thread editor([&] {
        for (std::size_t i = 0; working > 0; ++i)
            put(changes[i % changes.size()], i / changes.size() % 2 == 0);
    });
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            base::NullSink log;
            for (int i = 0; i < kRounds; ++i) {
                const auto n = static_cast<std::size_t>(t + i) % nodes.size();
                const auto text = text_of(site.compile(asked(n), log));
                const std::lock_guard lock(mutex);
                seen[n].insert(text);
                if (known[n].contains(text)) continue;
                ++wrong;
                unknown = text;
            }
            --working;
        });
    }
    for (auto& thread : threads) thread.join();
    editor.join();
    EXPECT_EQ(wrong, 0) << unknown;
    EXPECT_GT(seen[2].size(), 1U);
    for (const auto& change : changes) put(change, true);
    for (std::size_t n = 0; n < nodes.size(); ++n)
        EXPECT_EQ(text_of(site.compile(asked(n), log_)), alone(asked(n)));
}

TEST_F(SiteTest, DeadlineEndsCompile) {
    write("envs/one/manifests/site.pp",
          "range(1, 1000000).each |$x| { range(1, 1000000).each |$y| { $z = $x + $y } }");
    Options options;
    options.threads = 1;
    options.time = std::chrono::milliseconds(200);
    Site site(settings_, options);
    auto first = site.submit(request(0), std::make_shared<base::NullSink>());
    // This request waits for the thread until its own deadline, which is before the deadline of the
    // first one.
    auto waits = request(1);
    waits.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    auto second = site.submit(std::move(waits), std::make_shared<base::NullSink>());
    const auto text = error_of([&] { first.get(); });
    EXPECT_TRUE(
        text.starts_with("Evaluation Error: execution expired: the compile takes longer "
                         "than 0.2 seconds (the setting compile-timeout) (file: "))
        << text;
    EXPECT_NE(text.find("/envs/one/manifests/site.pp, line: 1, column: "), text.npos) << text;
    EXPECT_EQ(error_of([&] { second.get(); }), "execution expired");
}

// Without limits of the process, those of the settings apply, also those of a single request.
TEST_F(SiteTest, LimitsOfSettings) {
    write("envs/one/manifests/site.pp",
          "range(1, 1000000).each |$x| { range(1, 1000000).each |$y| { $z = $x + $y } }");
    settings_.set("compile-timeout", "1h");
    Site site(settings_);
    const auto with = [&](const char* name, const char* value) {
        auto asked = request(0);
        asked.overlay.set(name, value);
        return error_of([&] { site.compile(std::move(asked), log_); });
    };
    EXPECT_TRUE(with("compile-timeout", "50ms")
                    .starts_with("Evaluation Error: execution expired: the compile takes longer "
                                 "than 0.05 seconds (the setting compile-timeout) (file: "));
    EXPECT_EQ(with("compile-timeout", "soon"),
              "The setting compile-timeout is not a time period (7d, 12h, 30m, 10s): soon");
    EXPECT_EQ(with("max-compile-memory", "0"),
              "The setting max-compile-memory is less than 1 (MiB)");
    // The limit of a request has precedence over the setting.
    auto asked = request(0);
    asked.time = std::chrono::milliseconds(50);
    EXPECT_TRUE(error_of([&] {
                    site.compile(std::move(asked), log_);
                }).starts_with("Evaluation Error: execution expired (file: "));
    // A site that lives for one request does not read its environment again.
    write("envs/one/manifests/site.pp", "$a = range(1, 3000000).map |$x| { \"${x} ${x}\" }");
    Site again(settings_);
    NodeRequest large;
    large.node = "n0";
    large.overlay.set("max-compile-memory", "8");
    EXPECT_TRUE(error_of([&] { again.compile(std::move(large), log_); })
                    .starts_with("Evaluation Error: failed to allocate memory: the compile needs "
                                 "more than 8 MiB (the setting max-compile-memory) (file: "));
}

// Neither the body of a resource nor a lookup may handle the timeout as its own error.
TEST_F(SiteTest, DeadlineIsNotAResourceError) {
    write("envs/one/manifests/site.pp",
          "define d() { range(1, 1000000).each |$x| { range(1, "
          "1000000).each |$y| { $z = $x + $y } } }\nd { 'x': }");
    Site site(settings_);
    auto asked = request(0);
    asked.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    const auto text = error_of([&] { site.compile(std::move(asked), log_); });
    EXPECT_TRUE(text.starts_with("Evaluation Error: execution expired (file: ")) << text;
}

// Through sharing, 60 small arrays represent a tree that is too large for any traversal.
constexpr std::string_view kShared = R"(
    $a = Integer[1, 60].reduce([1]) |$m, $i| { [$m, $m] }
    $b = Integer[1, 60].reduce([1]) |$m, $i| { [$m, $m] }
    $h = Integer[1, 60].reduce({'x' => 1}) |$m, $i| { {'x' => $m, 'y' => $m} }
    $k = Integer[1, 60].reduce({'x' => 1}) |$m, $i| { {'x' => $m, 'y' => $m} }
    $t = Integer[1, 60].reduce(Array[Integer]) |$m, $i| { Tuple[$m, $m] }
    $u = Integer[1, 60].reduce(Array[Integer]) |$m, $i| { Tuple[$m, $m] }
)";

TEST_F(SiteTest, SharedValuesCannotBypassLimits) {
    Options options;
    options.memory = 64 << 20;
    for (const std::string_view code : {
             "$x = $a == $b",
             "$x = $h == $k",
             "$x = $a in [$b]",
             "$x = [$a] - [$b]",
             "$x = \"${a}\"",
             "$x = \"${h}\"",
             "$x = { $a => 1 }[$b]",
             "$x = unique([$a, $b])",
             "$x = type($a)",
             "$x = type($h, generalized)",
             "$x = $a =~ Data",
             "$x = $h =~ RichData",
             "$x = flatten($a)",
             "$x = String($a, '%p')",
             "$x = String($h, '%#p')",
             "$x = join($a)",
             "$x = assert_type(Array[Integer], $a)",
             "fail(\"${a}\")",
             "tag($a)",
             "$x = sprintf('%s', $a)",
             "$x = lookup('none', {'default_value' => $a}) == $b",
             "$x = inline_epp('<%= $a %>', {'a' => $a})",
             "$x = $a.tree_each.map |$v| { 1 }",
             "$x = Sensitive($a) == Sensitive($b)",
             "$x = $t == $u",
             "$x = $t <= $u",
             "$x = $a =~ $t and $a =~ $u",
             "$x = \"${t}\"",
             "$x = { $t => 1 }[$u]",
             "$x = unique([$t, $u])",
         }) {
        write("envs/one/manifests/site.pp", std::string(kShared) + std::string(code));
        Site site(settings_, options);
        NodeRequest asked;
        asked.node = "n0";
        asked.time = std::chrono::milliseconds(200);
        const auto text = error_of([&] { site.compile(std::move(asked), log_); });
        EXPECT_TRUE(text.find("execution expired") != text.npos ||
                    text.find("failed to allocate memory") != text.npos)
            << code << ": " << text;
    }
}

TEST_F(SiteTest, EndlesslyUnfoldingParameterIsAnError) {
    for (const std::string_view code : {
             "notify { 'x': message => $a }",
             "notify { 'x': message => {'a' => [$h]} }",
             "notify { 'x': message => Sensitive($a) }",
             "define d($p) {} d { 'x': p => $h }",
             "class c($p) {} class { 'c': p => $a }",
         }) {
        write("envs/one/manifests/site.pp", std::string(kShared) + std::string(code));
        Site site(settings_);
        NodeRequest asked;
        asked.node = "n0";
        const auto text = error_of([&] { site.compile(std::move(asked), log_); });
        EXPECT_NE(text.find("The value of a parameter has more than 10000000 elements, because it "
                            "contains the same arrays or hashes many times"),
                  text.npos)
            << code << ": " << text;
    }
    write("envs/one/manifests/site.pp",
          "$a = Integer[1, 10].reduce([1]) |$m, $i| { [$m, $m] } notify { 'x': message => $a }");
    Site site(settings_);
    NodeRequest asked;
    asked.node = "n0";
    EXPECT_NO_THROW(site.compile(std::move(asked), log_));
}

TEST_F(SiteTest, LimitsMemory) {
    write("envs/one/manifests/site.pp", "$a = range(1, 3000000)\n$b = $a.map |$x| { \"${x}\" }");
    Options options;
    options.memory = 8 << 20;
    Site site(settings_, options);
    NodeRequest asked;
    asked.node = "n0";
    const auto text = error_of([&] { site.compile(std::move(asked), log_); });
    EXPECT_TRUE(
        text.starts_with("Evaluation Error: failed to allocate memory: the compile needs "
                         "more than 8 MiB (the setting max-compile-memory) (file: "))
        << text;
    // The next compile has a new memory limit.
    write("envs/one/manifests/site.pp", "notify { 'x': }");
    Site again(settings_, options);
    EXPECT_NO_THROW(again.compile(request(0), log_));
}

TEST_F(SiteTest, RefusesTooManyCompiles) {
    write("envs/one/manifests/site.pp", "range(1, 100000).each |$x| { $z = $x }");
    Options options;
    options.threads = 1;
    options.queue = 1;
    Site site(settings_, options);
    std::vector<std::future<Compiled>> futures;
    for (int i = 0; i < 8; ++i)
        futures.push_back(site.submit(request(i), std::make_shared<base::NullSink>()));
    int refused = 0;
    for (auto& future : futures)
        refused += error_of([&] { future.get(); }) == "1 compiles wait already";
    EXPECT_GE(refused, 5);
    EXPECT_LE(refused, 7);
}

TEST_F(SiteTest, ErrorsBelongToTheRequest) {
    Site site(settings_);
    const auto missing = [](const std::string& root) {
        return fmt::format(
            "Could not find a directory environment named 'none' anywhere in the path: {}/envs. "
            "Does the directory exist?",
            root);
    };
    EXPECT_EQ(error_of([&] { site.compile(request(0, "none"), log_); }), missing(root_));
    auto classified = request(0);
    classified.classification.emplace<compiler::Classification>().environment = "none";
    EXPECT_EQ(error_of([&] { site.compile(classified, log_); }),
              "Failed when searching for node n0: " + missing(root_));
    auto manifest = request(0);
    manifest.sources.manifest = root_ + "/no.pp";
    EXPECT_EQ(error_of([&] { site.compile(manifest, log_); }),
              "Could not find file " + root_ + "/no.pp");
    // ENVIRONMENT/manifests may be missing, unless the request requires the manifest.
    manifest.sources.manifest = root_ + "/one/manifests";
    EXPECT_EQ(error_of([&] { site.compile(manifest, log_); }), "nothing was thrown");
    manifest.compile_mode.manifest_required = true;
    EXPECT_EQ(error_of([&] { site.compile(manifest, log_); }),
              "Could not find file " + root_ + "/one/manifests");
    EXPECT_NO_THROW(site.compile(request(0), log_));
}

// One node collects what another node exports, over its own connection.
TEST_F(SiteTest, StoreIsShared) {
    write("envs/one/manifests/site.pp",
          "@@notify { \"from ${facts['number']}\": }\nNotify <<| |>>");
    Site site(settings_);
    auto asked = [](int n) {
        auto out = request(n);
        out.overlay.set("storeconfigs", "true");
        return out;
    };
    site.store(site.compile(asked(0), log_), log_);
    std::vector<std::future<Compiled>> futures;
    for (int i = 1; i < 20; ++i)
        futures.push_back(site.submit(asked(i), std::make_shared<base::NullSink>()));
    for (auto& future : futures)
        EXPECT_NE(text_of(future.get()).find("\"from 0\""), std::string::npos);
}

// A server sends commands to its store. A collector must receive Sensitive values in this case too.
TEST_F(SiteTest, CollectorReceivesSensitiveValues) {
    write("envs/one/manifests/site.pp",
          "@@notify { \"from ${facts['number']}\": message => "
          "Sensitive(\"Pl4nted-${facts['number']}\") }\nNotify <<| |>>");
    settings_.set("ssldir", root_ + "/ssl");
    std::string body;
    Options options;
    options.store.submit = [&](const store::CommandHeader& header,
                               std::string sent) -> base::Result<void> {
        body = std::move(sent);
        auto own = BUNRAKU_TRY(store::Store::open(root_ + "/state/store.sqlite3",
                                                  {.key_file = root_ + "/ssl/store.key"}));
        return own->execute(header, body);
    };
    // The server creates its store before a compile reads it.
    ASSERT_TRUE(
        store::Store::open(root_ + "/state/store.sqlite3", {.key_file = root_ + "/ssl/store.key"}));
    Site site(settings_, options);
    auto asked = [](int n) {
        auto out = request(n);
        out.overlay.set("storeconfigs", "true");
        return out;
    };
    site.store(site.compile(asked(0), log_), log_);
    EXPECT_NE(body.find("Pl4nted-0"), std::string::npos) << "only the store may have it";
    EXPECT_NE(text_of(site.compile(asked(1), log_)).find("Pl4nted-0"), std::string::npos);
}

TEST(Workers, ShutdownCompletesAcceptedTasks) {
    std::atomic<int> done{0};
    {
        Workers workers(3, 2);
        EXPECT_EQ(workers.threads(), 3U);
        for (int i = 0; i < 500; ++i) workers.post([&] { ++done; });
    }
    EXPECT_EQ(done, 500);
}

}  // namespace
}  // namespace bunraku::site
