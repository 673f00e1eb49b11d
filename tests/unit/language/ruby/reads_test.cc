// SPDX-License-Identifier: Apache-2.0
// Tests that all reads of Ruby code are recorded: each kind and each spelling, exactly, and in
// every later compile.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/ruby/host.h"
#include "language/ruby/process.h"

using namespace bunraku;
using value::Value;

namespace {

/// A compile that provides facts, a function that fails, and a lambda that leaves its block early.
class Compile final : public ruby::Callbacks {
public:
    Compile(std::vector<std::string>& order, base::Arena& arena) : order_(order), arena_(arena) {}
    Value call_function(std::string_view name, std::span<const Value>, std::uint64_t) override {
        order_.push_back(fmt::format("call {}", name));
        throw base::PuppetError("it is broken", "BROKEN");
    }
    Value yield(std::uint64_t, std::span<const Value>) override { throw ruby::Unwind{}; }
    std::optional<Value> variable(std::string_view name) override {
        if (name.starts_with("::")) name.remove_prefix(2);
        const bool trusted = name == "trusted";
        if (name == "facts" || trusted)
            return *value::parse_json(
                arena_, trusted ? R"({"certname": "a", "extensions": {"1.3.6": "x"}})"
                                : R"({"os": {"family": "D", "release": {"full": "12.1"}},
                                       "empty": {}, "list": [{"a": 1}], "kernel": "Linux",
                                       "networking": {"interfaces": {"eth0.1": {"ip": "i"}}}})");
        return std::nullopt;
    }
    void set_variable(std::string_view, const Value&) override {}
    void log(base::Level, std::string_view) override {}
    Value request(std::string_view what, std::span<const Value>, base::Arena& arena) override {
        if (what == "variables") return *value::parse_json(arena, R"({"a": 1, "kernel": "L"})");
        if (what == "scope_info") return *value::parse_json(arena, R"({"node": "n"})");
        if (what == "modules") return value::make_array(arena, {});
        return {};
    }

private:
    std::vector<std::string>& order_;
    base::Arena& arena_;
};

class ReadsTest : public testing::Test {
protected:
    void SetUp() override {
        if (ruby::find_ruby("ruby").empty())
            GTEST_SKIP() << "Ruby is not installed on this machine";
        directory = fmt::format("{}bunraku-reads-{}", testing::TempDir(), ::getpid());
        std::filesystem::create_directories(directory + "/lib/puppet/functions");
        options.load_path = {directory + "/lib", directory + "/other/lib"};
        options.environment = "production";
        options.timeout = std::chrono::seconds(20);
        pool = std::make_unique<ruby::Pool>(options);
    }
    void TearDown() override {
        pool.reset();
        std::filesystem::remove_all(directory);
    }
    std::string write(const std::string& path, const std::string& text) {
        const auto full = directory + "/lib/" + path;
        std::filesystem::create_directories(std::filesystem::path(full).parent_path());
        std::ofstream(full) << text;
        return full;
    }
    std::string function(const std::string& name, const std::string& body,
                         const std::string& before = {}) {
        return write("puppet/functions/" + name + ".rb",
                     fmt::format("{}\nPuppet::Functions.create_function(:{}) do\n{}\nend\n", before,
                                 name, body));
    }
    /// Returns the reads as "kind name", with D for the test's folder. Omits the function's own
    /// file and files that belong to Ruby.
    std::vector<std::string> format_reads(const std::vector<ruby::ReadNote>& notes,
                                          const std::string& own = {}) const {
        std::vector<std::string> out;
        for (const auto& note : notes) {
            if ((!own.empty() && note.name == own) || note.kind == "library") continue;
            std::string text = fmt::format("{} {}", note.kind, note.name);
            for (auto at = text.find(directory); at != std::string::npos; at = text.find(directory))
                text.replace(at, directory.size(), "D");
            out.push_back(std::move(text));
        }
        return out;
    }
    /// Runs one compile that calls a function without arguments.
    std::vector<std::string> compile(const std::string& file, const std::string& name,
                                     std::uint64_t block = 0) {
        auto host = pool->take();
        std::vector<ruby::ReadNote> notes;
        order.clear();
        host->on_read([&](const ruby::ReadNote& note) {
            notes.push_back(note);
            order.push_back(fmt::format("{} {}", note.kind, note.name));
        });
        Compile callbacks(order, arena);
        outcome.clear();
        try {
            const auto& info = pool->function_info(file, name, &*host);
            outcome = value::to_source(
                host->call_function(info, 0, {}, block, block ? 1 : 0, callbacks, arena));
        } catch (const base::PuppetError& error) {
            outcome = "error: " + error.message();
        } catch (const ruby::Unwind&) {
            outcome = "unwind";
        }
        order.push_back("end");
        return format_reads(notes, file);
    }

    base::Arena arena;
    std::string directory, outcome;
    std::vector<std::string> order;
    ruby::HostOptions options;
    std::unique_ptr<ruby::Pool> pool;
};

