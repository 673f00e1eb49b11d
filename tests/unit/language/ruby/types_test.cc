// SPDX-License-Identifier: Apache-2.0
// Tests types and facts written in Ruby: their descriptions, and the cache of these descriptions.
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/value/build.h"
#include "language/ruby/host.h"
#include "language/ruby/process.h"

using namespace bunraku;
using value::Value;

namespace {

class TypesTest : public testing::Test {
protected:
    void SetUp() override {
        if (ruby::find_ruby("ruby").empty())
            GTEST_SKIP() << "Ruby is not installed on this machine";
        directory = fmt::format("{}/bunraku-types-{}", testing::TempDir(), ::getpid());
        options.load_path = {directory + "/lib"};
        options.cache_directory = directory + "/cache";
    }
    void TearDown() override { std::filesystem::remove_all(directory); }
    std::string write(const std::string& path, const std::string& text) {
        const auto full = directory + "/lib/" + path;
        std::filesystem::create_directories(std::filesystem::path(full).parent_path());
        std::ofstream(full) << text;
        return full;
    }
    std::string directory;
    ruby::HostOptions options;
    base::Arena arena;
};

constexpr const char* kAcme = R"(
Puppet::Type.newtype(:acme) do
  @doc = "An acme.

    Indented."
  ensurable
  feature :fast, 'Speed.'
  newparam(:name, namevar: true) { desc 'Its name.' }
  newparam(:path, parent: Puppet::Parameter::Path) { desc 'Where.' }
  newparam(:force, boolean: true, parent: Puppet::Parameter::Boolean)
  newproperty(:mode, array_matching: :all, required_features: :fast) do
    newvalues(:on, :off, /^\d+$/)
    aliasvalue(:yes, :on)
    defaultto :on
    munge { |v| v == 'yes' ? :on : super(v) }
  end
  validate { raise Puppet::Error, 'no path' unless self[:path] }
  autorequire(:file) { self[:path] }
end
)";

TEST_F(TypesTest, Attributes) {
    const auto file = write("puppet/type/acme.rb", kAcme);
    ruby::Pool pool(options);
    const auto type = pool.type_info(file, "acme");
    EXPECT_EQ(type.doc, "An acme.\n\nIndented.");
    std::vector<std::string> names;
    for (const auto& a : type.attributes) names.push_back(a.name);
    EXPECT_EQ(names, (std::vector<std::string>{"ensure", "mode", "name", "path", "force"}));
    using Kind = ruby::TypeInfo::Attribute::Kind;
    const auto& mode = type.attributes[1];
    EXPECT_EQ(mode.kind, Kind::Property);
    EXPECT_EQ(mode.values, (std::vector<std::string>{"on=yes", "off"}));
    EXPECT_EQ(mode.patterns, (std::vector<std::string>{"/^\\d+$/"}));
    EXPECT_TRUE(mode.array_matching_all);
    EXPECT_TRUE(mode.validates);
    EXPECT_EQ(mode.feature, "fast");
    EXPECT_EQ(mode.default_text, "on");
    EXPECT_EQ(mode.doc,
              "Valid values are `on` (also called `yes`), `off`. Values can match `/^\\d+$/`.\n\n"
              "Requires features fast.");
    EXPECT_TRUE(type.attributes[2].namevar);
    EXPECT_TRUE(type.isomorphic);
    ASSERT_EQ(type.title_patterns.size(), 1u);
    EXPECT_EQ(type.title_patterns[0].regexp, "(.*)");
    EXPECT_EQ(type.title_patterns[0].options, 4u);
}

TEST_F(TypesTest, TitlePatternsAndProviders) {
    const auto file = write("puppet/type/pair.rb", R"(
require 'puppet_x/pair_helper'
Puppet::Type.newtype(:pair) do
  @isomorphic = false
  def self.title_patterns
    [[/^([^:]+)::(.+)$/, [[:left], [:right, lambda { |x| x }]]], [/(.*)/m, [[:left]]]]
  end
  newparam(:left) { isnamevar }
  newparam(:right, namevar: true)
end
)");
    write("puppet_x/pair_helper.rb", "PAIR = 1");
    write("puppet/provider/pair/ruby.rb", "raise 'not loaded'");
    ruby::Pool pool(options);
    const auto type = pool.type_info(file, "pair");
    EXPECT_FALSE(type.isomorphic);
    EXPECT_EQ(type.providers, std::vector<std::string>{"ruby"});
    EXPECT_EQ(type.attributes.back().name, "provider");
    ASSERT_EQ(type.title_patterns.size(), 2u);
    EXPECT_EQ(type.title_patterns[0].regexp, "^([^:]+)::(.+)$");
    EXPECT_EQ(type.title_patterns[0].attributes, (std::vector<std::string>{"left", "right"}));
}

