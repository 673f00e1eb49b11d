# Compiles every class of some modules with real Puppet, in one warm process (a forked child for
# each class). The values of required parameters are made from their types. With --examples it
# compiles the manifests in examples/ and the Puppet code in README.md instead:
#   classes.rb --modulepath A:B --facts FILE... --out DIR [--only REGEX] [--examples] MODULE...
# Writes DIR/CLASS.pp, and for each FACTS.json DIR/FACTS/CLASS.json (the catalog) or
# DIR/FACTS/CLASS.err (the last error).
# PUPPET_SRC is the path of a Puppet checkout; without it, the installed Puppet is used.
require 'json'
require 'fileutils'
$LOAD_PATH.unshift File.join(ENV['PUPPET_SRC'], 'lib') if ENV['PUPPET_SRC'].to_s != ''
require 'puppet'
require 'puppet/parser'
require 'puppet/resource/catalog'

modules = []
options = { only: //, facts: {} }
until ARGV.empty?
  case (a = ARGV.shift)
  when '--modulepath' then options[:modulepath] = ARGV.shift.split(':').map { |p| File.expand_path(p) }
  when '--facts' then options[:facts].store(File.basename(ARGV.first, '.json'), JSON.parse(File.read(ARGV.shift)))
  when '--out' then options[:out] = ARGV.shift
  when '--only' then options[:only] = Regexp.new(ARGV.shift)
  when '--examples' then options[:examples] = true
  else modules << a
  end
end
out = options[:out]
FileUtils.mkdir_p(["#{out}/conf", *options[:facts].keys.map { |name| "#{out}/#{name}" }])
File.write("#{out}/conf/hiera.yaml", "---\nversion: 5\nhierarchy: []\n")
File.write("#{out}/conf/puppet.conf", '')

T = Puppet::Pops::Types
SAMPLES = ['a', '/srv/a', 'a.example.org', '192.0.2.1', 'http://a.example.org/', '10.0.0.0/8', 'present', '0644',
           '1', '80', 'yes', '1G', 'a:b', 'a@b.c', '1.2.3', 'C:/a', 'a/b', '5m', 'SIGHUP', 'a=b', '@a', '/',
           'puppet:///modules/a/b', 'ldap://a/', '00:00:00:00:00:01', '2001:db8::1', 'true', 'enabled',
           '0' * 32, '0' * 40, '0' * 64, 'aaaaaaaaaaaaaaaa', 'YWJj', '*', '-1', '10%', 'UTC', '00:00',
           'urn:a', 'eth0', 'A'].freeze
NONE = Object.new

# Returns a value of the type, or NONE if the type is not supported here.
def value_of(type, depth = 0)
  return NONE if depth > 12
  case type
  when nil, T::PAnyType.singleton_class then return 'a'
  when T::PTypeAliasType then return value_of(type.resolved_type, depth + 1)
  when T::POptionalType, T::PUndefType then return nil
  when T::PNotUndefType then return value_of(type.type, depth + 1)
  when T::PSensitiveType
    inner = value_of(type.type || T::PStringType::DEFAULT, depth + 1)
    return inner.equal?(NONE) ? NONE : T::PSensitiveType::Sensitive.new(inner)
  when T::PVariantType
    type.types.each do |t|
      v = value_of(t, depth + 1)
      return v unless v.equal?(NONE)
    end
    return NONE
  when T::PEnumType then return type.values.first
  when T::PBooleanType then return true
  when T::PIntegerType then return type.from || [type.to || 1, 1].min
  when T::PFloatType then return type.from || 1.0
  when T::PNumericType, T::PScalarType, T::PScalarDataType, T::PDataType, T::PRichDataType then return 1
  when T::PStructType
    return type.elements.each_with_object({}) do |e, h|
      next if e.key_type.is_a?(T::POptionalType)
      v = value_of(e.value_type, depth + 1)
      return NONE if v.equal?(NONE)
      h[e.name] = v
    end
  when T::PTupleType
    all = type.types.map { |t| value_of(t, depth + 1) }
    all = all.first(type.size_type.from) if type.size_type && type.size_type.from
    return all.any? { |v| v.equal?(NONE) } ? NONE : all
  when T::PArrayType, T::PCollectionType
    least = type.size_type ? type.size_type.from.to_i : 0
    return [] if least.zero?
    v = type.is_a?(T::PArrayType) ? value_of(type.element_type, depth + 1) : 'a'
    return v.equal?(NONE) ? NONE : [v] * least
  when T::PHashType
    least = type.size_type ? type.size_type.from.to_i : 0
    return {} if least.zero?
    k = value_of(type.key_type, depth + 1)
    v = value_of(type.value_type, depth + 1)
    return k.equal?(NONE) || v.equal?(NONE) ? NONE : { k => v }
  when T::PDefaultType then return :default
  end
  return 'a' if type.instance_of?(T::PAnyType)
  (SAMPLES + [1, 80, true, 1.0]).each { |s| return s if type.instance?(s) }
  NONE
end

def source(value)
  case value
  when nil then 'undef'
  when String then "'#{value}'"
  when Array then "[#{value.map { |v| source(v) }.join(', ')}]"
  when Hash then "{#{value.map { |k, v| "#{source(k)} => #{source(v)}" }.join(', ')}}"
  when T::PSensitiveType::Sensitive then "Sensitive(#{source(value.unwrap)})"
  else value.to_s
  end
end

Puppet.initialize_settings(
  ['--confdir', '/etc/puppetlabs/puppet', '--vardir', '/opt/puppetlabs/puppet/cache', '--codedir',
   '/etc/puppetlabs/code', '--rundir', '/var/run/puppetlabs', '--logdir', '/var/log/puppetlabs/puppet',
   '--config', "#{out}/conf/puppet.conf", '--route_file', "#{out}/conf/routes.yaml"]
)
Puppet.settings.preferred_run_mode = :server
Puppet[:hiera_config] = File.expand_path("#{out}/conf/hiera.yaml")
Puppet[:node_terminus] = 'plain'
Puppet[:strict] = :warning
Puppet[:strict_variables] = false
Puppet::Util::Log.level = :err

def with_environment(modulepath)
  env = Puppet::Node::Environment.create(:production, modulepath)
  Puppet.override(Puppet.base_context(Puppet.settings)) do
    Puppet.override(environments: Puppet::Environments::Static.new(env), current_environment: env,
                    loaders: Puppet::Pops::Loaders.new(env)) do
      env.each_plugin_directory { |dir| $LOAD_PATH << dir unless $LOAD_PATH.include?(dir) }
      yield env
    end
  end
end

node_name = 'node.example.org'
compile = lambda do |env, values|
  node = Puppet::Node.new(node_name, environment: env)
  values = values.merge('clientcert' => node_name)
  facts = Puppet::Node::Facts.new(node_name, values)
  facts.sanitize
  node.fact_merge(facts)
  node.trusted_data = Puppet::Context::TrustedInformation.new('local', node_name, {}).to_h
  node.add_server_facts('serverversion' => Puppet.version.to_s, 'servername' => 'puppet.example.org',
                        'serverip' => '192.0.2.10')
  Puppet::Parser::Compiler.compile(node, nil)
end

# Returns the examples of a module.
def examples(path)
  name = File.basename(path)
  found = Dir.glob('examples/**/*.pp', base: path).sort.to_h do |file|
    ["#{name}::#{file.delete_suffix('.pp').gsub('/', '::')}", File.read("#{path}/#{file}")]
  end
  readme = "#{path}/README.md"
  blocks = File.exist?(readme) ? File.read(readme).scan(/^( *)```puppet\n(.*?)^ *```/m) : []
  blocks.each_with_index { |(indent, code), i| found["#{name}::readme::#{i + 1}"] = code.gsub(/^#{indent}/, '') }
  found
end

# Returns the classes, and the code that declares them.
def classes(env, name, path, options)
  found = {}
  Dir["#{path}/manifests/**/*.pp"].sort.each do |file|
    inner = file.delete_prefix("#{path}/manifests/").delete_suffix('.pp')
    klass = inner == 'init' ? name : "#{name}::#{inner.gsub('/', '::')}"
    next unless klass =~ options[:only]
    begin
      type = env.known_resource_types.find_hostclass(klass)
    rescue StandardError, LoadError => e
      found[klass] = "include #{klass} # #{e.class}"
      next
    end
    next unless type
    begin
      required = type.arguments.select { |_, default| default.nil? }.keys.to_h do |parameter|
        [parameter, value_of(type.argument_types[parameter] || T::PAnyType::DEFAULT)]
      end
      required.reject! { |_, v| v.equal?(NONE) || v.nil? }
    rescue StandardError
      required = {}
    end
    arguments = required.map { |k, v| "#{k} => #{source(v)}" }.join(', ')
    found[klass] = arguments.empty? ? "include #{klass}\n" : "class { '#{klass}': #{arguments} }\n"
  end
  found
end

list = IO.popen('-') do |pipe|
  if pipe
    JSON.parse(pipe.read)
  else
    found = {}
    Puppet[:code] = ''
    with_environment(options[:modulepath]) do |env|
      modules.each do |name|
        mod = env.module(name) or next
        found.merge!(options[:examples] ? examples(mod.path).select { |k, _| k =~ options[:only] } : classes(env, name, mod.path, options))
      end
    end
    puts JSON.generate(found)
    $stdout.flush
    exit!(0)
  end
end

list.each do |klass, code|
  base = klass.gsub('::', '.')
  FileUtils.rm_f(Dir["#{out}/*/#{base}.{json,err}"])
  File.write("#{out}/#{base}.pp", code)
  pid = fork do
    $stderr.reopen('/dev/null', 'w')
    Puppet[:code] = code
    with_environment(options[:modulepath]) do |env|
      options[:facts].each do |name, values|
        File.write("#{out}/#{name}/#{base}.json", compile.call(env, values).filter(&:virtual?).to_json)
      rescue StandardError, LoadError, ScriptError => e
        File.write("#{out}/#{name}/#{base}.err", e.message)
      end
    end
    exit!(0)
  end
  Process.wait(pid)
end
puts "#{list.size} #{options[:examples] ? 'examples' : 'classes'}"
