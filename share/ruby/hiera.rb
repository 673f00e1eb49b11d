# frozen_string_literal: true
# Hiera 3 as its backends use it: configuration, data sources, interpolation and merging, based on
# the scope of the compile. Lookups from here use Bunraku's own lookup.

class Hiera
  class Error < StandardError; end
  class InvalidConfigurationError < Error; end
  class InterpolationLoop < Error; end
  class InterpolationInvalidValue < StandardError; end
  QUOTED_KEY = /^(?:"([^"]+)"|'([^']+)')$/

  class << self
    attr_reader :logger

    def logger=(name)
      @logger = name
    end

    def version = '3.12.0'
    def debug(text) = Bunraku.log(:debug, "hiera(): #{text}")
    def warn(text) = Bunraku.log(:notice, "hiera(): #{text}")
  end

  attr_reader :config

  def initialize(options = {})
    @config = options[:config].is_a?(Hash) ? Config.load(options[:config]) : Config.all
  end

  def lookup(key, default, _scope = nil, order_override = nil, resolution_type = nil)
    merge = case resolution_type
            when :array then 'unique'
            when :hash, Hash then 'hash'
            end
    return Backend.outer_lookup(key, order_override, default) if merge.nil?

    Bunraku.call_puppet('lookup', [key, { 'default_value' => default, 'merge' => merge }.compact])
  end

  # The content of hiera.yaml, which Bunraku passes before it calls a backend.
  module Config
    @values = {}

    class << self
      def load(values) = @values = values
      def all = @values
      def [](name) = @values[name]
      def include?(name) = @values.include?(name)
      def key?(name) = @values.key?(name)
      def load_backends = nil

      # Adds values of one hierarchy entry; known values take precedence.
      def add_values(values)
        known = @values
        @values = values.dup
        known.each do |name, value|
          @values[name] = %i[hierarchy backends].include?(name) ? [value, values[name]].flatten.compact.uniq : value
        end
      end
    end
  end

  module Util
    class << self
      def posix? = true
      def microsoft_windows? = false
      def config_dir = '/etc/puppetlabs/puppet'
      def code_dir = Puppet[:codedir]
      def var_dir = File.join(code_dir.to_s, 'environments', '%{::environment}', 'hieradata')

      # "a.'b.c'.0" => ["a", "b.c", 0]
      def split_key(key)
        text = key.to_s
        raise(yield('Syntax error')) if text.empty? || text.start_with?('.') || text.end_with?('.')

        text.scan(/\G(?:'([^']+)'|"([^"]+)"|([^'".]+))(?:\.|\z)/).map do |single, double, bare|
          quoted = single || double
          quoted || (bare.match?(/\A[0-9]+\z/) ? bare.to_i : bare)
        end
      end
    end
  end

  class RecursiveGuard
    def initialize = @seen = []

    def check(name)
      raise InterpolationLoop, "Lookup recursion detected in [#{(@seen + [name]).join(', ')}]" if @seen.include?(name)

      @seen.push(name)
      yield
    ensure
      @seen.pop if @seen.last == name
    end
  end
  RecursiveLookup = RecursiveGuard

  # The scope that backends of a version 3 hiera.yaml see.
  class Scope
    CALLING_KEYS = %w[calling_class calling_class_path calling_module].freeze
    attr_reader :real

    def initialize(real) = @real = real

    def [](key)
      found = case key
              when 'calling_class' then caller_class
              when 'calling_class_path' then caller_class&.gsub('::', '/')
              when 'calling_module' then @real['module_name']
              else @real[key]
              end
      found == '' || found == :undef ? nil : found
    end

    def exist?(key) = CALLING_KEYS.include?(key) || @real.include?(key)
    alias include? exist?
    def catalog = @real.catalog
    def resource = @real.resource
    def compiler = @real.compiler
    def call_function(...) = @real.call_function(...)

    private

    def caller_class
      info = Bunraku.ask(:scope_info)
      name = info && info['class_name'].to_s
      name.nil? || name.empty? ? nil : name.downcase
    end
  end

  # A cache of parsed files, each parsed again only when it changes.
  class Filecache
    def initialize = @known = {}

    def read(path, expected_type = Object, default = nil, &block)
      read_file(path, expected_type, &block)
    rescue TypeError => e
      Hiera.debug("#{e.message}, setting defaults")
      keep(path, default)
    rescue StandardError => e
      raise if default.nil?

      Hiera.debug("Reading data from #{path} failed: #{e.class}: #{e}")
      keep(path, default)
    end

    def read_file(path, expected_type = Object)
      stat = File.stat(path)
      state = [stat.ino, stat.mtime, stat.size]
      Bunraku::Reads.file(path)
      was, data = @known[path]
      return data if was == state

      text = File.read(path, encoding: 'BOM|UTF-8')
      data = block_given? ? yield(text) : text
      @known[path] = [state, data]
      raise TypeError, "Data retrieved from #{path} is #{data.class} not #{expected_type}" unless data.is_a?(expected_type)

      data
    end

    private

    def keep(path, data)
      @known[path] = [@known[path]&.first, data]
      data
    end
  end

  module Interpolate
    EXPRESSION = /%\{([^}]*)\}/
    WHOLE = /\A%\{([^}]*)\}\z/
    NOTHING = ['', '::', '""', "''", '"::"', "'::'"].freeze

    class << self
      def interpolate(data, scope, extra_data, context)
        return data unless data.is_a?(::String) && data.include?('%{')

        guard = (context && context[:recurse_guard]) || RecursiveGuard.new
        data.gsub(EXPRESSION) do
          value, method = resolve(Regexp.last_match(1), scope, extra_data || {}, (context || {}).merge(recurse_guard: guard))
          if method == 'alias' && !value.is_a?(::String)
            return value if WHOLE.match?(data)

            raise InterpolationInvalidValue, 'Cannot call alias in the string context'
          end
          value.to_s
        end
      end

      private

      def resolve(expression, scope, extra_data, context)
        return ['', nil] if NOTHING.include?(expression.strip)

        context[:recurse_guard].check(expression) do
          if (call = expression.match(/\A(\w+)\(([^)]*)\)\z/))
            method = call[1]
            raise InterpolationInvalidValue, "Invalid interpolation method '#{method}'" unless %w[hiera scope literal alias].include?(method)

            quoted = QUOTED_KEY.match(call[2])
            unless quoted
              raise InterpolationInvalidValue, "Argument to interpolation method '#{method}' must be quoted, got '#{call[2]}'"
            end
            key = quoted[1] || quoted[2]
          else
            method = 'scope'
            key = expression
          end
          return [key, method] if method == 'literal'

          value = method == 'scope' ? variable(key, scope, extra_data) : Backend.outer_lookup(key, context[:order_override])
          value = interpolate(value, scope, extra_data, context) if value.is_a?(::String)
          [value, method]
        end
      end

      def variable(key, scope, extra_data)
        segments = Util.split_key(key) { |problem| InterpolationInvalidValue.new("#{problem} in interpolation expression: %{#{key}}") }
        [scope, extra_data].each do |data|
          catch(:no_such_key) { return Backend.qualified_lookup(segments, data, key) }
        end
        nil
      end
    end
  end

  module Backend
    # A backend whose lookup takes four arguments returns nil for missing keys.
    class Backend1xWrapper
      def initialize(wrapped) = @wrapped = wrapped

      def lookup(key, scope, order_override, resolution_type, _context)
        Hiera.debug("Using Hiera 1.x backend API to access instance of class #{@wrapped.class.name}. " \
                    'Lookup recursion will not be detected')
        value = @wrapped.lookup(key, scope, order_override, resolution_type.is_a?(Hash) ? :hash : resolution_type)
        throw :no_such_key if value.nil?
        value
      end
    end

    class << self
      def datadir(backend, scope)
        settings = Config[backend.to_sym]
        dir = settings.is_a?(Hash) && settings[:datadir] ? settings[:datadir] : Util.var_dir
        raise InvalidConfigurationError, "datadir for #{backend} cannot be an array" unless dir.is_a?(::String)

        interpolate_config(dir, scope, nil)
      end

      def datafile(backend, scope, source, extension) = datafile_in(datadir(backend, scope), source, extension)

      def datafile_in(dir, source, extension)
        file = File.join(dir, "#{source}.#{extension}")
        return file if File.exist?(file)

        Hiera.debug("Cannot find datafile #{file}, skipping")
        nil
      end

      def datasources(scope, override = nil, hierarchy = nil)
        levels = [override, hierarchy || (Config.include?(:hierarchy) ? Config[:hierarchy] : 'common')].flatten.compact
        levels.map do |level|
          source = interpolate_config(level, scope, override)
          if source == '' || source.match?(%r{\A/|//|/\z})
            Hiera.debug("Ignoring bad definition in :hierarchy: '#{source}'")
          else
            yield source
          end
        end
      end

      def datasourcefiles(backend, scope, extension, override = nil, hierarchy = nil)
        dir = datadir(backend, scope)
        datasources(scope, override, hierarchy) do |source|
          Hiera.debug("Looking for data source #{source}")
          file = datafile_in(dir, source, extension)
          yield source, file if file
        end
      end

      def parse_string(data, scope, extra_data = {}, context = {}) = Interpolate.interpolate(data, scope, extra_data, context)

      def parse_answer(data, scope, extra_data = {}, context = {})
        case data
        when ::String then parse_string(data, scope, extra_data, context)
        when Hash
          data.to_h { |key, value| [parse_string(key, scope, extra_data, context), parse_answer(value, scope, extra_data, context)] }
        when Array then data.map { |item| parse_answer(item, scope, extra_data, context) }
        when Numeric, true, false then data
        end
      end

      def resolve_answer(answer, resolution_type)
        resolution_type == :array ? [answer].flatten.uniq.compact : answer
      end

      # With "deep", `left` has precedence; otherwise `right`.
      def merge_answer(left, right, resolution_type = nil)
        if resolution_type.is_a?(Hash)
          options = resolution_type.dup
          behavior = options.delete(:behavior)
        else
          behavior = Config[:merge_behavior]
          options = Config[:deep_merge_options] || {}
        end
        case behavior&.to_s
        when 'deeper' then left.replace(Bunraku.ask(:deep_merge, right, left, named(options)))
        when 'deep' then Bunraku.ask(:deep_merge, left, right, named(options))
        else left.merge(right)
        end
      end

      def qualified_lookup(segments, hash, full_key = nil)
        suffix = full_key.nil? ? '' : " from key '#{full_key}'"
        segments.reduce(hash) do |value, segment|
          throw :no_such_key if value.nil?
          if segment.is_a?(Integer) || segment.match?(/\A[0-9]+\z/)
            segment = segment.to_i
            unless value.instance_of?(Array)
              raise "Hiera type mismatch: Got #{value.class.name} when Array was expected to access value using '#{segment}'#{suffix}"
            end
            throw :no_such_key unless segment < value.size
          else
            if !value.respond_to?(:[]) || value.instance_of?(Array) || value.instance_of?(::String)
              raise "Hiera type mismatch: Got #{value.class.name} when a hash-like object was expected to access " \
                    "value using '#{segment}'#{suffix}"
            end
            throw :no_such_key unless value.include?(segment)
          end
          value[segment]
        end
      end

      # Runs a whole lookup, as %{hiera('key')} does.
      def lookup(key, default, _scope, order_override, _resolution_type, _context = {}) = outer_lookup(key, order_override, default)

      def outer_lookup(key, order_override, default = nil) = Bunraku.ask(:hiera3_lookup, key, order_override, default)

      def clear! = nil

      def interpolate_config(entry, scope, override)
        Interpolate.interpolate(entry, scope, {}, { is_interpolate_config: true, order_override: override })
      end

      private

      def named(options) = options.to_h { |name, value| [name.to_s, value.is_a?(Symbol) ? value.to_s : value] }
    end

    # Hiera's own two backends, for classes that derive from them.
    class Yaml_backend
      def initialize(cache = nil) = @cache = cache || Filecache.new
      def extension = 'yaml'
      def parse(text) = YAML.unsafe_load(text)

      def lookup(key, scope, order_override, resolution_type, context)
        answer = nil
        found = false
        Backend.datasourcefiles(extension.to_sym, scope, extension, order_override) do |_source, file|
          data = @cache.read_file(file, Hash) { |text| parse(text) || {} }
          next unless data.include?(key)

          found = true
          new_answer = Backend.parse_answer(data[key], scope, {}, context)
          case resolution_type.is_a?(Hash) ? :hash : resolution_type
          when :array then (answer ||= []) << new_answer
          when :hash then answer = Backend.merge_answer(new_answer, answer || {}, resolution_type)
          else break answer = new_answer
          end
        end
        throw :no_such_key unless found
        answer
      end
    end

    class Json_backend < Yaml_backend
      def extension = 'json'
      def parse(text) = JSON.parse(text)
    end
  end
end

module Bunraku
  # Answers one request to a backend: ["found", value], ["none"] or ["problem", text].
  module Hiera3
    class << self
      def lookup(request)
        config = symbols(request['config'])
        config = names(config) if request['version'] == 3
        ::Hiera::Config.add_values(config)
        ::Hiera.logger = ::Hiera::Config[:logger].to_s
        name = request['backend']
        Bunraku::Reads.used((@files ||= {})[name] ||= Bunraku.find_code("hiera/backend/#{name.downcase}_backend"))
        backend = (@backends ||= {})[name] ||= instance(name)
        return backend if backend.is_a?(Array)

        scope = Puppet::Parser::Scope.current
        scope = ::Hiera::Scope.new(scope) if request['version'] == 3
        answer = ['none']
        catch(:no_such_key) do
          answer = ['found', backend.lookup(request['key'], scope, request['override'], resolution(request['resolution']), { recurse_guard: nil })]
        end
        answer
      end

      private

      def instance(name)
        require "hiera/backend/#{name.downcase}_backend"
        made = ::Hiera::Backend.const_get("#{name.capitalize}_backend").new
        made.method(:lookup).arity == 4 ? ::Hiera::Backend::Backend1xWrapper.new(made) : made
      rescue LoadError => e
        ['problem', "Unable to load backend '#{name}': #{e.message}"]
      rescue NameError => e
        ['problem', "Unable to instantiate backend '#{name}': #{e.message}"]
      end

      def resolution(given)
        case given
        when Hash
          given.to_h { |name, value| [name.to_sym, name == 'behavior' ? value.to_sym : value] }
        when ::String then given.to_sym
        end
      end

      # Converts the keys of a version 3 file, and those of each backend, to symbols.
      def names(config)
        config.to_h do |key, value|
          value = value.transform_keys { |k| k.is_a?(::String) ? k.to_sym : k } if value.is_a?(Hash)
          [key.is_a?(::String) ? key.to_sym : key, value]
        end
      end

      # Hiera's configuration uses symbols; in hiera.yaml they begin with a colon.
      def symbols(value)
        case value
        when Hash then value.to_h { |key, item| [symbols(key), symbols(item)] }
        when Array then value.map { |item| symbols(item) }
        when ::String then value.match?(/\A:\w+\z/) ? value[1..].to_sym : value
        else value
        end
      end
    end
  end
end