struct Spelling {
    const char* code;
    std::vector<std::string> notes;
};

// Runs each expression in two compiles with the same child. The second compile must record the same
// reads.
TEST_F(ReadsTest, EverySpelling) {
    write("../data/a.txt", "text");
    write("../data/a.yaml", "a: 1");
    write("../data/a.json", "{}");
    const Spelling cases[] = {
        // Content of files.
        {"File.read('D/data/a.txt')", {"file D/data/a.txt"}},
        {"File.read('D/data/none') rescue nil", {"file D/data/none"}},
        {"File.binread('D/data/a.txt')", {"file D/data/a.txt"}},
        {"File.readlines('D/data/a.txt', chomp: true)", {"file D/data/a.txt"}},
        {"File.foreach('D/data/a.txt') { |l| l }", {"file D/data/a.txt"}},
        {"File.foreach('D/data/a.txt').to_a", {"file D/data/a.txt"}},
        {"IO.read('D/data/a.txt')", {"file D/data/a.txt"}},
        {"IO.readlines('D/data/a.txt')", {"file D/data/a.txt"}},
        {"File.open('D/data/a.txt').close", {"file D/data/a.txt"}},
        {"File.open('D/data/a.txt', 'r') { |f| f.read }", {"file D/data/a.txt"}},
        {"File.open('D/data/a.txt', 'rb:UTF-8', &:read)", {"file D/data/a.txt"}},
        {"File.open('D/data/a.txt', mode: 'r', &:read)", {"file D/data/a.txt"}},
        {"File.open('D/data/a.txt', File::RDONLY, &:read)", {"file D/data/a.txt"}},
        {"File.open('D/data/a.txt', 'r+', &:read)", {"file D/data/a.txt"}},
        {"File.new('D/data/a.txt').close", {"file D/data/a.txt"}},
        {"File.open('D/data/out', 'w') { |f| f << 'x' }; 1", {}},
        {"File.write('D/data/out', 'x')", {}},
        {"File.open('D/data/out', File::WRONLY | File::APPEND) { |f| f << 'x' }; 1", {}},
        {"open('D/data/a.txt') { |f| f.read }", {"file D/data/a.txt"}},
        {"Kernel.open('D/data/a.txt', &:read)", {"file D/data/a.txt"}},
        {"IO.copy_stream('D/data/a.txt', '/dev/null')", {"file D/data/a.txt"}},
        {"require 'pathname'; Pathname.new('D/data/a.txt').read", {"file D/data/a.txt"}},
        {"Pathname('D/data') + 'a.txt'; File.read(Pathname('D/data/a.txt'))",
         {"file D/data/a.txt"}},
        {"YAML.load_file('D/data/a.yaml')", {"file D/data/a.yaml"}},
        {"YAML.safe_load(File.read('D/data/a.yaml'))", {"file D/data/a.yaml"}},
        {"JSON.parse(File.read('D/data/a.json'))", {"file D/data/a.json"}},
        {"JSON.load_file('D/data/a.json')", {"file D/data/a.json"}},
        {"Digest::SHA256.file('D/data/a.txt').hexdigest", {"file D/data/a.txt"}},
        {"Puppet::FileSystem.read('D/data/a.txt')", {"file D/data/a.txt"}},
        {"Puppet::Util::Yaml.safe_load_file('D/data/a.yaml')", {"file D/data/a.yaml"}},
        {"Thread.new { File.read('D/data/a.txt') }.value", {"file D/data/a.txt"}},
        {"Fiber.new { File.read('D/data/a.txt') }.resume", {"file D/data/a.txt"}},
        {"File.read('D/data/a.txt'); File.read('D/data/a.txt')", {"file D/data/a.txt"}},
        {"File.read('D/data/../data/a.txt')", {"file D/data/a.txt"}},
        {"IO.sysopen('D/data/a.txt') && 1", {"opaque a file descriptor"}},
        {"IO.for_fd(0, autoclose: false) && 1", {"opaque a file descriptor"}},
        // Existence and kind of files.
        {"File.exist?('D/data/none')", {"exists D/data/none"}},
        {"File.file?('D/data/a.txt')", {"exists D/data/a.txt"}},
        {"File.directory?('D/data')", {"exists D/data"}},
        {"File.readable?('D/data/a.txt')", {"exists D/data/a.txt"}},
        {"File.executable?('D/data/a.txt')", {"exists D/data/a.txt"}},
        {"File.symlink?('D/data/a.txt')", {"exists D/data/a.txt"}},
        {"File.stat('D/data/a.txt').size", {"stat D/data/a.txt"}},
        {"File.lstat('D/data/a.txt').size", {"stat D/data/a.txt"}},
        {"File::Stat.new('D/data/a.txt').size", {"stat D/data/a.txt"}},
        {"File.size('D/data/a.txt')", {"stat D/data/a.txt"}},
        {"File.zero?('D/data/a.txt')", {"stat D/data/a.txt"}},
        {"File.mtime('D/data/a.txt').to_i", {"stat D/data/a.txt"}},
        {"File.realpath('D/data/a.txt')", {"exists D/data/a.txt"}},
        {"FileTest.exist?('D/data/a.txt')", {"exists D/data/a.txt"}},
        {"test('f', 'D/data/a.txt')", {"stat D/data/a.txt"}},
        {"Dir.exist?('D/data')", {"exists D/data"}},
        {"Pathname.new('D/data/a.txt').exist?", {"exists D/data/a.txt"}},
        {"Puppet::FileSystem.exist?('D/data/a.txt')", {"exists D/data/a.txt"}},
        // Folders.
        {"Dir.entries('D/data').size", {"folder D/data"}},
        {"Dir.children('D/data').size", {"folder D/data"}},
        {"Dir.each_child('D/data') { |x| x }; 1", {"folder D/data"}},
        {"Dir.foreach('D/data') { |x| x }; 1", {"folder D/data"}},
        {"Dir.new('D/data').children.size", {"folder D/data"}},
        {"Dir.open('D/data') { |d| d.to_a.size }", {"folder D/data"}},
        {"Dir.empty?('D/data')", {"folder D/data"}},
        {"Dir.glob('D/data/*.txt')", {"glob D/data/*.txt"}},
        {"Dir.glob(['D/data/*.txt', 'D/x/**/*'])", {"glob D/data/*.txt", "glob D/x/**/*"}},
        {"Dir.glob('*.txt', base: 'D/data')", {"glob D/data/*.txt"}},
        {"Dir.glob('D/data/*', File::FNM_DOTMATCH)",
         {"glob D/data/*", "opaque Dir.glob with File::FNM_DOTMATCH or File::FNM_CASEFOLD"}},
        {"Dir['D/data/*.txt']", {"glob D/data/*.txt"}},
        {"Dir['D/data/*.txt', 'D/data/b*']", {"glob D/data/*.txt", "glob D/data/b*"}},
        {"Dir.pwd", {"opaque the working directory"}},
        {"Dir.home", {"variable HOME"}},
        {"File.expand_path('~/x')", {"variable HOME"}},
        {"File.expand_path('D/x')", {}},
        {"File.join('D', 'x'); File.basename('D/x')", {}},
        // The environment.
        {"ENV['PATH']", {"variable PATH"}},
        {"ENV.fetch('NO_SUCH', 1)", {"variable NO_SUCH"}},
        {"ENV.key?('PATH')", {"variable PATH"}},
        {"ENV.include?('PATH')", {"variable PATH"}},
        {"ENV.values_at('PATH', 'NO_SUCH')", {"variable PATH", "variable NO_SUCH"}},
        {"ENV.slice('PATH')", {"variable PATH"}},
        {"ENV.to_h.size", {"variable *"}},
        {"ENV.map { |k, v| k }.size", {"variable *"}},
        {"ENV.each { |k, v| k }; 1", {"variable *"}},
        {"ENV.select { |k, v| k == 'x' }", {"variable *"}},
        {"ENV['BUNRAKU_TEST'] = 'x'", {}},
        {"Puppet::Util.get_env('PATH')", {"variable PATH"}},
        {"Puppet::Util.withenv('LANG' => 'C') { 1 }", {}},
        // Programs.
        {"`echo hi`", {"command echo hi"}},
        {"%x(echo hi)", {"command echo hi"}},
        {"system('true')", {"command true"}},
        {"system({ 'A' => 'b' }, 'echo', 'hi', out: '/dev/null')", {"command echo hi"}},
        {"Kernel.system('true')", {"command true"}},
        {"Process.wait(spawn('true')); 1", {"command true"}},
        {"Process.wait(Process.spawn(['true', 'x'])); 1", {"command true"}},
        {"IO.popen('echo hi', &:read)", {"command echo hi"}},
        {"IO.popen(['echo', 'hi'], &:read)", {"command echo hi"}},
        {"IO.popen([{ 'A' => 'b' }, 'echo', 'hi'], &:read)", {"command echo hi"}},
        {"open('|echo hi', &:read)", {"command echo hi"}},
        {"IO.read('|echo hi')", {"command echo hi"}},
        {"require 'open3'; Open3.capture2('echo', 'hi')[0]", {"command echo hi"}},
        {"Puppet::Util::Execution.execute(['echo', 'hi'])", {"command echo hi"}},
        {"Puppet::Util::Execution.execpipe('echo hi', &:read)", {"command echo hi 2>&1"}},
        {"Facter::Core::Execution.execute('/bin/true')", {"exists /bin/true", "command /bin/true"}},
        {"fork { exit!(0) }; 1", {"opaque fork"}},
        // Time.
        {"Time.now.to_i", {"clock Time"}},
        {"Time.new.to_i", {"clock Time"}},
        {"Time.new(2020, 1, 1, 0, 0, 0, 'UTC').to_i", {}},
        {"Time.at(0).to_i", {}},
        {"Date.today.to_s", {"clock Time"}},
        {"DateTime.now.to_s", {"clock Time"}},
        {"Date.new(2020, 1, 1).to_s", {}},
        {"Date.parse('2020-01-01').to_s", {}},
        {"Date.parse('1 May').to_s", {"clock Time"}},
        {"Process.clock_gettime(Process::CLOCK_REALTIME)", {"clock Time"}},
        {"Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond)", {"clock Time"}},
        {"Process.clock_gettime(Process::CLOCK_MONOTONIC)", {}},
        // Random numbers.
        {"rand", {"random Kernel#rand"}},
        {"Kernel.rand(5)", {"random Kernel#rand"}},
        {"Random.rand(5)", {"random Kernel#rand"}},
        {"Random.new.rand(5)", {"random Random"}},
        {"Random.new(7).rand(5)", {}},
        {"srand(7); rand(5)", {}},
        {"was = srand(7); srand(was); rand(5)", {"random Kernel#rand"}},
        {"srand; 1", {"random Kernel#srand"}},
        {"[1, 2].shuffle.size", {"random Kernel#rand"}},
        {"[1, 2].sample", {"random Kernel#rand"}},
        {"[1, 2].shuffle(random: Random.new(1)).size", {}},
        {"SecureRandom.hex(4).size", {"random Random"}},
        {"SecureRandom.uuid.size", {"random Random"}},
        {"Puppet::Util.deterministic_rand(7, 5)", {}},
        {"Process.pid && 1", {"random Process.pid"}},
        // This machine.
        {"Socket.gethostname.size", {"host Socket.gethostname"}},
        {"Addrinfo.tcp('127.0.0.1', 80).ip_port", {"host 127.0.0.1"}},
        {"IPSocket.getaddress('127.0.0.1')", {"host 127.0.0.1"}},
        {"Resolv.new([Resolv::Hosts.new]).getaddress('localhost').size", {"host localhost"}},
        {"TCPSocket.new('127.0.0.1', 1) rescue 1", {"host 127.0.0.1"}},
        {"Etc.getpwnam('root').uid", {"host Etc root"}},
        {"Etc.getpwuid(0).name", {"host Etc 0"}},
        {"Process.uid.class.name", {"host Process.uid"}},
        {"Facter.value('kernel')", {"host Facter kernel"}},
        {"Facter.value(:kernel) && Facter['kernel'].value", {"host Facter kernel"}},
        // Reads that cannot be recorded.
        {"ObjectSpace.each_object(Class) { |c| c }; 1", {"opaque ObjectSpace"}},
        {"require 'fiddle'; 1", {"opaque Fiddle"}},
        // No reads.
        {"require 'json'; JSON.generate([1])", {}},
        {"require 'thread'; require 'rational'", {}},
        {"{ 'a' => 1 }.to_yaml; 'x'.upcase", {}},
        {"Puppet.features.posix?", {}},
    };
    int n = 0;
    for (const auto& [code, notes] : cases) {
        const auto name = fmt::format("reads{}", ++n);
        std::string body = code;
        for (auto at = body.find("D/"); at != std::string::npos; at = body.find("D/", at + 1))
            if (at == 0 || !std::isalpha(static_cast<unsigned char>(body[at - 1])))
                body.replace(at, 1, directory);
        const auto file = function(name, fmt::format("def {}\n{}\nend", name, body));
        EXPECT_EQ(compile(file, name), notes) << code << " gave " << outcome;
        EXPECT_EQ(outcome.find("error:"), std::string::npos) << code << ": " << outcome;
        EXPECT_EQ(compile(file, name), notes) << "again: " << code << " gave " << outcome;
    }
}

