# frozen_string_literal: true
# The inner part of the resource API: data types of attributes, type definitions, and the context
# that a provider receives.

module Puppet
  module ResourceApi
    # A state with several namevars, which can be sorted.
    class MonkeyHash < ::Hash
      def <=>(other)
        mine, theirs = [self, other].map { |h| [h.class.name, h.keys.sort] }
        result = mine <=> theirs
        result.zero? ? values_at(*mine.last) <=> other.values_at(*mine.last) : result
      end
    end

    # Checks values against data types of the language.
    module DataTypeHandling
      Types = Puppet::Pops::Types

      class << self
        def parse_puppet_type(attribute, text)
          (@parsed ||= {})[text] ||= Types::TypeParser.singleton.parse(text)
        rescue Puppet::ParseErrorWithIssue => e
          raise Puppet::DevError, "The type of the `#{attribute}` attribute `#{text}` could not be parsed: #{e.message}"
        rescue Puppet::ParseError, Puppet::Error => e
          raise Puppet::DevError, "The type of the `#{attribute}` attribute `#{text}` is not recognised: #{e.message}"
        end

        # Returns the value for the provider; texts of a command line are converted to the type.
        def mungify(type, value, prefix, unpack_strings = false)
          value = mungify_core(type, value, prefix, unpack_strings)
          validate(type, value, prefix)
          value
        end

        def mungify_core(type, value, prefix, unpack_strings = false)
          if unpack_strings
            cleaned, error = try_mungify(type, value, prefix)
            raise Puppet::ResourceError, error if error

            return cleaned
          end
          case value
          when :true then true
          when :false then false
          else value
          end
        end

        # Returns [value, nil] or [nil, error text].
        def try_mungify(type, value, prefix)
          case type
          when Types::PArrayType
            if value.is_a?(::Array)
              cleaned = value.map { |v| try_mungify(type.element_type, v, prefix) }
              value = cleaned.map(&:first) if cleaned.all? { |_, error| error.nil? }
            end
          when Types::PBooleanType then value = boolean_munge(value)
          when Types::PIntegerType, Types::PFloatType, Types::PNumericType then value = number(value)
          when Types::PEnumType, Types::PStringType, Types::PPatternType
            value = value.to_s if value.is_a?(Symbol)
          when Types::POptionalType
            return value.nil? ? [nil, nil] : try_mungify(type.type, value, prefix)
          when Types::PVariantType
            # Types other than texts are tried first, and win only if exactly one of them fits.
            text, others = type.types.partition { |t| t.is_a?(Types::PStringType) }
            fitting = others.map { |t| try_mungify(t, value, prefix) }.select { |_, error| error.nil? }
            return fitting.first if fitting.length == 1
            return [nil, ambiguous_error_msg(prefix, value, type)] if fitting.length > 1
            return try_mungify(text.first, value, prefix) unless text.empty?
          end
          error = try_validate(type, value, prefix)
          error ? [nil, error] : [value, nil]
        end

        def boolean_munge(value) = { 'true' => true, true: true, 'false' => false, false: false }.fetch(value, value)

        def number(value)
          return value unless value.is_a?(::String)

          case value
          when /\A-?(?:0[xX]\h+|0[0-7]+)\z/ then Integer(value)
          when /\A-?\d+\z/ then Integer(value, 10)
          when /\A-?\d+(?:\.\d+)?(?:[eE]-?\d+)?\z/ then Float(value)
          else value
          end
        end

        def ambiguous_error_msg(prefix, value, type) = "#{prefix} #{value.inspect} is not unabiguously convertable to #{type}"

        def validate(type, value, prefix)
          error = try_validate(type, value, prefix)
          raise Puppet::ResourceError, error if error
        end

        def try_validate(type, value, prefix)
          if symbols?(value)
            # The language has no symbols: they are Ruby objects, not texts.
            found = inferred(value)
            return nil if type.assignable?(found)

            return Bunraku.ask(:describe_mismatch, prefix, type.to_s, found)
          end
          type.instance?(value) ? nil : Bunraku.ask(:mismatch_text, prefix, type.to_s, value)
        end

        def symbols?(value)
          case value
          when Symbol then true
          when ::Array then value.any? { |v| symbols?(v) }
          when ::Hash then value.any? { |k, v| symbols?(k) || symbols?(v) }
          end
        end

        def inferred(value)
          case value
          when Symbol then "Runtime['ruby', 'Symbol']"
          when ::Array then "Tuple[#{value.map { |v| inferred(v) }.join(', ')}]"
          when ::Hash then "Hash[#{[value.keys, value.values].map { |list| "Variant[#{list.map { |v| inferred(v) }.uniq.join(', ')}]" }.join(', ')}]"
          else Bunraku.ask(:infer, value, true)
          end
        end

        def validate_ensure(definition)
          options = definition[:attributes][:ensure] or return
          type = parse_puppet_type(:ensure, options[:type])
          type = type.type if type.is_a?(Types::POptionalType)
          return if type.is_a?(Types::PEnumType) && type.values.sort == %w[absent present]
          return if parse_puppet_type(:ensure, 'Variant[Undef, Enum[present, absent]]') == type

          raise Puppet::DevError, '`:ensure` attribute must have a type of: `Enum[present, absent]` or `Optional[Enum[present, absent]]`'
        end
      end
    end

    # The validated definition hash of a type.
    class BaseTypeDefinition
      attr_reader :definition, :attributes

      def initialize(definition, attr_key)
        validate_schema(definition, attr_key)
        @definition = definition
      end

      def name = definition[:name]
      def namevars = @namevars ||= attributes.select { |_, o| o[:behaviour] == :namevar }.keys
      def insyncable_attributes = @insyncable_attributes ||= attributes.reject { |_, o| o.key?(:behaviour) }.keys

      def validate_schema(definition, attr_key)
        raise Puppet::DevError, "#{self.class.name} must be a Hash, not `#{definition.class}`" unless definition.is_a?(::Hash)

        @attributes = definition[attr_key]
        raise Puppet::DevError, "#{self.class.name} must have a name" unless definition.key?(:name)
        raise Puppet::DevError, "#{self.class.name} must have `#{attr_key}`" unless definition.key?(attr_key)

        unless attributes.is_a?(::Hash)
          raise Puppet::DevError, "`#{definition[:name]}.#{attr_key}` must be a hash, not `#{attributes.class}`"
        end
        if definition.key?(:docs)
          raise Puppet::DevError, "`#{definition[:name]}` has both `desc` and `docs`, prefer using `desc`" if definition[:desc]

          definition[:desc] = definition.delete(:docs)
        end
        undocumented(definition[:name]) unless definition.key?(:desc)
        attributes.each { |key, options| validate_attribute(definition[:name], key, options) }
      end

      def validate_attribute(name, key, options)
        if key == :rsapi_custom_insync_trigger
          raise Puppet::DevError, '`rsapi_custom_insync_trigger` cannot be specified as an attribute; it is reserved for propertyless types with the custom_insync feature'
        end
        raise Puppet::DevError, "`#{name}.#{key}` must be a Hash, not a #{options.class}" unless options.is_a?(::Hash)
        raise Puppet::DevError, "`#{name}.#{key}` has no type" unless options.key?(:type)

        undocumented("#{name}.#{key}") unless options.key?(:desc)
        DataTypeHandling.parse_puppet_type(key, options[:type])
        return unless options[:behavior]
        raise Puppet::DevError, "the '#{key}' attribute has both a `behavior` and a `behaviour`, only use one" if options[:behaviour]

        options[:behaviour] = options.delete(:behavior)
      end

      def data_type(key) = DataTypeHandling.parse_puppet_type(key, attributes[key][:type])

      # Checks a resource from the provider against the definition.
      def check_schema(resource, prefix = nil)
        missing = namevars.find { |n| resource[n].nil? }
        raise Puppet::ResourceError, "`#{name}.get` did not return a value for the `#{missing}` namevar attribute" if missing

        message = +"#{prefix || 'Provider returned data that does not match the Type Schema'} for `#{name}[#{resource[namevars.first]}]`"
        rejected = check_schema_keys(resource)
        bad = check_schema_values(resource)
        return if rejected.empty? && bad.empty?

        message << "\n Unknown attribute:\n" << rejected.map { |k| "    * #{k}\n" }.join unless rejected.empty?
        message << "\n Value type mismatch:\n" << bad.map { |k, text| "    * #{k}: #{text}\n" }.join unless bad.empty?
        notify_schema_errors(message)
      end

      def notify_schema_errors(message)
        case Puppet.settings[:strict]
        when :off then Puppet.debug(message)
        when :warning
          ResourceApi.warning_count += 1
          Puppet.warning(message) if ResourceApi.warning_count <= 100
        when :error then raise Puppet::DevError, message
        end
      end

      def check_schema_keys(resource) = resource.keys.reject { |k| k == :title || attributes.key?(k) }

      def check_schema_values(resource)
        resource.each_with_object({}) do |(key, value), bad|
          next unless attributes[key]

          error = DataTypeHandling.try_validate(data_type(key), value, '') or next
          bad[key] = attributes[key][:sensitive] == true ? "<< redacted value >> #{error}" : "#{value} (#{error})"
        end
      end

      private

      def undocumented(what) = Puppet.warning("`#{what}` has no documentation, add it using a `desc` key")
    end

    class TypeDefinition < BaseTypeDefinition
      RESERVED = %i[title provider alias audit before consume export loglevel noop notify require schedule stage subscribe tag].freeze
      FEATURES = %w[supports_noop canonicalize custom_insync remote_resource simple_get_filter].freeze

      def initialize(definition) = super(definition, :attributes)
      def ensurable? = attributes.key?(:ensure)
      def feature?(feature) = definition[:features]&.include?(feature)
      def title_patterns = definition[:title_patterns] ||= []

      def validate_schema(definition, attr_key)
        super
        RESERVED.each do |name|
          raise Puppet::DevError, "must not define an attribute called `#{name.inspect}`" if definition[attr_key].key?(name)
        end
        if definition.key?(:title_patterns) && !definition[:title_patterns].is_a?(::Array)
          raise Puppet::DevError, "`:title_patterns` must be an array, not `#{definition[:title_patterns].class}`"
        end

        DataTypeHandling.validate_ensure(definition)
        definition[:features] ||= []
        unknown = definition[:features] - FEATURES
        Puppet.warning("Unknown feature detected: #{unknown.inspect}") unless unknown.empty?
      end
    end

    class TransportSchemaDef < BaseTypeDefinition
      def initialize(definition) = super(definition, :connection_info)
    end

    # The context that a provider receives: the destination of its messages, and its type.
    class BaseContext
      attr_reader :type

      def initialize(definition)
        @type = definition.is_a?(::Hash) ? TypeDefinition.new(definition) : definition
      end

      def device = raise('Received device() on an unprepared BaseContext. Use a PuppetContext instead.')
      def transport = raise('No transport available.')
      def failed? = @failed
      def reset_failed = @failed = false
      def feature_support?(feature) = type.feature?(feature)

      %i[debug info notice warning err].each do |level|
        define_method(level) do |*args|
          text = case args.length
                 when 1 then "#{@context || @type.name}: #{args.last}"
                 when 2 then "#{format_titles(args.first)}: #{args.last}"
                 else args.map(&:to_s).join(', ')
                 end
          send_log(level, text)
        end
      end

      %i[creating updating deleting].each do |verb|
        define_method(verb) do |titles, message: verb.to_s.capitalize, &block|
          around(titles, message, 'Start', 'Failed after %s seconds') do |took|
            block.call
            notice("Finished in #{took.call} seconds")
          end
        end
      end

      def failing(titles, message: 'Failing')
        around(titles, message, 'Start', 'Failed after %s seconds') do |took|
          yield
          warning("Finished failing in #{took.call} seconds")
        end
      end

      def processing(title, is, should, message: 'Processing')
        raise "#{__method__} only accepts a single resource title" if title.respond_to?(:each)

        around(title, message, "Starting processing of #{title} from #{is} to #{should}", "Failed processing #{title} after %s seconds") do |took|
          yield
          notice("Finished processing #{title} in #{took.call} seconds: #{should}")
        end
      end

      %i[created updated deleted].each do |verb|
        define_method(verb) { |titles, message: verb.to_s.capitalize| notice("#{message}: #{titles}") }
      end

      def processed(title, is, should)
        raise "#{__method__} only accepts a single resource title" if title.respond_to?(:each)

        notice("Processed #{title} from #{is} to #{should}")
      end

      def attribute_changed(title, attribute, is, should, message: nil)
        raise "#{__method__} only accepts a single resource title" if title.respond_to?(:each)

        shown = [is, should].map { |v| v ? (v.is_a?(Numeric) ? v : "'#{v}'") : 'nil' }
        notice("#{title}: attribute '#{attribute}' changed from #{shown[0]} to #{shown[1]}#{": #{message}" if message}")
      end

      def failed(titles, message: 'Updating has failed')
        setup_context(titles)
        err(message)
      ensure
        @context = nil
      end

      def log_exception(exception, message: 'Error encountered', trace: false)
        text = "#{message}: #{exception}"
        text += "\n#{exception.backtrace.join("\n")}" if trace
        err(text)
      end

      def send_log(_level, _message)
        raise 'Received send_log() on an unprepared BaseContext. Use IOContext, or PuppetContext instead.'
      end

      private

      def around(titles, message, start, failed)
        began = Time.now
        took = -> { format_seconds(Time.now - began) }
        setup_context(titles, message)
        debug(start)
        yield took
      rescue StandardError => e
        log_exception(e, message: format(failed, took.call))
        @failed = true
      ensure
        @context = nil
      end

      def format_titles(titles)
        return @type.name if titles.length.zero? && !titles.is_a?(::String)

        "#{@type.name}[#{[titles].flatten.compact.join(', ')}]"
      end

      def setup_context(titles, message = nil)
        @context = format_titles(titles)
        @context += ": #{message}" if message
      end

      def format_seconds(seconds) = format(seconds < 1 ? '%.6f' : '%.2f', seconds)
    end

    class PuppetContext < BaseContext
      def device = raise('no device configured')
      def transport = device.transport

      def log_exception(exception, message: 'Error encountered', trace: false)
        super(exception, message: message, trace: trace || Puppet[:trace])
      end

      protected

      def send_log(level, message) = Bunraku.log(level, message)
    end

    class IOContext < BaseContext
      def initialize(definition, target = $stderr)
        super(definition)
        @target = target
      end

      protected

      def send_log(level, message) = @target.puts("#{level}: #{message}")
    end

    # Implements `set` by create, update and delete.
    class SimpleProvider
      def set(context, changes)
        changes.each do |name, change|
          is = change.key?(:is) ? change[:is] : found(context, name)
          context.type.check_schema(is) unless change.key?(:is)
          raise 'SimpleProvider cannot be used with a Type that is not ensurable' unless context.type.ensurable?

          namevars = context.type.namevars
          given = namevars.length > 1 ? namevars.to_h { |n| [n, change[:should][n]] } : name
          is ||= SimpleProvider.create_absent(:name, name)
          should = change[:should] || SimpleProvider.create_absent(:name, name)
          case [is[:ensure].to_s, should[:ensure].to_s]
          when %w[absent present] then context.creating(name) { create(context, given, should) }
          when %w[present absent] then context.deleting(name) { delete(context, given) }
          else
            context.updating(name) { update(context, given, should) } if is[:ensure].to_s == 'present'
          end
        end
      end

      def create(_context, _name, _should) = raise("#{self.class} has not implemented `create`")
      def update(_context, _name, _should) = raise("#{self.class} has not implemented `update`")
      def delete(_context, _name) = raise("#{self.class} has not implemented `delete`")

      def self.create_absent(namevar, title)
        (title.is_a?(::Hash) ? title.dup : { namevar => title }).merge(ensure: 'absent')
      end

      private

      def found(context, name)
        list = context.type.feature?('simple_get_filter') ? get(context, [name]) : get(context)
        (list || []).find { |r| r[:name] == name }
      end
    end
  end
end
