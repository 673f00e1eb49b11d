// SPDX-License-Identifier: Apache-2.0
// Tests each kind of read in a trace: a change of the value that was read affects the compile, and
// a change of anything else does not. Cases are marked if the compile is affected but the catalog
// stays the same.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <unistd.h>

#include "compile/compiler/change.h"
#include "compile/compiler/compile.h"
#include "compile/compiler/ruby_types.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/hiera/lookup.h"
#include "language/ruby/process.h"
#include "language/template/host.h"
#include "resources/catalog/agent_json.h"
#include "unit/language/environment/memory_files.h"

namespace bunraku::compiler {
namespace {

using environment::Read;
using Texts = probe::MemoryFiles::Texts;

const Texts kSite = {
    {"/e/hiera.yaml", R"(
version: 5
hierarchy:
  - name: node
    path: "nodes/%{trusted.certname}.yaml"
  - name: family
    path: "os/%{facts.os.family}.yaml"
  - name: globbed
    glob: "more/*.yaml"
  - name: hocon
    path: more.conf
    data_hash: hocon_data
  - name: common
    path: common.yaml
)"},
    {"/e/data/more.conf", "\"a::s\": ${?BUNRAKU_TRACE_TEST}\n"},
    {"/e/data/common.yaml", "a::p: 1\nunused: 1\na::text: \"%{lookup('deep')}\"\ndeep: d\n"},
    {"/e/data/os/Debian.yaml", "other: 1\n"},
    {"/e/data/more/one.yaml", "more: 1\n"},
    {"/e/manifests/site.pp",
     "$top = 1\nnode 'n' { include a, a::walks }\nnode 'm' { include b }\nclass unused { }\n"},
    {"/e/modules/a/manifests/init.pp", R"(# A comment.
class a(Integer $p, String $text, $q = 'default', $s = 'none') {
  notify { "family ${facts['os']['family']}": }
  notify { "release ${$facts.dig('os', 'release', 'full')}": }
  notify { "kernel ${kernel}": }
  notify { "getvar ${getvar('facts.network.ip')}": }
  notify { "server ${server_facts['serverversion']}": }
  if $facts['absent'] { fail('no') }
  notify { "odd ${facts['odd']['part']}": }
  $name_of = 'virtual'
  notify { "virtual ${facts[$name_of]}": }
  file { '/epp': content => epp('a/t.epp') }
  file { '/erb': content => template('a/t.erb') }
  file { '/file': content => file('a/none', 'a/f.txt') }
  a::thing { 'x': of => a::twice(2) }
  notify { "setting ${settings::codedir}": }
  notify { "variable ${s}": }
  if defined('a::maybe') { include a::maybe }
}
class a::behind { }
)"},
    {"/e/modules/a/manifests/walks.pp", R"(
class a::walks {
  $facts['mounts'].each |$name, $mount| {
    notify { "mount ${name} ${mount['size']}": }
    $mount['options'].each |String $option, $v| { notify { "option ${name} ${option} ${v}": } }
  }
  $big = $facts['disks'].filter |$name, $disk| { $disk['size'] > 1 }
  notify { "disks ${big.keys}": }
  notify { "sizes ${facts['disks'].map |$name, $disk| { $disk['size'] }}": }
  notify { "names ${keys($facts['names'])}": }
  $all = $facts['escaped'].each |$k, $v| { notice($k) }
  notify { "escaped ${all}": }
  $some = $facts['chosen'].filter |$k, $v| { $k == 'x' }
  notify { "chosen ${some['x']['a']}": }
  $twice = $facts['given'].map |$k, $v| { $v }
  notify { "given ${twice}": }
  if $facts['walked'].any |$k, $v| { $v['on'] } { notify { 'walked': } }
  $held = $facts['held']
  notify { "held ${held['x']['a']} ${held.map |$k, $v| { $v['b'] }}": }
  each($facts['last']) |$k, $v| { notify { "last ${v['a']}": } }
}
)"},
    {"/e/modules/a/manifests/thing.pp",
     "define a::thing(A::Kind $of) { notify { \"thing ${of}\": } }"},
    {"/e/modules/a/functions/twice.pp", "function a::twice($x) { $x * 2 }"},
    {"/e/modules/a/types/kind.pp", "type A::Kind = Integer"},
    {"/e/modules/a/templates/t.epp", "<%= $facts['memory'] %>"},
    {"/e/modules/a/templates/t.erb",
     "<%= @top %> <%= @facts['erb']['one'] %> <%= @facts['erb']['two'] %>"
     "<% if scope['facts']['erb']['three'] then %>3<% end %>"
     "<%= scope.lookupvar('::facts')['erb']['a.b'] %> <%= @facts['erb']['list'].join(',') %>"
     "<%= @facts['erb']['hash'].keys.size %>"},
    {"/e/modules/a/files/f.txt", "text"},
    {"/e/modules/b/manifests/init.pp", "class b { }"},
};

constexpr std::string_view kFacts =
    R"({"os":{"family":"Debian","name":"Debian","release":{"full":"12.1","major":"12"}},
        "kernel":"Linux","virtual":"kvm","memory":1,
        "erb":{"one":1,"two":2,"three":3,"a.b":4,"list":[5,6],"hash":{"x":7},"no":8},"network":{"ip":"::1","mac":"m"},"odd":{},"idle":1,
        "mounts":{"/":{"size":1,"free":2,"options":{"rw":true}},
                  "/srv":{"size":3,"free":4,"options":{"ro":true}}},
        "disks":{"sda":{"size":5,"vendor":"v"},"sdb":{"size":1,"vendor":"w"}},
        "names":{"p":{"q":1}},"escaped":{"x":{"deep":1}},"chosen":{"x":{"a":1,"b":2},"y":{"a":3}},
        "given":{"x":{"inner":1}},"held":{"x":{"a":1,"b":2,"c":3}},"walked":{"x":{"on":true,"off":1}},"last":{"x":{"a":10,"b":20}}})";