TEST_F(TypesTest, TitlesParsedByCode) {
    const auto file = write("puppet/type/low.rb", R"(
Puppet::Type.newtype(:low) do
  def self.title_patterns
    [[/^(\w+):(.+)$/, [[:kind, ->(t) { t.upcase }], [:name]]], [/^(\w+)$/, [[:name, ->(t) { t.downcase }]]]]
  end
  newparam(:name, namevar: true)
  newparam(:kind, namevar: true)
end
)");
    ruby::Pool pool(options);
    const auto info = pool.type_info(file, "low");
    ASSERT_EQ(info.title_patterns.size(), 2u);
    EXPECT_TRUE(info.title_patterns[0].transforms);
    auto child = pool.take();
    EXPECT_EQ(value::to_text(child->parse_title(file, "low", "a:B", arena)),
              "{kind => A, name => B}");
    EXPECT_EQ(value::to_text(child->parse_title(file, "low", "ABC", arena)), "{name => abc}");
    EXPECT_TRUE(child->parse_title(file, "low", "- -", arena).is_undef());
}

TEST_F(TypesTest, ResourceApi) {
    const auto file = write("puppet/type/api.rb", R"(
require 'puppet/resource_api'
Puppet::ResourceApi.register_type(
  name: 'api',
  docs: 'By a hash.',
  attributes: {
    ensure: { type: 'Enum[present, absent]', desc: 'There or not.', default: 'present' },
    package: { type: 'String', desc: 'What.', behaviour: :namevar },
    manager: { type: 'String', desc: 'Of whom.', behaviour: :namevar },
    size: { type: 'Integer', desc: 'How much.', behaviour: :read_only },
    flag: { type: 'Boolean', desc: 'A flag.', behaviour: :parameter }
  },
  title_patterns: [
    { pattern: %r{^(?<package>.*[^-])-(?<manager>.*)$}, desc: 'both' },
    { pattern: %r{^(?<package>.*)$}, desc: 'one' }
  ]
)
)");
    ruby::Pool pool(options);
    const auto type = pool.type_info(file, "api");
    std::vector<std::string> names;
    for (const auto& a : type.attributes) names.push_back(a.name);
    EXPECT_EQ(names, (std::vector<std::string>{"ensure", "size", "package", "manager", "flag"}));
    ASSERT_EQ(type.title_patterns.size(), 2u);
    EXPECT_EQ(type.title_patterns[0].attributes, (std::vector<std::string>{"package", "manager"}));
}

TEST_F(TypesTest, SecondRunDoesNotStartRuby) {
    const auto helper = write("puppet_x/help.rb", "HELP = :one unless defined?(HELP)");
    const auto file =
        write("puppet/type/acme.rb", std::string("require 'puppet_x/help'\n") + kAcme);
    {
        ruby::Pool pool(options);
        pool.type_info(file, "acme");
        EXPECT_EQ(pool.profile().starts, 1);
    }
    {
        ruby::Pool pool(options);
        EXPECT_EQ(pool.type_info(file, "acme").attributes.size(), 5u);
        EXPECT_EQ(pool.profile().starts, 0);
    }
    std::ofstream(helper) << "HELP = :two";
    ruby::Pool pool(options);
    pool.type_info(file, "acme");
    EXPECT_EQ(pool.profile().starts, 1) << "what the file loads has changed";
}

TEST_F(TypesTest, ChecksValues) {
    const auto file = write("puppet/type/acme.rb", kAcme);
    ruby::Pool pool(options);
    auto host = pool.take();
    host->load_type(file, "acme");
    auto check = [&](std::initializer_list<std::pair<const char*, const char*>> params) {
        value::HashBuilder hash(arena);
        for (const auto& [k, v] : params) hash.set(k, Value::string(v));
        try {
            return value::to_source(host->check_resource("acme", "a", hash.build(), arena));
        } catch (const base::PuppetError& error) {
            return "error: " + error.message();
        }
    };
    EXPECT_EQ(check({{"path", "/x"}, {"force", "yes"}}),
              "{'name' => 'a', 'path' => '/x', 'force' => true, 'ensure' => 'present', 'mode' => "
              "['on']}");
    EXPECT_EQ(check({{"path", "x"}}),
              "error: Parameter path failed on Acme[a]: path must be a fully qualified path");
    EXPECT_EQ(check({{"path", "/x"}, {"mode", "blue"}}),
              "error: Parameter mode failed on Acme[a]: Invalid value \"blue\". Valid values are "
              "on, off. Valid values match /^\\d+$/.");
    EXPECT_EQ(check({}), "error: Validation of Acme[a] failed: no path");
    EXPECT_EQ(check({{"size", "1"}}), "error: no parameter named 'size'");
}