// For facts, only the part that is used is recorded: the longest access chain.
TEST_F(ReadsTest, Facts) {
    const std::string f = "closure_scope['facts']";
    const struct {
        std::string code;
        std::string value;
        std::vector<std::string> notes;
    } cases[] = {
        {f + "['kernel']", "'Linux'", {"fact kernel"}},
        {f + "['none']", "undef", {"fact none"}},
        {f + "['os']['family']", "'D'", {"fact os.family"}},
        {f + "['os']['release']['full']", "'12.1'", {"fact os.release.full"}},
        {f + "['os']['release']['none']", "undef", {"fact os.release.none", "fact os.release"}},
        {f + ".dig('os', 'family')", "'D'", {"fact os.family"}},
        {f + ".dig('os', 'release', 'full')", "'12.1'", {"fact os.release.full"}},
        {f + ".dig('none', 'x')", "undef", {"fact none"}},
        {f + ".dig('list', 0, 'a')", "1", {"fact list"}},
        {f + ".fetch('kernel')", "'Linux'", {"fact kernel"}},
        {f + ".fetch('none', 1)", "1", {"fact none"}},
        {f + ".fetch('none') { |k| k }", "'none'", {"fact none"}},
        {f + ".fetch('os').fetch('family')", "'D'", {"fact os.family"}},
        {f + ".key?('kernel')", "true", {"fact kernel"}},
        {f + ".has_key?('none')", "false", {"fact none"}},
        {f + ".include?('kernel')", "true", {"fact kernel"}},
        {f + ".key?('os')", "true", {"fact os"}},
        {f + ".values_at('kernel', 'none').size", "2", {"fact kernel", "fact none"}},
        {f + "['os'] ? 1 : 2", "1", {"fact os"}},
        {f + "['os'] && " + f + "['os']['family']", "'D'", {"fact os.family"}},
        {f + "['os'].nil?", "false", {"fact os"}},
        {f + "&.[]('os')&.[]('family')", "'D'", {"fact os.family"}},
        {f + "['list'][0]['a']", "1", {"fact list"}},
        {f + "['networking']['interfaces']['eth0.1']['ip']",
         "'i'",
         {"fact networking.interfaces.'eth0.1'.ip"}},
        {f + "['networking']['interfaces'].keys", "['eth0.1']", {"fact networking.interfaces"}},
        {f + "['os']['release']", "{'full' => '12.1'}", {"fact os.release"}},
        {f + "['os'].to_a.size", "2", {"fact os"}},
        {f + "['empty'].empty?", "true", {"fact empty"}},
        {f + ".size", "5", {"fact "}},
        {f + ".keys.size", "5", {"fact "}},
        {f + ".each { |k, v| k }.size", "5", {"fact "}},
        {f + ".map { |k, v| k }.size", "5", {"fact "}},
        {f + ".merge('a' => 1).size", "6", {"fact "}},
        {"{ 'a' => 1 }.merge(" + f + "['os']).size", "3", {"fact os"}},
        {"{ 'a' => 1 }.update(" + f + "['os']).size", "3", {"fact os"}},
        {"{ **" + f + "['os'].transform_keys(&:to_sym) }.size", "2", {"fact os"}},
        {"x = ->(**o) { o.size }; x.call(**" + f + "['os'])", "2", {"fact os"}},
        {"Hash[" + f + "['os']].size", "2", {"fact os"}},
        {"Hash(" + f + "['os']).size", "2", {"fact os"}},
        {"{} == " + f + "['empty']", "true", {"fact empty"}},
        {f + "['empty'] == {}", "true", {"fact empty"}},
        {f + "['empty'] != {}", "false", {"fact empty"}},
        {"[{}].include?(" + f + "['empty'])", "true", {"fact empty"}},
        {"Marshal.load(Marshal.dump(" + f + "['os']))['family']", "'D'", {"fact os"}},
        {f + "['empty'].to_json", "'{}'", {"fact empty"}},
        {"require 'json'; JSON.generate(" + f + "['empty'])", "'{}'", {"fact empty"}},
        {"JSON.generate({ 'a' => " + f + "['empty'] })", R"('{"a":{}}')", {"fact empty"}},
        {"YAML.dump(" + f + "['os']['release'])", R"("---\nfull: '12.1'\n")", {"fact os.release"}},
        {f + "['os']['release'].to_yaml", R"("---\nfull: '12.1'\n")", {"fact os.release"}},
        {"\"#{" + f + "['empty']}\"", "'{}'", {"fact empty"}},
        {"'%{full}' % " + f + "['os']['release'].transform_keys(&:to_sym)",
         "'12.1'",
         {"fact os.release"}},
        {"[*" + f + "['os']].size", "2", {"fact os"}},
        {"Array(" + f + "['os']).size", "2", {"fact os"}},
        {f + "['os'].dup.class.name", "'Hash'", {"fact os"}},
        {f + ".dup['os']['family']", "'D'", {"fact "}},
        {f + ".is_a?(Hash)", "true", {}},
        {f + ".is_a?(Enumerable)", "true", {}},
        {f + ".is_a?(Array)", "false", {}},
        {f + ".kind_of?(Hash) && " + f + ".instance_of?(Hash)", "true", {}},
        {f + ".class.name", "'Hash'", {}},
        {"Hash === " + f, "true", {}},
        {"Class.new(Hash) === " + f, "false", {}},
        {"Array === " + f, "false", {}},
        {"case " + f + " when Array then 1 when Hash then 2 end", "2", {}},
        {f + ".respond_to?(:each_pair)", "true", {}},
        {"case " + f + "['os']\nin { x: 1 } then 1\nelse 2\nend", "2", {"fact os"}},
        {"call_function('broken', " + f + "['os']) rescue 1", "1", {"fact os"}},
        {"closure_scope.lookupvar('facts')['kernel']", "'Linux'", {"fact kernel"}},
        {"closure_scope.lookupvar('::facts')['kernel']", "'Linux'", {"fact kernel"}},
        {"closure_scope.to_hash['kernel']", "'L'", {"fact ", "trusted "}},
        {"closure_scope.facts.values['kernel'] rescue $!.message", "'Linux'", {"fact kernel"}},
        {"closure_scope['trusted']['certname']", "'a'", {"trusted certname"}},
        {"closure_scope['trusted']['extensions']['1.3.6']", "'x'", {"trusted extensions.'1.3.6'"}},
    };
    int n = 0;
    for (const auto& [code, value, notes] : cases) {
        const auto name = fmt::format("facts{}", ++n);
        const auto file = function(name, fmt::format("def {}\n{}\nend", name, code));
        EXPECT_EQ(compile(file, name), notes) << code;
        EXPECT_EQ(outcome, value) << code;
        EXPECT_EQ(compile(file, name), notes) << "again: " << code;
    }
}

