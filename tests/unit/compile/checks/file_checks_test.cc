// SPDX-License-Identifier: Apache-2.0
#include "compile/checks/file_checks.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

namespace bunraku::checks {
namespace {

class FileChecksTest : public testing::Test {
protected:
    FileChecksTest() {
        char name[] = "/tmp/file_checks_test_XXXXXX";
        root_ = ::mkdtemp(name);
        write("modules/m/manifests/init.pp", "class m (Integer $port, Hash $h = {}) { }\n");
        write("modules/m/manifests/reader.pp", "class m::reader { $a = lookup('m::extra') }\n");
        write("modules/m/metadata.json", "{}\n");
        write("modules/m/hiera.yaml", "version: 5\n");
        write("hiera.yaml", "version: 5\ndefaults:\n  datadir: hieradata\n");
        environment::Spec spec;
        spec.modulepath = {root_ + "/modules"};
        spec.modulepath_given = spec.no_manifest = true;
        auto opened = environment::Environment::open(spec, log_);
        EXPECT_TRUE(opened);
        environment_ = *opened;
    }
    ~FileChecksTest() override { std::filesystem::remove_all(root_); }

    void write(const std::string& path, std::string_view text) {
        const auto full = std::filesystem::path(root_) / path;
        std::filesystem::create_directories(full.parent_path());
        std::ofstream(full) << text;
    }

    /// Returns the problems as "LINE:COLUMN CHECK MESSAGE", one per line.
    std::string found(const std::string& path, std::string_view text) {
        CodeNames names(*environment_);
        DataFolders folders;
        std::string out;
        for (const auto& problem : check_file(text, root_ + "/" + path, {}, &names, folders))
            out += fmt::format("{}:{} {} {}\n", problem.line, problem.column, problem.check,
                               problem.message);
        return out;
    }

    std::string root_;
    base::NullSink log_;
    std::shared_ptr<const environment::Environment> environment_;
};

TEST_F(FileChecksTest, Data) {
    const std::string_view text =
        "lookup_options: {}\nm::port: '80'\n\"m::prot\": 80\nm::gone::x: 1\nother::x: 1\n"
        "m::extra: 1\nm::h:\n  a: 1\nplain: 2\n";
    EXPECT_EQ(found("hieradata/common.yaml", text),
              "2:1 wrong_type parameter 'port' expects an Integer value, got String\n"
              "3:1 unbound_key class m has no parameter 'prot'\n"
              "4:1 unbound_key nothing reads this key: there is no class m::gone\n");
    EXPECT_EQ(found("hieradata/a/b.yaml", "m::port: \"%{facts.port}\"\n"), "");
    // Files outside of the datadir are not data.
    EXPECT_EQ(found("data/common.yaml", text), "");
    EXPECT_EQ(found("modules/m/data/common.yaml", "m::port: 80\nother::x: 1\n"),
              "2:1 unbound_key keys in the data of module m must begin with 'm::'\n");
    // A control repository may have a metadata.json, too.
    write("modules/m/environment.conf", "");
    EXPECT_EQ(found("modules/m/data/common.yaml", "m::port: 80\nother::x: 1\n"), "");
}

TEST_F(FileChecksTest, DataThatIsConverted) {
    write("modules/m/data/common.yaml", "lookup_options:\n  m::port:\n    convert_to: Integer\n");
    EXPECT_EQ(found("hieradata/common.yaml", "m::port: '80'\n"), "");
}

TEST_F(FileChecksTest, HieraConfig) {
    const std::string valid = "version: 5\nhierarchy:\n  - name: a\n    path: a.yaml\n";
    EXPECT_EQ(found("hiera.yaml", valid), "");
    EXPECT_TRUE(found("hiera.yaml", valid + "    paths: [b]\n").contains(" hiera_config "));
    EXPECT_TRUE(found("hiera.yaml", "version: 5\nhierarchies: []\n").contains(" hiera_config "));
    for (const char* text : {"- a\n", "1\n", "a\n"})
        EXPECT_EQ(found("hiera.yaml", text),
                  "1:1 hiera_config " + root_ +
                      "/hiera.yaml: File exists but does not contain a valid YAML hash\n");
}

TEST_F(FileChecksTest, Metadata) {
    EXPECT_EQ(found("metadata.json",
                    R"({"name": "acme-m", "version": "1.0.0", "author": "a", "source": "s",
 "license": "l", "dependencies": [{"name": "acme/n", "version_requirement": ">= 1.0.0 < 2.0.0"}]})"),
              "");
    EXPECT_EQ(found("metadata.json", R"({
  "name": "m", "version": "1.0", "types": [], "license": 1,
  "dependencies": [
    {"name": "acme/n", "version_requirement": "wrong"},
    {"name": "acme-n"}, {}, 3
  ]
})"),
              "1:1 metadata_json 'author' is missing\n"
              "1:1 metadata_json 'source' is missing\n"
              "2:11 metadata_json 'm' is not the full name of a module (AUTHOR-NAME)\n"
              "2:27 metadata_json '1.0' is not a semantic version\n"
              "2:43 metadata_json 'types' is no longer used\n"
              "2:58 metadata_json 'license' must be a string\n"
              "4:47 metadata_json 'wrong' is not a range of versions\n"
              "5:5 metadata_json 'acme-n' has no version_requirement\n"
              "5:14 metadata_json the dependency 'acme-n' appears twice\n"
              "5:25 metadata_json an element of 'dependencies' has no name\n"
              "5:29 metadata_json 'dependencies' must contain objects\n");
    EXPECT_TRUE(found("metadata.json", "{\n  \"name\": ,\n}").starts_with("2:11 syntax "));
}

