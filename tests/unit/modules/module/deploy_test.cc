// r10k.yaml and the names that branches get, by r10k 3.15's rules.
#include <gtest/gtest.h>

#include "modules/module/deploy_config.h"
#include "modules/module/deploy_folder.h"

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
        {"sources: {x: {remote: y, basedir: /a, type: svn}}", "only git"},
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

TEST(DeployConfig, NamesOfBranches) {
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