// The same in templates.
TEST_F(ReadsTest, FactsInTemplates) {
    Compile callbacks(order, arena);
    const std::pair<std::string, Value> variables[] = {{"facts", *callbacks.variable("facts")},
                                                       {"trusted", *callbacks.variable("trusted")},
                                                       {"other", *callbacks.variable("facts")}};
    const struct {
        const char* source;
        const char* text;
        std::vector<std::string> notes;
    } cases[] = {
        {"<%= @facts['os']['family'] %>", "D", {"fact os.family"}},
        {"<%= scope['facts']['os']['family'] %>", "D", {"fact os.family"}},
        {"<% if @facts['os'] %>y<% end %>", "y", {"fact os"}},
        {"<% @facts['os'].each do |k, v| %><%= k %><% end %>", "familyrelease", {"fact os"}},
        {"<% @facts.each do |k, v| %>.<% end %>", ".....", {"fact "}},
        {"<%= @trusted['certname'] %>", "a", {"trusted certname"}},
        {"<%= @other['kernel'] %>", "Linux", {}},
        {"<% a = [] %><% a << @facts['kernel'] %><%= a[0] %>", "Linux", {"fact kernel"}},
        {"<%= Time.now.year > 2000 %>", "true", {"clock Time"}},
        {"none", "none", {}},
    };
    for (int round = 0; round < 2; ++round) {
        for (const auto& [source, text, notes] : cases) {
            auto host = pool->take();
            std::vector<ruby::ReadNote> heard;
            host->on_read([&](const ruby::ReadNote& note) { heard.push_back(note); });
            EXPECT_EQ(host->render(source, "", variables, callbacks).text(), text);
            EXPECT_EQ(format_reads(heard), notes) << source;
        }
    }
}

