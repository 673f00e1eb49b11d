// SPDX-License-Identifier: Apache-2.0
// Lists every file system call of a compile: the first compile of a node, the second one, and one
// after a change. Each unnecessary call would be repeated for each of 10,000 nodes.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>

#include "compile/compiler/compile.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/environment/snapshots.h"
#include "language/hiera/lookup.h"
#include "language/template/host.h"
#include "resources/catalog/catalog.h"
#include "unit/language/environment/memory_files.h"

namespace bunraku::compiler {
namespace {

using Texts = probe::MemoryFiles::Texts;

const Texts kSite = {
    {"/e/environment.conf", "modulepath = modules\n"},
    {"/e/hiera.yaml",
     "version: 5\nhierarchy:\n  - name: node\n    path: nodes/n.yaml\n  - name: common\n"
     "    path: common.yaml\n  - name: hocon\n    path: more.conf\n    data_hash: hocon_data\n"},
    {"/e/data/common.yaml", "a::p: 1\n"},
    {"/e/data/more.conf", "include file(\"/e/data/included.conf\")\n"},
    {"/e/data/included.conf", "\"a::r\": 4\n"},
    {"/e/manifests/site.pp", "node 'n' { include a }\n"},
    {"/e/modules/a/metadata.json", R"({"name": "me-a", "version": "1.0.0"})"},
    {"/e/modules/a/hiera.yaml",
     "version: 5\nhierarchy:\n  - name: defaults\n    path: defaults.yaml\n"},
    {"/e/modules/a/data/defaults.yaml", "a::q: 2\n"},
    {"/e/modules/a/manifests/init.pp", R"(
class a(Integer $p, Integer $q, $r = 3) {
  include a::more
  file { '/epp': content => epp('a/t.epp') }
  notify { "twice ${a::twice(2)}": }
  if defined('a::absent') { include a::absent }
}
)"},
    {"/e/modules/a/manifests/more.pp", "class a::more { }"},
    {"/e/modules/a/manifests/unused.pp", "class a::unused { }"},
    {"/e/modules/a/functions/twice.pp", "function a::twice($x) { $x * 2 }"},
    {"/e/modules/a/templates/t.epp", "<%= $facts['memory'] %>"},
    {"/e/modules/b/manifests/init.pp", "class b { }"},
};

/// Records all calls.
class CountingFiles final : public environment::Files {
public:
    explicit CountingFiles(Texts texts) : texts_(std::move(texts)) { change({}); }
    void change(const Texts& texts) {
        for (const auto& [path, text] : texts) texts_[path] = text;
        files_ = std::make_shared<probe::MemoryFiles>(texts_);
    }
    /// Returns the calls since the last call of this function, sorted, one per line. Repeated calls
    /// are marked " x2".
    std::string calls() {
        std::string out;
        std::ranges::sort(calls_);
        for (std::size_t i = 0; i < calls_.size();) {
            std::size_t n = i;
            while (n < calls_.size() && calls_[n] == calls_[i]) ++n;
            out += calls_[i] + (n - i > 1 ? fmt::format(" x{}", n - i) : "") + "\n";
            i = n;
        }
        calls_.clear();
        return out;
    }

    base::Result<std::string> read(const std::string& path) const override {
        calls_.push_back("read " + path);
        return files_->read(path);
    }
    environment::Stamp stat(const std::string& path) const override {
        calls_.push_back("stat " + path);
        return files_->stat(path);
    }
    bool is_real_folder(const std::string& path) const override {
        calls_.push_back("lstat " + path);
        return files_->is_real_folder(path);
    }
    std::vector<std::string> list(const std::string& path) const override {
        calls_.push_back("list " + path);
        return files_->list(path);
    }
    std::optional<std::string> link(const std::string& path) const override {
        calls_.push_back("link " + path);
        return files_->link(path);
    }
    std::vector<std::string> glob(const std::string& pattern) const override {
        calls_.push_back("glob " + pattern);
        return files_->glob(pattern);
    }

private:
    Texts texts_;
    std::shared_ptr<const environment::Files> files_;
    mutable std::vector<std::string> calls_;
};

class AccessTest : public testing::Test {
protected:
    AccessTest() { open(); }