/// All inputs of a compile that a test can change.
struct State {
    Texts texts = kSite;
    std::string facts{kFacts};
    std::map<std::string, std::string, std::less<>> settings{{"codedir", "/c"}, {"vardir", "/v"}};
    std::map<std::string, std::string> variables{{"BUNRAKU_TRACE_TEST", "set"}, {"OTHER", "1"}};
};

/// Files with environment variables that the test sets.
class WithVariables final : public environment::Files {
public:
    explicit WithVariables(const State& state) : files_(state.texts), variables_(state.variables) {}
    base::Result<std::string> read(const std::string& path) const override {
        return files_.read(path);
    }
    environment::Stamp stat(const std::string& path) const override { return files_.stat(path); }
    bool is_real_folder(const std::string& path) const override {
        return files_.is_real_folder(path);
    }
    std::vector<std::string> list(const std::string& path) const override {
        return files_.list(path);
    }
    std::optional<std::string> link(const std::string& path) const override {
        return files_.link(path);
    }
    std::vector<std::string> glob(const std::string& pattern) const override {
        return files_.glob(pattern);
    }
    std::optional<std::string> variable(const std::string& name) const override {
        auto it = variables_.find(name);
        return it == variables_.end() ? std::nullopt : std::optional(it->second);
    }

private:
    probe::MemoryFiles files_;
    std::map<std::string, std::string> variables_;
};

class TraceTest : public testing::Test {
protected:
    InputsSnapshot world(const State& state, std::shared_ptr<environment::ReadTable> reads) {
        environment::Spec spec;
        spec.directory = "/e";
        spec.files = std::make_shared<WithVariables>(state);
        spec.reads = std::move(reads);
        auto opened = environment::Environment::open(spec, log_);
        EXPECT_TRUE(opened) << opened.error().message;
        InputsSnapshot out;
        out.environment = *opened;
        out.data = std::make_shared<hiera::DataCache>();
        out.facts = *value::parse_json(arena_, arena_.copy(state.facts));
        value::HashBuilder server(arena_);
        server.set("serverversion", value::Value::string("8"));
        out.server_facts = server.build();
        out.setting = [settings =
                           state.settings](std::string_view name) -> std::optional<std::string> {
            auto it = settings.find(name);
            return it == settings.end() ? std::nullopt : std::optional(it->second);
        };
        return out;
    }

