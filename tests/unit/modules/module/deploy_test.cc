// Tests r10k.yaml and the names of environments for branches, by the rules of r10k 3.15.
#include <gtest/gtest.h>
#include <unistd.h>

#include "modules/module/deploy_config.h"
#include "modules/module/deploy_definitions.h"
#include "modules/module/deploy_folder.h"
#include "modules/module/version_manifest.h"
#include "support.h"

namespace bunraku::module {
namespace {

TEST(DeployConfig, Reads) {
    auto c = read_deploy_config(R"(---
:cachedir: /c
pool_size: 8
:postrun: ['/bin/echo', '$modifiedenvs']
sources:
  one: {remote: 'https://e.org/x', basedir: /envs/../e, prefix: true}
  :two: {remote: 'y', basedir: /f, prefix: p, ignore_branch_prefixes: [a, 1]}
forge: {baseurl: 'https://forge', authorization_token: t, allow_puppetfile_override: true}
deploy: {purge_levels: [environment], purge_whitelist: ['x'], exclude_spec: true}
)",
                                "r10k.yaml");
    ASSERT_TRUE(c) << c.error().message;
    EXPECT_EQ(c->cachedir, "/c");
    EXPECT_EQ(c->pool_size, 8);
    EXPECT_EQ(c->postrun, (std::vector<std::string>{"/bin/echo", "$modifiedenvs"}));
    ASSERT_EQ(c->sources.size(), 2U);
    EXPECT_EQ(c->sources[0].basedir, "/e");
    EXPECT_TRUE(c->sources[0].prefix_by_name);
    EXPECT_EQ(c->sources[1].name, "two");
    EXPECT_EQ(c->sources[1].prefix, "p");
    EXPECT_EQ(c->sources[1].ignore_branch_prefixes, (std::vector<std::string>{"a", "1"}));
    EXPECT_FALSE(c->purge_deployment);
    EXPECT_TRUE(c->purge_environment);
    EXPECT_FALSE(c->purge_puppetfile);
    EXPECT_EQ(c->purge_allowlist, std::vector<std::string>{"x"});
    EXPECT_EQ(c->warnings.size(), 1U);
    EXPECT_TRUE(c->forge_override && c->exclude_spec);
    const std::pair<const char*, const char*> bad[] = {
        {"", "doesn't contain any YAML"},
        {"a: [", "Couldn't load config file"},
        {"a: 1", "does not define the 'sources' key"},
        {"sources: {x: {remote: y}}", "needs a remote and a basedir"},
        {"sources: {x: {remote: -y, basedir: /a}}", "cannot begin with '-'"},
        {"sources: {x: {remote: y, basedir: /}}", "basedir is /"},
        {"sources: {x: {remote: y, basedir: /a, type: zip}}", "expected git, svn, yaml"},
        {"sources: {x: {basedir: /a, type: svn}}", "needs a remote and a basedir"},
        {"sources: {x: {basedir: /a, type: exec}}", "missing required parameter: command"},
        {"sources: {x: {type: yaml}}", "needs a remote and a basedir"},
        {"sources: {x: {remote: y, basedir: /a, puppetfile_name: ../x}}", "leads out"},
        {"sources: {x: {remote: y, basedir: /a}}\npostrun: x", "array of strings"},
        {"sources: {x: {remote: y, basedir: /a}}\npool_size: 0", "greater than zero"},
        {"sources: {x: {remote: y, basedir: /a}}\ndeploy: {purge_levels: [all]}", "not 'all'"},
    };
    for (const auto& [text, want] : bad) {
        auto r = read_deploy_config(text, "r10k.yaml");
        ASSERT_FALSE(r) << text;
        EXPECT_NE(r.error().message.find(want), std::string::npos) << r.error().message;
    }
}

TEST(DeployConfig, MapsBranchNames) {
    struct Case {
        const char *branch, *prefix, *strip, *invalid, *want;
    };
    const Case cases[] = {
        {"main", "", "", "correct", "main"},
        {"feature/x-1", "", "", "correct", "feature_x_1 corrected"},
        {"feature/x-1", "", "", "error", "refused"},
        {"main", "p", "", "error", "p_main"},
        {"env/prod", "", "env/", "error", "prod"},
        {"env/prod", "", "/^env./", "error", "prod"},
        {"a-b-c", "", "/-/", "error", "abc"},
        {"env/", "", "env/", "correct", "refused"},
        {"..", "", "", "correct", "__ corrected"},
        {"main", "../x", "", "correct", "refused"},
        {"main", ".p", "", "correct", "refused"},
        {"b\xc3\xa9", "", "", "correct", "b__ corrected"},
    };
    for (const Case& c : cases) {
        DeploySource source;
        source.prefix = c.prefix;
        source.strip_component = c.strip;
        source.invalid_branches = c.invalid;
        const BranchName name = environment_of_branch(source, c.branch);
        EXPECT_EQ(name.refused ? "refused" : name.dirname + (name.corrected ? " corrected" : ""),
                  c.want)
            << c.branch;
    }
}

TEST(DeployDefinitions, Reads) {
    auto yaml = codec::parse_yaml(R"(---
one:
  :type: git
  :remote: 'https://e.org/x'
  ref: v1
  moduledir: m
  modules:
    acme-web: 1.0.0
    stdlib: {type: git, source: s, version: main}
    p/q: :latest
two: {type: svn, source: svn://x, version: 7, username: u}
three: {type: tarball, source: 'https://e.org/t.tar.gz', puppetfile_name: P}
four: {type: bare, module_conflicts: error}
)",
                                  "environments.yaml");
    ASSERT_TRUE(yaml) << yaml.error().message;
    auto all = read_definitions(*yaml);
    ASSERT_TRUE(all) << all.error().message;
    ASSERT_EQ(all->size(), 4U);
    using Kind = PuppetfileModule::Kind;
    const EnvironmentDefinition& one = (*all)[0];
    EXPECT_EQ(one.content.kind, Kind::Git);
    EXPECT_EQ(one.content.source + " " + one.content.ref, "https://e.org/x v1");
    ASSERT_EQ(one.modules.size(), 3U);
    EXPECT_EQ(one.modules[0].name + one.modules[0].version + one.modules[0].moduledir,
              "acme-web1.0.0m");
    EXPECT_EQ(one.modules[1].ref, "main");
    EXPECT_EQ(one.modules[2].version, "latest");
    EXPECT_EQ((*all)[1].content.source + (*all)[1].content.ref, "svn://x7");
    EXPECT_EQ((*all)[2].content.kind, Kind::Tarball);
    EXPECT_EQ((*all)[2].puppetfile, "P");
    EXPECT_EQ((*all)[3].content.kind, Kind::Local);
    EXPECT_EQ((*all)[3].conflicts, "error");
    EXPECT_EQ((*all)[3].warnings.size(), 1U);
    const std::pair<const char*, const char*> bad[] = {
        {"[a]", "as a mapping of names"},
        {"x: 1", "environment 'x': it is not a mapping"},
        {"x: {remote: y}", "invalid type ''"},
        {"x: {type: git}", "has no source address"},
        {"x: {type: git, remote: -y}", "cannot begin with '-'"},
        {"x: {type: plain, modules: {a: {git: [1]}}}", "'git' is not a string"},
        {"x: {type: plain, modules: {a-b: {svn: -x}}}", "cannot begin with '-'"},
        {"x: {type: plain, puppetfile_name: ../x}", "leads out"},
        {"x: {type: plain, module_conflicts: x}", "Unexpected value"},
    };
    for (const auto& [text, want] : bad) {
        auto node = codec::parse_yaml(text, "e.yaml");
        ASSERT_TRUE(node) << text;
        auto r = read_definitions(*node);
        ASSERT_FALSE(r) << text;
        EXPECT_NE(r.error().message.find(want), std::string::npos) << r.error().message;
    }
}

TEST(VersionManifest, DetectsChanges) {
    test::Scratch scratch;
    auto files = sys::make_real_file_system();
    const std::string folder = scratch.path + "/v", odd = "a\tb\\c\nd";
    ASSERT_TRUE(files->make_directories(folder + "/m"));
    for (const std::string& name : {std::string("m/one"), odd, std::string("two")})
        ASSERT_TRUE(files->write(folder + "/" + name, "text of " + name));
    ASSERT_TRUE(files->make_link("m/one", folder + "/link"));
    VersionManifest made;
    ASSERT_TRUE(made.add(*files, folder, "", {}, ""));
    EXPECT_EQ(files->stat(folder + "/two")->mode & 0222, 0U);
    auto read = VersionManifest::read(made.text());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->text(), made.text());
    EXPECT_EQ(read->digest(), made.digest());
    EXPECT_FALSE(VersionManifest::read("file\tx\n"));
    EXPECT_FALSE(VersionManifest::read("odd\ta\tb\n"));
    bool refreshed = false;
    EXPECT_FALSE(read->compare(*files, folder, refreshed).any());
    EXPECT_FALSE(refreshed);
    // A hard link changes only the change time. The file is read once and not again.
    ASSERT_EQ(::link((folder + "/two").c_str(), (scratch.path + "/other").c_str()), 0);
    const auto before = files->stat(folder + "/two")->mtime_ns;
    EXPECT_FALSE(read->compare(*files, folder, refreshed).any());
    EXPECT_TRUE(refreshed);
    refreshed = false;
    EXPECT_FALSE(read->compare(*files, folder, refreshed).any());
    EXPECT_FALSE(refreshed);
    // An edit in place is detected even if size and modification time are the same.
    ASSERT_TRUE(files->set_mode(folder + "/two", 0644));
    ASSERT_TRUE(files->write(folder + "/two", "TEXT of two"));
    ASSERT_TRUE(files->set_mtime(folder + "/two", before));
    ASSERT_TRUE(files->remove(folder + "/link"));
    ASSERT_TRUE(files->write(folder + "/link", "m/one"));
    ASSERT_TRUE(files->remove_all(folder + "/m"));
    auto changes = read->compare(*files, folder, refreshed);
    EXPECT_EQ(changes.edited, (std::vector<std::string>{"link", "two"}));
    EXPECT_EQ(changes.deleted, std::vector<std::string>{"m/one"});
    // Only files in the manifest are restored.
    const std::string origin = scratch.path + "/origin";
    ASSERT_TRUE(files->write(origin, "something else"));
    EXPECT_EQ(read->restore(*files, folder, "two", origin), false);
    ASSERT_TRUE(files->write(origin, "text of two"));
    EXPECT_EQ(read->restore(*files, folder, "two", origin), true);
    ASSERT_TRUE(files->write(origin, "text of m/one"));
    EXPECT_EQ(read->restore(*files, folder, "m/one", origin), true);
    changes = read->compare(*files, folder, refreshed);
    EXPECT_EQ(changes.edited, std::vector<std::string>{"link"});
    EXPECT_TRUE(changes.deleted.empty());
    // The hard link to the edited file still has the edited content.
    EXPECT_EQ(*files->read(scratch.path + "/other"), "TEXT of two");
}

