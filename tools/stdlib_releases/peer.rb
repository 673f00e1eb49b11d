# Compiles each case of a file with Puppet and one release of stdlib, and writes the results: one
# JSON object per line. Started by `compare`, which requests one release after the other.
#
#   ruby -I PUPPET/lib peer.rb FACTS.json   stdin: MODULEPATH <tab> CASES.json <tab> OUT; stdout: a
#                                           line for each
require 'json'
require 'puppet'
require 'fileutils'
require 'timeout'
require 'tmpdir'

Process.setrlimit(Process::RLIMIT_AS, 3 << 30)

def answer_all(modulepath, cases, facts, out)
  scratch = Dir.mktmpdir
  Puppet.initialize_settings(["--confdir=#{scratch}", "--vardir=#{scratch}", "--codedir=#{scratch}",
                              '--log_level=notice', '--hiera_config=/nonexistent'])
  facts = JSON.parse(File.read(facts))
  environment = Puppet::Node::Environment.create(:production, [modulepath])
  logs = []
  Puppet::Util::Log.newdesttype(:cases) { define_method(:handle) { |message| logs << message } }
  Puppet::Util::Log.newdestination(:cases)
  node = lambda do
    made = Puppet::Node.new('vm.example.com', environment: environment, parameters: facts.dup,
                                              facts: Puppet::Node::Facts.new('vm.example.com', facts))
    made.trusted_data = { 'certname' => 'vm.example.com' }
    made
  end
  # Calls without an effect on the catalog share a scope. A separate compile for each would take ten
  # times as long.
  evaluator = Puppet::Pops::Parser::EvaluatingParser.new
  Puppet[:code] = ''
  compiler = Puppet::Parser::Compiler.new(node[])
  Puppet.override(current_environment: environment) { compiler.compile }
  known = { current_environment: environment, environments: Puppet::Environments::Static.new(environment) }
  context = compiler.context_overrides.merge(known)
  JSON.parse(File.read(cases)).each do |one|
    logs.clear
    Puppet::Util::Warnings.clear_warnings
    Puppet.clear_deprecation_warnings
    Puppet[:strict] = one['strict'].to_sym
    answer = { 'id' => one['id'] }
    begin
      if one['call']
        Timeout.timeout(3) { Puppet.override(context) { evaluator.evaluate_string(compiler.topscope, one['code']) } }
      else
        # The next manifest must not see the definitions of the previous one.
        Puppet[:code] = one['code']
        environment.instance_variable_set(:@known_resource_types, nil)
        environment.loaders = nil if environment.respond_to?(:loaders=)
        catalog = Puppet.override(known) { Puppet::Parser::Compiler.new(node[]).compile }
        answer['catalog'] = Puppet.override(rich_data: true) { JSON.generate(catalog.filter(&:virtual?).to_resource.to_data_hash) }
      end
    rescue Exception => e # rubocop:disable Lint/RescueException: a case may raise any error
      answer['error'] = e.message
      answer['endless'] = true if e.is_a?(Timeout::Error) || e.is_a?(NoMemoryError)
    end
    answer['logs'] = logs.map { |l| [l.level.to_s, l.message.to_s] }
    begin
      out.puts JSON.generate(answer)
    rescue StandardError
      out.puts JSON.generate('id' => one['id'], 'error' => 'no UTF-8', 'logs' => [])
    end
  end
ensure
  FileUtils.rm_rf(scratch)
end

facts = ARGV[0]
$stdin.each_line(chomp: true) do |line|
  modulepath, cases, file = line.split("\t")
  # A separate process for each release, so that the definitions of one release do not affect the
  # next.
  Process.wait(fork do
    File.open(file, 'w') { |out| answer_all(modulepath, cases, facts, out) }
    exit!(0)
  end)
  puts 'done'
  $stdout.flush
end