    /// Returns the catalog without version stamps and line numbers, or the error.
    std::string compile_in(const InputsSnapshot& world, environment::Trace* trace) {
        Request request;
        request.arena = std::make_shared<base::Arena>();
        request.environment = world.environment;
        request.log = &log_;
        request.trace = trace;
        request.options.strict_variables = false;
        request.options.strict = evaluator::Strict::Off;
        SystemInputs inputs("production", "n", world.setting);
        inputs.files = world.environment->spec().files;
        request.inputs = &inputs;
        request.node.name = "n";
        request.node.facts = world.facts;
        request.node.server_facts = world.server_facts;
        value::HashBuilder settings(*request.arena);
        for (const char* name : {"codedir", "vardir"})
            settings.set(name, value::make_string(*request.arena, *world.setting(name)));
        request.settings = settings.build();
        hiera::Lookup lookup(world.environment, world.data, {});
        templates::Templates templates(world.environment);
        request.services.lookup = &lookup;
        request.services.templates = &templates;
        request.services.ruby = &templates.ruby();
        try {
            auto result = compile(request);
            result.catalog->catalog_uuid.clear();
            result.catalog->version.clear();
            for (auto& resource : result.catalog->resources) resource.line = 0;
            std::string out;
            catalog::write_agent_json(out, *result.catalog, {});
            return out;
        } catch (const base::PuppetError& e) {
            return "error: " + e.message();
        }
    }

    base::Arena arena_{64 * 1024};
    base::NullSink log_;
};

struct Case {
    const char* what;
    std::function<void(State&)> change;
    /// the affected reads, one per line: "KIND NAME[#DETAIL]"; "" if there are none
    std::string expected;
    bool same = false;  ///< true if the compile is affected but the catalog is equal
};

std::function<void(State&)> edit(std::string path, std::string_view from, std::string_view to) {
    return [path = std::move(path), from = std::string(from), to = std::string(to)](State& s) {
        auto& text = s.texts.at(path).value();
        const auto at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
    };
}
std::function<void(State&)> add(std::string path, std::string text) {
    return [=](State& s) { s.texts[path] = text; };
}
std::function<void(State&)> fact(std::string_view from, std::string_view to) {
    return [from = std::string(from), to = std::string(to)](State& s) {
        const auto at = s.facts.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        s.facts.replace(at, from.size(), to);
    };
}

const std::string kInit = "/e/modules/a/manifests/init.pp";

