// SPDX-License-Identifier: Apache-2.0
// Many parallel compiles share one snapshot while its files change. Each must give the same result
// as a single compile.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <thread>

#include "compile/compiler/compile.h"
#include "core/base/symbol.h"
#include "core/value/build.h"
#include "language/hiera/lookup.h"
#include "language/template/host.h"
#include "resources/catalog/agent_json.h"

namespace bunraku::compiler {
namespace {

namespace fs = std::filesystem;
using value::Value;

constexpr int kNodes = 4;
constexpr int kThreads = 8;
constexpr int kRounds = 12;

class ParallelTest : public testing::Test {
protected:
    ParallelTest() {
        char name[] = "/tmp/parallel_test_XXXXXX";
        root_ = ::mkdtemp(name);
        write("manifests/site.pp", R"(
            node /^n[01]/ { include site  site::vhost { 'odd': port => 8000 } }
            node default { include site }
            User <| tag == 'site' |> { shell => '/bin/bash' }
        )");
        write("modules/site/manifests/init.pp", R"(
            class site(String $motd, Array[Site::Port] $ports, Hash $tree = {}) {
              include site::users
              $ports.each |$i, $p| { site::vhost { "v${i}": port => site::twice($p) } }
              file { '/etc/motd': content => template('site/motd.erb') }
              file { '/etc/app': content => epp('site/app.epp', { 'tree' => $tree }) }
              notify { "fact ${facts['number']} ${number}": require => Class['site::users'] }
              $deep = lookup('site::deep', Hash, 'deep')
              notify { 'deep': message => $deep }
              if $facts['name'] =~ /^n(\d)/ { notify { "match ${1}": } }
            }
        )");
        write("modules/site/manifests/users.pp", R"(
            class site::users {
              $names = ['anna', 'bert']
              $names.each |$n| { @user { $n: ensure => present, tag => 'site' } }
            }
        )");
        write("modules/site/manifests/vhost.pp", R"(
            define site::vhost(Site::Port $port, String $root = "/srv/${title}") {
              file { "/etc/vhost/${title}": content => "${port} ${root}", tag => $title }
              File["/etc/vhost/${title}"] -> Notify['deep']
            }
        )");
        write("modules/site/functions/twice.pp",
              "function site::twice(Integer $x) >> Integer { $x * 2 }");
        write("modules/site/types/port.pp", "type Site::Port = Integer[1, 65535]");
        write("modules/site/templates/motd.erb", kMotd);
        write("modules/site/templates/app.epp", kApp);
        write("hiera.yaml", R"(
version: 5
hierarchy:
  - name: all
    paths: ["nodes/%{facts.name}.yaml", "common.yaml"]
)");
        set_data('a');
    }
    ~ParallelTest() override { fs::remove_all(root_); }

    static constexpr const char* kMotd =
        "<%= @motd %>\n<% @ports.each do |p| -%>\nport <%= p %>\n<% end -%>\n";
    static constexpr const char* kApp =
        "<%- | Hash $tree | -%>\n<% $tree.each |$k, $v| { -%>\n<%= $k %>=<%= $v %>\n<% } -%>\n";

    /// Replaces the file atomically, as a deployment does.
    void write(const std::string& path, const std::string& text) {
        const auto full = fs::path(root_) / path;
        fs::create_directories(full.parent_path());
        std::ofstream(full.string() + ".new") << text;
        fs::rename(full.string() + ".new", full);
    }
    void set_data(char version) {
        write(
            "data/common.yaml",
            fmt::format("site::motd: 'hello {0}'\nsite::ports: [80, 443]\nsite::tree: {{k: '{0}', "
                        "l: '%{{facts.name}}'}}\nsite::deep: {{a: {{x: '{0}'}}}}\n",
                        version));
    }
    void set_node_data() {
        for (int i = 0; i < kNodes; i += 2)
            write(fmt::format("data/nodes/n{}.yaml", i), "site::deep: {a: {y: 2}, b: [1]}\n");
    }

