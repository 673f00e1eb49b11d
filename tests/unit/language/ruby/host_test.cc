// SPDX-License-Identifier: Apache-2.0
// Tests the plugin host alone: calls, callbacks, and misbehaving Ruby code.
#include "language/ruby/host.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <thread>
#include <unistd.h>

#include "core/value/build.h"
#include "language/ruby/process.h"

using namespace bunraku;
using value::Value;

namespace {

/// A compile that provides two functions and three variables.
class TestCallbacks final : public ruby::Callbacks {
public:
    TestCallbacks(base::Arena& arena) : arena_(arena) {}
    Value call_function(std::string_view name, std::span<const Value> args,
                        std::uint64_t block) override {
        if (name.starts_with("::")) name.remove_prefix(2);  // called from the top scope
        if (name == "upcase") {
            std::string text(args[0].as_string());
            for (char& c : text) c = static_cast<char>(std::toupper(c));
            return value::make_string(arena_, text);
        }
        if (name == "each") {
            for (const Value& v : args[0].as_array())
                host->call_proc(block, std::span<const Value>(&v, 1), arena_);
            return args[0];
        }
        if (name == "broken") throw base::PuppetError("it is broken", "BROKEN");
        throw base::PuppetError(fmt::format("Unknown function: '{}'.", name), "UNKNOWN_FUNCTION");
    }
    Value yield(std::uint64_t block, std::span<const Value> args) override {
        if (block == 99) throw ruby::Unwind{};
        return value::make_string(arena_, fmt::format("{}<{}>", block, value::to_text(args[0])));
    }
    std::optional<Value> variable(std::string_view name) override {
        if (name == "x") return Value::integer(7);
        if (name == "nothing") return Value::undef();
        return std::nullopt;
    }
    void set_variable(std::string_view name, const Value& v) override {
        set += fmt::format("{}={};", name, value::to_text(v));
    }
    void log(base::Level level, std::string_view message) override {
        logs.push_back(fmt::format("{}: {}", base::level_name(level), message));
    }
    Value request(std::string_view what, std::span<const Value> args, base::Arena&) override {
        requests.emplace_back(what);
        if (what == "modules") return value::make_array(arena_, {});
        if (what == "function_exists") return Value::boolean(args[0].as_string() == "upcase");
        return {};
    }
    std::vector<std::string> logs, requests;
    std::string set;
    ruby::Host* host = nullptr;

private:
    base::Arena& arena_;
};

class HostTest : public testing::Test {
protected:
    void SetUp() override {
        if (ruby::find_ruby("ruby").empty())
            GTEST_SKIP() << "Ruby is not installed on this machine";
        directory = fmt::format("{}/bunraku-ruby-{}", testing::TempDir(), ::getpid());
        std::filesystem::create_directories(directory + "/lib/puppet/functions");
        std::filesystem::create_directories(directory + "/lib/puppet/parser/functions");
        std::filesystem::create_directories(directory + "/lib/puppet/type");
        options.load_path = {directory + "/lib"};
        options.environment = "production";
        options.timeout = std::chrono::seconds(20);
    }
    void TearDown() override {
        host_ = {};
        pool_.reset();
        std::filesystem::remove_all(directory);
    }
    ruby::Host& host() {
        if (!pool_) pool_ = std::make_unique<ruby::Pool>(options);
        if (!host_) host_ = pool_->take();
        callbacks.host = &*host_;
        return *host_;
    }
    std::string write(const std::string& path, const std::string& text) {
        const auto full = directory + "/lib/" + path;
        std::filesystem::create_directories(std::filesystem::path(full).parent_path());
        std::ofstream(full) << text;
        return full;
    }
    /// A 4.x function `name` with one method of the same name.
    const ruby::FunctionInfo& modern(const std::string& name, const std::string& body) {
        auto file =
            write("puppet/functions/" + name + ".rb",
                  fmt::format("Puppet::Functions.create_function(:{}) do\n{}\nend\n", name, body));
        infos.push_back(std::make_unique<ruby::FunctionInfo>(host().load_function(file, name)));
        return *infos.back();
    }
    const ruby::FunctionInfo& legacy(const std::string& name, const std::string& options_text,
                                     const std::string& body) {
        auto file = write(
            "puppet/parser/functions/" + name + ".rb",
            fmt::format("module Puppet::Parser::Functions\n  newfunction(:{}, {}) do |args|\n{}\n"
                        "  end\nend\n",
                        name, options_text, body));
        infos.push_back(std::make_unique<ruby::FunctionInfo>(host().load_function(file, name)));
        return *infos.back();
    }
    std::string call(const ruby::FunctionInfo& info, std::vector<Value> args = {},
                     std::uint64_t block = 0) {
        try {
            return value::to_source(
                host().call_function(info, info.legacy ? -1 : 0, args, block, 1, callbacks, arena));
        } catch (const base::PuppetError& error) {
            return "error: " + error.message();
        } catch (const ruby::Unwind&) {
            return "unwind";
        }
    }
    Value text(std::string_view s) { return value::make_string(arena, s); }