TEST_F(TraceTest, ChangeAffectsOnlyItsReaders) {
    const std::vector<Case> cases = {
        // Manifests, with one definition per case.
        {"a comment above a class", edit(kInit, "# A comment.", "# Another.\n\n"), ""},
        {
            "the class",
            edit(kInit, "'default'", "'changed'"),
            "definition " + kInit + "#class a",
        },
        {"another class of the same file", edit(kInit, "a::behind { }", "a::behind { $x = 1 }"),
         ""},
        {"another name in the same file", edit(kInit, "a::behind", "a::maybe"), "names " + kInit},
        {"the own node", edit("/e/manifests/site.pp", "include a", "include a, b"),
         "definition /e/manifests/site.pp#node 'n'"},
        {"another node", edit("/e/manifests/site.pp", "include b", "include a"), ""},
        {"a node by another name", edit("/e/manifests/site.pp", "'m'", "'k'"),
         "names /e/manifests/site.pp", true},
        {"code outside", edit("/e/manifests/site.pp", "$top = 1", "$top = 2"),
         "names /e/manifests/site.pp"},
        {"an unused class", edit("/e/manifests/site.pp", "unused { }", "unused { $a = 1 }"), ""},
        {"one more manifest",
         add("/e/modules/a/manifests/maybe.pp", "class a::maybe { notify {'m':} }"),
         "exists /e/modules/a/manifests/maybe.pp"},
        {"a manifest nobody asks for", add("/e/modules/a/manifests/no.pp", "class a::no { }"), ""},
        {"the define", edit("/e/modules/a/manifests/thing.pp", "thing ${of}", "t ${of}"),
         "definition /e/modules/a/manifests/thing.pp#define a::thing"},
        {"the function", edit("/e/modules/a/functions/twice.pp", "* 2", "* 3"),
         "file /e/modules/a/functions/twice.pp"},
        {"the type", edit("/e/modules/a/types/kind.pp", "Integer", "String"),
         "file /e/modules/a/types/kind.pp"},
        {"another module", edit("/e/modules/b/manifests/init.pp", "{ }", "{ $x = 1 }"), ""},
        {"one more module", add("/e/modules/c/manifests/init.pp", "class c { }"), ""},
        {"environment.conf", add("/e/environment.conf", "manifest = site2\n"),
         "file /e/environment.conf"},
        // Templates and files.
        {"the EPP template", edit("/e/modules/a/templates/t.epp", "<%=", "x<%="),
         "file /e/modules/a/templates/t.epp"},
        {"the ERB template", edit("/e/modules/a/templates/t.erb", "<%=", "x<%="),
         "file /e/modules/a/templates/t.erb"},
        {"the file", add("/e/modules/a/files/f.txt", "other"), "file /e/modules/a/files/f.txt"},
        {"the file that was missing", add("/e/modules/a/files/none", "there"),
         "exists /e/modules/a/files/none"},
        {"another file", add("/e/modules/a/files/g.txt", "other"), ""},
        // Hiera.
        {"a key", edit("/e/data/common.yaml", "a::p: 1", "a::p: 2"),
         "data /e/data/common.yaml#a::p"},
        {"a key that another one names", edit("/e/data/common.yaml", "deep: d", "deep: e"),
         "data /e/data/common.yaml#deep"},
        {"a key nobody asks for", edit("/e/data/common.yaml", "unused: 1", "unused: 2"), ""},
        {"a comment in the data", edit("/e/data/common.yaml", "a::p", "# c\na::p"), ""},
        {"a key at a level that was passed over",
         edit("/e/data/os/Debian.yaml", "other: 1", "a::q: level"),
         "data /e/data/os/Debian.yaml#a::q"},
        {"a data file that was missing", add("/e/data/nodes/n.yaml", "a::q: node\n"),
         "exists /e/data/nodes/n.yaml"},
        {"another node's data", add("/e/data/nodes/m.yaml", "a::q: node\n"), ""},
        {"one more file of a glob", add("/e/data/more/two.yaml", "a::q: 2\n"),
         "folder /e/data/more"},
        {"hiera.yaml", edit("/e/hiera.yaml", "common.yaml", "common2.yaml"), "file /e/hiera.yaml"},
        {"a module's hiera.yaml", add("/e/modules/a/hiera.yaml", "version: 5\n"),
         "exists /e/modules/a/hiera.yaml", true},
        {"lookup_options", edit("/e/data/common.yaml", "unused: 1", "lookup_options: {}"),
         "data /e/data/common.yaml#lookup_options", true},
        // Facts.
        {"a fact in a chain", fact("\"family\":\"Debian\"", "\"family\":\"RedHat\""),
         "fact os.family"},
        {"a fact dug for", fact("12.1", "12.2"), "fact os.release.full"},
        {"its neighbour", fact("\"major\":\"12\"", "\"major\":\"13\""), ""},
        {"another neighbour", fact("\"name\":\"Debian\"", "\"name\":\"x\""), ""},
        {"a top-scope variable", fact("Linux", "Minix"), "fact kernel"},
        {"a fact by a name in a variable", fact("kvm", "xen"), "fact virtual"},
        {"a fact by getvar", fact("::1", "::2"), "fact network.ip"},
        {"a fact of a template", fact("\"memory\":1", "\"memory\":2"), "fact memory"},
        {"a fact of an ERB template", fact("\"one\":1", "\"one\":9"), "fact erb.one"},
        {"a second one", fact("\"two\":2", "\"two\":9"), "fact erb.two"},
        {"one by scope[]", fact("\"three\":3", "\"three\":null"), "fact erb.three"},
        {"one by lookupvar, with a dot", fact("\"a.b\":4", "\"a.b\":9"), "fact erb.'a.b'"},
        {"one that a method is called on", fact("[5,6]", "[5]"), "fact erb.list"},
        {"a part of one", fact("{\"x\":7}", "{\"x\":9}"), "fact erb.hash", true},
        {"its neighbour", fact("\"no\":8", "\"no\":9"), ""},
        {"a fact that was missing", fact("\"idle\":1", "\"absent\":1"), "fact absent"},
        {"a fact of which a part was missing", fact("\"odd\":{}", "\"even\":{}"), "fact odd.part"},
        {"one that is no hash any more", fact("\"odd\":{}", "\"odd\":\"x\""), "fact odd.part"},
        {"a fact nobody asks for", fact("\"idle\":1", "\"idle\":2"), ""},
        // Iteration over facts: the keys, and the values that the block reads.
        {"a part that the block reads", fact("{\"size\":1,", "{\"size\":9,"), "fact mounts./.size"},
        {"one that it does not", fact("\"free\":2", "\"free\":9"), ""},
        {"one more key", fact("\"mounts\":{", "\"mounts\":{\"/x\":{\"size\":1,\"options\":{}},"),
         "fact mounts.\x01"},
        {"a key that is gone", fact("\"/srv\":{", "\"/opt\":{"),
         "fact mounts.\x01\nfact mounts./srv.options.\x01\nfact mounts./srv.options.ro\n"
         "fact mounts./srv.size"},
        {"a value that is no hash any more", fact("{\"on\":true,\"off\":1}", "1"),
         "fact walked.\x01\nfact walked.x.on"},
        {"a part of a walk within a walk", fact("{\"rw\":true}", "{\"rw\":false}"),
         "fact mounts./.options.rw"},
        {"what a filter looks at", fact("\"size\":5", "\"size\":6"), "fact disks.sda.size"},
        {"what it does not", fact("\"vendor\":\"v\"", "\"vendor\":\"x\""), ""},
        {"what lies below keys", fact("{\"q\":1}", "{\"q\":2}"), ""},
        {"a key", fact("\"p\":{", "\"r\":{"), "fact names.\x01"},
        {"what each gave on", fact("\"deep\":1", "\"deep\":2"), "fact escaped"},
        {"what is taken of a filter's answer", fact("{\"a\":1,\"b\"", "{\"a\":9,\"b\""),
         "fact chosen.x.a"},
        {"its neighbour", fact("\"b\":2}", "\"b\":9}"), ""},
        {"what the block gave on", fact("\"inner\":1", "\"inner\":2"), "fact given.x"},
        {"what any reads", fact("\"on\":true", "\"on\":false"), "fact walked.x.on"},
        {"what it does not read", fact("\"off\":1", "\"off\":2"), ""},
        {"what is taken of a variable", fact("\"a\":1,\"b\":2,\"c\"", "\"a\":9,\"b\":2,\"c\""),
         "fact held.x.a"},
        {"its neighbour", fact("\"c\":3", "\"c\":9"), ""},
        {"a walk at the end of a class", fact("\"b\":20", "\"b\":21"), ""},
        {"what that reads", fact("\"a\":10", "\"a\":11"), "fact last.x.a"},
        // Settings.
        {"a setting", [](State& s) { s.settings["codedir"] = "/d"; }, "setting codedir"},
        // Environment variables.
        {"an environment variable", [](State& s) { s.variables["BUNRAKU_TRACE_TEST"] = "other"; },
         "data /e/data/more.conf#a::s\nvariable BUNRAKU_TRACE_TEST"},
        {"one that is gone", [](State& s) { s.variables.clear(); },
         "data /e/data/more.conf#a::s\nvariable BUNRAKU_TRACE_TEST"},
        {"another variable", [](State& s) { s.variables["OTHER"] = "2"; }, ""},
        {"another setting", [](State& s) { s.settings["vardir"] = "/d"; }, ""},
    };
    const InputsSnapshot before = world({}, nullptr);
    environment::Trace trace(before.environment->reads());
    const std::string catalog = compile_in(before, &trace);
    ASSERT_FALSE(catalog.starts_with("error")) << catalog;
    for (const Case& c : cases) {
        State state;
        c.change(state);
        const InputsSnapshot after = world(state, before.environment->reads());
        std::string touched;
        std::vector<std::string> lines;
        for (const auto& item : Change(before, after).touched(trace))
            lines.push_back(fmt::format("{} {}{}{}", environment::read_name(item.kind), item.name,
                                        item.detail.empty() ? "" : "#", item.detail));
        std::ranges::sort(lines);
        EXPECT_EQ(fmt::format("{}", fmt::join(lines, "\n")), c.expected) << c.what;
        EXPECT_EQ(compile_in(after, nullptr) == catalog, c.expected.empty() || c.same) << c.what;
    }
}

