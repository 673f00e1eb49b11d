# The same measurements with real Puppet, in one warm process:
#   puppet.rb compile [--times N] [--modulepath A:B] MANIFEST     puppet.rb parse [--times N] DIR...
# PUPPET_SRC is the path of a Puppet checkout; without it, the installed Puppet is used.
require 'json'
$LOAD_PATH.unshift File.join(ENV['PUPPET_SRC'], 'lib') if ENV['PUPPET_SRC'].to_s != ''
require 'puppet'
require 'tmpdir'

def cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
def median(list) = list.sort[list.size / 2]

mode = ARGV.shift
times = 15
modulepath = []
rest = []
until ARGV.empty?
  case (a = ARGV.shift)
  when '--times' then times = Integer(ARGV.shift)
  when '--modulepath' then modulepath = ARGV.shift.split(':')
  else rest << a
  end
end

Dir.mktmpdir do |dir|
  Puppet.initialize_settings(['--confdir', dir, '--vardir', "#{dir}/var"])
  Puppet.settings.preferred_run_mode = :server
  Puppet::Util::Log.level = :err
  Puppet[:strict] = :warning
  if mode == 'parse'
    files = rest.flat_map { |d| Dir["#{d}/**/*.pp"].sort }.map { |f| [f, File.read(f)] }
    parser = Puppet::Pops::Parser::Parser.new
    good = files.select { |f, text| parser.parse_string(text, f) rescue nil }
    bytes = good.sum { |_, text| text.bytesize }
    best = Array.new(times) { t = cpu; good.each { |f, text| parser.parse_string(text, f) }; cpu - t }.min
    puts JSON.generate('puppet' => Puppet.version, 'files' => good.size, 'bytes' => bytes,
                       'mb_per_s' => (bytes / best / 1e6).round(3))
  else
    env = Puppet::Node::Environment.create(:production, modulepath.map { |p| File.expand_path(p) },
                                           File.expand_path(rest.first))
    Puppet.override(environments: Puppet::Environments::Static.new(env), current_environment: env,
                    loaders: Puppet::Pops::Loaders.new(env)) do
      spent = []
      count = 0
      times.times do
        node = Puppet::Node.new('bench.example.org', environment: env)
        facts = { 'os' => { 'name' => 'Debian', 'family' => 'Debian' }, 'scratch' => '/srv/bench' }
        node.fact_merge(Puppet::Node::Facts.new('bench.example.org', facts))
        t = cpu
        catalog = Puppet::Parser::Compiler.compile(node, nil)
        spent << cpu - t
        count = catalog.filter(&:virtual?).resources.size
      end
      warm = spent.drop([times / 3, 1].max)
      puts JSON.generate('puppet' => Puppet.version, 'resources' => count,
                         'first_ms' => (spent.first * 1000).round(3), 'warm_ms' => (median(warm) * 1000).round(3))
    end
  end
end