TEST(DeployFolder, FindsVersionsByNameAndId) {
    test::Scratch scratch;
    auto files = sys::make_real_file_system();
    const std::string home = scratch.path + "/.bunraku/production";
    const std::string one = "0123456789ab-0123456789abcdef", two = "0123456789ab-fedcba9876543210";
    for (const auto& name : {one, two + "-2", std::string("before-x")})
        ASSERT_TRUE(files->make_directories(home + "/" + name));
    ASSERT_TRUE(files->write(home + "/" + one + ".json", "{}"));
    const auto find = [&](const std::string& name) {
        return version_folder(*files, home + "/" + one, name);
    };
    EXPECT_EQ(version_name(home + "/" + one), one);
    EXPECT_EQ(version_name("/srv/code"), "/srv/code");
    EXPECT_EQ(find(one), home + "/" + one);
    EXPECT_EQ(find("before-x"), home + "/before-x");
    // The same commit and modules under another name.
    EXPECT_EQ(find(two), home + "/" + two + "-2");
    EXPECT_EQ(find(one + "-3"), home + "/" + one);
    for (const std::string& name :
         {std::string(), std::string(".."), "x/../" + one, one + ".json", std::string("other"),
          std::string("0123456789ab-0000000000000000")})
        EXPECT_EQ(find(name), std::nullopt) << name;
    // The folder of another program.
    EXPECT_EQ(version_folder(*files, scratch.path, one), std::nullopt);
    EXPECT_EQ(version_folder(*files, "/nowhere", scratch.path), scratch.path);
}

TEST(DeployFolder, PurgePatterns) {
    const std::tuple<const char*, const char*, bool> cases[] = {
        {"a", "a", true},
        {"a", "a/b", false},
        {"*", "a", true},
        {"*", ".a", true},
        {"*", "a/b", false},
        {"**/b", "b", true},
        {"**/b", "x/y/b", true},
        {"x/**/b", "x/b", true},
        {"x/**/*.pp", "x/a/b.pp", true},
        {"x/*/b", "x/a/a/b", false},
        {"[ab]c", "bc", true},
    };
    for (const auto& [pattern, path, want] : cases) {
        EXPECT_EQ(purge_pattern_matches(pattern, path), want) << pattern << " " << path;
    }
}

}  // namespace
}  // namespace bunraku::module