TEST_F(TraceTest, SecondCompileRecordsTheSameReads) {
    const InputsSnapshot first = world({}, nullptr);
    std::vector<std::string> packed;
    for (int i = 0; i < 2; ++i) {
        environment::Trace trace(first.environment->reads());
        compile_in(first, &trace);
        packed.push_back(trace.pack());
    }
    EXPECT_EQ(packed[0], packed[1]);
    EXPECT_LT(packed[0].size(), 200U);
}

/// An environment on the disk, so that Ruby can read it.
class RubyTraceTest : public TraceTest {
protected:
    void SetUp() override {
        if (ruby::find_ruby("ruby").empty())
            GTEST_SKIP() << "Ruby is not installed on this machine";
        root_ = fmt::format("{}bunraku-trace-{}", testing::TempDir(), ::getpid());
        std::filesystem::create_directories(root_);
        ::setenv("XDG_CACHE_HOME", (root_ + "/cache").c_str(), 1);
    }
    void TearDown() override {
        ::unsetenv("XDG_CACHE_HOME");
        std::filesystem::remove_all(root_);
    }
    void write(const std::string& path, const std::string& text) const {
        const auto full = root_ + "/" + path;
        std::filesystem::create_directories(std::filesystem::path(full).parent_path());
        std::ofstream(full) << text;
    }
    InputsSnapshot opened() {
        environment::Spec spec;
        spec.directory = root_ + "/e";
        InputsSnapshot out = world({}, nullptr);
        out.environment = *environment::Environment::open(spec, log_);
        return out;
    }
    /// Returns the reads of one kind that are below the root or concern a test variable.
    std::vector<std::string> reads_of_kind(const environment::Trace& trace, Read kind) const {
        std::vector<std::string> out;
        for (const auto& [item, answer] : trace.items()) {
            if (item.kind != kind) continue;
            out.emplace_back(item.name);
            if (out.back().starts_with(root_)) out.back().erase(0, root_.size() + 1);
        }
        std::ranges::sort(out);
        return out;
    }
    std::string root_;
};