    void open() {
        environment::Snapshots::Options options;
        options.spec.directory = "/e";
        options.spec.files = files_;
        options.directory_required = false;
        snapshots_ = std::make_unique<environment::Snapshots>(std::move(options));
        data_ = std::make_shared<hiera::DataCache>();
    }

    /// Returns the resources with their content.
    std::string compile_node() {
        auto environment = snapshots_->get("production", log_);
        EXPECT_TRUE(environment) << environment.error().message;
        Request request;
        request.arena = std::make_shared<base::Arena>();
        request.environment = *environment;
        request.log = &log_;
        SystemInputs inputs("production", "n", [](std::string_view) { return std::nullopt; });
        inputs.files = files_;
        request.inputs = &inputs;
        request.node.name = "n";
        request.node.facts = *value::parse_json(*request.arena, R"({"memory": 1})");
        request.settings = value::HashBuilder(*request.arena).build();
        hiera::LookupOptions with;
        with.hiera_config = "/global/hiera.yaml";
        hiera::Lookup lookup(*environment, data_, with);
        templates::Templates templates(*environment);
        request.services.lookup = &lookup;
        request.services.templates = &templates;
        std::string out;
        const auto result = compile(request);
        for (const auto& resource : result.catalog->resources) {
            out += resource.ref.type + "[" + resource.ref.title + "] ";
            for (const auto& p : resource.parameters) out += value::to_json(p.value) + " ";
        }
        return out;
    }