TEST_F(TypesTest, Facts) {
    write("facter/simple.rb", R"(
Facter.add(:simple) { setcode { 'a ' + Facter.value(:kernel) } }
Facter.add(:command) { setcode 'echo from the shell' }
Facter.add(:heavy) { has_weight 10; setcode { 'light' } }
Facter.add(:heavy) { has_weight 100; setcode { 'heavy' } }
Facter.add(:confined) { confine kernel: 'windows'; setcode { 'no' } }
Facter.add(:confined_too) { confine(:kernel) { |k| k == 'linux' }; setcode { 'yes' } }
Facter.add(:nothing) { setcode { nil } }
Facter.add(:broken) { setcode { raise 'oh' } }
Facter.add(:structured, type: :aggregate) do
  chunk(:a) { { 'x' => { 'a' => 1 } } }
  chunk(:b) { { 'x' => { 'b' => [1.5, nil] } } }
end
Facter.add('os') { setcode { nil } }
Facter.add(:dug) { setcode { Facter.value('os.family') } }
)");
    write("facter/bad.rb", "raise 'while loading'");
    options.load_path.clear();
    ruby::Pool pool(options);
    auto host = pool.take();
    class Known final : public ruby::Callbacks {
    public:
        explicit Known(base::Arena& arena) : arena_(arena) {}
        Value call_function(std::string_view, std::span<const Value>, std::uint64_t) override {
            return {};
        }
        Value yield(std::uint64_t, std::span<const Value>) override { return {}; }
        std::optional<Value> variable(std::string_view) override { return std::nullopt; }
        void set_variable(std::string_view, const Value&) override {}
        void log(base::Level, std::string_view) override {}
        void log_from(base::Level level, std::string_view text, std::string_view source) override {
            logged.push_back(std::string(base::level_name(level)) + " " + std::string(source) +
                             ": " + std::string(text.substr(0, text.find('\n'))));
        }
        Value request(std::string_view what, std::span<const Value> args, base::Arena&) override {
            if (what == "time_limit" && args[0].is_string()) limited.push_back(to_text(args[0]));
            if (what != "fact") return {};
            if (args[0].as_string() == "kernel") return Value::string("Linux");
            if (args[0].as_string() == "os.family") return Value::string("Debian");
            if (args[0].as_string() != "os") return {};
            value::HashBuilder os(arena_);
            os.set("family", Value::string("Debian"));
            return os.build();
        }
        std::vector<std::string> logged, limited;

    private:
        base::Arena& arena_;
    } known(arena);
    value::HashBuilder setup(arena);
    setup.set("directories",
              value::make_array(arena, {value::make_string(arena, directory + "/lib/facter")}));
    const Value given = setup.build();
    const Value names = host->facts("load", {&given, 1}, known, arena);
    EXPECT_EQ(value::to_source(names),
              "['simple', 'command', 'heavy', 'confined', 'confined_too', 'nothing', 'broken', "
              "'structured', 'os', 'dug']");
    value::HashBuilder all(arena);
    for (const Value& name : names.as_array())
        all.set(name, host->facts("value", {&name, 1}, known, arena));
    EXPECT_EQ(value::to_source(all.build()),
              "{'simple' => 'a Linux', 'command' => 'from the shell', 'heavy' => 'heavy', "
              "'confined' => undef, 'confined_too' => 'yes', 'nothing' => undef, 'broken' => "
              "undef, 'structured' => {'x' => {'a' => 1, 'b' => [1.5, undef]}}, 'os' => {'family' "
              "=> 'Debian'}, 'dug' => 'Debian'}");
    EXPECT_EQ(known.logged, (std::vector<std::string>{
                                "err Facter: error while resolving custom facts in " + directory +
                                    "/lib/facter/bad.rb while loading",
                                "err Facter: Error while resolving custom fact fact='broken', "
                                "resolution='<anonymous>': oh"}));
    EXPECT_EQ(known.limited.front(), "file='" + directory + "/lib/facter/bad.rb'");
}

}  // namespace