constexpr const char* kRubyType = R"(
Puppet::Type.newtype(:thing) do
  @doc = ENV['BUNRAKU_DOC'].to_s
  ensurable
  def self.title_patterns
    [[/\A([^@]*)@(.*)\z/m, [[:name, lambda { |x| x == 'x' ? File.read('ROOT/prefix') + ENV['BUNRAKU_TITLE'].to_s : "#{x}." }], [:at]]],
     [/\A(.*)\z/m, [[:name]]]]
  end
  newparam(:name, namevar: true)
  newparam(:at, namevar: true)
  newparam(:letter) { newvalues(*ENV.fetch('BUNRAKU_VALUES', 'a').split(',')) }
end
)";

// A compile depends on everything that the code of title patterns reads if it parses titles with
// these patterns, even if the title itself is cached.
TEST_F(RubyTraceTest, TitlePatternReadsAreRecorded) {
    std::string type = kRubyType;
    type.replace(type.find("ROOT"), 4, root_);
    write("e/modules/a/lib/puppet/type/thing.rb", type);
    write("e/manifests/site.pp", "thing { 'x@y': }");
    write("prefix", "p");
    const InputsSnapshot before = opened();
    std::vector<std::string> packed;
    for (int i = 0; i < 3; ++i) {
        environment::Trace trace(before.environment->reads());
        const auto catalog = compile_in(before, &trace);
        ASSERT_FALSE(catalog.starts_with("error")) << catalog;
        // The settings that the Ruby child processes got at their start.
        EXPECT_TRUE(reads_of_kind(trace, Read::Setting).size() > 5) << i;
        EXPECT_EQ(reads_of_kind(trace, Read::Variable),
                  (std::vector<std::string>{"BUNRAKU_DOC", "BUNRAKU_TITLE", "BUNRAKU_VALUES"}))
            << i;
        const auto files = reads_of_kind(trace, Read::File);
        EXPECT_NE(std::ranges::find(files, "prefix"), files.end()) << i;
        packed.push_back(trace.pack());
    }
    EXPECT_EQ(packed[0], packed[1]);
    EXPECT_EQ(packed[1], packed[2]);
}

