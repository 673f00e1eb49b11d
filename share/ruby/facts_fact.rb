# frozen_string_literal: true
# A custom fact: its resolutions, their confinement, and the choice of the value.

module Facter
  # Confinement and weight of all kinds of resolutions.
  module Suitable
    def has_weight(weight)
      @weight = weight
      self
    end

    def confine(confines = nil, &block)
      case confines
      when Hash then confines.each { |fact, values| @confines << Confine.new(fact, *values) }
      else
        return unless block

        @confines << (confines ? Confine.new(confines, &block) : Confine.new(&block))
      end
    end

    def weight = @weight || @confines.size
    def suitable? = @confines.all?(&:true?)
  end

  # Evaluates a resolution within its time limit.
  module Resolvable
    attr_accessor :timeout
    attr_reader :name, :fact, :fact_type, :confines, :last_evaluated, :file

    def limit
      Facter.deprecated('limit is deprecated and will be removed in a future version, use timeout instead')
      allowed_seconds
    end

    def allowed_seconds = @timeout || 0
    def has_timeout(seconds) = @timeout = seconds
    def on_flush(&block) = @on_flush = block
    def flush = @on_flush&.call

    def value
      return Normalization.normalize(@fact.name, @value) unless @value.nil?

      result = Facts.limited("#{qualified_name} (#{@last_evaluated})", allowed_seconds) { resolve_value }
      Normalization.normalize(@fact.name, result)
    rescue Timeout::Error => e
      seconds = allowed_seconds.positive? ? allowed_seconds : Facter.options['limit'] || Facts::DEFAULT_LIMIT
      Facter.log_exception(e, "Timed out after #{seconds} seconds while resolving #{qualified_name}")
      nil
    rescue Normalization::NormalizationError => e
      Facter.log_exception(e, "Fact resolution #{qualified_name} resolved to an invalid value: #{e.message}")
      nil
    rescue StandardError, ScriptError => e
      Facter.log_exception(e, "Error while resolving custom fact #{qualified_name}: #{e.message}")
      raise ResolveCustomFactError
    end

    def evaluate(&block)
      if @last_evaluated
        Facter.say(:warning, "Already evaluated #{@name} at #{@last_evaluated}, reevaluating anyways", self.class.name)
      end
      instance_eval(&block)
      @last_evaluated = block.source_location.join(':')
    end

    def options(given)
      accepted_options.each { |name| instance_variable_set("@#{name}", given.delete(name)) if given.key?(name) }
      raise ArgumentError, "Invalid #{kind} options #{given.keys.inspect}" unless given.empty?
    end

    def qualified_name = "fact='#{@fact.name}', resolution='#{@name || '<anonymous>'}'"
  end

  module Core
    # A value that is combined from chunks, which may depend on each other.
    class Aggregate
      include Suitable
      include Resolvable

      class DependencyError < StandardError; end

      def initialize(name, fact)
        @name = name
        @fact = fact
        @confines = []
        @chunks = {}
        @needs = {}
      end

      def resolution_type = :aggregate

      def chunk(name, opts = {}, &block)
        raise ArgumentError, "#{self.class.name}#chunk requires a block" unless block
        raise ArgumentError, "#{self.class.name}#expected chunk name to be a Symbol" unless name.is_a?(Symbol)

        @needs[name] = Array(opts.delete(:require))
        unless opts.empty?
          raise ArgumentError, "Unexpected options passed to #{self.class.name}#chunk: #{opts.keys.inspect}"
        end

        @chunks[name] = block
        self
      end

      def aggregate(&block)
        raise ArgumentError, "#{self.class.name}#aggregate requires a block" unless block

        @aggregate = block
        self
      end

      private

      def accepted_options = %i[name timeout weight fact_type]
      def kind = 'aggregate'

      def resolve_value
        results = {}
        ordered_chunks.each do |name|
          output = @chunks[name].call(*@needs[name].map { |needed| results[needed] })
          results[name] = Values.deep_freeze(output)
        end
        @aggregate ? @aggregate.call(results) : merged(results)
      end

      def merged(results)
        results.values.inject { |result, current| Values.deep_merge(result, current) }
      rescue Values::DeepMergeError => e
        raise ArgumentError, "Could not deep merge all chunks (Original error: #{e.message}), ensure that chunks " \
                             'return either an Array or Hash or override the aggregate block', e.backtrace
      end

      def ordered_chunks
        missing = @needs.values.flatten.uniq - @chunks.keys
        raise DependencyError, "Cannot sort elements; cannot depend on missing elements #{missing}" unless missing.empty?

        done = []
        visit = lambda do |name, path|
          if path.include?(name)
            cycle = path.drop(path.index(name)).reverse
            raise DependencyError, "Could not order chunks; found the following dependency cycles: #{[cycle].inspect}"
          end
          next if done.include?(name)

          @needs[name].each { |needed| visit.call(needed, path + [name]) }
          done << name
        end
        @chunks.each_key { |name| visit.call(name, []) }
        done
      end
    end
  end

  module Util
    # One way to find a fact's value.
    class Resolution
      include Suitable
      include Resolvable

      attr_accessor :code
      attr_writer :value, :name, :fact_type

      class << self
        def exec(command)
          Facter.deprecated('Facter::Util::Resolution.exec is deprecated and will be removed in a future major version. ' \
                            'Use Facter::Core::Execution.execute instead.')
          Core::Execution.execute(command, on_fail: nil)
        end

        def which(program)
          Facter.deprecated('Facter::Util::Resolution.which is deprecated and will be removed in a future major version. ' \
                            'Use Facter::Core::Execution.which instead.')
          Core::Execution.which(program)
        end

        def with_env(values, &block) = Core::Execution.with_env(values, &block)
      end

      def initialize(name, fact)
        @name = name
        @fact = fact
        @confines = []
        @timeout = 0
      end

      def resolution_type = :simple

      def setcode(string = nil, &block)
        if string
          @code = lambda do
            output = Core::Execution.execute(string, on_fail: nil)
            output.nil? || output.empty? ? nil : output
          end
        elsif block
          @code = block
        else
          raise ArgumentError, 'You must pass either code or a block'
        end
        self
      end

      private

      def accepted_options = %i[name value timeout weight fact_type file is_env]
      def kind = 'resolution'
      def resolve_value = @code&.call
    end

    # A named fact. The heaviest suitable resolution that finds something provides its value.
    class Fact
      attr_reader :name, :location, :options, :used_resolution_weight
      attr_accessor :ldapname

      def initialize(name, options = {})
        @name = name.to_sym
        @ldapname = name
        singleton_class.undef_method(:ldapname, :ldapname=) if Facter.openfact6?
        @options = options.dup
        @resolves = []
        @searching = false
        @used_resolution_weight = 0
      end

      def add(options = {}, &block)
        @options = @options.merge(options)
        @location = options[:file] || block&.source_location
        define_resolution(nil, options.dup, &block)
      end

      def define_resolution(resolution_name, options = {}, &block)
        options = options.dup
        type = options.delete(:type) || :simple
        options.delete(:ldapname) unless Facter.openfact6?
        resolve = create_or_return_resolution(resolution_name, type)
        resolve.options(options) unless options.empty?
        resolve.evaluate(&block) if block
        resolve
      rescue StandardError => e
        text = "Unable to add resolve #{resolution_name.inspect} for fact '#{@name}': #{e.message}"
        text += "\n#{Bunraku.trace_of(e).join("\n")}" if Facter.trace?
        Facter.say(:err, text, 'Facter::Util::Fact')
      end

      def resolution(name) = name && @resolves.find { |r| r.name == name }

      def flush
        @resolves.each(&:flush)
        @value = nil
      end

      def value
        return @value unless @value.nil?
        return nil if @resolves.empty?
        raise "Caught recursion on #{@name}" if @searching

        @searching = true
        begin
          suitable = @resolves.each_with_index.select { |r, _| r.suitable? }
          @value = first_value(suitable.sort_by { |r, i| [-r.weight, r.fact_type == :external ? 0 : 1, i] }.map(&:first))
          debug("Found no suitable resolves of #{@resolves.size} for #{@name}") if suitable.empty?
          debug("value for #{@name} is still nil") if @value.nil?
          @value = with_core_value
        ensure
          @searching = false
        end
      end

      private

      def debug(text) = Facter.debugging? && Facter.say(:debug, text, 'Facter::Util::Fact')

      # A custom fact of weight 0 does not replace a built-in one.
      def with_core_value
        return Facter.core_value(@name) if @value.nil?

        core = Facter.core_value(@name) if @used_resolution_weight <= 0
        core.nil? ? @value : core
      end

      def first_value(resolutions)
        resolutions.each do |resolution|
          begin
            value = resolution.value
          rescue ResolveCustomFactError
            break
          end
          @used_resolution_weight = resolution.weight
          next if value.nil?

          debug("#{resolution.fact_type} fact #{@name} was resolved from: #{resolution.last_evaluated}")
          return value
        end
        nil
      end

      def create_or_return_resolution(name, type)
        if (found = resolution(name))
          return found if type == found.resolution_type

          raise ArgumentError, "Cannot return resolution #{name} with type #{type}; already defined as " \
                               "#{found.resolution_type}"
        end
        made = case type
               when :simple then Resolution.new(name, self)
               when :aggregate then Core::Aggregate.new(name, self)
               else raise ArgumentError, "Expected resolution type to be one of (:simple, :aggregate) but was #{type}"
               end
        @resolves << made
        made
      end
    end

    def self.deep_merge_all(values) = values.reduce { |a, b| Values.deep_merge(a, b) }
  end

  # A condition under which a resolution may be used.
  class Confine
    def initialize(fact = nil, *values, &block)
      raise ArgumentError, 'The fact name must be provided' unless fact || block
      raise ArgumentError, 'One or more values or a block must be provided' if values.empty? && !block

      @fact = fact
      @values = values
      @block = block
    end

    def true?
      return guarded { @block.call } if @block && !@fact

      fact = Facter[@fact]
      return false unless fact

      value = Values.convert(fact.value)
      return false if value.nil?
      return guarded { @block.call(value) || @block.call(fact.value) } if @block

      @values.any? { |v| Values.convert(v) === value } # rubocop:disable Style/CaseEquality
    end

    private

    def guarded
      yield ? true : false
    rescue StandardError => e
      Facter.say(:debug, "Confine raised #{e.class} #{e}", 'LegacyFacter::Util::Confine') if Facter.debugging?
      false
    end
  end

  # The types of values that a fact may have.
  module Normalization
    class NormalizationError < StandardError; end

    VALID_TYPES = '[Integer, Float, TrueClass, FalseClass, NilClass, Symbol, String, Array, Hash, Date, Time]'

    module_function

    def normalize(name, value)
      case value
      when Integer, Float, true, false, nil then value
      when Symbol then value.to_s
      when String then normalize_string(name, value)
      when Array then value.map { |v| normalize(name, v) }
      when Hash then value.to_h { |k, v| [normalize(name, k).to_s, normalize(name, v)] }
      when Time then value.iso8601
      else
        return value.iso8601 if value.class.name.start_with?('Date')

        raise NormalizationError, "Expected #{value} to be one of #{VALID_TYPES}, but was #{value.class}"
      end
    end

    def normalize_string(name, value)
      if value.encoding == Encoding::BINARY
        value = value.dup.force_encoding(Encoding::UTF_8)
        unless value.valid_encoding?
          raise NormalizationError, "custom fact \"#{name}\" with value: #{value.scrub} contains binary data and could " \
                                    'not be force encoded to UTF-8'
        end
      else
        value = value.encode(Encoding::UTF_8)
      end
      unless value.valid_encoding?
        raise NormalizationError, "String #{value.inspect} doesn't match the reported encoding #{value.encoding}"
      end
      if value.include?("\0")
        raise NormalizationError, "String #{value.inspect} contains a null byte reference; unsupported for all facts."
      end

      value
    rescue EncodingError
      raise NormalizationError, "String encoding #{value.encoding} is not UTF-8 and could not be converted to UTF-8"
    end
  end

  module Values
    class DeepFreezeError < StandardError; end
    class DeepMergeError < StandardError; end

    module_function

    def deep_freeze(value)
      case value
      when Numeric, Symbol, true, false, nil then value
      when String then value.dup.freeze
      when Array then value.map { |v| deep_freeze(v) }.freeze
      when Hash then value.to_h { |k, v| [deep_freeze(k), deep_freeze(v)] }.freeze
      else raise DeepFreezeError, "Cannot deep freeze #{value}:#{value.class}"
      end
    end

    def deep_merge(left, right, path = [])
      if left.is_a?(Hash) && right.is_a?(Hash)
        left.merge(right) { |key, a, b| deep_merge(a, b, path + [key]) }
      elsif left.is_a?(Array) && right.is_a?(Array) then left + right
      elsif right.nil? then left
      elsif left.nil? then right
      else
        where = path.empty? ? '' : " at root#{path.map { |part| "[#{part.inspect}]" }.join}"
        raise DeepMergeError, "Cannot merge #{left.inspect}:#{left.class} and #{right.inspect}:#{right.class}#{where}"
      end
    end

    def convert(value)
      value = value.to_s if value.is_a?(Symbol)
      value.is_a?(String) ? value.downcase : value
    end
  end
end
