# frozen_string_literal: true
# The language in which Ruby resource types are written. This part suffices to load their files,
# describe their definitions and check values.

module Puppet
  class Parameter
    include Puppet::Util
    include Puppet::Util::Errors
    include Puppet::Util::Logging

    # One allowed value.
    class Value
      attr_reader :name, :aliases, :event
      attr_accessor :block, :method, :required_features, :invalidate_refreshes, :call

      def initialize(name)
        @name = name.is_a?(::Regexp) ? name : convert(name)
        @aliases = []
      end

      def alias(name) = @aliases << convert(name)

      def event=(value)
        @event = convert(value)
      end

      def regex? = @name.is_a?(::Regexp)
      def match?(value) = regex? ? @name.match?(value.to_s) : @name == convert(value) || @aliases.include?(convert(value))

      private

      def convert(value)
        case value
        when Symbol, '' then value
        when true then :true
        when false then :false
        else value.to_s.to_sym
        end
      end
    end

    class ValueCollection
      def initialize
        @values = {}
        @strings = []
        @regexes = []
      end

      def newvalue(name, options = {}, &block)
        value = Value.new(name)
        @values[value.name] = value
        (value.regex? ? @regexes : @strings) << value
        options.each { |k, v| value.send("#{k}=", v) if value.respond_to?("#{k}=") }
        if block
          value.block = block
          value.method ||= "set_#{value.name}" unless value.regex?
        end
        value
      end

      def newvalues(*names) = names.each { |n| newvalue(n) }
      def empty? = @values.empty?
      def match?(value) = @strings.find { |v| v.match?(value) } || @regexes.find { |v| v.match?(value) }
      def value(name) = @values[name]
      def values = @strings.map(&:name)
      def regexes = @regexes.map { |r| r.name.inspect }
      def all = @values.values

      def aliasvalue(name, other)
        value = match?(other.to_sym) or raise Puppet::DevError, "Cannot alias nonexistent value #{other}"
        value.alias(name)
      end

      def munge(value)
        found = empty? ? nil : match?(value)
        found && !found.regex? ? found.name : value
      end

      def validate(value)
        return if empty? || @values.any? { |_, v| v.match?(value) }

        text = "Invalid value #{value.inspect}."
        text += " Valid values are #{values.join(', ')}." unless values.empty?
        text += " Valid values match #{regexes.join(', ')}." unless regexes.empty?
        raise ArgumentError, text
      end

      def doc
        out = +''
        unless values.empty?
          listed = @strings.map do |v|
            v.aliases.empty? ? "`#{v.name}`" : "`#{v.name}` (also called `#{v.aliases.join(', ')}`)"
          end
          out << "Valid values are #{listed.join(', ')}. "
        end
        out << "Values can match `#{regexes.join('`, `')}`." unless regexes.empty?
        out
      end
    end

    class << self
      include Puppet::Util
      include Puppet::Util::Docs
      include Puppet::Util::Errors

      attr_reader :name, :required_features, :default
      attr_accessor :metaparam, :unmanaged, :boolean

      def value_collection = (@value_collection ||= ValueCollection.new)
      def initvars = (@value_collection = ValueCollection.new)

      def inherited(sub)
        super
        sub.initvars
      end

      def desc(text) = @doc = text
      attr_writer :doc, :name, :required

      def doc
        return @full_doc if @full_doc

        text = Puppet::Util::Docs.scrub(@doc.to_s).dup
        text << "\n\n#{value_collection.doc}"
        text << "\n\nRequires features #{required_features.flatten.map(&:to_s).join(' ')}." if required_features
        @full_doc = text
      end

      def defaultto(value = nil, &block)
        if block
          define_method(:default, &block)
          @default_text = nil
        else
          raise Puppet::DevError, 'Either a default value or block must be provided' if value.nil?

          define_method(:default) { value }
          @default_text = value.to_s
        end
      end
      attr_reader :default_text

      def nodefault
        undef_method(:default) if public_method_defined?(:default)
      end

      def sensitive(value = nil, &block) = block ? define_method(:is_sensitive, &block) : define_method(:is_sensitive) { value }
      def munge(&block) = define_method(:unsafe_munge, &block)
      def unmunge(&block) = define_method(:unsafe_unmunge, &block)
      def validate(&block) = define_method(:unsafe_validate, &block)
      def newvalues(*names) = value_collection.newvalues(*names)
      def aliasvalue(name, other) = value_collection.aliasvalue(name, other)
      def isnamevar = @isnamevar = @required = true
      def isnamevar? = @isnamevar
      def isrequired = @required = true
      def required? = @required
      def required_features=(*list)
        @required_features = list.flatten.map { |f| f.to_s.downcase.to_sym }
      end
      def proxymethods(*names) = names.each { |n| define_method(n) { self.class.send(n) } }
    end

    class << self
      # Formats like the native types: hashes on several lines, and nested collections in arrays on
      # separate lines.
      def format_value_for_display(value, depth = 0)
        case value
        when ::String, Symbol then quoted(value.to_s)
        when ::Array then "[#{displayed_items(value, depth)}]"
        when ::Hash then "{#{displayed_pairs(value, depth)}\n#{'  ' * depth}}"
        when nil then ''
        else value.to_s
        end
      end

      private

      def displayed_items(list, depth)
        list.each_with_index.map do |one, i|
          before = if one.is_a?(::Array) || one.is_a?(::Hash) then "\n#{'  ' * (depth + 1)}"
                   else i.zero? ? '' : ' '
                   end
          before + format_value_for_display(one, depth + 1)
        end.join(',')
      end

      def displayed_pairs(pairs, depth)
        return "\n" if pairs.empty?

        pairs.map do |key, value|
          "\n#{'  ' * (depth + 1)}#{format_value_for_display(key)} => #{format_value_for_display(value, depth + 1)}"
        end.join(',')
      end
    end

    # Quotes a string like the language: in double quotes if it contains control characters.
    def self.quoted(text)
      return "'#{text.gsub("'", "\\\\'")}'" unless text.match?(/[\x00-\x1f]/)

      escaped = text.gsub(/[\x00-\x1f"\\$]/) do |c|
        { "\t" => '\t', "\n" => '\n', "\r" => '\r', '"' => '\"', '\\' => '\\\\', '$' => '\$' }.fetch(c) { Kernel.format('\u{%X}', c.ord) }
      end
      "\"#{escaped}\""
    end

    attr_accessor :resource, :parent, :sensitive, :noop

    def initialize(resource: nil, value: nil, should: nil)
      @resource = resource
      self.value = value unless value.nil?
      self.should = should unless should.nil?
    end

    def name = self.class.name
    def metaparam? = self.class.metaparam
    def isnamevar? = self.class.isnamevar?
    def required? = self.class.required?
    def unsafe_munge(value) = self.class.value_collection.munge(value)
    def unsafe_unmunge(value) = value
    def unmunge(value) = unsafe_unmunge(value)
    def unsafe_validate(value) = self.class.value_collection.validate(value)
    def provider = @resource.provider
    def path = "/#{name}"
    def to_s = name.to_s
    def line = nil
    def file = nil
    def log(message) = Bunraku.logged(:notice, message)
    def remove = @resource = nil
    def tags = Puppet::Util::TagSet.new([name.to_s])

    def munge(value)
      unsafe_munge(value)
    rescue Puppet::Error
      raise
    rescue StandardError => e
      raise Puppet::DevError, "Munging failed for value #{value.inspect} in class #{name}: #{e}", e.backtrace
    end

    def validate(value)
      unsafe_validate(value)
    rescue ArgumentError => e
      fail Puppet::Error, e.to_s
    rescue Puppet::Error, TypeError
      raise
    rescue StandardError => e
      raise Puppet::DevError, "Validate method failed for class #{name}: #{e}", e.backtrace
    end

    def value
      @value.nil? ? nil : unmunge(@value)
    end

    def value=(value)
      validate(value)
      @value = munge(value)
    end
  end

  class Property < Parameter
    class << self
      attr_accessor :unmanaged
      attr_writer :array_matching, :retrieve, :invalidate_refreshes

      def array_matching = (@array_matching ||= :first)
      def newvalue(name, options = {}, &block)
        value = value_collection.newvalue(name, options, &block)
        define_method(value.method, &value.block) if value.method && value.block
        value
      end
      def value_name(name) = value_collection.match?(name)&.name
      def value_option(name, option) = value_collection.value(name)&.send(option)
      def method_added(name)
        super
        raise ArgumentError, 'insync? cannot be overridden' if name == :never_insync?
      end
    end

    attr_reader :shouldorig

    def array_matching = self.class.array_matching
    def match_all? = self.class.array_matching == :all

    def should
      return nil unless defined?(@should) && @should

      match_all? ? @should.map { |v| unmunge(v) } : unmunge(@should[0])
    end

    def should=(values)
      values = [values] unless values.is_a?(::Array)
      @shouldorig = values
      values.each { |v| validate(v) }
      @should = values.map { |v| munge(v) }
    end
    alias value should
    alias value= should=

    def insync?(is) = property_matches?(is, should)
    alias safe_insync? insync?
    def property_matches?(current, desired) = current == desired || current == desired.to_s
    def is_to_s(value) = value.inspect
    def should_to_s(value) = value.inspect
    def change_to_s(current, desired) = "#{name} changed #{is_to_s(current)} to #{should_to_s(desired)}"
    def retrieve = provider.send(name)
    def set(value) = provider.send("#{name}=", value)
    def sync = set(should)
    def insync_values?(*) = true

    # The event that reports a change of this property.
    def event(options = {})
      Puppet::Transaction::Event.new(name: respond_to?(:event_name) ? event_name : :"#{name}_changed", desired_value: should,
                                     property: self, source_description: path, **options)
    end

    def noop = false
    def self.inherited(sub)
      super
      sub.array_matching = array_matching if instance_variable_defined?(:@array_matching)
    end

    class Ensure < Property
      @name = :ensure

      def self.defaultvalues
        newvalue(:present) { provider.respond_to?(:create) ? provider.create : @resource.create }
        newvalue(:absent) { provider.respond_to?(:destroy) ? provider.destroy : @resource.destroy }
        defaultto { @resource.managed? ? :present : nil }
        @doc ||= 'The basic property that the resource should be in.'
      end

      def retrieve
        found = provider.respond_to?(:exists?) ? provider.exists? : @resource.exists?
        found ? :present : :absent
      end
      defaultto { @resource.managed? ? :present : nil }
    end

    class Boolean < Property
      def self.initvars
        super
        value_collection.newvalues(*Puppet::Coercion.boolean_values)
      end

      def unsafe_munge(value) = Puppet::Coercion.boolean(value)
    end

    class List < Property
      def is_to_s(value) = value == :absent ? super : "'#{value.join(delimiter)}'"
      def should_to_s(value) = is_to_s(value)
      def membership = :membership
      def delimiter = ','
      def add_should_with_current(should, current) = should + (current.is_a?(::Array) ? current : [])
      def inclusive? = @resource[membership] == :inclusive
      def dearrayify(array) = array.sort.join(delimiter)
      def should = @should ? dearrayify(@should) : nil
      def prepare_is_for_comparison(is) = is.nil? || is == :absent ? [] : is
      def retrieve = provider.send(name)
    end

    class OrderedList < List
      def dearrayify(array) = array.join(delimiter)
    end

    class KeyValue < Property
      class << self
        attr_accessor :log_only_changed_or_new_keys
      end

      def hash_to_key_value_s(hash) = hash.map { |*kv| kv.join(separator) }.join(delimiter)
      def should_to_s(value) = hash_to_key_value_s(value)
      def is_to_s(value) = hash_to_key_value_s(value)
      def membership = :key_value_membership
      def inclusive? = @resource[membership] == :inclusive
      def delimiter = ';'
      def separator = '='
      def should = @should ? @should.to_h { |v| v.is_a?(::Hash) ? v.first : v.split(separator) } : nil
    end
  end

  module Coercion
    module_function

    def boolean_values = %w[true false yes no]

    def boolean(value)
      value = value.downcase.to_sym if value.is_a?(::String)
      case value
      when true, :true, :yes then true
      when false, :false, :no then false
      else fail('expected a boolean value')
      end
    end
  end

  class Parameter
    class Boolean < Parameter
      def self.initvars
        super
        value_collection.newvalues(*Puppet::Coercion.boolean_values)
      end

      def unsafe_munge(value) = Puppet::Coercion.boolean(value)
    end

    class Path < Parameter
      class << self
        def accept_arrays(flag = true) = @accept_arrays = flag
        def arrays? = @accept_arrays
      end

      def validate_path(paths)
        raise "#{name} only accepts a single path, not an array of paths" if paths.is_a?(::Array) && !self.class.arrays?

        return true if Array(paths).all? { |p| Puppet::Util.absolute_path?(p) }

        raise "#{name} must be a fully qualified path"
      rescue RuntimeError => e
        raise ArgumentError, e.message
      end

      def unsafe_validate(paths) = validate_path(paths)
    end

    class PackageOptions < Parameter
      def unsafe_munge(values)
        (values.is_a?(::Array) ? values : [values]).map do |value|
          case value
          when ::Hash then value.to_h { |k, v| [quote(k), quote(v)] }
          when ::String then quote(value)
          else fail('Expected either a string or hash of options')
          end
        end
      end

      def quote(value) = value.include?(' ') ? %("#{value.gsub('"', '\"')}") : value
    end
  end

  module CompilableResourceType
    def is_3x_ruby_plugin? = true
  end

  class Provider
    include Puppet::Util
    include Puppet::Util::Errors
    include Puppet::Util::Logging
    extend Puppet::Util::Docs
    extend Puppet::Util::Errors
    extend Puppet::Util::Logging

    class << self
      attr_accessor :name, :resource_type
      attr_writer :doc

      def commands(hash) = hash.each { |n, _| make_command(n) }
      def optional_commands(hash) = commands(hash)
      def has_command(name, *) = make_command(name)

      def make_command(name)
        define_singleton_method(name) { |*args| Puppet::Util::Execution.execute([name.to_s, *args]) }
        define_method(name) { |*args| self.class.send(name, *args) }
      end

      def command(name) = name.to_s
      def confine(*) = nil
      def confine_collection = []
      def defaultfor(*) = nil
      def notdefaultfor(*) = nil
      def default? = false
      def suitable?(*) = true
      def specificity = 0
      def has_feature(*names) = (@features ||= []).concat(names)
      alias has_features has_feature
      def declared_feature?(name) = (@features || []).include?(name)
      def feature?(name) = declared_feature?(name)
      alias features feature?
      def satisfies?(*) = true
      def mk_resource_methods = nil
      def instances = []
      def prefetch(*) = nil
      def post_resource_eval = nil
      def initvars = nil
      def desc(text) = @doc = text
      def text_line(*) = nil
      def record_line(*) = nil
      def default_target = nil
      def execute(*args) = Puppet::Util::Execution.execute(*args)
      def which(name) = Puppet::Util.which(name)
      def to_s = "Puppet::Type::#{resource_type}::Provider#{name}"
      def method_missing(name, *) = name.to_s.end_with?('=') ? nil : super
    end

    attr_accessor :resource, :property_hash

    def initialize(resource = nil)
      @resource = resource
      @property_hash = resource.is_a?(::Hash) ? resource.dup : {}
    end

    def name = @property_hash[:name] || @resource&.name
    def get(param) = @property_hash[param.to_sym] || :absent
    def set(params) = params.each { |k, v| @property_hash[k.to_sym] = v }
    def execute(*args) = Puppet::Util::Execution.execute(*args)
    def flush = nil

    class ParsedFile < Provider
      class << self
        attr_accessor :default_target, :target
      end
    end

    class Confine; end
    class NameService < Provider; end
    class Package < Provider; end
  end

  class Type
    include Puppet::Util
    include Puppet::Util::Errors
    include Puppet::Util::Logging
    include Puppet::CompilableResourceType
    extend Puppet::CompilableResourceType
    extend Puppet::Util
    extend Puppet::Util::Errors
    extend Puppet::Util::Logging
    extend Puppet::Util::Docs

    @types = {}
    METAPARAMS = %i[noop schedule audit loglevel alias tag require subscribe before notify stage].freeze

    class << self
      attr_accessor :name, :providerloader
      attr_writer :apply_to
      attr_reader :providers_hash

      def apply_to = @apply_to || :host
      def features = @features.keys

      # ---- all types ----

      def newtype(name, options = {}, &block)
        name = name.to_sym
        klass = ::Class.new(Puppet::Type)
        klass.name = name
        klass.init_type
        constant = name.to_s.capitalize.gsub(/[^A-Za-z0-9_]/, '_')
        Puppet::Type.send(:remove_const, constant) if Puppet::Type.const_defined?(constant, false)
        Puppet::Type.const_set(constant, klass)
        Puppet::Type.registry[name] = klass
        options.each { |k, v| klass.send("#{k}=", v) if klass.respond_to?("#{k}=") }
        klass.class_eval(&block) if block
        klass.ensurable if klass.ensurable? && !klass.validproperty?(:ensure)
        klass.find_providers
        klass
      end

      def registry = Puppet::Type.instance_variable_get(:@types)
      def rmtype(name) = registry.delete(name)
      def loadall = nil
      def eachtype(&block) = registry.each_value(&block)

      def type(name)
        return nil if name.to_s.include?(':')

        name = name.to_s.downcase.to_sym
        Bunraku::Reads.used(Bunraku::Types.files[name])
        Bunraku::Reads.note('host', "the provider of #{name}") if %i[package service].include?(name)
        return registry[name] if registry.key?(name)

        path = Bunraku.find_code("puppet/type/#{name}")
        if path
          Bunraku::Types.files[name] = path
          ::Kernel.load(path)
        end
        registry[name] ||= Bunraku::Types.native(name)
      end

      def const_missing(name)
        found = type(name.to_s.downcase) if self == Puppet::Type
        found || super
      end

      # Handles calls such as Puppet::Type.newfile(..), which exist for every type.
      def method_missing(name, *args)
        kind = name.to_s[/\Anew(\w+)\z/, 1]
        klass = kind && (self.name.to_s == kind ? self : type(kind))
        klass ? klass.new(*args) : super
      end

      def respond_to_missing?(name, all = false) = name.to_s.match?(/\Anew\w+\z/) || super

      # ---- one type ----

      def init_type
        @properties = []
        @parameters = []
        @paramhash = {}
        @validproperties = {}
        @providers_hash = {}
        @features = {}
        @defaults = {}
        @autos = {}
        @isomorphic = true
      end

      def inherited(sub)
        super
        sub.init_type
      end

      def newparam(name, options = {}, &block)
        param = make(options[:parent] || Puppet::Parameter, name, options[:attributes] || {}, "Parameter#{name.to_s.capitalize}", &block)
        @parameters << param
        @paramhash[param.name] = param
        param.required_features = options[:required_features] if options[:required_features]
        param.isnamevar if options[:namevar]
        if options[:boolean]
          param.boolean = true
          define_method("#{name}?") { [:true, true].include?(self[name]) ? true : nil }
        end
        param
      end

      def newproperty(name, options = {}, &block)
        raise Puppet::DevError, "Options must be a hash, not #{options.inspect}" unless options.is_a?(::Hash)

        name = name.to_sym
        raise Puppet::DevError, "::Class #{self.name} already has a property named #{name}" if @validproperties.key?(name)

        parent = options[:parent] || Puppet::Property
        property = make(parent, name, options.reject { |k, _| k == :parent }, name.to_s.capitalize, &block)
        name == :ensure ? @properties.unshift(property) : @properties << property
        @validproperties[name] = property
      end

      def newmetaparam(name, options = {}, &block)
        param = make(options[:parent] || Puppet::Parameter, name, options[:attributes] || {}, "MetaParam#{name}", &block)
        param.metaparam = true
        (@metaparams ||= []) << param
        param
      end

      def make(parent, name, attributes, constant, &block)
        klass = ::Class.new(parent)
        klass.name = name.to_sym
        constant = constant.gsub(/[^A-Za-z0-9_]/, '_')
        remove_const(constant) if constant.match?(/\A[A-Z]/) && const_defined?(constant, false)
        const_set(constant, klass) if constant.match?(/\A[A-Z]/)
        attributes.each { |k, v| klass.send("#{k}=", v) if klass.respond_to?("#{k}=") }
        klass.class_eval(&block) if block
        klass
      end
      private :make

      def ensurable(&block)
        if block
          newproperty(:ensure, parent: Puppet::Property::Ensure, &block)
        else
          newproperty(:ensure, parent: Puppet::Property::Ensure) { defaultvalues }
        end
      end

      def ensurable? = %i[exists? create destroy].all? { |m| public_method_defined?(m) }

      def validate(&block) = define_method(:unsafe_validate, &block)
      def feature(name, docs, options = {}) = @features[name.to_sym] = [docs, options]
      def feature_module = (@feature_module ||= ::Module.new)
      def provider_feature(name) = @features[name]
      %w[require subscribe before notify].each do |kind|
        define_method(:"auto#{kind}") { |type, &block| (@autos[kind] ||= {})[type.to_sym] = block }
      end
      def eachautorequire = (@autos['require'] || {}).each { |k, v| yield(k, v) }
      def apply_to_device = @apply_to = :device
      def apply_to_host = @apply_to = :host
      def apply_to_all = @apply_to = :both
      def can_apply_to(_target) = true
      def isomorphic? = @isomorphic != false
      attr_writer :isomorphic
      def self_refresh? = @self_refresh
      attr_accessor :self_refresh
      def desc(text) = @doc = text
      attr_writer :doc
      def doc = Puppet::Util::Docs.scrub(@doc.to_s)
      def to_s = name ? "Puppet::Type::#{name.to_s.capitalize}" : super
      def metaparams = METAPARAMS
      def metaparam?(name) = METAPARAMS.include?(name.to_sym)
      def metaparamclass(_name) = Puppet::Parameter
      def eachmetaparam(&block) = METAPARAMS.each(&block)
      def properties = @properties
      def parameters = @parameters.map(&:name)
      def paramclass(name) = @paramhash[name.to_sym]
      def propertybyname(name) = @validproperties[name.to_sym]
      alias validproperty propertybyname
      def validproperties = @properties.map(&:name)
      def validproperty?(name) = @validproperties[name.to_sym] || false
      def validparameter?(name) = @paramhash.key?(name.to_sym) || METAPARAMS.include?(name.to_sym)
      def valid_parameter?(name) = validattr?(name)
      def validattr?(name) = name.to_sym == :name || validproperty?(name) || validparameter?(name) || metaparam?(name)
      def attrclass(name) = @validproperties[name.to_sym] || @paramhash[name.to_sym]
      def allattrs = key_attributes | (parameters & [:provider]) | @properties.map(&:name) | parameters | METAPARAMS
      def attrtype(name)
        name = name.to_sym
        if @validproperties.key?(name) then :property
        elsif @paramhash.key?(name) then :param
        elsif METAPARAMS.include?(name) then :meta
        end
      end
      def key_attribute_parameters = @parameters.select { |p| p.isnamevar? || p.name == :name }
      def key_attributes = key_attribute_parameters.map(&:name)

      def title_patterns
        case key_attributes.length
        when 0 then []
        when 1 then [[/(.*)/m, [[key_attributes.first]]]]
        else raise Puppet::DevError, 'you must specify title patterns when there are two or more key attributes'
        end
      end

      def hash2resource(hash)
        hash = hash.transform_keys(&:to_sym)
        title = hash.delete(:title) || hash[:name] || hash[key_attributes.first]
        Puppet::Resource.new(name.to_s, title, parameters: hash)
      end
      def instances = []
      def metaparamdoc(_name) = ''
      def relationship_params = @relationship_params ||= %i[require subscribe before notify].map { |n| ::Class.new(Puppet::Parameter) { @name = n } }
      def validate_features = nil
      def newstate(*) = nil
      def address(*) = nil

      # ---- providers ----

      def find_providers
        Bunraku::Reads.note('feature', "puppet/provider/#{name}/*")
        Bunraku.load_path.each do |dir|
          found = Bunraku::Reads.quiet { ::Dir.glob("#{dir}/puppet/provider/#{name}/*.rb") }
          found.sort.each { |path| @providers_hash[::File.basename(path, '.rb').to_sym] ||= path }
        end
        providify unless @providers_hash.empty?
      end

      def providers = @providers_hash.keys
      def suitableprovider = []
      def defaultprovider = nil
      def provider_hash = @providers_hash

      def provider(name)
        found = @providers_hash[name.to_sym]
        if found.is_a?(::String)
          @providers_hash.delete(name.to_sym)
          ::Kernel.load(found)
          found = @providers_hash[name.to_sym]
        end
        found.is_a?(::Class) ? found : nil
      end

      def provide(name, options = {}, &block)
        name = name.to_sym
        parent = options[:parent]
        parent = parent.is_a?(::Class) ? parent : (parent && provider(parent)) || Puppet::Provider
        klass = ::Class.new(parent)
        klass.name = name
        klass.resource_type = options[:resource_type] || self
        @providers_hash[name] = klass
        providify
        constant = "Provider#{name.to_s.capitalize.gsub(/[^A-Za-z0-9_]/, '_')}"
        remove_const(constant) if const_defined?(constant, false)
        const_set(constant, klass)
        options.each { |k, v| klass.send("#{k}=", v) if k != :parent && k != :resource_type && klass.respond_to?("#{k}=") }
        klass.class_eval(&block) if block
        klass
      end

      def unprovide(name) = @providers_hash.delete(name.to_sym)

      def providify
        return if @paramhash.key?(:provider)

        names = providers.map(&:to_s).sort
        type_name = name.to_s
        newparam(:provider) do
          desc "The specific backend to use for this `#{type_name}` resource. You will seldom need to specify this --- " \
               "Puppet will usually discover the appropriate provider for your platform.Available providers are:\n\n#{names.join("\n")}"
          validate { |_| nil }
        end
      end
    end

    attr_reader :original_parameters, :title
    attr_accessor :catalog, :file, :line, :tags, :noop

    def initialize(resource = {})
      resource = { title: resource } if resource.is_a?(::String)
      hash = resource.is_a?(::Hash) ? resource.transform_keys(&:to_sym) : resource.to_hash.merge(title: resource.title)
      @title = hash.delete(:title) || hash[:name] || hash[self.class.key_attributes.first] || hash[:path] || hash[:command]
      raise Puppet::Error, 'Title or name must be provided' if @title.nil?

      @parameters = {}
      @original_parameters = hash.dup
      @provider = Puppet::Provider.new(self)
      from_title(@title.to_s).each { |k, v| hash[k] = v unless hash.key?(k) || v.nil? }
      order = self.class.key_attributes + [:provider] + hash.keys
      order.uniq.each { |k| self[k] = hash[k] if hash.key?(k) && !hash[k].nil? && !METAPARAMS.include?(k) }
      set_defaults
      validate if respond_to?(:validate)
    end

    def from_title(title)
      self.class.title_patterns.each do |regexp, list|
        captures = regexp.match(title) or next

        return list.zip(captures[1..]).to_h { |(name, code), text| [name, code ? code.call(text) : text] }
      end
      raise Puppet::Error, "No set of title patterns matched the title \"#{title}\"."
    end

    def set_defaults
      (self.class.parameters + self.class.validproperties).each do |name|
        klass = self.class.attrclass(name)
        next if @parameters.key?(name) || !klass.method_defined?(:default)

        value = klass.new(resource: self).default
        self[name] = value unless value.nil?
      end
    end

    def validate
      unsafe_validate if respond_to?(:unsafe_validate)
    rescue Puppet::Error, ArgumentError => e
      raise Puppet::ResourceError, "Validation of #{ref} failed: #{e.respond_to?(:bare) ? e.bare : e.message}"
    end

    def [](name)
      name = name.to_sym
      name = self.class.key_attributes.first if name == :name && !self.class.validattr_own?(:name)
      @parameters[name]&.value
    end

    def []=(name, value)
      name = name.to_sym
      name = self.class.key_attributes.first if name == :name && !self.class.validattr_own?(:name)
      klass = self.class.attrclass(name)
      return if METAPARAMS.include?(name) && klass.nil?
      raise Puppet::Error, "no parameter named '#{name}'" unless klass
      raise Puppet::Error, "Got nil value for #{name}" if value.nil?

      param = (@parameters[name] ||= klass.new(resource: self))
      begin
        param.value = value
      rescue Puppet::Error, ArgumentError => e
        raise Puppet::ResourceError, "Parameter #{name} failed on #{ref}: #{e.respond_to?(:bare) ? e.bare : e.message}"
      end
    end

    def self.validattr_own?(name) = !attrclass(name).nil?

    def name = self[:name] || @title
    def type = self.class.name
    def ref = "#{type.to_s.capitalize}[#{@title}]"
    alias to_s ref
    def parameter(name) = @parameters[name.to_sym]
    def parameters = @parameters.values
    def property(name) = @parameters[name.to_sym]
    def properties = @parameters.values.grep(Puppet::Property)
    def newattr(name) = self.class.attrclass(name)&.new(resource: self)
    def should(name) = @parameters[name.to_sym]&.then { |p| p.respond_to?(:should) ? p.should : p.value }
    def value(name) = self[name]
    def set?(name) = @parameters.key?(name.to_sym)
    def delete(name) = @parameters.delete(name.to_sym)
    def provider = @provider
    def provider=(value)
      @provider_name = value
    end
    def managed? = true
    def managed=(value)
      @managed = value
    end
    def noop? = false
    def uniqueness_key = self.class.key_attributes.sort_by(&:to_s).map { |n| self[n] }
    def to_hash = @parameters.transform_values(&:value)
    def log(message) = Bunraku.logged(:notice, message)
    def exists? = true
    def retrieve = {}
    def retrieve_resource = nil
    def isomorphic? = self.class.isomorphic?
    def builddepends = []
    def autorequire(*) = []
    def finish = nil
    def flush = nil
    def path = "/#{ref}"
    def pathbuilder = [ref]
    def stage = nil
    def eachproperty(&block) = properties.each(&block)
    def newchild(*) = nil
    def depthfirst? = false
    def suitable? = true
    def merge_tags_from(*) = nil
    def deprecate_params(*) = nil
  end

  Parameter::Value
end

module Bunraku
  module Types
    class << self
      # Creates a stand-in for a type that is native to Bunraku, because modules examine it and
      # inherit from its parts.
      def native(name)
        if fact_type?(name)
          Bunraku.part('facts_types')
          return native(name)
        end
        return nil unless Bunraku.ask(:is_builtin_type, name.to_s) || NATIVE.include?(name.to_s)

        klass = ::Class.new(Puppet::Type)
        klass.name = name
        klass.init_type
        klass.newparam(:name) { isnamevar }
        provider = Reads.quiet { default_provider(name.to_s) }
        klass.newparam(:provider) { defaultto(provider) } if provider
        klass.define_singleton_method(:const_missing) { |part| Types.native_part(name.to_s, part) }
        klass.define_singleton_method(:attrclass) { |attribute| super(attribute) || ::Class.new(Puppet::Property) }
        klass.define_singleton_method(:validattr?) { |_| true }
        constant = name.to_s.capitalize
        Puppet::Type.const_set(constant, klass) unless Puppet::Type.const_defined?(constant, false)
        klass
      end

      # Reports whether facts_types must be run before this type can be created.
      def fact_type?(name)
        !defined?(FactTypes) && FACT_TYPES.include?(name.to_s) && defined?(::Facter) && ::Facter.running?
      end

      # Creates the classes that types of modules inherit from (concat_file from File::Mode).
      def native_part(type, part)
        made = ::Class.new(Puppet::Property)
        return made unless type == 'file' && part == :Mode

        made.class_eval do
          include Puppet::Util::SymbolicFileMode
          validate do |value|
            raise Puppet::Error, "The file mode specification must be a string, not '#{value.class.name}'" unless value.is_a?(::String)
            raise Puppet::Error, "The file mode specification is invalid: #{value.inspect}" unless valid_symbolic_mode?(value)
          end
        end
        made
      end

      # Returns the provider that Puppet would select on this machine, for the types that facts
      # report.
      def default_provider(name)
        has = ->(path) { ::File.exist?(path) }
        case name
        when 'service'
          if has.call('/proc/1/comm') && ::File.read('/proc/1/comm').include?('systemd') then :systemd
          elsif has.call('/sbin/openrc-run') then :openrc
          else has.call('/etc/debian_version') ? :debian : :init
          end
        when 'package'
          { '/usr/bin/apt-get' => :apt, '/usr/bin/dnf' => :dnf, '/usr/bin/yum' => :yum, '/usr/bin/zypper' => :zypper,
            '/usr/bin/pacman' => :pacman, '/sbin/apk' => :apk }.find { |path, _| has.call(path) }&.last || :gem
        end
      end

      # Types whose providers custom facts may use.
      FACT_TYPES = %w[service package user group].freeze
      NATIVE = %w[file exec package service user group cron host mount notify tidy resources schedule filebucket
                  augeas sshkey ssh_authorized_key mailalias stage whit component].freeze

      def load_file(file, name)
        symbol = name.to_sym
        if Puppet::Type.registry.key?(symbol) && files[symbol] == file
          Reads.used(file)
        else
          ::Kernel.load(file)
        end
        type = Puppet::Type.registry[symbol]
        raise Puppet::Error, "Custom type '#{name}' was not defined in '#{file}'." unless type

        files[symbol] = file
        type
      end

      # The file of each type.
      def files = (@files ||= {})

      def describe_file(file, name)
        described, reads = Reads.collect { describe_type(load_file(file, name), file, name) }
        described.merge('reads' => reads)
      end

      def describe_type(type, file, name)
        attributes = type.properties.map { |p| describe(p, 'property') }
        attributes += type.parameters.map { |n| describe(type.paramclass(n), 'parameter') }
        { 'name' => name, 'doc' => type.doc.strip, 'file' => file, 'attributes' => attributes,
          'title_patterns' => patterns(type), 'isomorphic' => type.isomorphic?, 'capability' => false,
          'providers' => type.providers.map(&:to_s).sort }
      end

      def describe(attribute, kind)
        values = attribute.value_collection.all.reject(&:regex?).map { |v| [v.name, *v.aliases].join('=') }
        patterns = attribute.value_collection.all.select(&:regex?).map { |v| v.name.inspect }
        { 'name' => attribute.name.to_s, 'kind' => kind, 'namevar' => attribute.isnamevar? ? true : false, 'doc' => attribute.doc.strip,
          'values' => values, 'patterns' => patterns,
          'array_matching_all' => attribute.respond_to?(:array_matching) && attribute.array_matching == :all,
          'validates' => attribute.instance_method(:unsafe_validate).owner != Puppet::Parameter ||
            attribute.instance_method(:unsafe_munge).owner != Puppet::Parameter,
          'read_only' => attribute.respond_to?(:read_only?),
          'feature' => attribute.required_features&.join(' '), 'default' => attribute.default_text }
      end

      def patterns(type)
        type.title_patterns.map do |regexp, list|
          identity = list.all? { |_, code| code.nil? || probe(code) }
          { 'regexp' => regexp.source, 'options' => regexp.options & 7, 'attributes' => list.map { |n, _| n.to_s },
            'procs' => list.any? { |entry| entry.size > 1 }, 'transforms' => !identity }
        end
      end

      # Reports whether the proc of a title pattern returns its argument, as most do.
      def probe(code)
        ['Some text', 'x/', ''].all? { |text| code.call(text) == text }
      rescue StandardError
        false
      end

      def parse_title(file, name, title)
        type = load_file(file, name)
        type.title_patterns.each do |regexp, list|
          captures = regexp.match(title) or next

          return list.zip(captures[1..]).to_h { |(attribute, code), text| [attribute.to_s, code ? code.call(text) : text] }
        end
        nil
      end

      def check(type, title, parameters)
        klass = Puppet::Type.type(type) or raise Puppet::Error, "Unknown resource type: '#{type}'"
        klass.new(parameters.merge('title' => title)).to_hash.transform_keys(&:to_s)
      end
    end
  end
end