// A Ruby child process caches a 3.x function that another function called. A later compile must
// still record the search for that function.
TEST_F(RubyTraceTest, SearchForLegacyFunctionsIsRecordedAgain) {
    const auto function = [](const char* name, const char* body) {
        return fmt::format(
            "Puppet::Parser::Functions.newfunction(:{}, type: :rvalue, arity: 1) do "
            "|args|\n{}\nend\n",
            name, body);
    };
    write("e/modules/a/lib/puppet/parser/functions/outer.rb",
          function("outer", "function_inner([args[0]])"));
    write("e/modules/b/lib/puppet/parser/functions/inner.rb", function("inner", "args[0] + '!'"));
    write("e/manifests/site.pp", "notify { outer('x'): }");
    const InputsSnapshot before = opened();
    std::vector<std::vector<std::string>> all;
    for (int i = 0; i < 3; ++i) {
        environment::Trace trace(before.environment->reads());
        EXPECT_NE(compile_in(before, &trace).find("\"x!\""), std::string::npos);
        const auto looked = reads_of_kind(trace, Read::Exists);
        for (const char* path :
             {"e/functions/inner.pp", "e/modules/a/lib/puppet/functions/inner.rb",
              "e/modules/b/lib/puppet/functions/inner.rb",
              "e/modules/a/lib/puppet/parser/functions/inner.rb"})
            EXPECT_NE(std::ranges::find(looked, path), looked.end()) << i << " " << path;
        all.push_back(looked);
    }
    EXPECT_EQ(all[0], all[1]);
    EXPECT_EQ(all[1], all[2]);
}

// The cached description of a type on disk is valid while all values that its file read are
// unchanged.
TEST_F(RubyTraceTest, CachedTypesAreValidatedByTheirReads) {
    std::string type = kRubyType;
    type.replace(type.find("ROOT"), 4, root_);
    type.insert(0, "require 'puppet_x/helper'\n");
    write("e/modules/b/lib/puppet/type/thing.rb", type);
    write("e/modules/b/lib/puppet_x/helper.rb", "");
    write("e/manifests/site.pp", "thing { 'x': letter => 'b' }");
    auto documented = [&](const char* doc) {
        ::setenv("BUNRAKU_DOC", doc, 1);
        const InputsSnapshot now = opened();
        const auto* spec = find_ruby_type(*now.environment, "thing", nullptr);
        return spec ? std::string(spec->doc) : "none";
    };
    EXPECT_EQ(documented("first"), "first");
    EXPECT_EQ(documented("second"), "second");
    ::unsetenv("BUNRAKU_DOC");
    const InputsSnapshot now = opened();
    find_ruby_type(*now.environment, "thing", nullptr);
    auto values = [&] {
        const InputsSnapshot other = opened();
        const auto* spec = find_ruby_type(*other.environment, "thing", nullptr);
        return std::string(spec->find("letter")->values);
    };
    EXPECT_EQ(values(), "a");
    ::setenv("BUNRAKU_VALUES", "b,c", 1);
    EXPECT_EQ(values(), "b|c");
    ::unsetenv("BUNRAKU_VALUES");
    // New files in a folder and for a glob pattern.
    type.insert(0, "Dir.glob('" + root_ + "/more/*.x'); Dir.children('" + root_ + "/more')\n");
    type.insert(type.find("ENV['BUNRAKU_DOC']"), "Dir.glob('" + root_ + "/more/*.x').size.to_s + ");
    write("more/y", "");
    write("e/modules/b/lib/puppet/type/thing.rb", type);
    auto doc = [&] {
        const InputsSnapshot other = opened();
        return std::string(find_ruby_type(*other.environment, "thing", nullptr)->doc);
    };
    EXPECT_EQ(doc(), "0");
    write("more/a.x", "");
    EXPECT_EQ(doc(), "1");
    // Another file with the same name, in a module that comes first in the search order.
    write("e/modules/a/lib/puppet_x/helper.rb", "ENV['BUNRAKU_VALUES'] = 'z'");
    EXPECT_EQ(values(), "z");
}

}  // namespace
}  // namespace bunraku::compiler