// Code may use code that other code has loaded with `require`. A child that only gets the cached
// result of that other code must load the code itself.
TEST_F(ReadsTest, FilesLoadedByOtherCode) {
    const auto helper = write("puppet_x/word.rb", "module PuppetX; WORD = 'word'; end");
    const auto asks = function("asks", "def asks\nrequire 'ostruct'; require 'puppet_x/word'\nend");
    const auto uses = function("uses", "def uses\nOpenStruct.new(a: PuppetX::WORD).a\nend");
    compile(asks, "asks");
    EXPECT_NE(std::ranges::find(order, "library ostruct"), order.end());
    EXPECT_NE(std::ranges::find(order, "code " + helper), order.end());
    pool = std::make_unique<ruby::Pool>(options);
    compile(uses, "uses");
    EXPECT_TRUE(outcome.starts_with("error: uninitialized constant")) << outcome;
    pool = std::make_unique<ruby::Pool>(options);
    {
        auto host = pool->take();
        const std::vector<std::string> files = {"ostruct", helper, asks, directory + "/gone.rb"};
        host->ready(files);
    }
    compile(uses, "uses");
    EXPECT_EQ(outcome, "'word'");
}

// A child loads a file once. Everything that the file reads while it loads counts for every caller
// that requires it.
TEST_F(ReadsTest, LoadedFiles) {
    write("puppet_x/helper.rb",
          fmt::format("require_relative 'deeper'\nmodule PuppetX; module Helper; TEXT = "
                      "File.read('{0}/text'); end; end",
                      directory));
    write("puppet_x/deeper.rb", "module PuppetX; module Deeper; ENV['DEEPER']; end; end");
    write("puppet_x/late.rb", "module PuppetX; module Late; ENV['LATE']; end; end");
    write("../text", "x");
    const std::vector<std::string> helper = {"code D/lib/puppet_x/helper.rb",
                                             "code D/lib/puppet_x/deeper.rb", "variable DEEPER",
                                             "file D/text"};
    auto with = [&](std::vector<std::string> before) {
        before.insert(before.end(), helper.begin(), helper.end());
        std::sort(before.begin(), before.end());
        return before;
    };
    auto sorted = [](std::vector<std::string> list) {
        std::sort(list.begin(), list.end());
        return list;
    };
    struct Case {
        const char* name;
        const char* before;
        const char* body;
        std::vector<std::string> own;
        bool helper;
        /// Reads that appear twice if the file is loaded: from loading it, and from the called
        /// code.
        std::vector<std::string> again = {};
    } const cases[] = {
        {"at_load",
         "require 'puppet_x/helper'",
         "1",
         {"feature puppet_x/helper"},
         true,
         with({"feature puppet_x/helper"})},
        {"at_load_again",
         "require 'puppet_x/helper.rb'",
         "1",
         {"feature puppet_x/helper"},
         true,
         with({"feature puppet_x/helper"})},
        {"relative", "require_relative '../../puppet_x/helper'", "1", {}, true, helper},
        {"at_call", "", "require 'puppet_x/helper'", {"feature puppet_x/helper"}, true},
        {"absolute", "", "require 'D/lib/puppet_x/helper'", {}, true},
        {"loads", "", "load 'D/lib/puppet_x/helper.rb'", {}, true},
        {"loads_found", "", "load 'puppet_x/helper.rb'", {"feature puppet_x/helper"}, true},
        {"none",
         "",
         "require 'puppet_x/none' rescue LoadError; 1",
         {"feature puppet_x/none"},
         false},
        {"none_absolute",
         "",
         "begin; require 'D/none'; rescue LoadError; 1; end",
         {"exists D/none.rb"},
         false},
        {"none_own",
         "",
         "begin; require 'puppet/util/none'; rescue LoadError; 1; end",
         {"feature puppet/util/none"},
         false},
        {"promised",
         "module PuppetX; autoload :Late, 'puppet_x/late'; end",
         "PuppetX::Late.name",
         {"feature puppet_x/late", "code D/lib/puppet_x/late.rb", "variable LATE"},
         false,
         {"feature puppet_x/late", "code D/lib/puppet_x/late.rb"}},
        {"promised_too",
         "module PuppetX; autoload :Late, 'puppet_x/late'; end",
         "PuppetX::Late.name",
         {"feature puppet_x/late", "code D/lib/puppet_x/late.rb", "variable LATE"},
         false,
         {"feature puppet_x/late", "code D/lib/puppet_x/late.rb", "variable LATE"}},
    };
    for (int round = 0; round < 2; ++round) {
        for (const auto& c : cases) {
            std::string body = c.body;
            if (auto at = body.find("D/"); at != std::string::npos) body.replace(at, 1, directory);
            if (body.find("none'") != std::string::npos &&
                body.find("begin") == std::string::npos && body.find("util") == std::string::npos)
                body = "begin; require 'puppet_x/none'; rescue LoadError; 1; end";
            const auto file =
                function(c.name, fmt::format("def {}\n{}\nend", c.name, body), c.before);
            auto expected = c.helper ? with(c.own) : c.own;
            if (round == 0) expected.insert(expected.end(), c.again.begin(), c.again.end());
            EXPECT_EQ(sorted(compile(file, c.name)), sorted(expected))
                << c.name << " gave " << outcome;
            EXPECT_EQ(outcome.find("error:"), std::string::npos) << c.name << ": " << outcome;
        }
    }
}

