# Compiles one catalog with real Puppet, with the options of `bunraku compile` that tests/lang uses:
#   compile.rb compile [OPTIONS] (MANIFEST | -e CODE)
# The catalog goes to standard output, and the log as JSON, one object a line, to standard error. The
# last line is the error. PUPPET_SRC is the path of a Puppet checkout; without it, the installed
# Puppet is used.
require 'json'
require 'tmpdir'
require 'fileutils'
$LOAD_PATH.unshift File.join(ENV['PUPPET_SRC'], 'lib') if ENV['PUPPET_SRC'].to_s != ''
require 'puppet'
require 'puppet/parser'
require 'puppet/resource/catalog'

node = 'localhost'
environment = 'production'
modulepath = []
settings = {}
facts = nil
enc = {}
environmentpath = hiera = manifest = nil
ARGV.shift
until ARGV.empty?
  case (a = ARGV.shift)
  when '--node' then node = ARGV.shift
  when '--facts' then facts = JSON.parse(File.read(ARGV.shift))
  when '--enc' then enc = JSON.parse(File.read(ARGV.shift))
  when '--modulepath' then modulepath = ARGV.shift.split(':')
  when '--environment' then environment = ARGV.shift
  when '--environmentpath' then environmentpath = ARGV.shift
  when '--hiera-config' then hiera = ARGV.shift
  when '--setting' then settings.store(*ARGV.shift.split('=', 2))
  when '--log-format' then ARGV.shift
  when '-e' then settings['code'] = ARGV.shift
  when /\A-/ then abort "compile.rb: no option #{a}"
  else manifest = File.expand_path(a)
  end
end

Puppet::Util::Log.newdesttype :json_lines do
  match(/\Ajson_lines\z/)
  def initialize; end

  def handle(message)
    LINES << { 'level' => message.level.to_s, 'message' => message.message.to_s }
  end
end
LINES = []
at_exit { LINES.each { |line| warn JSON.generate(line) } }

scratch = Dir.mktmpdir
at_exit { FileUtils.rm_rf(scratch) }
File.write("#{scratch}/puppet.conf", '')
Puppet.initialize_settings(
  ['--confdir', '/etc/puppetlabs/puppet', '--vardir', '/opt/puppetlabs/puppet/cache', '--codedir',
   '/etc/puppetlabs/code', '--rundir', '/var/run/puppetlabs', '--logdir', '/var/log/puppetlabs/puppet',
   '--publicdir', '/opt/puppetlabs/puppet/public', '--config', "#{scratch}/puppet.conf", '--route_file', "#{scratch}/routes.yaml"]
)
Puppet.settings.preferred_run_mode = :server
Puppet[:hiera_config] = hiera || "#{scratch}/hiera.yaml"
Puppet[:node_terminus] = 'plain'
Puppet[:environmentpath] = environmentpath if environmentpath
settings.each do |name, value|
  Puppet[name.to_sym] = value
rescue Puppet::Settings::SettingsError, ArgumentError
  nil
end
Puppet::Util::Log.level = :notice
Puppet::Util::Log.newdestination('json_lines')

begin
  Puppet.override(Puppet.base_context(Puppet.settings)) do
    environments = Puppet.lookup(:environments)
    env = environmentpath && environments.get(environment)
    unless env
      env = Puppet::Node::Environment.create(environment.to_sym, modulepath, manifest || Puppet::Node::Environment::NO_MANIFEST)
      environments = Puppet::Environments::Static.new(env)
    end
    Puppet.override(environments: environments, current_environment: env, loaders: Puppet::Pops::Loaders.new(env)) do
      env.each_plugin_directory { |dir| $LOAD_PATH << dir unless $LOAD_PATH.include?(dir) }
      object = Puppet::Node.new(node, environment: env, classes: enc['classes'] || [], parameters: enc['parameters'] || {})
      values = (facts || {}).dup
      values['clientcert'] ||= node
      object.fact_merge(Puppet::Node::Facts.new(node, values))
      object.trusted_data = Puppet::Context::TrustedInformation.new('local', node, {}).to_h
      object.add_server_facts('serverversion' => Puppet.version.to_s, 'servername' => 'puppet.example.org', 'serverip' => '192.0.2.10')
      catalog = Puppet::Parser::Compiler.compile(object, nil).filter(&:virtual?)
      Puppet.override(rich_data: Puppet[:rich_data], stringify_rich: false) { puts JSON.generate(catalog.to_data_hash) }
    end
  end
rescue StandardError, ScriptError, SystemStackError => e
  # The compiler has logged its error without the place.
  LINES.pop if LINES.last && LINES.last['level'] == 'err'
  LINES << { 'level' => 'err', 'message' => e.message.scrub('?') }
  exit 1
end
