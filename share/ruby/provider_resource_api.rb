# frozen_string_literal: true
# Types of the resource API: a hash defines the type, and a provider with `get` and `set` does the
# work. Behaves like the gem puppet-resource_api 1.8.16.

Bunraku.part('provider_resource_context')

module Puppet
  module ResourceApi
    # ---- attributes ----

    # The common part of parameters and properties of such types.
    module Attribute
      def self.included(base)
        base.extend(Made)
        base.munge { |v| v }
      end

      # The part of an attribute that depends on its definition.
      module Made
        attr_accessor :data_type, :of_type
      end

      def cleaned(value)
        DataTypeHandling.mungify(self.class.data_type, value, "#{self.class.of_type.name}.#{name}", ResourceApi.caller_is_resource_app?)
      end
    end

    class Parameter
      include Attribute
      attr_reader :value
      alias rs_value value

      def value=(value)
        @value = cleaned(value)
      end
    end

    class ReadOnlyParameter < Parameter
      def self.read_only? = true

      def value=(value)
        raise Puppet::ResourceError, "Attempting to set `#{name}` read_only attribute value to `#{value}`"
      end
    end

    class Property
      include Attribute

      def rs_value = @should&.first
      def raw_should = @should

      # `should` returns booleans as symbols; other methods do not.
      def should
        case rs_value
        when true then :true
        when false then :false
        else name == :ensure && rs_value.is_a?(::String) ? rs_value.to_sym : rs_value
        end
      end
      alias value should

      def should=(value)
        @shouldorig = value
        @should = [cleaned(name == :ensure ? value.to_s : value)]
      end
      alias value= should=

      # `flush` makes all changes.
      def set(_value) = nil

      def insync?(is)
        type = self.class.of_type
        return name == :ensure ? rs_value.to_s == is.to_s : super unless type.type_definition.feature?('custom_insync')

        unless type.my_provider.respond_to?(:insync?)
          raise Puppet::DevError, 'No insync? method defined in the provider; an insync? method must be defined if the custom_insync feature is defined for the type'
        end

        result, message = type.my_provider.insync?(type.context, resource.rsapi_title, name, resource.rsapi_current_state,
                                                   resource.rsapi_canonicalized_target_state)
        @change_text = message unless result.nil? || message.nil? || message.empty?
        case result
        when nil then name == :ensure ? rs_value.to_s == is.to_s : super
        when true, false then result
        else
          raise Puppet::DevError, "Custom insync for #{name} returned a #{result.class} with a value of #{result.inspect} instead of true/false; insync? MUST return nil or the boolean true or false"
        end
      end

      def change_to_s(current, desired)
        return super unless self.class.of_type.type_definition.feature?('custom_insync')

        @change_text ||= 'Custom insync logic determined that this resource is out of sync' if name == :rsapi_custom_insync_trigger
        @change_text || super
      end
    end

    # ---- types ----

    # Class methods of a type of this kind.
    module OfType
      attr_reader :type_definition

      def my_provider = @my_provider ||= ResourceApi.load_provider(type_definition.name).new
      def context = @rsapi_context ||= PuppetContext.new(TypeDefinition.new(type_definition.definition))

      def build_title(definition, resource)
        return resource[definition.namevars[0]] if definition.namevars.size <= 1

        MonkeyHash[definition.namevars.map { |n| [n, resource[n]] }]
      end

      def get(titles)
        type_definition.feature?('simple_get_filter') ? my_provider.get(context, titles) : my_provider.get(context)
      end

      def instances
        get([]).map do |state|
          type_definition.check_schema(state)
          made = new(title: state.key?(:title) ? state[:title] : build_title(type_definition, state))
          made.cache_current_state(state)
          made
        end
      end
    end

    # Instance methods of its resources.
    module OfResource
      def my_provider = self.class.my_provider
      def type_definition = self.class.type_definition
      def context = self.class.context
      def name = title

      def initialize(resource = {})
        # True for a resource that is only looked up by name.
        @ral_find_absent = !resource.is_a?(Puppet::Resource)
        super
      end

      def begin_life(title, hash, sensitive = [])
        if title.is_a?(::Hash)
          @rsapi_title = title
          hash = title.merge(hash)
          title = title.values.join('/')
        end
        @title = title.to_s
        definition = type_definition
        hash = from_title(@title).transform_keys(&:to_sym).compact.merge(hash) unless @ral_find_absent
        sensitive.each do |n|
          n = n.to_sym
          hash[n] = Puppet::Pops::Types::PSensitiveType::Sensitive.new(hash[n]) if hash.key?(n) && !hash[n].respond_to?(:unwrap)
        end
        hash = my_provider.canonicalize(context, [hash])[0] if definition.feature?('canonicalize') && !hash.empty?
        super(@title, hash)
      end

      def rsapi_title = @rsapi_title ||= self.class.build_title(type_definition, self)

      def rsapi_canonicalized_target_state
        @rsapi_canonicalized_target_state ||= begin
          wanted = @parameters.select { |k, _| type_definition.attributes.key?(k) }.transform_values(&:rs_value)
          type_definition.feature?('canonicalize') ? my_provider.canonicalize(context, [wanted]).first : wanted
        end
      end

      def rsapi_current_state
        refresh_current_state unless @rsapi_current_state
        @rsapi_current_state
      end

      def refresh_current_state
        @rsapi_current_state = self.class.get([rsapi_title]).find { |h| namevar_match?(h) }
        if @rsapi_current_state
          type_definition.check_schema(@rsapi_current_state)
          strict_check(@rsapi_current_state)
        else
          @rsapi_current_state = rsapi_title.is_a?(::Hash) ? rsapi_title.dup : { title: rsapi_title }
          @rsapi_current_state[:ensure] = :absent if type_definition.ensurable?
        end
      end

      def cache_current_state(state)
        @rsapi_current_state = state
        strict_check(state)
      end

      def retrieve
        Puppet.debug("Current State: #{rsapi_current_state.inspect}")
        result = rsapi_current_state.dup
        result[:ensure] = result[:ensure].to_sym if type_definition.ensurable? && result[:ensure].is_a?(::String)
        raise_missing_attrs
        result
      end

      def namevar_match?(item)
        type_definition.namevars.all? { |n| @parameters[n] && item[n] == @parameters[n].value }
      end

      def flush
        raise_missing_attrs
        wanted = rsapi_canonicalized_target_state
        retrieve unless @rsapi_current_state
        return if @rsapi_current_state == wanted

        Puppet.debug("Target State: #{wanted.inspect}")
        check_init_only(wanted)
        change = { rsapi_title => { is: @rsapi_current_state, should: wanted } }
        if type_definition.feature?('supports_noop')
          my_provider.set(context, change, noop: noop?)
        else
          my_provider.set(context, change) unless noop?
        end
        if context.failed?
          context.reset_failed
          raise 'Execution encountered an error'
        end
        @rsapi_current_state = wanted
      end

      def check_missing
        # A resource that is only looked up by name may lack other attributes.
        return if @ral_find_absent

        @missing_attrs = []
        parameters = []
        going = type_definition.ensurable? && value(:ensure).to_s == 'absent'
        type_definition.attributes.each do |name, options|
          next if %i[read_only namevar].include?(options[:behaviour]) || (going && options[:behaviour].nil?)
          next if !value(name).nil? || type_definition.data_type(name).is_a?(Puppet::Pops::Types::POptionalType)

          @missing_attrs << name
          parameters << name if options[:behaviour] == :parameter
        end
        @missing_attrs.delete(:ensure)
        return if parameters.empty?

        raise Puppet::ResourceError, "The following mandatory parameters were not provided:\n    *  #{parameters.join(", \n    *  ")}"
      end

      def raise_missing_attrs
        return if (@missing_attrs || []).empty? || [nil, :absent].include?(value(:ensure))

        raise Puppet::ResourceError, "The following mandatory attributes were not provided:\n    *  #{@missing_attrs.join(", \n    *  ")}"
      end

      private

      def check_init_only(wanted)
        return if Puppet.settings[:strict] == :off
        return unless @rsapi_current_state[:ensure] == 'present' && wanted[:ensure] == 'present'

        wanted.each do |name, value|
          next if type_definition.attributes[name][:behaviour] != :init_only || value == @rsapi_current_state[name]

          message = "Attempting to change `#{name}` init_only attribute value from `#{@rsapi_current_state[name]}` to `#{value}`"
          raise Puppet::ResourceError, message if Puppet.settings[:strict] == :error

          Puppet.warning(message)
        end
      end

      def strict_check(state)
        return if Puppet.settings[:strict] == :off

        check_canonical(state) if type_definition.feature?('canonicalize')
        check_title(state) if type_definition.namevars.size > 1 && !type_definition.title_patterns.empty?
      end

      def strict_message(message)
        raise Puppet::DevError, message if Puppet.settings[:strict] == :error

        Puppet.warning(message)
      end

      def check_canonical(state)
        copy = my_provider.canonicalize(context, [Marshal.load(Marshal.dump(state))]).first
        return if copy.nil? || state == copy

        strict_message("#{type_definition.name}[#{@title}]#get has not provided canonicalized values.\n" \
                       "Returned values:       #{state.inspect}\nCanonicalized values:  #{copy.inspect}")
      end

      def check_title(state)
        named = "#{type_definition.name}[#{@title}]#get has"
        return strict_message("#{named} not provided a title attribute.") unless state.key?(:title)

        parsed = {}
        self.class.title_patterns.each do |regexp, names|
          captures = regexp.match(state[:title]) or next

          names.zip(captures[1..]) { |(n, *), text| parsed[n] = text }
          break
        end
        return if parsed == rsapi_title

        differing = type_definition.namevars.reject { |n| parsed[n] == rsapi_title[n] }
        strict_message("#{named} provided a title attribute which does not match all namevars.\n" \
                       "Namevars which do not match: #{differing.inspect}\nReturned parsed title hash:  #{parsed.inspect}\n" \
                       "Expected hash:               #{rsapi_title.inspect}")
      end
    end

    class << self
      attr_writer :warning_count

      def warning_count = @warning_count ||= 0
      def caller_is_resource_app? = (@from_command ||= [Bunraku.ask(:machine_from_command)]).first
      def class_name_from_type_name(name) = name.to_s.split('_').map(&:capitalize).join

      def register_type(definition)
        whole = TypeDefinition.new(definition)
        space = class_name_from_type_name(whole.name)
        # The provider's file defines its class in this module.
        Puppet::Provider.const_set(space, ::Module.new) unless Puppet::Provider.const_defined?(space, false)
        Puppet::Type.newtype(whole.name.to_sym) do
          @doc = definition[:desc]
          @type_definition = whole
          extend OfType
          include OfResource
          ResourceApi.shape(self, whole)
          validate { check_missing }
        end
      end

      # Defines attributes, title patterns and relations of a type from its definition.
      def shape(type, whole)
        trigger = whole.feature?('custom_insync') && whole.insyncable_attributes.empty?
        if trigger
          make_attribute(type, :rsapi_custom_insync_trigger, type: 'Enum[do_not_specify_in_manifest]', default: 'do_not_specify_in_manifest',
                                                             desc: 'A hidden property which enables a type with custom insync to perform an insync check without specifying any insyncable properties')
        end
        whole.attributes.each { |name, options| make_attribute(type, name, options) }
        patterns = whole.definition.key?(:title_patterns) ? whole.title_patterns : nil
        patterns = patterns&.map do |item|
          regexp = Regexp.new(item[:pattern])
          [regexp, regexp.names.map { |n| [n.to_sym] }]
        end
        patterns ||= [[/(.*)/m, [[whole.namevars.first]]]]
        type.define_singleton_method(:title_patterns) { patterns }
        type.define_singleton_method(:providify) { nil }
        type.apply_to_device if whole.feature?('remote_resource')
        %i[autorequire autobefore autosubscribe autonotify].each do |auto|
          (whole.definition[auto] || {}).each do |other, values|
            type.send(auto, other.to_s.downcase.to_sym) do
              [values].flatten.flat_map { |v| v.is_a?(::String) && v.start_with?('$') ? self[v[1..].to_sym] : v }.compact
            end
          end
        end
      end

      def make_attribute(type, name, options)
        behaviour = options[:behaviour]
        unless [nil, :read_only, :namevar, :parameter, :init_only].include?(behaviour)
          raise Puppet::ResourceError, "`#{behaviour}` is not a valid behaviour value"
        end

        kind, parent = case behaviour
                       when :parameter, :namevar then [:newparam, Parameter]
                       when :read_only then [:newparam, ReadOnlyParameter]
                       else [:newproperty, Property]
                       end
        data_type = DataTypeHandling.parse_puppet_type(name, options[:type])
        type.send(kind, name.to_sym, parent: parent) do
          desc "#{options[:desc]} (a #{options[:type]})" if options[:desc]
          self.data_type = data_type
          self.of_type = type
          isnamevar if behaviour == :namevar
          ResourceApi.default_of(self, options) if behaviour != :read_only && options.key?(:default)
          ResourceApi.values_of(self, data_type, options)
        end
      end

      def default_of(attribute, options)
        case options[:default]
        when true then attribute.defaultto(:true)
        when false then attribute.defaultto(:false)
        else
          # A copy for each resource, so that changes are not shared.
          kept = Marshal.dump(options[:default])
          attribute.defaultto { Marshal.load(kept) }
        end
      end

      # Declares the values for introspection; the data type validates them.
      def values_of(attribute, data_type, options)
        types = Puppet::Pops::Types
        data_type = data_type.type if data_type.instance_of?(types::POptionalType)
        case data_type
        when types::PStringType then attribute.newvalues(//)
        when types::PBooleanType then attribute.newvalues('true', 'false')
        when types::PIntegerType then attribute.newvalues(/^-?\d+$/)
        when types::PFloatType, types::PNumericType then attribute.newvalues(/\A[[:blank:]]*([-+]?)[[:blank:]]*((0[xX]\h+)|(0?\d+)((?:\.\d+)?(?:[eE]-?\d+)?))[[:blank:]]*\z/)
        end
        attribute.newvalues('absent', 'present') if options[:type] == 'Enum[present, absent]'
      end

      def load_provider(type_name)
        space = class_name_from_type_name(type_name)
        Puppet::Type.type(type_name.to_sym).provider(type_name.to_sym)
        Puppet::Provider.const_get(space, false).const_get(space, false)
      rescue NameError
        raise Puppet::DevError, "provider class Puppet::Provider::#{space}::#{space} not found in puppet/provider/#{type_name}/#{type_name}"
      end
    end
  end
end
