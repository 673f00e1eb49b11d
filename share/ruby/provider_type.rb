# frozen_string_literal: true
# Extends types for provider_host: the creation, reading and relations of resources.

module Puppet
  class Type
    NOT_ASKED = %i[name depthfirst? path].freeze
    %i[flush exists? generate eval_generate refresh retrieve_resource].each { |m| remove_method(m) if method_defined?(m, false) }
    # Attributes of a native type are stored as given.
    attr_accessor :current, :exported, :virtual, :given

    class << self
      def native? = @native ? true : false
      attr_writer :native

      def feature_names = (@features || {}).keys
      def depth_first_type? = method_defined?(:depthfirst?) && instance_method(:depthfirst?).owner != Puppet::Type

      def provider_classes = @providers_hash.values.grep(::Class)
      def loaded_providers = @providers_hash.keys.filter_map { |n| provider(n) }
      def suitableprovider = loaded_providers.select(&:suitable?)

      def defaultprovider
        return @defaultprovider if @defaultprovider

        suitable = suitableprovider
        chosen = suitable.select(&:default?)
        chosen = suitable if chosen.empty?
        best = chosen.map(&:specificity).max
        chosen = chosen.select { |p| p.specificity == best }
        if chosen.length > 1
          Puppet.warning "Found multiple default providers for #{name}: #{chosen.map { |p| p.name.to_s }.join(', ')}; using #{chosen[0].name}"
        end
        @defaultprovider = chosen.first
      end
      attr_writer :defaultprovider

      def providify
        return if @paramhash.key?(:provider)

        type = self
        newparam(:provider) do
          desc "The specific backend to use for this `#{type.name}` resource. You will seldom need to specify this --- " \
               "Puppet will usually discover the appropriate provider for your platform.Available providers are:\n\n#{type.providers.map(&:to_s).sort.join("\n")}"
          validate do |value|
            value = value[0] if value.is_a?(::Array)
            value = value.class.name if value.is_a?(Puppet::Provider)
            raise ArgumentError, "Invalid #{@resource.class.name} provider '#{value}'" unless @resource.class.provider(value.to_s)
          end
          munge do |value|
            value = value[0] if value.is_a?(::Array)
            value = value.to_sym if value.is_a?(::String)
            @resource.provider = value
            value.is_a?(Puppet::Provider) ? value.class.name : value
          end
          defaultto { @resource.class.defaultprovider&.name }
        end
      end

      def providers_by_source
        first = defaultprovider
        [first, *suitableprovider.reject { |p| p == first }].compact.select { |p| p.singleton_class.method_defined?(:instances) }
      end

      def instances
        raise Puppet::DevError, "#{name} has no providers and has not overridden 'instances'" if provider_hash.empty?

        found = {}
        providers_by_source.flat_map do |provider|
          properties = self.properties.select { |p| provider.supports_parameter?(p) }.map(&:name)
          provider.instances.filter_map do |instance|
            next if found.key?(instance.name) && isomorphic?

            found[instance.name] = instance
            made = allocate
            made.whole!
            made.send(:initialize, name: instance.name, provider: instance)
            properties.each { |n| made.newattr(n) }
            made
          end
        end
      end

      def autos = @autos
    end

    def initialize(resource = {})
      if resource.is_a?(Puppet::Resource)
        begin_life(resource.title, resource.to_hash)
      else
        hash = resource.transform_keys(&:to_sym)
        title = hash.delete(:title) || hash[:name] || hash[self.class.key_attributes.first]
        title ||= hash[:path] || hash.values.first if kept?
        raise Puppet::Error, 'Title or name must be provided' if title.nil?

        @catalog = hash.delete(:catalog)
        begin_life(title, hash)
      end
    end

    # Performs the steps of Puppet's Type#initialize. `sensitive` names the parameters that were
    # Sensitive. The resource API wraps them again.
    def begin_life(title, hash, sensitive = [])
      @title = title.to_s
      @parameters = {}
      @tags ||= []
      @current = {}
      @original_parameters = (@given_metaparameters || {}).merge(hash)
      if kept?
        @given = hash
        return
      end
      # A type may use constants from the files of its providers.
      self.class.loaded_providers
      hash = hash.reject { |k, v| v.nil? || (METAPARAMS.include?(k) && self.class.attrclass(k).nil?) }
      given_names(hash)
      set_default(:provider) unless hash.key?(:provider)
      missing = []
      names = self.class.key_attributes
      (self.class.allattrs + hash.keys).uniq.each do |name|
        next if names == [name] && @parameters.key?(name)
        next if METAPARAMS.include?(name) && self.class.attrclass(name).nil?

        hash.key?(name) ? set_wrapped(name, hash[name]) : missing << name
      end
      # Audited properties are created first, so they get no default.
      audit = metaparameter(:audit) || []
      audit.each { |name| newattr(name) if self.class.validproperty?(name) }
      missing.each { |name| set_default(name) }
      check_whole
      mark_sensitive_parameters(sensitive.map(&:to_sym)) unless sensitive.empty?
    end

    # The names of the sensitive parameters that the type treats itself. Bunraku marks the others.
    attr_reader :own_secrets

    def mark_sensitive_parameters(names)
      @own_secrets = names.dup
      set_sensitive_parameters(names)
    end

    # Types override this and remove the names that they treat.
    def set_sensitive_parameters(names)
      @own_secrets -= names
    end

    # Sets the names from the title; the only name variable is set first.
    def given_names(hash)
      if (only = name_var) && hash.key?(:name) && only != :name
        hash[only] = hash.delete(:name)
      end
      from_title(@title).each { |k, v| hash[k.to_sym] = v unless hash.key?(k.to_sym) || v.nil? }
      self[only] = hash.delete(only) if only && hash.key?(only)
    end

    def name_var
      names = self.class.key_attributes
      names.length == 1 ? names.first : false
    end

    def set_wrapped(name, value)
      self[name] = value
    rescue ArgumentError, Puppet::Error, TypeError
      raise
    rescue StandardError => e
      raise Puppet::DevError, "Could not set #{name} on #{self.class.name}: #{e}", e.backtrace
    end

    def check_whole
      return unless respond_to?(:unsafe_validate)

      begin
        unsafe_validate
      rescue Puppet::Error, ArgumentError => e
        raise placed("Validation of #{ref} failed: #{e}", e)
      end
    end
    alias validate check_whole

    # Returns an error with the position of this resource, which Bunraku also knows.
    def placed(message, original)
      error = adderrorcontext(Puppet::ResourceError.new(message), original)
      error.place_is_known = true
      error
    end

    def [](name)
      name = name.to_sym
      return @given[name] if kept? && @given

      raise Puppet::Error, "Invalid parameter #{name}(#{name.inspect})" unless self.class.validattr?(name)

      name = name_var if name == :name && name_var
      return metaparameter(name) if METAPARAMS.include?(name) && self.class.attrclass(name).nil?

      @parameters[name]&.value
    end

    attr_writer :given_metaparameters

    def metaparameter(name)
      value = @given_metaparameters && @given_metaparameters[name]
      case name
      when :loglevel then (value || :notice).to_sym
      when :audit then value && audited(value)
      when :require, :subscribe, :before, :notify, :tag then value.nil? ? nil : Array(value)
      else value
      end
    end

    # Munges like Puppet: `all` means every property of this type and provider.
    def audited(value)
      return Array(value).map(&:to_sym) unless value.to_s == 'all'

      self.class.properties.select { |p| provider.nil? || provider.class.supports_parameter?(p) }.map(&:name)
    end

    def []=(name, value)
      name = name.to_sym
      if kept? && @given
        @given[name] = value
        Bunraku.ask(:machine_set, self.class.name.to_s, @title, name.to_s, Bunraku::ProviderHost.plain(value)) if @known
        return
      end
      raise Puppet::Error, "no parameter named '#{name}'" unless self.class.validattr?(name)

      name = name_var if name == :name && name_var
      raise Puppet::Error, "Got nil value for #{name}" if value.nil?

      attribute = newattr(name) or return
      begin
        attribute.value = value
      rescue Puppet::Error, ArgumentError => e
        raise placed("Parameter #{name} failed on #{ref}: #{e}", e)
      end
    end

    def newattr(name)
      klass = name.is_a?(::Class) ? name : self.class.attrclass(name)
      unless klass
        return nil if METAPARAMS.include?(name.to_sym)

        raise Puppet::Error, "Resource type #{self.class.name} does not support parameter #{name}"
      end
      name = klass.name
      if provider && !provider.class.supports_parameter?(klass)
        missing = klass.required_features.reject { |f| provider.class.feature?(f) }
        debug "Provider #{provider.class.name} does not support features #{missing.join(', ')}; not managing attribute #{name}"
        return nil
      end
      @parameters[name] ||= klass.new(resource: self)
    end

    def set_default(name)
      klass = self.class.attrclass(name)
      return unless klass && klass.method_defined?(:default) && !@parameters.key?(klass.name)

      parameter = newattr(klass.name) or return
      value = parameter.default
      if value
        parameter.value = value
      else
        @parameters.delete(parameter.name)
      end
    end

    def provider=(value)
      if value.is_a?(Puppet::Provider)
        @provider = value
        @provider.resource = self
      elsif (klass = self.class.provider(value.to_s))
        @provider = klass.new(self)
      else
        raise ArgumentError, "Could not find #{value} provider of #{self.class.name}"
      end
    end

    def suitable?
      return true unless self.class.paramclass(:provider)
      return provider.class.suitable? if provider

      set_default(:provider)
      provider ? true : false
    end

    # A parameter of a native type, which is managed without Ruby.
    class NativeParameter
      attr_reader :resource, :name, :sensitive

      def initialize(resource, name)
        @resource = resource
        @name = name
      end

      def value = @resource[@name]
      alias should value
      def value=(value)
        @resource[@name] = value
      end

      def sensitive=(on)
        @sensitive = on
        @resource.mark_sensitive(@name) if on
      end
    end

    def parameters
      return @parameters unless kept? && @given

      all = @given.to_h { |name, _| [name, NativeParameter.new(self, name)] }
      # Attributes that Ruby code has set on a resource of the catalog are not in @given.
      all.default_proc = proc { |_, name| NativeParameter.new(self, name) } if @known
      all
    end

    def mark_sensitive(name)
      Bunraku.ask(:machine_mark_sensitive, self.class.name.to_s, @title, name.to_s) if @known
    end

    def parameters_hash = @parameters
    def parameter(name) = @parameters[name.to_sym]
    def property(name) = @parameters[name.to_sym].then { |p| p.is_a?(Puppet::Property) ? p : nil }
    def properties = self.class.properties.filter_map { |p| @parameters[p.name] }
    def parameters_with_value = self.class.allattrs.filter_map { |n| @parameters[n] }
    def eachparameter(&block) = parameters_with_value.each(&block)
    def should(name) = @parameters[name.to_sym].then { |p| p.is_a?(Puppet::Property) ? p.should : nil }
    def value(name) = @parameters[name.to_sym]&.value
    def delete(name)
      raise Puppet::DevError, "Undefined attribute '#{name}' in #{self}" unless @parameters.key?(name.to_sym)

      @parameters.delete(name.to_sym)
    end

    def name = name_var ? (self[name_var] || @title) : @title
    def title = @title || name
    def managed? = properties.any? { |p| p.raw_should && !p.raw_should.empty? }
    def ensure_wanted = should(:ensure)
    def deleting? = should(:ensure) == :absent
    def present?(current = retrieve) = current[:ensure] != :absent
    def noop?
      value = metaparameter(:noop)
      value.nil? ? Puppet[:noop] : value.to_s == 'true'
    end
    alias noop noop?
    def loglevel = metaparameter(:loglevel)
    def insync?(is) = properties.all? { |p| p.safe_insync?(is[p.name]) }

    def retrieve
      fail "Provider #{provider.class.name} is not functional on this host" if provider.is_a?(Puppet::Provider) && !provider.class.suitable?

      result = {}
      state = property(:ensure)
      state = newattr(:ensure) if state.nil? && self.class.validattr?(:ensure)
      result[:ensure] = ensure_state = state.retrieve if state
      properties.each do |p|
        next if p.name == :ensure

        result[p.name] = ensure_state == :absent ? :absent : p.retrieve
      end
      result
    end
    alias currentpropvalues retrieve

    def retrieve_resource = retrieve
    def flush
      provider.flush if provider.respond_to?(:flush)
    end

    def catalog = @catalog ||= Bunraku::ProviderHost::Catalog.instance
    def ref = "#{self.class.name.to_s.split('::').map(&:capitalize).join('::')}[#{title}]"
    alias to_s ref
    alias inspect ref
    def path = Bunraku.ask(:machine_path, Bunraku::ProviderHost.number_of(self) || 0) || "/#{ref}"
    # The tags of the catalog and those that code adds.
    def tags
      known = Bunraku.ask(:machine_tags, Bunraku::ProviderHost.number_of(self) || 0) || []
      Puppet::Util::TagSet.new(known + @tags)
    end

    def tagged?(*names) = names.flatten.any? { |n| tags.include?(n.to_s.downcase) }
    def tag(*names) = @tags |= names.flatten.map { |n| n.to_s.downcase }
    # Returns the names in a path: "Stage[main]", "Main", "Probe[p]".
    def pathbuilder = path.scan(%r{[^/\[]+(?:\[[^\]]*\])?})
    # Returns the class or defined type that declares this resource.
    def parent = pathbuilder.length > 1 ? Component.new(pathbuilder[-2]) : nil
    def log(message) = Bunraku.logged(loglevel, message, self)
    def to_hash
      return @given if kept?

      given = (@given_metaparameters || {}).keys.to_h { |name| [name, metaparameter(name)] }
      @parameters.transform_values(&:value).merge(loglevel: metaparameter(:loglevel), **given)
    end
    def to_resource = Puppet::Resource.new(self.class.name.to_s, title, parameters: to_hash)
    def finish = nil
    def isomorphic? = self.class.isomorphic?
    def self_refresh? = self.class.self_refresh
    def known! = (@known = true)
    # Marks a resource of a built-in type with a module's provider: it is managed by Ruby, not only
    # stored.
    def whole! = (@whole = true)
    def kept? = self.class.native? && !@whole

    def relates? = self.class.autos.any? { |_, blocks| !blocks.empty? }
    # Returns [kind, type, title] of the relations that the type generates.
    def automatic_relations
      %w[require subscribe before notify].flat_map do |kind|
        (self.class.autos[kind] || {}).flat_map do |type, block|
          list = instance_exec(&block)
          Array(list).flatten.compact.map do |one|
            case one
            when Puppet::Type then [kind, one.class.name.to_s, one.title.to_s]
            when Puppet::Resource then [kind, one.type.downcase, one.title.to_s]
            else [kind, type.to_s, one.to_s]
            end
          end
        end
      end
    end

    # The container of a resource.
    class Component
      attr_reader :ref, :title

      def initialize(name)
        @ref = name.include?('[') ? name : "Class[#{name}]"
        @title = @ref[/\[(.*)\]\z/m, 1]
      end

      alias to_s ref
      def type = :component
      def path = "/#{ref}"
    end

    class << self
      alias types_provide provide
      def provide(name, options = {}, &block)
        parent = options[:parent]
        # A provider of another type, or one whose file is not loaded yet.
        if parent.is_a?(Symbol) || parent.is_a?(::String)
          found = provider(parent)
          raise Puppet::DevError, "Could not find parent provider #{parent} of #{name}" unless found

          options = options.merge(parent: found)
        end
        @defaultprovider = nil
        with_feature_methods(types_provide(name, options, &block))
      end

      # Defines a built-in provider that module providers may inherit from by name, but that is
      # never selected.
      def ancestor(name, options = {}, &block)
        found = provide(name, options, &block)
        @providers_hash.delete(name)
        (@ancestors_by_name ||= {})[name] = found
      end

      alias types_provider provider
      def provider(name) = types_provider(name) || (@ancestors_by_name || {})[name.to_sym]

      # Defines provider.reinstallable?, provider.class.manages_homedir? and so on.
      def with_feature_methods(klass)
        feature_names.each do |feature|
          asked = :"#{feature}?"
          klass.define_singleton_method(asked) { |*| feature?(feature) } unless klass.respond_to?(asked)
          klass.define_method(asked) { |*| self.class.feature?(feature) } unless klass.method_defined?(asked)
        end
        klass
      end
    end
  end
end
