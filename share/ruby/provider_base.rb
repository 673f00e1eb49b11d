# frozen_string_literal: true
# Extends providers for provider_host: their suitability, their features and the commands they run.

module Puppet
  # A condition for the suitability of a provider.
  class Confine
    attr_reader :values, :kind
    attr_accessor :for_binary, :name

    def initialize(kind, values)
      @kind = kind
      @values = values.is_a?(::Array) ? values : [values]
    end

    def valid?
      case @kind
      when :exists then @values.all? { |v| v && (@for_binary ? Puppet::Util.which(v.to_s) : ::File.exist?(v.to_s)) }
      when :true then @values.all? { |v| called(v) }
      when :false then @values.none? { |v| called(v) }
      when :feature then @values.all? { |v| Puppet.features.send("#{v}?") }
      when :any then @values.any? { |v| called(v) }
      else fact?
      end
    end

    private

    def called(value) = value.respond_to?(:call) ? value.call : value

    def fact?
      found = Puppet.settings.valid?(@kind) ? Puppet[@kind] : Facter.value(@kind.to_s)
      Confine.matches?(found, @values)
    end

    def self.matches?(found, values)
      text = found.to_s.downcase
      return false if text.empty?

      Array(values).any? { |v| v.is_a?(::Regexp) ? text.match?(v) || found.to_s.match?(v) : text == v.to_s.downcase }
    end
  end

  class Provider
    extend Puppet::Util

    %i[prefetch post_resource_eval instances method_missing].each { |m| singleton_class.send(:remove_method, m) if singleton_class.method_defined?(m, false) }
    remove_method :flush if method_defined?(:flush, false)

    class << self
      def initvars
        @defaults = []
        @notdefaults = []
        @commands = {}
        @confines = []
      end

      def inherited(sub)
        super
        sub.initvars
      end

      def confines = (@confines ||= [])
      def own_commands = (@commands ||= {})

      def commands(hash) = hash.each { |name, path| has_command(name, path) }
      def optional_commands(hash) = hash.each { |name, path| has_command(name, path) { is_optional } }

      # The options in the block of has_command.
      class CommandOptions
        attr_reader :optional, :environment_variables

        def is_optional = @optional = true
        def environment(variables) = @environment_variables = variables
      end

      def has_command(name, path, &block)
        name = name.to_sym
        options = CommandOptions.new
        options.instance_eval(&block) if block
        own_commands[name] = path
        confine({ exists: path, for_binary: true }) unless options.optional
        run = lambda do |args|
          resolved = Puppet::Util.which(path.to_s) or raise Puppet::MissingCommand, "Command #{name} is missing"
          Puppet::Util::Execution.execute([resolved, *args.flatten], failonfail: true, combine: true,
                                          custom_environment: options.environment_variables || {})
        end
        singleton_class.send(:remove_method, name) if singleton_class.method_defined?(name, false)
        define_singleton_method(name) { |*args| run.call(args) }
        # A method of a base class (NameService#delete) is not replaced.
        own = method_defined?(name) && instance_method(name).owner <= Puppet::Provider && instance_method(name).owner != self
        define_method(name) { |*args| self.class.send(name, *args) } unless own
      end

      # Returns the path of a command's program; nil if there is none.
      def command(name)
        found = self
        found = found.superclass until found == Provider || found.own_commands.key?(name.to_sym)
        path = found.own_commands[name.to_sym] if found.respond_to?(:own_commands)
        raise Puppet::DevError, "No command #{name} defined for provider #{self.name}" unless path

        Puppet::Util.which(path.to_s)
      end

      def confine(hash = nil, &block)
        if hash.nil? || block
          confines << Puppet::Confine.new(:true, block) if block
          return
        end
        binary = hash.delete(:for_binary)
        hash.each do |kind, values|
          made = Puppet::Confine.new(kind.to_sym, values)
          made.for_binary = binary
          confines << made
        end
      end

      # Confines belong to one class; those of a parent do not count.
      def suitable?(*) = confines.all?(&:valid?)
      def confine_collection = confines

      def defaultfor(*hashes) = (@defaults ||= []).concat(hashes)
      def notdefaultfor(*hashes) = (@notdefaults ||= []).concat(hashes)
      def default? = default_match ? true : false

      def default_match
        return nil if some_match(@notdefaults || [])

        some_match(@defaults || [])
      end

      def some_match(defaults)
        defaults.find { |hash| hash.all? { |key, values| key == :feature ? feature_match(values) : fact_match(key, values) } }
      end
      alias some_default_match some_match

      def fact_match(fact, values) = Puppet::Confine.matches?(Facter.value(fact.to_s), values)
      def feature_match(values) = Array(values).all? { |v| Puppet.features.send("#{v}?") }

      def specificity
        match = default_match
        ((match ? match.length : 0) * 100) + ancestors.grep(::Class).length
      end

      def has_feature(*names) = (@features ||= []).concat(names.map(&:to_sym))
      alias has_features has_feature

      # Features belong to one class; those of a parent do not count.
      def declared_feature?(name) = (@features || []).include?(name.to_sym)

      def feature?(name)
        name = name.to_s.downcase.to_sym
        return true if declared_feature?(name)

        _docs, options = resource_type.provider_feature(name)
        methods = Array(options && options[:methods])
        !methods.empty? && methods.all? { |m| method_defined?(m) }
      end

      def features = resource_type.feature_names.select { |f| feature?(f) }.sort
      def satisfies?(*names) = names.flatten.all? { |f| feature?(f) }

      def supports_parameter?(param)
        param = resource_type.attrclass(param) unless param.is_a?(::Class)
        param&.required_features ? satisfies?(*param.required_features) : true
      end

      def mk_resource_methods
        (resource_type.validproperties + resource_type.parameters).each do |attribute|
          next if attribute == :name

          define_method(attribute) { @property_hash[attribute].nil? ? :absent : @property_hash[attribute] }
          define_method("#{attribute}=") { |value| @property_hash[attribute] = value }
        end
      end

      def instances
        raise Puppet::DevError, "To support listing resources of this type the '#{name}' provider needs to implement an " \
                                "'instances' class method returning the current set of resources. " \
                                'We recommend porting your module to the simpler Resource API instead: https://puppet.com/search/docs?keys=resource+api'
      end

      # Returns the documentation with the declarations.
      def doc
        lines = [Puppet::Util::Docs.scrub(@doc.to_s)]
        binaries = own_commands.values.map(&:to_s).sort
        lines << "* Required binaries: #{binaries.map { |b| "`#{b}`" }.join(', ')}." unless binaries.empty?
        defaults = (@defaults || []).map do |hash|
          "* Default for #{hash.map { |fact, value| "`#{fact}` == `#{Array(value).join(', ')}`" }.join(' and ')}."
        end
        lines.concat(defaults)
        lines << "* Supported features: #{features.map { |f| "`#{f}`" }.join(', ')}." unless features.empty?
        [lines[0], lines.drop(1).join("\n")].reject(&:empty?).join("\n\n")
      end

      def execute(*args) = Puppet::Util::Execution.execute(*args)
      def execpipe(*args, &block) = Puppet::Util::Execution.execpipe(*args, &block)
      def execfail(*args) = Puppet::Util::Execution.execfail(*args)
      def supports_noop = false
      def to_s = resource_type.nil? ? super : "Puppet::Type::#{resource_type.to_s.sub(/\APuppet::Type::/, '')}::Provider#{name.to_s.capitalize}"
      alias inspect to_s
    end
    initvars

    # The larger base classes are loaded at their first use.
    %i[ParsedFile NameService].each { |name| remove_const(name) }
    BASES = { ParsedFile: 'parsed_file', NameService: 'name_service' }.freeze
    def self.const_missing(name)
      part = BASES[name] or return super

      Bunraku.part(part)
      const_defined?(name) ? const_get(name) : super
    end

    def initialize(resource = nil)
      # Not copied, because a record of a file is changed in place.
      if resource.is_a?(::Hash)
        @property_hash = resource
      else
        @resource = resource if resource
        @property_hash = {}
      end
    end

    def name
      return @property_hash[:name] if @property_hash[:name]
      return resource.name if resource

      raise Puppet::DevError, "No resource and no name in property hash in #{self.class.name} instance"
    end

    def get(param) = @property_hash[param.to_sym].nil? ? :absent : @property_hash[param.to_sym]
    def set(params) = params.each { |k, v| @property_hash[k.to_sym] = v }
    def clear = @resource = nil
    def command(name) = self.class.command(name)
    def execpipe(*args, &block) = Puppet::Util::Execution.execpipe(*args, &block)
    def execfail(*args) = Puppet::Util::Execution.execfail(*args)
    def features = self.class.features
    def feature?(name) = self.class.feature?(name)
    def satisfies?(*names) = self.class.satisfies?(*names)
    def to_s = "#{@resource || self.class}(provider=#{self.class.name})"
    def <=>(other) = name <=> other.name
    include Comparable
    alias inspect to_s
  end
end