    std::shared_ptr<const environment::Environment> open() {
        environment::Spec spec;
        spec.directory = root_;
        auto opened = environment::Environment::open(spec, log_);
        EXPECT_TRUE(opened) << opened.error().message;
        return opened ? *opened : nullptr;
    }

    /// Returns the catalog that the agent gets, or the error.
    std::string compile_one(const std::shared_ptr<const environment::Environment>& env,
                            const std::shared_ptr<hiera::DataCache>& cache, int node) {
        base::NullSink log;
        Request request;
        request.arena = std::make_shared<base::Arena>();
        request.environment = env;
        request.log = &log;
        SystemInputs inputs("production", "n",
                            [](std::string_view) { return std::optional<std::string>(); });
        request.inputs = &inputs;
        request.node.name = fmt::format("n{}", node);
        value::HashBuilder facts(*request.arena);
        facts.set("name", value::make_string(*request.arena, request.node.name));
        facts.set("number", Value::integer(node));
        request.node.facts = facts.build();
        hiera::Lookup lookup(env, cache, {});
        templates::Templates templates(env);
        request.services.lookup = &lookup;
        request.services.templates = &templates;
        request.services.ruby = &templates.ruby();
        try {
            auto result = compile(request);
            result.catalog->catalog_uuid.clear();
            result.catalog->version.clear();
            std::string out;
            catalog::write_agent_json(out, *result.catalog, {});
            return out;
        } catch (const base::PuppetError& e) {
            return "error: " + e.full_text();
        }
    }

    std::string root_;
    base::NullSink log_;
};

TEST_F(ParallelTest, ParallelCompilesEqualSingleCompiles) {
    set_node_data();
    // Compiles sequentially, each time with a new snapshot.
    std::set<std::string> alone[kNodes];
    for (const char version : {'a', 'b'}) {
        set_data(version);
        for (int n = 0; n < kNodes; ++n) {
            const auto catalog = compile_one(open(), std::make_shared<hiera::DataCache>(), n);
            EXPECT_FALSE(catalog.starts_with("error")) << catalog;
            EXPECT_NE(catalog.find(fmt::format("hello {}", version)), std::string::npos);
            alone[n].insert(catalog);
        }
    }
    const auto env = open();
    const auto cache = std::make_shared<hiera::DataCache>();
    std::atomic<bool> done{false};
    std::thread editor([&] {
        for (int i = 0; !done; ++i) {
            set_data(i % 2 ? 'a' : 'b');
            set_node_data();
            write("modules/site/templates/motd.erb", kMotd);
            write("modules/site/templates/app.epp", kApp);
            write("modules/site/functions/twice.pp",
                  fmt::format("function site::twice(Integer $x) >> Integer {{ $x * 2 }} # {}", i));
            env->unchanged();
        }
    });
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    std::string example;
    std::mutex mutex;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < kRounds; ++i) {
                const int node = (t + i) % kNodes;
                const auto catalog = compile_one(env, cache, node);
                if (alone[node].contains(catalog)) continue;
                ++wrong;
                const std::lock_guard lock(mutex);
                example = catalog;
            }
        });
    }
    for (auto& t : threads) t.join();
    done = true;
    editor.join();
    EXPECT_EQ(wrong, 0) << example;
}

// docs/design/0001: a template without declared parameters accepts any arguments, also names of
// facts.
TEST_F(ParallelTest, TemplateArgumentsCreateNoSymbols) {
    write("manifests/site.pp",
          "notify { 'a': message => epp('site/open.epp', { \"${facts['name']}_given\" => 'x', "
          "'known' => 'y' }) }");
    write("modules/site/templates/open.epp",
          "<%= $known %><%= getvar(\"${facts['name']}_given\") %>");
    const auto catalog = compile_one(open(), std::make_shared<hiera::DataCache>(), 7);
    EXPECT_NE(catalog.find("\"message\":\"yx\""), std::string::npos) << catalog;
    EXPECT_FALSE(base::Symbol::find("n7_given"));
}

}  // namespace
}  // namespace bunraku::compiler