// The cached description of a function includes the reads of its file, even if another function
// caused them first.
TEST_F(ReadsTest, DescriptionsIncludeReads) {
    write("puppet_x/shared.rb", "module PuppetX; module Shared; ENV['SHARED']; end; end");
    for (const std::string name : {"one", "two"}) {
        const auto file =
            function(name, fmt::format("def {} = 1", name), "require 'puppet_x/shared'");
        EXPECT_EQ(format_reads(pool->function_info(file, name).reads),
                  (std::vector<std::string>{"code D/lib/puppet/functions/" + name + ".rb",
                                            "feature puppet_x/shared",
                                            "code D/lib/puppet_x/shared.rb", "variable SHARED"}));
    }
    const auto type = write("puppet/type/acme.rb",
                            "require 'puppet_x/shared'\nPuppet::Type.newtype(:acme) do\n"
                            "  newparam(:name) { isnamevar }\nend\n");
    EXPECT_EQ(format_reads(pool->type_info(type, "acme").reads),
              (std::vector<std::string>{"code D/lib/puppet/type/acme.rb", "feature puppet_x/shared",
                                        "code D/lib/puppet_x/shared.rb", "variable SHARED",
                                        "feature puppet/provider/acme/*"}));
    const auto data = write("puppet/datatypes/acme.rb",
                            "require 'puppet_x/shared'\nPuppet::DataTypes.create_type('Acme') do\n"
                            "  interface 'attributes => {}'\nend\n");
    EXPECT_EQ(
        format_reads(pool->data_type_info(data, "acme").reads),
        (std::vector<std::string>{"code D/lib/puppet/datatypes/acme.rb", "feature puppet_x/shared",
                                  "code D/lib/puppet_x/shared.rb", "variable SHARED"}));
    EXPECT_EQ(ruby::candidates(options, "puppet_x/shared"),
              (std::vector<std::string>{directory + "/lib/puppet_x/shared.rb",
                                        directory + "/other/lib/puppet_x/shared.rb"}));
}