    std::shared_ptr<CountingFiles> files_ = std::make_shared<CountingFiles>(kSite);
    std::unique_ptr<environment::Snapshots> snapshots_;
    std::shared_ptr<hiera::DataCache> data_;
    base::MemorySink log_;
};

TEST_F(AccessTest, FirstCompile) {
    EXPECT_EQ(compile_node(),
              "Stage[main] Class[Settings] Class[main] Node[n] Class[A] 1 2 4 Class[A::More] "
              "File[/epp] \"1\" Notify[twice 4] ");
    EXPECT_EQ(files_->calls(), R"(list /e/manifests
list /e/modules
lstat /e/manifests/site.pp
read /e/data/common.yaml
read /e/data/included.conf
read /e/data/more.conf
read /e/environment.conf
read /e/hiera.yaml
read /e/manifests/site.pp
read /e/modules/a/data/defaults.yaml
read /e/modules/a/functions/twice.pp
read /e/modules/a/hiera.yaml
read /e/modules/a/manifests/init.pp
read /e/modules/a/manifests/more.pp
read /e/modules/a/metadata.json x2
read /e/modules/a/templates/t.epp
read /e/modules/b/metadata.json
stat /e/data/common.yaml
stat /e/data/included.conf
stat /e/data/more.conf
stat /e/data/nodes/n.yaml x2
stat /e/environment.conf
stat /e/hiera.yaml x2
stat /e/manifests x2
stat /e/manifests/site.pp
stat /e/modules
stat /e/modules/a x2
stat /e/modules/a/data/defaults.yaml
stat /e/modules/a/functions/twice.pp x2
stat /e/modules/a/hiera.yaml x2
stat /e/modules/a/lib
stat /e/modules/a/lib/puppet
stat /e/modules/a/lib/puppet/functions
stat /e/modules/a/lib/puppet/functions/a
stat /e/modules/a/lib/puppet/functions/a/twice.rb
stat /e/modules/a/manifests
stat /e/modules/a/manifests/absent.pp
stat /e/modules/a/manifests/init.pp x2
stat /e/modules/a/manifests/more.pp x2
stat /e/modules/a/metadata.json x2
stat /e/modules/a/templates/t.epp x2
stat /e/modules/b x2
stat /e/modules/b/metadata.json
stat /global/data/common.yaml x2
stat /global/hiera.yaml
stat a/t.epp
)");
}

TEST_F(AccessTest, SecondCompile) {
    const auto first = compile_node();
    files_->calls();
    EXPECT_EQ(compile_node(), first);
    const auto second = files_->calls();
    EXPECT_EQ(second, R"(stat /e/data/common.yaml
stat /e/data/included.conf
stat /e/data/more.conf
stat /e/data/nodes/n.yaml x2
stat /e/environment.conf
stat /e/hiera.yaml x2
stat /e/manifests
stat /e/manifests/site.pp
stat /e/modules
stat /e/modules/a
stat /e/modules/a/data/defaults.yaml
stat /e/modules/a/functions/twice.pp
stat /e/modules/a/hiera.yaml x2
stat /e/modules/a/manifests
stat /e/modules/a/manifests/init.pp
stat /e/modules/a/manifests/more.pp
stat /e/modules/a/metadata.json x2
stat /e/modules/a/templates/t.epp x2
stat /e/modules/b
stat /global/data/common.yaml x2
stat /global/hiera.yaml
stat a/t.epp
)");
    EXPECT_EQ(compile_node(), first);
    EXPECT_EQ(files_->calls(), second);
}

/// After a change, the compile reads only the changed file.
TEST_F(AccessTest, CompileAfterChangedFile) {
    const struct {
        const char* path;
        std::optional<std::string> text;
        const char* reads;
    } kCases[] = {
        {"/e/modules/a/manifests/init.pp", "class a { }", "read /e/modules/a/manifests/init.pp\n"},
        {"/e/modules/a/manifests/more.pp", "class a::more { notify { 'm': } }",
         "read /e/modules/a/manifests/more.pp\n"},
        {"/e/modules/a/functions/twice.pp", "function a::twice($x) { $x * 3 }",
         "read /e/modules/a/functions/twice.pp\n"},
        {"/e/modules/a/templates/t.epp", "x", "read /e/modules/a/templates/t.epp\n"},
        {"/e/data/common.yaml", "a::p: 5\n", "read /e/data/common.yaml\n"},
        {"/e/data/included.conf", "\"a::r\": 5\n",
         "read /e/data/included.conf\nread /e/data/more.conf\n"},
        {"/e/modules/a/data/defaults.yaml", "a::q: 5\n", "read /e/modules/a/data/defaults.yaml\n"},
        {"/e/hiera.yaml",
         "version: 5\ndefaults:\n  data_hash: yaml_data\nhierarchy:\n  - name: x\n    path: "
         "common.yaml\n",
         "read /e/hiera.yaml\n"},
        {"/e/environment.conf", "modulepath = ./modules\n", "read /e/environment.conf\n"},
        {"/e/modules/a/metadata.json", R"({"name": "me-a", "version": "2.0.0"})",
         // The environment reads this file, and so does the lookup (`data_provider`).
         "read /e/modules/a/metadata.json x2\n"},
        {"/e/modules/a/manifests/unused.pp", "class a::unused { notify { 'u': } }", ""},
        {"/e/modules/a/manifests/absent.pp", "class a::absent { notify { 'now': } }",
         "read /e/modules/a/manifests/absent.pp\n"},
        {"/e/data/nodes/n.yaml", "a::p: 7\n", "read /e/data/nodes/n.yaml\n"},
        {"/e/modules/a/templates/t.epp", "y", "read /e/modules/a/templates/t.epp\n"},
    };
    for (const auto& c : kCases) {
        files_ = std::make_shared<CountingFiles>(kSite);
        open();
        compile_node();
        files_->calls();
        files_->change({{c.path, c.text}});
        compile_node();
        std::string reads;
        const std::string calls = files_->calls();
        for (std::size_t at = 0; at < calls.size();) {
            const auto end = calls.find('\n', at) + 1;
            if (calls.compare(at, 5, "read ") == 0) reads += calls.substr(at, end - at);
            at = end;
        }
        EXPECT_EQ(reads, c.reads) << c.path;
    }
}

}  // namespace
}  // namespace bunraku::compiler
