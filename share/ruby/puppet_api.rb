# frozen_string_literal: true
# The module Puppet: errors, logs, settings, context.

module Puppet
  VERSIONS = { 'puppet8' => '8.11.0', 'openvox8' => '8.28.1', 'openvox9' => '9.0.0' }.freeze
  PUPPETVERSION = VERSIONS['openvox8']
  IMPLEMENTATION = 'openvox'
  LOG_LEVELS = %i[debug info notice warning err alert emerg crit].freeze

  class Error < RuntimeError
    attr_accessor :original

    def initialize(message, original = nil)
      super(message.to_s)
      @original = original
    end
  end

  # Errors with a position, which is appended to their text.
  module ExternalFileError
    attr_accessor :line, :file, :pos, :puppetstack, :place_is_known

    def initialize(message, file = nil, line = nil, pos = nil, original = nil)
      # A call without a position may pass the original error in its place.
      original, file = file, nil if file.is_a?(Exception)
      original, pos = pos, nil if pos.is_a?(Exception)
      super(message, original)
      @file = file unless file.is_a?(String) && file.empty?
      @line = line
      @pos = pos
    end

    def to_s = super + Puppet::Util::Errors.error_location_with_space(@file, @line, @pos)
    # Returns the text without the position. If `place_is_known`, Bunraku itself adds the position.
    def bare = Exception.instance_method(:to_s).bind_call(self)
  end

  class ParseError < Puppet::Error
    include ExternalFileError
    attr_accessor :environment, :node
  end

  class ParseErrorWithIssue < ParseError
    attr_reader :issue_code, :basic_message, :arguments

    def initialize(message, file = nil, line = nil, pos = nil, original = nil, issue_code = nil, arguments = nil)
      super(message, file, line, pos, original)
      @issue_code = issue_code
      @basic_message = message
      @arguments = arguments
    end

    def to_s
      text = super
      text = "Could not parse for environment #{environment}: #{text}" if environment
      text = "#{text} on node #{node}" if node
      text
    end

    def to_h
      { issue_code: issue_code, message: basic_message, full_message: to_s, file: file, line: line, pos: pos,
        environment: environment.to_s, node: node.to_s }
    end
  end

  class PreformattedError < ParseErrorWithIssue; end

  class ResourceError < Puppet::Error
    include ExternalFileError
  end

  class DevError < Puppet::Error
    include ExternalFileError
  end

  class ErrorWithData < Puppet::Error
    include ExternalFileError
    attr_reader :error_data

    def initialize(error_data, message, file: nil, line: nil, pos: nil, original: nil)
      super(message, file, line, pos, original)
      @error_data = error_data
    end
  end

  class LockError < Puppet::Error; end
  class AuthConfigParser < Puppet::Error; end
  class ExecutionFailure < Puppet::Error; end
  class DataBinding; class LookupError < Puppet::PreformattedError; end; end
  class MissingCommand < Puppet::Error; end
  class NoSuchNodeError < Puppet::Error; end

  # ---- state of the run that code reads ----

  class << self
    # The setting compatibility decides, as puppet_version in core/config/compatibility.h does.
    def version = VERSIONS.fetch(settings['compatibility'].to_s, PUPPETVERSION)
    def openvox9? = settings['compatibility'].to_s == 'openvox9'
    def implementation = version == VERSIONS['puppet8'] ? nil : IMPLEMENTATION

    def [](name) = settings[name]

    def []=(name, value)
      settings[name] = value
    end

    def settings = Bunraku::Settings

    def features = Bunraku::Features

    def lookup(name, &default)
      case name
      when :current_environment, :root_environment then Puppet::Node::Environment.current
      when :global_scope then Puppet::Parser::Scope.global
      when :loaders then Puppet::Pops::Loaders.shim
      when :pal_env, :pal_current_node then nil
      else
        overrides = (@overrides || {})
        return overrides[name] if overrides.key?(name)
        return default.call if default

        raise Puppet::Context::UndefinedBindingError, "Unable to lookup '#{name}'"
      end
    end

    def override(bindings, _description = '')
      before = @overrides
      @overrides = (before || {}).merge(bindings)
      yield
    ensure
      @overrides = before
    end

    def run_mode = Puppet::Util::RunMode[Puppet[:name] || :server]
    def initialize_settings(*) = nil
    def settings_initialized? = true
    def node_cache_terminus = nil
    def push_context(*) = nil
    def pop_context = nil
    def warn_once(_kind, key, message, _file = nil, _line = nil, level = :warning)
      @warned ||= {}
      return if @warned[key]

      @warned[key] = true
      Bunraku.logged(level, message)
    end

    def deprecation_warning(message, key = nil)
      return if Array(Puppet[:disable_warnings]).map(&:to_s).include?('deprecations')

      @deprecations ||= {}
      return if @deprecations.size > 99 || @deprecations[key || message]

      @deprecations[key || message] = true
      Bunraku.logged(:warning, message)
    end

    def puppet_deprecation_warning(message, options = {}) = deprecation_warning(message, options[:key])

    def log_exception(exception, message = :default, options = {})
      text = message == :default ? exception.message : message
      Bunraku.logged(options[:level] || :err, text)
    end

    def log_and_raise(exception, message)
      log_exception(exception, message)
      raise exception, "#{message}\n#{exception}", exception.backtrace
    end

    def forget_compile
      @warned = @deprecations = @overrides = nil
    end

    def trace? = false
    def override_default(*) = nil
  end

  module Util
    module Logging
      Puppet::LOG_LEVELS.each do |level|
        define_method(level) do |*args, &block|
          Bunraku.logged(level, block ? block.call : args.join(' '))
        end
      end

      def send_log(level, message) = Bunraku.logged(level, message)
      def warnonce(message) = Puppet.warn_once('warnings', message, message)
      def log_exception(*args) = Puppet.log_exception(*args)
      def log_and_raise(*args) = Puppet.log_and_raise(*args)
      def deprecation_warning(message, key = nil) = Puppet.deprecation_warning(message, key)
      def puppet_deprecation_warning(message, options = {}) = Puppet.puppet_deprecation_warning(message, options)
      def warn_once(*args) = Puppet.warn_once(*args)
    end

    module Errors
      class << self
        def error_location(file, line = nil, column = nil)
          file, line, column = [file, line, column].map { |part| part.is_a?(String) && part.empty? ? nil : part }
          parts = []
          parts << "file: #{file}" if file
          parts << "line: #{line}" if line
          parts << "column: #{column}" if line && column
          parts.empty? ? '' : "(#{parts.join(', ')})"
        end

        def error_location_with_space(file, line = nil, column = nil)
          place = error_location(file, line, column)
          place.empty? ? '' : " #{place}"
        end

        def error_location_with_unknowns(file, line)
          file, line = [file, line].map { |part| part.nil? || part == '' ? 'unknown' : part }
          error_location(file, line)
        end
      end

      def devfail(message) = self.fail(Puppet::DevError, message)

      def fail(*args)
        error = args[0].is_a?(Class) ? args.shift : Puppet::Error
        other = args.length > 1 ? args.pop : nil
        raise adderrorcontext(error.new(args.join(' ')), other)
      end

      def adderrorcontext(error, other = nil)
        %i[line file].each do |part|
          next unless error.respond_to?(:"#{part}=") && respond_to?(part)

          place = send(part)
          error.send(:"#{part}=", place) if place && place != '' && error.send(part).nil?
        end
        error.set_backtrace(other.backtrace) if other.respond_to?(:backtrace)
        error
      end

      def error_context = Errors.error_location_with_space(file, line)

      def exceptwrap(options = {})
        yield
      rescue Puppet::Error => e
        raise adderrorcontext(e)
      rescue StandardError => e
        text = options[:message] || "#{self.class} failed with error #{e.class}: #{e}"
        raise adderrorcontext((options[:type] || Puppet::DevError).new(text), e)
      end
    end

    module Docs
      def desc(text) = @doc = text
      def dochook(*) = nil
      attr_writer :doc

      def doc = @doc.to_s
      def scrub(text) = Puppet::Util::Docs.scrub(text)

      def self.scrub(text)
        text = text.to_s
        return text.strip unless text.strip.include?("\n")

        # Removes the smallest indentation after the first line from all lines, and trailing blanks.
        margin = text.partition("\n").last.scan(/^[ \t]*(?=\S)/).min || ''
        text.gsub(/^#{margin}/, '').lines.map(&:rstrip).join("\n").rstrip
      end
    end

    module RubyFlavors; end
  end

  extend Util::Logging

  # Logs like `warn` in Ruby code.
  def self.warn(message) = Bunraku.logged(:warning, message)

  # Services that code requests by name.
  class Runtime
    def self.instance = (@instance ||= new)
    def [](name) = services[name] || raise(ArgumentError, "Unknown service #{name}")
    def []=(name, service)
      services[name] = service
    end

    private

    def services = @services ||= { facter: FacterImpl.new, http: Puppet::HTTP::Client.new }
  end

  # Facter, under the name that Puppet's own code uses.
  class FacterImpl
    def value(name) = Facter.value(name)
    def add(name, &block) = Facter.add(name, &block)
    def to_hash = Facter.to_hash
    def clear = Facter.clear
    def reset = Facter.reset
    def resolve(query) = Facter.resolve(query)
    def search_external(dirs) = Facter.search_external(dirs)
    def search(*dirs) = Facter.search(*dirs)
    def trace(value) = Facter.trace(value)
    def debugging(value) = Facter.debugging(value)
    def load_external? = true
    def load_external(_value) = nil
  end

  def self.runtime = Runtime.instance
end

module Bunraku
  class << self
    attr_writer :log_level

    # The log level that code sees. Bunraku itself decides which messages it shows.
    def log_level = @log_level || :notice

    # Logs a message. Returns what Puppet's methods return: the message if its level is enabled,
    # otherwise nil.
    def logged(level, text, source = nil)
      log(level, text, source)
      heard = Puppet::LOG_LEVELS.index(level.to_sym) >= Puppet::LOG_LEVELS.index(log_level)
      return nil unless heard

      # The time in a message is not a read of the code.
      sent = Reads.quiet { Puppet::Util::Log.sent(level, text, source) }
      Puppet::Util::Log.newmessage(sent)
      sent
    end
  end

  module Settings
    class << self
      def [](name)
        key = name.to_s
        @own ||= {}
        return @own[key] if @own.key?(key)

        value = Bunraku.ask(:setting, key)
        case value
        when 'true' then true
        when 'false' then false
        when nil then Puppet::Util::RunMode::DEFAULTS[key]
        when 'error', 'warning', 'off' then key == 'strict' ? value.to_sym : value
        when /\A\d+\z/ then %w[mode].include?(key) ? value : value.to_i
        else value
        end
      end

      def []=(name, value)
        (@own ||= {})[name.to_s] = value
      end

      def value(name, _environment = nil) = self[name]
      # Returns the settings of a section; all sections have the values of this run.
      def values(_environment, _section) = self
      alias lookup value
      alias interpolate value
      def print_configs? = false
      def set_by_config?(_name) = false
      def set_by_cli?(_name) = false
      def set_in_section?(*) = false
      def initialize_global_settings(*) = nil
      def global_defaults_initialized? = true
      def include?(name) = !self[name].nil?
      alias valid? include?
      def use(*) = nil
      def define_settings(*) = nil
      # Name, value and type of a setting; nil if it does not exist.
      Setting = Struct.new(:name, :value, :type)
      def setting(name)
        value = self[name]
        return if value.nil?

        Setting.new(name.to_sym, value, case value
                                        when true, false then :boolean
                                        when Integer then :integer
                                        else :string
                                        end)
      end

      def main_config_file = nil
      def app_defaults_initialized? = true
      def preferred_run_mode = :user
      def method_missing(name, *args) = args.empty? ? self[name] : super
      def respond_to_missing?(*) = true
    end
  end

  module Features
    # Modules that define features themselves store their results here.
    @results = {}

    class << self
      def add(name, options = {}, &block)
        @tests ||= {}
        @tests[name.to_sym] = [options, block]
      end

      def test(name)
        options, block = (@tests ||= {})[name]
        return false if options.nil?

        if block
          block.call ? true : false
        else
          Array(options[:libs]).all? do |lib|
            require lib
            true
          rescue LoadError
            false
          end
        end
      end

      def rails? = false
      def posix? = true
      def microsoft_windows? = false
      def root? = Process.uid.zero?
      def syslog? = true
      def bolt? = false
      def external_facts? = true
      def manages_symlinks? = true
      def selinux? = false
      def load(*) = nil

      def method_missing(name, *args)
        text = name.to_s
        return super unless text.end_with?('?')

        feature = text.chomp('?').to_sym
        Bunraku::Reads.used((@files ||= {})[feature])
        return test(feature) if (@tests ||= {}).key?(feature)

        @files[feature] = Bunraku.find_code("puppet/feature/#{feature}")
        Kernel.load(@files[feature]) if @files[feature]
        return test(feature) if @tests.key?(feature)

        begin
          require feature.to_s
          true
        rescue LoadError
          false
        end
      end

      def respond_to_missing?(*) = true
    end
  end
end

# ---- environments and nodes ----

module Puppet
  class Node
    attr_reader :name

    attr_accessor :classes, :source, :ipaddress

    def initialize(name, options = {})
      raise ArgumentError, 'Node names cannot be nil' unless name

      @name = name
      classes = options[:classes]
      @classes = classes.is_a?(Hash) ? classes.keys : Array(classes)
      @parameters = options[:parameters]
      @environment = options[:environment]
      @facts = options[:facts]
    end

    def environment = @environment.is_a?(Environment) ? @environment : Environment.current
    def environment_name = (@environment.is_a?(Environment) ? @environment.name : @environment || Environment.current.name).to_sym
    def facts = @facts || Facts.new(@name, Puppet::Parser::Scope.global['facts'])
    def parameters = @parameters || Puppet::Parser::Scope.global.to_hash
    def merge(more) = @parameters = parameters.merge(more)
    def to_s = @name

    class Facts
      attr_reader :name, :values

      def initialize(name, values = {})
        @name = name
        @values = values || {}
      end
    end

    class Environment
      def self.current = (@current ||= new)
      def self.remote(name) = create(name, [])

      # Creates an environment of another name; only one environment is compiled.
      def self.create(name, modulepath, *)
        allocate.tap do |made|
          made.instance_variable_set(:@name, name.to_s)
          made.instance_variable_set(:@modulepath, modulepath.map(&:to_s).select { |dir| File.directory?(dir) })
        end
      end

      def name = to_s.to_sym
      def to_s = @name || Bunraku.environment
      alias to_str to_s
      def inspect = "#<Puppet::Node::Environment #{self}>"
      def modulepath = @modulepath || Bunraku.ask(:modulepath) || []
      def full_modulepath = modulepath
      def manifest = Bunraku.ask(:manifest)
      def configuration = self
      def path_to_env = Bunraku.environment_directory
      def module(name) = Puppet::Module.find(name)
      def modules = Bunraku.ask(:modules).map { |n, p, v, f| Puppet::Module.new(n, p, v, f) }
      def modules_by_path = modules.group_by { |m| File.dirname(m.path) }
      def known_resource_types = Puppet::Resource::TypeCollection.shim
      def loaders = Puppet::Pops::Loaders.shim
      def lock = self
      def synchronize = yield
      def ==(other) = other.respond_to?(:name) && other.name == name
      def rich_data? = true
      def conflicting_manifest_settings? = false
      def watching? = false
    end
  end

  class Module
    attr_reader :name, :path, :version, :forge_name
    attr_accessor :dependencies, :author, :source, :license, :summary, :description, :project_page, :puppetversion

    def self.find(name, _environment = nil)
      found = Bunraku.ask(:module, name.to_s)
      found && new(*found)
    end

    def self.is_module_directory_name?(name) = name.match?(/\A[a-z][a-z0-9_]*\z/)

    def initialize(name, path, version = nil, forge_name = nil)
      version = nil if version.is_a?(Puppet::Node::Environment)
      @name = name
      @path = path
      @version = version
      @forge_name = forge_name
    end

    def environment = Puppet::Node::Environment.current
    def has_metadata? = File.exist?("#{@path}/metadata.json")

    def metadata
      require 'json'
      @metadata ||= has_metadata? ? JSON.parse(File.read("#{@path}/metadata.json")) : {}
    end

    %w[template file lib manifest plugin script].each do |kind|
      folder = { 'lib' => 'lib', 'plugin' => 'lib' }[kind] || "#{kind}s"
      define_method(kind) do |name = nil|
        path = name ? "#{@path}/#{folder}/#{name}" : "#{@path}/#{folder}"
        File.exist?(path) ? path : nil
      end
      define_method("#{kind}s?") { File.directory?("#{@path}/#{folder}") } unless %w[lib].include?(kind)
      define_method("#{kind}s") { "#{@path}/#{folder}" } unless %w[lib].include?(kind)
    end
    def plugin_directory = "#{@path}/lib"
    def pluginfacts = "#{@path}/facts.d"
    def metadata_file = "#{@path}/metadata.json"
    def locales? = File.directory?("#{@path}/locales")
    def exist? = File.directory?(@path)
    def to_s = "Module #{@name}(#{@path})"
  end

  class Resource
    attr_reader :type, :title

    def self.type_and_title(type, title = nil)
      # The type object itself, as find_resource_type returns it.
      type = type.name if type.respond_to?(:name) && !type.is_a?(String) && !type.is_a?(Puppet::Resource)
      if title.nil? && (m = /\A([^\[\]]+)\[(.+)\]\z/m.match(type.to_s))
        type = m[1]
        title = m[2]
      elsif title.nil?
        raise ArgumentError, "No title provided and #{type.inspect} is not a valid resource reference"
      end
      [capitalized(type.to_s), title.to_s]
    end

    def self.capitalized(name) = name.split('::').map(&:capitalize).join('::')

    def initialize(type, title = nil, attributes = {})
      if type.is_a?(Puppet::Resource)
        @type = type.type
        @title = type.title
      else
        @type, @title = self.class.type_and_title(type.respond_to?(:name) && !type.is_a?(String) ? type.name : type, title)
      end
      if @type == 'Class'
        @title = @title.empty? || @title == 'main' ? :main : self.class.capitalized(@title.sub(/\A::/, ''))
      end
      @parameters = {}
      (attributes[:parameters] || {}).each { |k, v| @parameters[k.to_sym] = v }
      @known = nil
      %i[file line exported virtual strict].each { |name| send("#{name}=", attributes[name]) if attributes.key?(name) }
      raise ArgumentError, "Invalid resource type #{type}" if strict && !Bunraku.ask(:type_known, type.to_s.downcase)
    end

    attr_accessor :file, :line, :exported, :virtual, :strict

    def ref = "#{@type}[#{@title}]"
    alias to_s ref
    alias to_ref ref
    def inspect = "#{@type}[#{@title}]#{to_hash.inspect}"
    def name = "#{@type}/#{@title}"

    # The given parameters have precedence over those in the catalog.
    def values
      @known ||= (Bunraku.ask(:resource, @type, @title.to_s) || {}).transform_keys(&:to_sym)
      @known.merge(@parameters)
    end

    def parameters = values

    def [](name)
      name = name.to_sym
      return @title if name == :title

      @parameters.fetch(name) { values[name] }
    end

    def []=(name, value)
      @parameters[name.to_sym] = value
    end

    def set_parameter(name, value) = self[name] = value
    def delete(name) = @parameters.delete(name.to_sym)
    def include?(name) = @parameters.key?(name.to_sym)
    def empty? = @parameters.empty?
    def to_hash = class? || namevar.nil? ? values : { namevar => @title.to_s }.merge(values.reject { |k, _| k == :name && namevar != :name })
    def to_h = to_hash
    def uniqueness_key = [self[namevar || :name] || @title]
    def builtin_type? = !resource_type.nil? && resource_type.is_a?(Class)

    # Returns the attribute that the title sets.
    def namevar
      kind = resource_type
      return nil unless kind.respond_to?(:key_attributes)

      NAMEVARS.fetch(@type) { kind.key_attributes.then { |keys| keys.length == 1 ? keys.first : nil } }
    end

    # Built-in types with a name variable other than `name`.
    NAMEVARS = { 'File' => :path, 'Exec' => :command, 'Tidy' => :path }.freeze

    # Returns the resource in Puppet's language.
    def to_manifest
      names = @parameters.keys.sort_by { |name| name == :ensure ? '' : name.to_s }
      width = names.map { |name| name.to_s.length }.max.to_i
      lines = names.map { |name| "  #{name.to_s.ljust(width)} => #{Puppet::Parameter.format_value_for_display(@parameters[name])},\n" }
      "#{@type.downcase} { '#{@title.to_s.gsub("'", "\\\\'")}':\n#{lines.join}}"
    end

    def prune_parameters(_options = {}) = dup
    def to_ral = resource_type.new(to_hash.merge(title: @title))

    def to_data_hash
      hash = { 'type' => @type, 'title' => @title.to_s, 'tags' => tags.to_a, 'exported' => exported ? true : false }
      hash['kind'] = 'compilable_type' if builtin_type?
      hash['file'] = file if file
      hash['line'] = line if line
      hash['parameters'] = @parameters.transform_keys(&:to_s) unless @parameters.empty?
      hash
    end
    def key?(name) = values.key?(name.to_sym)
    def each(&block) = values.each(&block)
    def class? = @type == 'Class'
    def stage? = @type == 'Stage'
    def tagged?(*tags) = tags.flatten.any? { |t| self.tags.include?(t.to_s) }
    def tags
      known = Array(Bunraku.ask(:resource_tags, @type, @title.to_s))
      known = [@type.downcase, @title.to_s.downcase].select { |t| t.match?(/\A[[:alnum:]_][[:alnum:]_:.-]*\z/) } if known.empty?
      Puppet::Util::TagSet.new(known)
    end
    def resource_type = Puppet::Type.type(@type.downcase)
    def environment = Puppet::Node::Environment.current
    def catalog = Puppet::Resource::Catalog.shim
    def ==(other) = other.is_a?(Puppet::Resource) && other.ref == ref
    alias eql? ==
    def hash = ref.hash
    def _dump(_depth) = Puppet::Resource.reference_text(@type, @title)
    def bunraku_value? = true
    def to_type_text = _dump(0)

    def self.reference_text(type, title)
      return "Class['#{title == :main ? 'main' : title.to_s.downcase}']" if type == 'Class'

      quoted = title.to_s.gsub(/[\\']/) { |c| "\\#{c}" }
      title.to_s.empty? ? type.to_s : "#{type}['#{quoted}']"
    end

    class Type
      attr_reader :name, :namespace

      def initialize(kind, name)
        @kind = kind
        @name = name
      end

      def type = @kind
      def module_name = @name.to_s.split('::').first || ''

      def evaluate_code(_resource)
        return if Bunraku.ask(:evaluate_class, name.to_s)

        # A resource without a catalog.
        raise NoMethodError, "undefined method `resource' for nil:NilClass"
      end
    end

    class TypeCollection
      def self.shim = (@shim ||= new)
      def find_hostclass(name) = Bunraku.ask(:class_known, name.to_s) ? Type.new(:hostclass, name.to_s) : nil
      alias hostclass find_hostclass

      def add_hostclass(type)
        Bunraku.ask(:define_class, type.name.to_s)
        type
      end

      def find_definition(name) = Bunraku.ask(:define_known, name.to_s) ? Type.new(:definition, name.to_s) : nil
      alias definition find_definition
      def environment = Puppet::Node::Environment.current
      def find_resource_type(name) = Bunraku.ask(:type_known, name.to_s)
    end

    class Catalog
      class DuplicateResourceError < Puppet::Error
        include Puppet::ExternalFileError
      end

      def self.shim = (@shim ||= allocate)
      # A catalog that code creates is a separate container.
      def self.new(*args) = equal?(Catalog) ? Collected.new(*args) : super
      def classes = Bunraku.ask(:classes) || []
      def tags = Bunraku.ask(:all_tags) || []
      def tagged?(*names) = names.flatten.any? { |n| tags.include?(n.to_s) }
      def environment = Bunraku.environment
      def name = Bunraku.ask(:scope_info)['node']

      def resource(type, title = nil)
        type, title = Puppet::Resource.type_and_title(type, title)
        found = Bunraku.ask(:resource, type, title.to_s)
        return nil unless found

        Puppet::Parser::Resource.known(type, title, found)
      end

      def resources
        Bunraku.ask(:resources).map { |type, title| Puppet::Parser::Resource.known(type, title) }
      end
      alias vertices resources

      def resource_keys = Bunraku.ask(:resources)
      def resource_refs = resources.map(&:ref)
      def add_class(*) = nil
      def add_resource(*resources) = resources.each { |r| Puppet::Parser::Scope.current.compiler.add_resource(nil, r) }
      def each(&block) = resources.each(&block)
      include Enumerable

      class Collected < self
        attr_reader :name, :classes, :tags, :environment, :resources
        attr_accessor :version, :host_config
        alias vertices resources

        def initialize(name = nil, environment = nil, *)
          @name = name
          @environment = environment ? environment.to_s : Bunraku.environment
          @classes = []
          @tags = []
          @resources = []
        end

        def add_class(*names) = @classes.concat(names)

        def add_resource(*given)
          given.each do |resource|
            if resource(resource.ref)
              raise DuplicateResourceError, "Duplicate declaration: #{resource.ref} is already declared; cannot redeclare"
            end

            resource.catalog = self if resource.respond_to?(:catalog=)
            @resources << resource
          end
        end

        def remove_resource(*given) = @resources -= given
        def resource_keys = @resources.map { |r| [r.type.to_s, r.title] }

        def resource(type, title = nil)
          type, title = Puppet::Resource.type_and_title(type, title)
          @resources.find { |r| r.ref == "#{type}[#{title}]" }
        end
      end
    end
  end
end