// However a call ends, its reads are recorded first.
TEST_F(ReadsTest, RecordedHoweverACallEnds) {
    struct Case {
        const char* name;
        const char* body;
        const char* outcome;
        std::vector<std::string> order;
    } const cases[] = {
        {"raises", "ENV['A']; raise 'boom'", "error: boom", {"variable A", "end"}},
        {"unwinds", "ENV['A']; yield(1)", "unwind", {"variable A", "end"}},
        {"calls",
         "ENV['A']; begin; call_function('broken'); rescue StandardError; end; ENV['B']",
         "undef",
         {"variable A", "call ::broken", "variable B", "end"}},
        {"throws",
         "ENV['A']; throw :elsewhere",
         "error: uncaught throw :elsewhere",
         {"variable A", "end"}},
        {"dies",
         "Puppet.notice('x'); ENV['A']; exit!(1)",
         nullptr,
         {"opaque a Ruby process that ended", "end"}},
    };
    for (const auto& c : cases) {
        const auto file = function(c.name, fmt::format("def {}\n{}\nend", c.name, c.body));
        compile(file, c.name, 5);
        if (c.outcome) {
            EXPECT_EQ(outcome, c.outcome);
        }
        std::erase(order, "code " + file);
        EXPECT_EQ(order, c.order) << c.name;
    }
}

