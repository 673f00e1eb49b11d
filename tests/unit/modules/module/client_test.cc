// Tests the client side: dependency resolution, Puppetfiles, trees. The expected texts are those of
// Puppet 8.11.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

#include "modules/module/build_module.h"
#include "modules/module/puppetfile.h"
#include "modules/module/tarball.h"
#include "modules/module/tool.h"
#include "net/http/server.h"
#include "support.h"

namespace bunraku::module {
namespace {

struct World {
    /// maps "name version" to dependencies "module range"
    std::vector<std::pair<std::string, std::vector<std::string>>> releases;
    Source source() const {
        return [this](const std::string& name) -> base::Result<std::vector<Candidate>> {
            std::vector<Candidate> out;
            for (const auto& [key, deps] : releases) {
                const std::size_t blank = key.find(' ');
                if (key.substr(0, blank) != name) continue;
                Candidate c;
                c.name = name;
                c.version = *base::SemVer::parse(key.substr(blank + 1));
                for (const std::string& d : deps) {
                    const std::size_t cut = d.find(' ');
                    c.constraints.push_back({"initialize", d.substr(0, cut), d.substr(cut + 1),
                                             base::SemVerRange::parse(d.substr(cut + 1))});
                    c.dependencies.push_back({d.substr(0, cut), {}});
                }
                out.push_back(std::move(c));
            }
            return out;
        };
    }
};

std::string solve(const World& world, const std::string& name, const std::string& range,
                  std::vector<std::array<std::string, 2>> constraints = {}) {
    Graph graph(name, range);
    auto queried = graph.query({world.source()});
    EXPECT_TRUE(queried);
    graph.one_of_each_name();
    for (const auto& [module, r] : constraints) graph.add_constraint("installed", module, r);
    const auto solved = graph.resolve();
    if (solved.releases.empty()) return "! " + solved.unsatisfied;
    std::string out;
    for (const Candidate* c : solved.releases) {
        out += (out.empty() ? "" : ", ") + c->name + " " + c->version.to_string();
    }
    return out;
}

TEST(Resolve, Table) {
    const World w{{{"a-web 1.0.0", {"a-lib >= 1.0.0 < 2.0.0"}},
                   {"a-web 2.0.0", {"a-lib >= 2.0.0", "a-extra 1.x"}},
                   {"a-lib 1.0.0", {}},
                   {"a-lib 1.5.0", {}},
                   {"a-lib 2.0.0", {}},
                   {"a-lib 3.0.0-rc1", {}},
                   {"a-extra 1.0.0", {"a-lib < 2.5.0"}},
                   {"b-pre 0.1.0-beta.2", {}},
                   {"b-pre 0.1.0-beta.11", {}},
                   {"c-ringa 1.0.0", {"c-ringb >= 1.0.0"}},
                   {"c-ringb 1.0.0", {"c-ringa >= 1.0.0"}},
                   {"d-unsat 1.0.0", {"a-lib >= 9.0.0"}},
                   {"d-clash 1.0.0", {"a-web 1.x", "e-lib 1.x"}},
                   {"e-lib 1.0.0", {}}}};
    EXPECT_EQ(solve(w, "a-web", ">= 0.0.0"), "a-web 2.0.0, a-extra 1.0.0, a-lib 2.0.0");
    EXPECT_EQ(solve(w, "a-web", "1.x"), "a-web 1.0.0, a-lib 1.5.0");
    EXPECT_EQ(solve(w, "a-web", ">= 0.0.0", {{"a-lib", "1.x"}}), "a-web 1.0.0, a-lib 1.5.0");
    EXPECT_EQ(solve(w, "b-pre", "0.1.0-beta.2"), "b-pre 0.1.0-beta.2");
    EXPECT_EQ(solve(w, "c-ringa", ">= 0.0.0"), "c-ringa 1.0.0, c-ringb 1.0.0");
    EXPECT_EQ(solve(w, "d-unsat", ">= 0.0.0"), "! ");
    EXPECT_EQ(solve(w, "a-web", "2.x", {{"a-lib", "1.x"}}), "! a-lib");
    EXPECT_EQ(solve(w, "d-clash", ">= 0.0.0").substr(0, 1), "!");  // two modules named lib
}

TEST(Resolve, ExplainsConflicts) {
    const World w{{{"a-web 1.0.0", {"a-lib >= 1.0.0 < 2.0.0"}},
                   {"a-web 2.0.0", {"b-mid 1.x"}},
                   {"b-mid 1.0.0", {"a-lib >= 2.0.0"}},
                   {"a-lib 1.0.0", {}},
                   {"a-lib 2.0.0", {}},
                   {"c-unsat 1.0.0", {"b-mid 1.x", "a-lib >= 9.0.0", "x-gone 1.x"}},
                   {"c-old 1.0.0", {}},
                   {"c-old 2.0.0", {"a-lib >= 9.0.0"}},
                   {"d-odds 1.0.0", {"a-web 1.x", "b-mid 1.x", "z-other 1.x"}},
                   {"z-other 1.0.0", {}}}};
    struct Case {
        const char* name;
        std::vector<std::array<std::string, 3>> demands;  ///< source, module, range
        const char* want;
    };
    const std::string same = "; this module alone: --ignore-dependencies";
    const std::vector<Case> cases = {
        // Shows the two conflicting requirements and the dependency path to them.
        {"a-web",
         {{"installed", "z-other", ">=1.0.0 1.x"},
          {"installed", "a-lib", ">=1.0.0 1.x"},
          {"z-other constraint", "a-lib", ">= 1.0.0"}},
         "a-web 2.0.0 wants b-mid 1.x; b-mid 1.0.0 wants a-lib >= 2.0.0; a-lib is installed, and "
         "stays within >=1.0.0 1.x | another major version of a-lib: `module install a-lib "
         "--version RANGE --force`; a-web 1.0.0, which fits: --version 1.0.0"},
        {"a-web",
         {{"k-eeps constraint", "a-lib", "< 2.0.0"}},
         "a-web 2.0.0 wants b-mid 1.x; b-mid 1.0.0 wants a-lib >= 2.0.0; k-eeps, which is "
         "installed, wants a-lib < 2.0.0 | a-web 1.0.0, which fits: --version 1.0.0"},
        // Requirements without a matching release.
        {"c-unsat",
         {},
         "c-unsat 1.0.0 wants a-lib >= 9.0.0, and there is 2.0.0, 1.0.0; c-unsat 1.0.0 wants "
         "x-gone 1.x, and there is no such module | "},
        {"c-old",
         {},
         "c-old 2.0.0 wants a-lib >= 9.0.0, and there is 2.0.0, 1.0.0 | c-old 1.0.0, which fits: "
         "--version 1.0.0"},
        // Two dependencies of the module conflict; the third is not involved.
        {"d-odds",
         {},
         "d-odds 1.0.0 wants a-web 1.x; a-web 1.0.0 wants a-lib >= 1.0.0 < 2.0.0; d-odds 1.0.0 "
         "wants b-mid 1.x; b-mid 1.0.0 wants a-lib >= 2.0.0 | "},
    };
    for (const Case& c : cases) {
        // Only the newest release was requested.
        Graph graph(c.name, std::string(c.name) == "a-web" || std::string(c.name) == "c-old"
                                ? "2.x"
                                : ">= 0.0.0");
        ASSERT_TRUE(graph.query({w.source()}));
        graph.one_of_each_name();
        for (const auto& [source, module, range] : c.demands) {
            graph.add_constraint(source, module, range);
        }
        EXPECT_TRUE(graph.resolve().releases.empty()) << c.name;
        const auto why = graph.explain();
        std::string want = c.want;
        want += want.ends_with("| ") ? same.substr(2) : same;
        EXPECT_EQ(fmt::format("{} | {}", fmt::join(why.wants, "; "), fmt::join(why.remedies, "; ")),
                  want);
        // The explanation does not change the graph.
        EXPECT_TRUE(graph.resolve().releases.empty()) << c.name;
    }
}

TEST(Build, OmitsIgnoredFiles) {
    test::Scratch scratch;
    const std::string top = scratch.path + "/web";
    const auto put = [&](const std::string& name, const std::string& text) {
        std::filesystem::create_directories(std::filesystem::path(top + "/" + name).parent_path());
        std::ofstream(top + "/" + name) << text;
    };
    put("metadata.json", test::metadata("a-web", "1.0.0"));
    for (const char* name :
         {"README.md", "manifests/init.pp", "spec/a.rb", "spec/deep/b.rb", "docs/a.html",
          "docs/keep/x.html", "lib/x/tmp/log", "tmp/log", "build/out", "x/build/out", "a.bak",
          "deep/er/a.bak", "deep/er/keep.bak", "f/one/x/two/g", "f/one/two/g", "f/three/g"}) {
        put(name, "x");
    }
    const auto built = [&](const std::map<std::string, std::string>& ignores) {
        for (const char* name : {".pdkignore", ".pmtignore", ".gitignore"}) {
            std::filesystem::remove(top + "/" + name);
        }
        for (const auto& [name, text] : ignores) put(name, text);
        auto path = build_module(top);
        if (!path) return "! " + path.error().message;
        std::ifstream in(*path, std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(in)), {});
        std::string out;
        const auto files = tarball_files(bytes);
        for (const auto& [name, content] : *files) {
            if (name != "metadata.json" && name != "checksums.json") out += name + " ";
        }
        return out;
    };
    const std::string all = built({});
    EXPECT_EQ(all,
              "README.md a.bak build/out deep/er/a.bak deep/er/keep.bak docs/a.html "
              "docs/keep/x.html f/one/two/g f/one/x/two/g f/three/g lib/x/tmp/log "
              "manifests/init.pp spec/a.rb spec/deep/b.rb tmp/log x/build/out ");
    EXPECT_EQ(built({{".pdkignore",
                      "spec/**\n/build/\n**/tmp\n*.bak\n!keep.bak\n# x\n\n"
                      "f/**/two\ndocs/*.html\n"}}),
              "README.md deep/er/keep.bak docs/keep/x.html f/three/g manifests/init.pp "
              "x/build/out ");
    // Only the first existing ignore file counts.
    EXPECT_EQ(
        built({{".pdkignore", "/*\n!README.md\n!metadata.json\n"}, {".gitignore", "README.md\n"}}),
        "README.md ");
    EXPECT_EQ(built({{".pmtignore", "**/*\n!README.md\r\n!/metadata.json\n"},
                     {".gitignore", "README.md\n"}}),
              "README.md ");
    EXPECT_EQ(built({{".gitignore", "**\n"}}),
              "! the archive would be refused: there is no metadata.json in the folder "
              "'a-web-1.0.0'");
    EXPECT_EQ(built({{".gitignore", "/\n//\n!\n/**/a\n"}}), all);
    // A pattern with many stars must not take exponential time.
    std::string stars;
    for (int i = 0; i < 200; ++i) stars += "**/";
    EXPECT_EQ(built({{".gitignore", stars + "nothing\n"}}), all);
}

TEST(Tree, DrawsTree) {
    EXPECT_EQ(draw_tree({{"a", "a (v1)", {{"b", "b", {{"c", "c", {}}}}, {"d", "d", {}}}},
                         {"e", "e", {}}}),
              "├─┬ a (v1)\n│ ├─┬ b\n│ │ └── c\n│ └── d\n└── e\n");
}

TEST(Puppetfile, Reads) {
    auto f = parse_puppetfile(R"(# comment
forge 'https://forge.example.org' # here
moduledir "vendor"
mod 'a/web', '1.0.0'
mod "a-lib", :latest
mod('b/range', '>= 1.0.0 < 2.0.0')
mod 'plain', :git => 'https://example.org/x.git', :tag => 'v1'
mod 'c-new',
  git: 'https://example.org/y.git',
  branch: 'main', install_path: 'site'
mod 'mine', local: true
mod 'arc', type: 'tarball', source: 'https://example.org/a.tar.gz'
mod 'sub', svn: 'https://example.org/svn', rev: '12', exclude_spec: true
mod 'typed', type: 'git', source: 'https://example.org/z', version: 'v3', branch: 'x', other: '1'
exclusion 'a-b'
)");
    ASSERT_TRUE(f) << f.error().message;
    EXPECT_EQ(f->forge, "https://forge.example.org");
    ASSERT_EQ(f->modules.size(), 9U);
    std::string seen;
    for (const PuppetfileModule& m : f->modules) {
        seen += fmt::format("{}|{}|{}|{}|{}|{}\n", m.name, m.version, m.source, m.ref, m.moduledir,
                            m.local());
    }
    EXPECT_EQ(seen,
              "a/web|1.0.0|||vendor|false\n"
              "a-lib|latest|||vendor|false\n"
              "b/range|>= 1.0.0 < 2.0.0|||vendor|false\n"
              "plain||https://example.org/x.git|v1|vendor|false\n"
              "c-new||https://example.org/y.git|main|site|false\n"
              "mine||||vendor|true\n"
              "arc||https://example.org/a.tar.gz||vendor|false\n"
              "sub||https://example.org/svn|12|vendor|false\n"
              "typed||https://example.org/z|x|vendor|false\n");
    EXPECT_EQ(f->modules.back().warnings,
              (std::vector<std::string>{"R10K::Module::Git parameters 'version' and 'branch' "
                                        "conflict. Specify one or the other, but not both",
                                        "'typed' cannot handle option 'other'"}));
    const std::vector<std::pair<std::string, std::string>> bad = {
        {"mod 'a/b", "not closed"},
        {"mod 'nodash'", "is not a module name"},
        {"mod '../../x', :git => 'y'", "is not a module name"},
        {"mod 'a/b', 'what'", "neither a version nor a range"},
        {"mod 'x', git: '--upload-pack=x'", "cannot begin with '-'"},
        {"mod 'x', git: 'y', ref: '-x'", "cannot begin with '-'"},
        {"mod 'x', :svn => '-y'", "cannot begin with '-'"},
        {"mod 'a/x', version: '1.0.0'", "Module a/x with args {:version} doesn't have an impl"},
        {"mod 'x', type: 'tarball'", "'x' has no source address"},
        {"mod 'x', type: 'tarball', source: 's', checksum: 'abc'",
         "'abc' is not a SHA-256 checksum"},
        {"mod 'x', type: 'tarball', source: 's', foo: 's'", "Tarball cannot handle option 'foo'"},
        {"mod 'a/' 'b'", "unexpected"},
        {"mod \"a\\tb\"", "escapes"},
        {"puts 'x'", "expected forge, moduledir or mod"},
        {"mod \"#{x}/y\"", "interpolation"},
        {"mod 'a/b'\nmod 'c/b'", "Remove the duplicates of the following modules: b"},
        {"mod 'a/b',\n  :git => ", "unexpected"},
        {"exec `id`", "unexpected"},
    };
    for (const auto& [text, want] : bad) {
        auto r = parse_puppetfile(text);
        ASSERT_FALSE(r) << text;
        EXPECT_NE(r.error().message.find(want), std::string::npos) << r.error().message;
    }
}

class Installed : public testing::Test {
protected:
    void put(const std::string& folder, const std::string& json, bool sums = false) {
        const std::string path = scratch.path + "/mods/" + folder;
        std::filesystem::create_directories(path);
        std::ofstream(path + "/metadata.json") << json;
        std::ofstream(path + "/README.md") << "x\n";
        if (sums) {
            std::ofstream(path + "/checksums.json")
                << R"({"README.md":"401b30e3b8b5d629635a5c613cdb7919","gone":"0"})";
        }
    }
    ToolOptions options() {
        ToolOptions o;
        o.modulepath = {scratch.path + "/mods"};
        o.target_dir = o.modulepath[0];
        o.forge.url = "http://127.0.0.1:1";
        return o;
    }
    test::Scratch scratch;
    base::MemorySink log;
};

TEST_F(Installed, ListAndUninstall) {
    put("web", test::metadata("a-web", "1.0.0",
                              R"([{"name":"a/lib","version_requirement":"1.x"},)"
                              R"({"name":"x/gone","version_requirement":"1.0.0"}])"));
    put("lib", test::metadata("a-lib", "2.0.0"), true);
    std::filesystem::create_directories(scratch.path + "/mods/bare");
    const std::string path = scratch.path + "/mods";
    auto tree = list_modules(options(), true, log);
    ASSERT_TRUE(tree) << tree.error().message;
    EXPECT_EQ(*tree, path +
                         "\n├── bare (?\?\?)\n└─┬ a-web (v1.0.0)\n  ├── UNMET DEPENDENCY x-gone "
                         "(v1.0.0)\n  └── a-lib (v2.0.0)  invalid\n");
    ASSERT_EQ(log.records.size(), 2U);
    EXPECT_EQ(log.records[0].message,
              "Module 'a-lib' (v2.0.0) fails to meet some dependencies:\n  'a-web' (v1.0.0) "
              "requires 'a-lib' (v1.x)");
    EXPECT_EQ(log.records[1].message,
              "Missing dependency 'x-gone':\n  'a-web' (v1.0.0) requires 'x-gone' (v1.0.0)");
    EXPECT_EQ(*list_modules(options(), false, log),
              path + "\n├── a-lib (v2.0.0)  invalid\n├── a-web (v1.0.0)\n└── bare (?\?\?)\n");
    auto changed = changed_files(path + "/lib");
    ASSERT_TRUE(changed);
    EXPECT_EQ(*changed, std::vector<std::string>{"gone"});
    auto r = uninstall_module("a/lib", options(), log);
    EXPECT_EQ(r->text,
              "Could not uninstall module 'a-lib' (v2.0.0)\n  Installed module has had "
              "changes made locally\n    Use `puppet module uninstall --ignore-changes` "
              "to uninstall this module anyway");
    ToolOptions o = options();
    o.ignore_changes = true;
    r = uninstall_module("a-lib", o, log);
    EXPECT_EQ(r->text,
              "Could not uninstall module 'a-lib'\n  Other installed modules have "
              "dependencies on 'a-lib' (v2.0.0)\n    'a/web' (v1.0.0) requires 'a-lib' "
              "(v1.x)\n    Use `puppet module uninstall --force` to uninstall this "
              "module anyway");
    o.force = true;
    r = uninstall_module("a-lib", o, log);
    EXPECT_EQ(r->text, fmt::format("Removed 'a-lib' (v2.0.0) from {}\n", path));
    EXPECT_FALSE(std::filesystem::exists(path + "/lib"));
}

TEST_F(Installed, RequestsDependenciesInParallel) {
    std::atomic<int> asked{0}, now{0}, most{0};
    http::Router router;
    router.add("GET", "/v3/releases", http::Access::anyone(), [&](http::Request& request) {
        ++asked;
        const int here = ++now;
        for (int seen = most; seen < here && !most.compare_exchange_weak(seen, here);) {
        }
        const std::string* module = request.query_value("module");
        const std::string name = module ? *module : "-";
        std::string needs;
        if (name == "a-top") {
            for (int i = 0; i < 12; ++i) {
                needs += fmt::format(R"({}{{"name":"b-b{}"}})", i ? "," : "", i);
            }
        } else if (name.starts_with("c-c")) {
            needs = fmt::format(R"({{"name":"c-c{}"}})", std::stoi(name.substr(3)) + 1);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(name[0] == 'b' ? 50 : 0));
        --now;
        return http::Response::json(
            200,
            fmt::format(R"({{"pagination":{{"next":null}},"results":[{{"file_uri":"/f","metadata":)"
                        R"({{"name":"{}","version":"1.0.0","dependencies":[{}]}}}}]}})",
                        name, needs));
    });
    http::ServerOptions serving;
    serving.listeners.push_back({});
    serving.worker_threads = 16;
    auto server = http::Server::start(std::move(router), serving);
    ASSERT_TRUE(server);
    ToolOptions o = options();
    o.forge.url = (*server)->urls()[0];
    auto done = install_module("a-top", o, log);
    // fails because the archives do not exist
    EXPECT_FALSE(done && done->kind == ToolResult::Kind::Success);
    EXPECT_EQ(asked, 13);
    EXPECT_GE(most, 4);
    // Endless dependencies.
    done = install_module("c-c1", o, log);
    EXPECT_FALSE(done && done->kind == ToolResult::Kind::Success);
    EXPECT_LT(asked, 2000);
}

TEST_F(Installed, InstallsFromArchive) {
    const std::string file = scratch.path + "/a-new-1.0.0.tar.gz";
    std::ofstream(file, std::ios::binary) << test::release("a-new", "1.0.0");
    ToolOptions o = options();
    o.ignore_dependencies = true;
    auto r = install_module(file, o, log);
    ASSERT_TRUE(r) << r.error().message;
    EXPECT_EQ(r->text, o.target_dir + "\n└── a-new (v1.0.0)\n");
    EXPECT_TRUE(std::filesystem::exists(o.target_dir + "/new/metadata.json"));
    r = install_module("nodash", o, log);
    EXPECT_EQ(r->text,
              "Could not install module 'nodash'\n  The name 'nodash' is invalid\n    "
              "Did you mean `puppet module install puppetlabs-nodash`?");
    put("broken", R"({"name":"a-broken","version":"1.0.0"})");
    auto bad = list_modules(options(), false, log);
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().message, "No source module metadata provided for broken");
}

}  // namespace
}  // namespace bunraku::module