    base::Arena arena;
    std::string directory;
    ruby::HostOptions options;
    TestCallbacks callbacks{arena};
    std::vector<std::unique_ptr<ruby::FunctionInfo>> infos;

private:
    std::unique_ptr<ruby::Pool> pool_;
    ruby::Pool::Lease host_;
};

TEST_F(HostTest, ValuesRoundTrip) {
    const auto& echo = modern("echo", "def echo(x) = x");
    value::HashBuilder hash(arena);
    hash.set("a", Value::integer(1));
    hash.set(Value::integer(2), value::make_array(arena, {Value::undef(), Value::boolean(true)}));
    const Value cases[] = {
        Value::undef(),
        Value::default_value(),
        Value::boolean(false),
        Value::integer(0),
        Value::integer(122),
        Value::integer(123),
        Value::integer(-123),
        Value::integer(-124),
        Value::integer(-257),
        Value::integer(65536),
        Value::integer((1ll << 30) - 1),
        Value::integer(1ll << 30),
        Value::integer(-(1ll << 30) - 1),
        Value::integer(INT64_MAX),
        Value::integer(INT64_MIN),
        Value::floating(1.5),
        Value::floating(1e20),
        Value::floating(-0.1),
        text(""),
        text("grün"),
        text(std::string(100000, 'x')),
        hash.build(),
        value::make_array(arena, {}),
        value::make_sensitive(arena, text("secret")),
        value::make_regexp(arena, "a/b.*", 1),
        value::make_binary(arena, std::string_view("\0\xff", 2)),
        Value::timestamp(1234567890123456789),
        Value::timespan(-5),
    };
    for (const Value& v : cases) {
        const Value got = host().call_function(echo, 0, std::span(&v, 1), 0, 0, callbacks, arena);
        EXPECT_TRUE(value::equal(v, got)) << value::to_source(v) << " " << value::to_source(got);
    }
}

TEST_F(HostTest, ResultsOfRuby) {
    const std::pair<const char*, const char*> cases[] = {
        {":sym", "'sym'"},
        {":undef", "undef"},
        {":default", "default"},
        {"[:a, nil, 1.0]", "['a', undef, 1.0]"},
        {"{a: 1, 'b' => {c: []}}", "{'a' => 1, 'b' => {'c' => []}}"},
        {"x = 'same'; [x, x, [x]]", "['same', 'same', ['same']]"},
        {"require 'set'; Set.new([1, 2])", "[1, 2]"},
        {"Class.new(String).new('sub')", "'sub'"},
        {"Struct.new(:a).new(1).to_s[0, 8]", "'#<struct'"},
        {"2**62", "4611686018427387904"},
        {"2**64",
         "error: Use of a Ruby Integer outside of Puppet Integer max range, got "
         "'0x10000000000000000'"},
        {"require 'bigdecimal'; BigDecimal('1.25')", "1.25"},
        {"proc {}.class.name", "'Proc'"},
        {"\"caf\\xe9\".dup.force_encoding('ISO-8859-1').encode('UTF-8')", "'café'"},
    };
    int n = 0;
    for (const auto& [code, expected] : cases) {
        const auto name = fmt::format("give{}", ++n);
        EXPECT_EQ(call(modern(name, fmt::format("def {}\n{}\nend", name, code))), expected) << code;
    }
}

TEST_F(HostTest, ReportsSignatures) {
    const auto& info = modern("sig", R"(
  local_types { type 'MyType = Variant[Integer, String]' }
  dispatch :one do
    param 'MyType', :a
    optional_param 'Integer', :b
    repeated_param 'String', :c
    optional_block_param 'Callable[1, 1]', :blk
    return_type 'String'
  end
  dispatch :two do
    required_repeated_param 'Any', :x
    required_block_param
  end
  argument_mismatch :bad do
    param 'Any', :x
  end
  def one(a, b = 1, *c) = "#{a}#{b}#{c}"
  def two(*x) = x
  def bad(x) = 'is bad')");
    ASSERT_EQ(info.signatures.size(), 3u);
    const auto& one = info.signatures[0];
    EXPECT_EQ(one.dispatch_name, "one");
    ASSERT_EQ(one.parameters.size(), 3u);
    EXPECT_EQ(one.parameters[0].type, "MyType");
    using Form = ruby::Signature::Parameter::Form;
    EXPECT_EQ(one.parameters[1].form, Form::Optional);
    EXPECT_EQ(one.parameters[2].form, Form::Repeated);
    EXPECT_EQ(one.block_type, "Callable[1, 1]");
    EXPECT_FALSE(one.block_required);
    EXPECT_EQ(one.return_type, "String");
    EXPECT_EQ(info.signatures[1].parameters[0].form, Form::RequiredRepeated);
    EXPECT_TRUE(info.signatures[1].block_required);
    EXPECT_TRUE(info.signatures[2].mismatch);
    ASSERT_EQ(info.local_types.size(), 1u);
    EXPECT_EQ(info.local_types[0].first, "MyType");
}

TEST_F(HostTest, CallsBackIntoCompile) {
    EXPECT_EQ(call(modern("f1", "def f1(x) = call_function('upcase', x) + '!'"), {text("abc")}),
              "'ABC!'");
    EXPECT_EQ(
        call(modern("f2", "def f2(a)\n s = 0\n call_function('each', a) { |x| s += x }\n s\nend"),
             {value::make_array(arena, {Value::integer(3), Value::integer(4)})}),
        "7");
    EXPECT_EQ(call(modern("f3", "def f3(x, &b) = [yield(x), b.call(x), b.arity]"), {text("v")}, 5),
              "['5<v>', '5<v>', 1]");
    EXPECT_EQ(call(modern("f4", "def f4(x)\n yield(x)\n ensure\n Puppet.notice('ensured')\nend"),
                   {text("v")}, 99),
              "unwind");
    EXPECT_EQ(callbacks.logs.back(), "notice: ensured");
    EXPECT_EQ(call(legacy("f5", ":type => :rvalue",
                          "[lookupvar('x'), self['nothing'], function_upcase(['q'])]")),
              "[7, undef, 'Q']");
    EXPECT_EQ(call(legacy("f6", ":type => :rvalue, :arity => 2", "args"),
                   {Value::undef(), value::make_array(arena, {Value::undef()})}),
              "['', [undef]]");
    EXPECT_EQ(call(legacy("f7", ":type => :statement", "setvar('y', args[0]); warning('careful')"),
                   {text("z")}),
              "undef");
    EXPECT_EQ(callbacks.set, "y=z;");
    EXPECT_EQ(callbacks.logs.back(), "warning: careful");
}

TEST_F(HostTest, PassesCompileErrorsThrough) {
    const auto& through = modern("through", "def through = call_function('broken')");
    try {
        host().call_function(through, 0, {}, 0, 0, callbacks, arena);
        FAIL();
    } catch (const base::PuppetError& error) {
        EXPECT_EQ(error.message(), "it is broken");
        EXPECT_EQ(error.issue_code(), "BROKEN");
    }
    EXPECT_EQ(call(modern("rescued",
                          "def rescued\n call_function('broken')\n rescue Puppet::Error "
                          "=> e\n \"no: #{e.message}\"\nend")),
              "'no: it is broken'");
}

TEST_F(HostTest, MisbehavingRubyCode) {
    options.timeout = std::chrono::milliseconds(1500);
    options.memory_limit = 256u << 20;
    const auto& fine = modern("fine", "def fine = 'fine'");
    struct Case {
        const char* name;
        const char* code;
        const char* error;
    } const cases[] = {
        {"raises", "raise 'boom'", "error: boom"},
        {"parse_error", "raise Puppet::ParseError, 'bad words'", "error: bad words"},
        {"name_error", "no_such_thing", "error: undefined local variable or method"},
        {"exits", "exit 3",
         "error: function 'exits' (file: DIR/lib/puppet/functions/exits.rb): the Ruby code called "
         "exit (status 3)"},
        {"aborts", "abort",
         "error: function 'aborts' (file: DIR/lib/puppet/functions/aborts.rb): "},
        {"dies", "exit!(4)",
         "error: function 'dies' (file: DIR/lib/puppet/functions/dies.rb): its Ruby process ended "
         "unexpectedly (exit status 4)"},
        {"killed", "Process.kill(:KILL, $$); sleep 5",
         "error: function 'killed' (file: DIR/lib/puppet/functions/killed.rb): its Ruby process "
         "ended unexpectedly (signal 9)"},
        {"loops", "loop {}",
         "error: function 'loops' (file: DIR/lib/puppet/functions/loops.rb): execution expired "
         "after 1.5 seconds; its Ruby process was killed"},
        {"hungry", "a = []; loop { a << 'x' * 10_000_000 }",
         "error: function 'hungry' (file: DIR/lib/puppet/functions/hungry.rb): "},
        {"deep", "def deeper(n) = deeper(n + 1) + 1; deeper(0)",
         "error: function 'deep' (file: DIR/lib/puppet/functions/deep.rb): stack level too deep"},
        {"stops", "Process.kill(:STOP, $$); 1",
         "error: function 'stops' (file: DIR/lib/puppet/functions/stops.rb): execution expired "
         "after 1.5 seconds; its Ruby process was killed"},
        {"hangs_up", "IO.for_fd(3).close; 1",
         "error: function 'hangs_up' (file: DIR/lib/puppet/functions/hangs_up.rb): its Ruby "
         "process ended unexpectedly"},
        {"holds_itself", "a = []; a << a; a", "error: stack level too deep"},
        {"no_library", "require 'no_such_library_at_all'",
         "error: cannot load such file -- no_such_library_at_all"},
        {"forks", "Process.detach(fork { sleep 0.2 }); 'forked'", "'forked'"},
        {"forks_on", "fork; 'one answer'", "'one answer'"},
        {"recoded", "\"\\u00e4\".encode('ISO-8859-1')", "'\u00e4'"},
        {"unknown", "Time.at(0).utc", "'1970-01-01 00:00:00 UTC'"},
        {"prints", "puts 'noise'; $stdout.print 'more'; STDOUT.flush; 'quiet'", "'quiet'"},
    };
    for (const Case& c : cases) {
        auto expected = std::string(c.error);
        if (const auto at = expected.find("DIR"); at != std::string::npos)
            expected.replace(at, 3, directory);
        const auto got = call(modern(c.name, fmt::format("def {}\n{}\nend", c.name, c.code)));
        EXPECT_EQ(got.substr(0, expected.size()), expected) << c.name;
        EXPECT_EQ(call(fine), "'fine'") << "after " << c.name;
    }
}

TEST_F(HostTest, FilesWithoutDefinition) {
    struct Case {
        const char* path;
        const char* name;
        const char* text;
        const char* error;
    } const cases[] = {
        {"puppet/functions/a1.rb", "a1", "1 + 1",
         "The code loaded from FILE does not seem to be a Puppet 4x API function - no "
         "create_function call."},
        {"puppet/functions/a2.rb", "a2", "# Puppet::Functions.create_function\n42",
         "The code loaded from FILE did not produce a Function class when evaluated. Got "
         "'Integer'"},
        {"puppet/functions/a3.rb", "a3",
         "Puppet::Functions.create_function(:other) { def other = 1 }",
         "The code loaded from FILE produced mis-matched name, expected 'a3', got other"},
        {"puppet/parser/functions/a4.rb", "a4", "def x; end\nnewfunction(:a4)",
         "Illegal method definition of method 'x' in source FILE on line 4 in legacy function. See "
         "https://puppet.com/docs/puppet/latest/functions_refactor_legacy.html for more "
         "information"},
        {"puppet/parser/functions/a5.rb", "a5", "1",
         "The code loaded from FILE does not seem to be a Puppet 3x API function - no "
         "'newfunction' call."},
    };
    for (const Case& c : cases) {
        const auto file = write(c.path, c.text);
        auto expected = std::string(c.error);
        expected.replace(expected.find("FILE"), 4, file);
        try {
            host().load_function(file, c.name);
            ADD_FAILURE() << c.name;
        } catch (const base::PuppetError& error) {
            EXPECT_EQ(error.message(), expected);
        }
    }
}

TEST_F(HostTest, Templates) {
    struct Case {
        const char* source;
        const char* expected;
    } const cases[] = {
        {"a\n", "a\n"},
        {"<% 3.times do |i| -%>\n<%= i %>\n<% end -%>\n", "0\n1\n2\n"},
        {"<%= @greeting %> <%= @unknown.inspect %>", "hello nil"},
        {"<%= scope['x'] %> <%= scope.lookupvar('x') %>", "7 7"},
        {"<%= scope.function_upcase(['y']) %>", "Y"},
        {"<%= scope.call_function('upcase', ['y']) %>", "Y"},
        {"<%# comment %>x<%% y", "x<% y"},
        {"<%= @greeting.sub(/l+/) { |m| m.upcase } -%>\nend", "heLLoend"},
        {"<%= has_variable?('greeting').inspect %>", "false"},
        {"<% require 'json' %><%= JSON.generate({'a' => 1}) %>", "{\"a\":1}"},
    };
    const std::pair<std::string, Value> variables[] = {{"greeting", text("hello")}};
    for (int round = 0; round < 2; ++round)
        for (const Case& c : cases)
            EXPECT_EQ(host().render(c.source, "", variables, callbacks).text(), c.expected);
    try {
        host().render("one\n<%= nil.foo %>\n", "/t/x.erb", variables, callbacks);
        FAIL();
    } catch (const base::PuppetError& error) {
        // Ruby 3.3 does not show the class of nil.
        const auto newer = host().render("<%= RUBY_VERSION >= '3.3' %>", "", variables, callbacks);
        EXPECT_EQ(error.message(), newer.text() == "true"
                                       ? "undefined method `foo' for nil"
                                       : "undefined method `foo' for nil:NilClass");
        ASSERT_FALSE(error.trace().empty());
        EXPECT_TRUE(error.trace()[0].starts_with("/t/x.erb:2:")) << error.trace()[0];
    }
}

TEST_F(HostTest, RequireWithinModules) {
    write("puppet_x/acme/helper.rb", "module PuppetX; module Acme; HELP = 'helped'; end; end");
    write("puppet/util/acme.rb", "module Puppet::Util::Acme; def self.x = 'util'; end");
    EXPECT_EQ(call(modern("req",
                          "require 'puppet'\nrequire 'puppet/util/acme'\nrequire_relative "
                          "'../../puppet_x/acme/helper'\nrequire 'puppet_x/acme/helper'\n"
                          "def req = PuppetX::Acme::HELP + Puppet::Util::Acme.x")),
              "'helpedutil'");
}

TEST_F(HostTest, StateDoesNotReachTheNextCompile) {
    auto file = write("puppet/functions/internal.rb",
                      "Puppet::Functions.create_function(:internal, "
                      "Puppet::Functions::InternalFunction) do\n  dispatch(:x) { cache_param }\n  "
                      "def x(cache) = cache[:n] = (cache[:n] || 0) + 1\nend\n");
    const auto internal = host().load_function(file, "internal");
    EXPECT_EQ(call(internal), "1");
    EXPECT_EQ(call(internal), "2");
    host().end_session();
    EXPECT_EQ(call(internal), "1");
}

// The host does not load cache files that are damaged or writable by other users. If it cannot
// write a cache file, it compiles the code each time.
TEST_F(HostTest, CachesCompiledCode) {
    namespace fs = std::filesystem;
    const std::string folder = directory + "/compiled";
    const auto kept = [&] {
        std::set<std::string> out;
        for (const auto& entry : fs::directory_iterator(folder))
            if (entry.file_size() > 1000) out.insert(entry.path().filename());
        return out;
    };
    const std::string file = write("puppet/functions/one.rb",
                                   "Puppet::Functions.create_function(:one) { def one() = 1 }");
    const auto answer = [&](const std::string& place) {
        auto to = options;
        to.compiled = place;
        ruby::Pool pool(to);
        auto host = pool.take();
        const auto info = host->load_function(file, "one");
        return host->call_function(info, 0, {}, 0, 1, callbacks, arena).as_integer();
    };
    EXPECT_EQ(answer(folder), 1);
    const auto first = kept();
    EXPECT_GE(first.size(), 6u);
    EXPECT_TRUE(first.begin()->starts_with("fact_hash-"));
    EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
    EXPECT_EQ(answer(folder), 1);
    EXPECT_EQ(kept(), first);

    std::size_t cut = 0;
    for (const auto& name : first) {
        const auto size = fs::file_size(folder + "/" + name);
        fs::resize_file(folder + "/" + name, size * cut / 8);
        if (cut++ % 2 == 1) fs::resize_file(folder + "/" + name, size);
    }
    std::ofstream(folder + "/fact_hash-old" + first.begin()->substr(39)) << "x";
    EXPECT_EQ(answer(folder), 1);
    EXPECT_EQ(kept(), first);

    fs::permissions(folder, fs::perms::others_write, fs::perm_options::add);
    for (const auto& name : first) fs::remove(folder + "/" + name);
    EXPECT_EQ(answer(folder), 1);
    EXPECT_TRUE(kept().empty());
    EXPECT_EQ(answer("/proc/none"), 1);
    EXPECT_EQ(answer("/dev/null/compiled"), 1);
}

TEST(RubyMissing, ReportsWhatNeedsRuby) {
    ruby::HostOptions options;
    options.program = "/nonexistent/ruby";
    ruby::Pool pool(options);
    auto host = pool.take();
    try {
        host->load_function("/x/y.rb", "y");
        FAIL();
    } catch (const base::PuppetError& error) {
        EXPECT_EQ(error.message(),
                  "function 'y' (file: /x/y.rb): Could not find the program '/nonexistent/ruby': "
                  "code written in Ruby needs Ruby, which is not installed on this machine");
    }
}

// A burst needs many children; idle ones end after a while.
TEST_F(HostTest, LimitsIdleChildren) {
    options.most_idle = 2;
    options.idle_for = std::chrono::milliseconds(100);
    ruby::Pool pool(options);
    {
        std::vector<ruby::Pool::Lease> burst;
        for (int i = 0; i < 4; ++i) burst.push_back(pool.take());
    }
    EXPECT_LE(pool.idle(), 2u);
    for (int i = 0; i < 100 && pool.idle() > 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(pool.idle(), 0u);
    // The pool still works.
    {
        const auto again = pool.take();
    }
    EXPECT_EQ(pool.idle(), 1u);
}

// The limit applies to all environments together. Only children in use may exceed it.
TEST_F(HostTest, PoolsShareAWorkerLimit) {
    options.worker_limit = std::make_shared<ruby::WorkerLimit>(3);
    options.most_idle = 8;
    std::vector<std::unique_ptr<ruby::Pool>> pools;
    for (int i = 0; i < 5; ++i) {
        pools.push_back(std::make_unique<ruby::Pool>(options));
        const auto used = pools.back()->take();
    }
    EXPECT_EQ(options.worker_limit->children(), 3u);
    std::vector<std::size_t> idle;
    for (const auto& pool : pools) idle.push_back(pool->idle());
    EXPECT_EQ(idle, (std::vector<std::size_t>{0, 0, 1, 1, 1}));
    {
        std::vector<ruby::Pool::Lease> burst;
        for (int i = 0; i < 5; ++i) burst.push_back(pools[0]->take());
        EXPECT_EQ(options.worker_limit->children(), 5u);
    }
    // Idle children of one pool end when another pool needs children.
    EXPECT_EQ(pools[0]->idle(), 5u);
    {
        const auto next = pools[1]->take();
        EXPECT_EQ(options.worker_limit->children(), 3u);
    }
    pools.resize(1);
    EXPECT_EQ(options.worker_limit->children(), 2u);
}

}  // namespace