TEST_F(FileChecksTest, Puppetfile) {
    EXPECT_EQ(found("Puppetfile",
                    "forge 'https://forge.example.org'\n\nmod 'acme/a', '1.0.0'\n"
                    "mod 'b', git: 'https://git.example.org/b'\n"
                    "mod 'acme-c', :latest\nmod 'local', :local => true\n"),
              "");
    EXPECT_EQ(found("Puppetfile",
                    "mod 'a', '1.0.0'\nmod 'acme/b', 'one'\nmod 'acme/c'\n"
                    "  mod 'other/c', '1.0.0'\nmod 'd', :gti => 'x'\n"),
              "1:6 puppetfile 'a' is not a module name\n"
              "2:16 puppetfile 'one' is neither a version nor a range\n"
              "3:6 puppetfile module 'acme/c' has no version, so that it may change at each "
              "deployment\n"
              "4:8 puppetfile module 'c' is already in line 3\n"
              "5:1 puppetfile Module d with args {:gti} doesn't have an implementation. (Are you "
              "using the right arguments?)\n");
    EXPECT_EQ(found("Puppetfile", "mod 'a', ENV['X']\n"), "");
    EXPECT_EQ(found("Puppetfile", "\nmod 'a\n"), "2:1 syntax a string is not closed\n");
}

TEST_F(FileChecksTest, EnvironmentConf) {
    EXPECT_EQ(found("environment.conf",
                    "modulepath = site:modules:$basemodulepath\nenvironment_timeout = 3m\n"),
              "");
    EXPECT_EQ(
        found("environment.conf",
              "# a\nmodulpath = a\nenvironment_timeout = soon\nstatic_catalogs = yes\n"
              "manifest = a\nmanifest = b\n[agent]\nx = 1\n"),
        "2:1 environment_conf setting 'modulpath' is not a setting of environments and is "
        "ignored\n"
        "3:23 environment_conf Invalid 'time to live' format '\"soon\"' for parameter: "
        "environment_timeout\n"
        "4:19 environment_conf 'yes' is neither true nor false\n"
        "6:1 environment_conf setting 'manifest' appears twice\n"
        "7:1 environment_conf section [agent] is ignored: environment.conf has no sections\n");
}

TEST_F(FileChecksTest, Templates) {
    EXPECT_EQ(found("modules/m/templates/a.epp",
                    "<%- | String $a | -%>\n<%= $a %> <%= $m::none %>\n<% include m::none %>\n"),
              "2:15 unknown_variable class m has no variable 'none'\n"
              "3:12 unknown_class unknown class 'm::none'\n");
    EXPECT_TRUE(found("a.epp", "text\n<% if { %>\n").starts_with("2:10 syntax "));
}

}  // namespace
}  // namespace bunraku::checks