// Code of modules calls Ruby's original methods.
TEST_F(ReadsTest, ModulesSeeOriginalRubyMethods) {
    const std::pair<const char*, const char*> cases[] = {
        {"File.method(:read).owner.inspect", "'#<Class:IO>'"},
        {"Time.method(:now).owner.inspect", "'#<Class:Time>'"},
        {"Time.method(:new).owner.inspect", "'Class'"},
        {"File.method(:exist?).owner.inspect", "'#<Class:File>'"},
        {"Object.new.method(:rand).owner.inspect", "'Kernel'"},
        {"Object.new.respond_to?(:system).to_s", "'false'"},
        {"begin; File.read('/no/such'); rescue => e; e.message; end",
         "'No such file or directory @ rb_sysopen - /no/such'"},
        {"begin; File.exist?; rescue ArgumentError => e; e.message; end",
         "'wrong number of arguments (given 0, expected 1)'"},
        {"begin; require '/no/such'; rescue LoadError => e; e.message; end",
         "'cannot load such file -- /no/such'"},
        {"begin; load '/no/such'; rescue LoadError => e; e.message; end",
         "'cannot load such file -- /no/such'"},
        {"begin; ENV.fetch('NO_SUCH'); rescue KeyError => e; e.message; end",
         "'key not found: \"NO_SUCH\"'"},
        {"begin; system; rescue ArgumentError => e; e.message; end",
         "'wrong number of arguments (given 0, expected 1+)'"},
        {"`exit 3`; $?.exitstatus", "3"},
        {"x = 1; binding.local_variables.include?(:x)", "true"},
    };
    int n = 0;
    for (const auto& [code, expected] : cases) {
        const auto name = fmt::format("sees{}", ++n);
        const auto file = function(name, fmt::format("def {}\n{}\nend", name, code));
        compile(file, name);
        EXPECT_EQ(outcome, expected) << code;
    }
}

// Users see the same error and backtrace as in plain Ruby.
TEST_F(ReadsTest, Backtraces) {
    const struct {
        const char* name;
        const char* body;
        std::vector<std::string> frames;
    } cases[] = {
        {"trace_read", "File.read('/no/such')", {"FILE:4:in `read'", "FILE:4:in `trace_read'"}},
        {"trace_open",
         "File.open('/no/such')",
         {"FILE:4:in `initialize'", "FILE:4:in `open'", "FILE:4:in `trace_open'"}},
        {"trace_block",
         "File.open('/dev/null') { |f|\nraise 'x' }",
         {"FILE:5:in `block in trace_block'", "FILE:4:in `open'", "FILE:4:in `trace_block'"}},
        {"trace_fetch", "ENV.fetch('NO_SUCH')", {"FILE:4:in `fetch'", "FILE:4:in `trace_fetch'"}},
        {"trace_system", "exec('/no/such')", {"FILE:4:in `exec'", "FILE:4:in `trace_system'"}},
    };
    for (const auto& [name, body, frames] : cases) {
        const auto file = function(name, fmt::format("def {}\n{}\nend", name, body));
        auto host = pool->take();
        Compile callbacks(order, arena);
        try {
            const auto& info = pool->function_info(file, name, &*host);
            host->call_function(info, 0, {}, 0, 0, callbacks, arena);
            ADD_FAILURE() << name;
        } catch (const base::PuppetError& error) {
            std::vector<std::string> seen;
            for (const auto& frame : error.trace())  // up to the frame that started the child
                if (!frame.starts_with("-e:"))
                    seen.push_back(frame.starts_with(file) ? "FILE" + frame.substr(file.size())
                                                           : frame);
            EXPECT_EQ(seen, frames);
        }
    }
}

}  // namespace
