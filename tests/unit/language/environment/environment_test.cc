// SPDX-License-Identifier: Apache-2.0
#include "language/environment/environment.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace bunraku::environment {
namespace {

namespace fs = std::filesystem;

class EnvironmentTest : public testing::Test {
protected:
    EnvironmentTest() {
        char name[] = "/tmp/environment_test_XXXXXX";
        root_ = ::mkdtemp(name);
    }
    ~EnvironmentTest() override { fs::remove_all(root_); }

    void write(const std::string& path, const std::string& text) {
        auto full = fs::path(root_) / path;
        fs::create_directories(full.parent_path());
        std::ofstream(full) << text;
    }
    std::shared_ptr<const Environment> open(Spec spec) {
        auto opened = Environment::open(spec, log_);
        EXPECT_TRUE(opened.has_value());
        return opened ? *opened : nullptr;
    }
    Spec production() {
        Spec spec;
        spec.environmentpath = {root_ + "/envs"};
        return spec;
    }
    std::string relative(const std::string& path) {
        return path.starts_with(root_) ? path.substr(root_.size() + 1) : path;
    }

    std::string root_;
    base::MemorySink log_;
};

TEST_F(EnvironmentTest, ConfNamesModulesAndManifest) {
    write(
        "envs/production/environment.conf",
        "# a comment\nmodulepath = site:$basemodulepath:extra/*\nmanifest = code/$environment.pp\n"
        "config_version = bin/version\nnonsense = 1\n");
    write("envs/production/site/a/manifests/init.pp", "class a { }");
    write("envs/production/extra/x/b/manifests/init.pp", "class b { }");
    write("base/a/manifests/init.pp", "class a { }");
    write("base/c/metadata.json",
          R"({"name": "me-c", "version": "1.2.3", "dependencies": [{"name": "me/a"}]})");
    write("base/Bad/manifests/init.pp", "");
    auto spec = production();
    spec.basemodulepath = {root_ + "/base"};
    auto env = open(spec);
    std::vector<std::string> paths, modules;
    for (const auto& p : env->modulepath()) paths.push_back(relative(p));
    for (const auto& m : env->modules()) modules.push_back(relative(m.path));
    EXPECT_EQ(paths, (std::vector<std::string>{"envs/production/site", "base",
                                               "envs/production/extra/x"}));
    EXPECT_EQ(modules, (std::vector<std::string>{"envs/production/site/a", "base/c",
                                                 "envs/production/extra/x/b"}));
    EXPECT_EQ(relative(env->manifest()), "envs/production/code/production.pp");
    EXPECT_EQ(relative(env->config_version()), "envs/production/bin/version");
    const Module* c = env->module("c");
    ASSERT_NE(c, nullptr);
    EXPECT_EQ(c->forge_name, "me/c");
    EXPECT_EQ(c->version, "1.2.3");
    ASSERT_EQ(c->dependencies.size(), 1U);
    EXPECT_EQ(c->dependencies[0].version_requirement, ">= 0.0.0");
    ASSERT_EQ(log_.records.size(), 1U);
    EXPECT_TRUE(log_.records[0].message.ends_with(
        "The following unknown setting(s) are being ignored: nonsense"));
}

TEST_F(EnvironmentTest, CachesOneObjectPerType) {
    struct First {
        int made = 1;
    };
    struct Second {
        std::string text = "second";
    };
    write("envs/production/environment.conf", "");
    const auto environment = open(production());
    ASSERT_TRUE(environment);
    int calls = 0;
    const auto make_first = [&] { return ++calls, std::make_shared<First>(); };
    const auto first = environment->attached<First>(make_first);
    const auto second = environment->attached<Second>([] { return std::make_shared<Second>(); });
    EXPECT_EQ(first->made, 1);
    EXPECT_EQ(second->text, "second");
    EXPECT_EQ(environment->attached<First>(make_first), first);
    EXPECT_EQ(calls, 1);
    EXPECT_NE(open(production())->attached<First>(make_first), first);
}

TEST_F(EnvironmentTest, AutoloadPaths) {
    write("m/foo/manifests/init.pp", "class foo { }");
    write("m/foo/manifests/bar/baz.pp", "class foo::bar::baz { }");
    write("m/foo/functions/f/g.pp", "function foo::f::g() { 1 }");
    write("m/foo/types/port.pp", "type Foo::Port = Integer");
    write(
        "m/foo/lib/puppet/type/thing.rb",
        "Puppet::Type.newtype(:thing) do\n  ensurable\n  newparam(:path) do\n    isnamevar\n  end\n"
        "  newparam(:other)\nend\n");
    Spec spec;
    spec.modulepath = {root_ + "/m"};
    spec.modulepath_given = true;
    auto env = open(spec);
    struct Row {
        std::string name;
        std::vector<std::string> files;
    };
    const std::string init = "m/foo/manifests/init.pp", baz = "m/foo/manifests/bar/baz.pp";
    for (const Row& row : std::vector<Row>{{"foo", {init}},
                                           {"foo::nope", {init, init}},
                                           {"foo::bar::baz", {init, baz, init, init}},
                                           {"other::x", {}},
                                           {"foo::../../etc", {}},
                                           {"", {}}}) {
        std::vector<std::string> got;
        for (const auto& [module, path] : env->manifest_candidates(row.name))
            got.push_back(relative(path));
        EXPECT_EQ(got, row.files) << row.name;
    }
    EXPECT_EQ(relative(env->function_file("foo::f::g").value_or("")), "m/foo/functions/f/g.pp");
    EXPECT_FALSE(env->function_file("foo::f"));
    EXPECT_FALSE(env->function_file("f"));
    EXPECT_EQ(relative(env->type_file("foo::port").value_or("")), "m/foo/types/port.pp");
    auto ruby = env->ruby_type_file("thing");
    ASSERT_TRUE(ruby);
    EXPECT_EQ(env->ruby_type_namevar(*ruby), "path");
    EXPECT_FALSE(env->ruby_type_file("../type/thing"));
    EXPECT_EQ(env->module_of_file(root_ + "/m/foo/manifests/init.pp"), env->module("foo"));
    EXPECT_EQ(env->module_of_file(root_ + "/elsewhere.pp"), nullptr);
}

TEST_F(EnvironmentTest, ManifestFolderIsReadInOrder) {
    write("man/b.pp", "$b = 1");
    write("man/a/z.pp", "$z = 1");
    write("man/a.pp", "$a = 1");
    write("man/notes.txt", "no");
    write("man/.hidden.pp", "syntax error {");
    Spec spec;
    spec.manifest = root_ + "/man";
    auto env = open(spec);
    std::vector<std::string> files;
    for (const auto& parsed : env->main_manifests())
        files.push_back(relative(parsed->check(log_).source->file()));
    EXPECT_EQ(files, (std::vector<std::string>{"man/a.pp", "man/a/z.pp", "man/b.pp"}));
}

TEST_F(EnvironmentTest, FilesAreParsedOnce) {
    write("m/foo/manifests/init.pp", "class foo { }");
    write("m/foo/manifests/bad.pp", "class foo::bad {");
    Spec spec;
    spec.modulepath = {root_ + "/m"};
    spec.modulepath_given = true;
    auto env = open(spec);
    auto first = env->parse_file(root_ + "/m/foo/manifests/init.pp");
    EXPECT_EQ(first, env->parse_file(root_ + "/m/foo/manifests/init.pp"));
    EXPECT_EQ(env->parse_file(root_ + "/m/foo/manifests/none.pp"), nullptr);
    EXPECT_THROW(env->parse_file(root_ + "/m/foo/manifests/bad.pp")->check(log_),
                 base::PuppetError);
}

}  // namespace
}  // namespace bunraku::environment
