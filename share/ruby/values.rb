# frozen_string_literal: true
# Types, and values of the Puppet language without a Ruby class.

module Puppet
  module Pops
    MAX_INTEGER = 0x7fffffffffffffff
    MIN_INTEGER = -0x8000000000000000
    EMPTY_HASH = {}.freeze
    EMPTY_ARRAY = [].freeze
    EMPTY_STRING = ''

    module Types
      class TypeAssertionError < Puppet::Error
        attr_reader :expected_type, :actual_type

        def initialize(message, expected_type, actual_type)
          super(message)
          @expected_type = expected_type
          @actual_type = actual_type
        end
      end

      # A type: its text, and information that the compile provides. Modules examine classes and
      # names, rarely more.
      class PAnyType
        attr_reader :bunraku_text

        def initialize(text = nil)
          @bunraku_text = (text || self.class.default_text).to_s
        end

        class << self
          def default_text = name.to_s[/P([A-Za-z0-9]+)Type\z/, 1] || 'Any'
          def simple_name = default_text
          def const_missing(name) = name == :DEFAULT ? const_set(:DEFAULT, new) : super
        end

        def to_s = @bunraku_text
        alias inspect to_s
        def name = @bunraku_text[/\A[\w:]+/]
        def simple_name = name
        def _dump(_depth) = @bunraku_text
        def bunraku_value? = true
        def instance?(value, _guard = nil) = Bunraku.ask(:type_instance, @bunraku_text, value)
        def assignable?(other, _guard = nil) = Bunraku.ask(:type_assignable, @bunraku_text, other.to_s)
        def ==(other) = other.is_a?(PAnyType) && other.bunraku_text == @bunraku_text
        alias eql? ==
        def hash = @bunraku_text.hash
        def generalize = Types.from_text(Bunraku.ask(:generalize, @bunraku_text))
        def create(*args) = Bunraku.ask(:new, @bunraku_text, args)
        def new_function = self
        def parameters_text = @bunraku_text[/\[(.*)\]\z/m, 1]
        def resolved_type = self
        def callable?(*) = true
        def call(_scope, *args) = create(*args)

        def types
          inside = parameters_text
          inside ? Types.split(inside).map { |t| Types.from_text(t) } : []
        end
        private :types
      end

      %w[Undef Default Scalar ScalarData Data RichData Numeric Integer Float String Boolean Regexp Pattern Enum
         Collection Array Tuple Hash Struct Variant Optional NotUndef Type TypeAlias TypeReference Callable
         Iterable Iterator Sensitive Binary Timestamp Timespan SemVer SemVerRange URI Init Object TypeSet Runtime
         CatalogEntry Unit].each do |name|
        const_set("P#{name}Type", Class.new(PAnyType))
      end

      class PStringType
        def values = (v = parameters_text) ? [v] : []
      end

      class PEnumType
        def values = Types.split(parameters_text.to_s).map { |t| Types.unquote(t) }
        def each(&block) = block ? values.each(&block) : values.each
      end

      # "Name = Type" if Bunraku sends the target. All methods except the name refer to the target
      # type.
      class PTypeAliasType
        def initialize(text)
          super
          @name, @right = @bunraku_text.split(' = ', 2)
        end

        attr_reader :name

        def _dump(_depth) = @name
        def resolved_type = @resolved_type ||= @right ? Types.from_text(@right) : self
        def instance?(value, _guard = nil) = Bunraku.ask(:type_instance, @name, value)
        def assignable?(other, _guard = nil) = Bunraku.ask(:type_assignable, @name, other.to_s[/\A[^=]+(?= = )/] || other.to_s)
        def respond_to_missing?(name, all = false) = (@right && resolved_type.respond_to?(name, all)) || super

        def method_missing(name, *args, &block)
          @right && resolved_type.respond_to?(name) ? resolved_type.send(name, *args, &block) : super
        end
      end

      [PTupleType, PVariantType].each do |type|
        type.class_eval do
          include Enumerable
          public :types
          def each(&block) = types.each(&block)
        end
      end

      class PStructType
        include Enumerable

        # The name as in the type's text, which may be Optional['a'], and the type of the value.
        Element = ::Struct.new(:key, :value_type) do
          def name = Types.unquote(key[/\A(?:Optional|NotUndef)\[(.*)\]\z/m, 1] || key)
        end

        def elements
          Types.split(parameters_text.to_s.delete_prefix('{').delete_suffix('}')).map do |entry|
            key, type = entry.split(' => ', 2)
            Element.new(key, Types.from_text(type))
          end
        end

        def each(&block) = elements.each(&block)
      end

      class PArrayType
        def element_type = types.first || PAnyType.new
      end

      class PHashType
        def key_type = types[0] || PAnyType.new
        def value_type = types[1] || PAnyType.new
        def element_type = value_type
      end

      class POptionalType
        def type = types.first
        alias optional_type type
      end

      class PTypeType
        def type = types.first
      end

      class PCatalogEntryType; end

      class PResourceType < PCatalogEntryType
        def type_name
          n = @bunraku_text[/\A[\w:]+/]
          return n unless n == 'Resource'

          inside = Types.split(parameters_text.to_s).first
          inside && Types.unquote(inside)
        end

        def title
          parts = Types.split(parameters_text.to_s)
          parts.shift if @bunraku_text.start_with?('Resource[')
          parts.empty? ? nil : Types.unquote(parts.first)
        end

        def downcased_name = type_name&.downcase
      end

      class PClassType < PCatalogEntryType
        def class_name = parameters_text && Types.unquote(Types.split(parameters_text).first)
      end

      class PSensitiveType
        class Sensitive
          def initialize(value) = @value = value
          def unwrap = @value
          def to_s = 'Sensitive [value redacted]'
          def inspect = '#<Sensitive [value redacted]>'
          def hash = @value.hash
          def ==(other) = other.is_a?(Sensitive) && other.hash == hash
          alias eql? ==
          def marshal_dump = @value
          def marshal_load(value) = @value = value
          def bunraku_value? = true
        end
      end

      class PBinaryType
        class Binary
          attr_reader :binary_buffer

          def self.from_base64(text) = new(text.unpack1('m'))
          def self.from_base64_strict(text) = new(text.unpack1('m0'))
          def self.from_string(text) = new(text.b)
          def self.from_binary_string(text) = new(text.b)

          def initialize(bytes) = @binary_buffer = bytes.b.freeze
          def to_s = [@binary_buffer].pack('m0')
          alias relaxed_to_s to_s
          def length = @binary_buffer.bytesize
          alias size length
          def ==(other) = other.is_a?(Binary) && other.binary_buffer == @binary_buffer
          alias eql? ==
          def hash = @binary_buffer.hash
          def marshal_dump = @binary_buffer
          def marshal_load(bytes) = @binary_buffer = bytes.b.freeze
          def bunraku_value? = true
        end
      end

      class Deferred < Bunraku::Obj
        def name = _pcore_init_hash['name']
        def arguments = _pcore_init_hash['arguments'] || []
      end

      module TypeFactory
        class << self
          def type_of(value) = Types.from_text(Bunraku.ask(:infer, value, false))
          def optional(type) = Types.from_text("Optional[#{type}]")
          def not_undef(type = nil) = Types.from_text(type ? "NotUndef[#{type}]" : 'NotUndef')
          def array_of(type = 'Any') = Types.from_text("Array[#{type}]")
          def hash_of(value = 'Any', key = 'Any') = Types.from_text("Hash[#{key}, #{value}]")
          def hash_kv(key, value) = hash_of(value, key)
          def variant(*types) = Types.from_text("Variant[#{types.join(', ')}]")
          def enum(*values) = Types.from_text("Enum[#{values.map { |v| "'#{v}'" }.join(', ')}]")
          def tuple(types) = Types.from_text("Tuple[#{types.join(', ')}]")
          def pattern(*p) = Types.from_text("Pattern[#{p.map { |x| "/#{x.is_a?(Regexp) ? x.source : x}/" }.join(', ')}]")
          def range(from, to) = Types.from_text("Integer[#{from}, #{to}]")
          def resource(type = nil, title = nil) = Types.from_text(title ? "#{type}['#{title}']" : type || 'Resource')
          def host_class(name = nil) = Types.from_text(name ? "Class['#{name}']" : 'Class')
          def sensitive(type = nil) = Types.from_text(type ? "Sensitive[#{type}]" : 'Sensitive')
          def type_type(type = nil) = Types.from_text(type ? "Type[#{type}]" : 'Type')
          def struct(hash) = Types.from_text("Struct[{#{hash.map { |k, v| "'#{k}' => #{v}" }.join(', ')}}]")

          def method_missing(name, *args)
            text = name.to_s.split('_').map(&:capitalize).join
            text = { 'AllCallables' => 'Callable', 'ArrayOfAny' => 'Array', 'HashOfAny' => 'Hash', 'ArrayOfData' => 'Array[Data]',
                     'HashOfData' => 'Hash[String, Data]', 'SemVer' => 'SemVer', 'Uri' => 'URI' }.fetch(text, text)
            Types.from_text(args.empty? ? text : "#{text}[#{args.join(', ')}]")
          end

          def respond_to_missing?(*) = true
        end
      end

      module TypeCalculator
        class << self
          def singleton = self
          def infer(value) = Types.from_text(Bunraku.ask(:infer, value, false))
          def infer_set(value) = Types.from_text(Bunraku.ask(:infer, value, true))
          def instance?(type, value) = Bunraku.ask(:type_instance, type.to_s, value)
          def assignable?(type, other) = Bunraku.ask(:type_assignable, type.to_s, other.to_s)
          def generalize(type) = Types.from_text(Bunraku.ask(:generalize, type.to_s))
          def string(type) = type.to_s
          def debug_string(type) = type.to_s
          def is_kind_of_callable?(type, _optional = true) = type.to_s.include?('Callable')
          def iterable(value) = value.respond_to?(:each) ? value : nil
          def new = self
        end
      end

      class TypeParser
        def self.singleton = (@singleton ||= new)
        def parse(text, _loader = nil) = Types.from_text(Bunraku.ask(:parse_type, text.to_s))
        def interpret(*) = raise(Puppet::Error, 'syntax trees are not available to Ruby code here')
        def parse_literal(text, _loader = nil) = Bunraku.ask(:evaluate, text.to_s)
      end

      class TypeFormatter
        def self.singleton = (@singleton ||= new)
        def string(type) = type.to_s
        alias alias_expanded_string string
        alias debug_string string
      end

      class TypeMismatchDescriber
        def self.singleton = (@singleton ||= new)
        def self.describe_signatures(*args) = singleton.describe_signatures(*args)
        def self.validate_parameters(*) = nil

        def describe_mismatch(name, expected, actual, _tense = nil)
          Bunraku.ask(:describe_mismatch, name.to_s, expected.to_s, actual.to_s)
        end

        def describe_signatures(name, signatures, args, *)
          "'#{name}' expects #{signatures.map(&:to_s).join(' or ')}, got #{args}"
        end
      end

      module TypeAsserter
        def self.assert_instance_of(subject, expected, value, nil_ok = false, &block)
          return value if value.nil? && nil_ok
          return value if expected.instance?(value)

          subject = subject.is_a?(Array) ? subject[0] % subject[1..] : subject
          subject = block.call if block
          # "x expects an Integer value, got String"
          text = Bunraku.ask(:mismatch_text, subject.to_s, expected.to_s, value).to_s
          text = "#{subject} has wrong type, #{text.delete_prefix("#{subject} ")}" if text.start_with?("#{subject} ")
          raise TypeAssertionError.new(text, expected, value)
        end
      end

      class StringConverter
        def self.singleton = (@singleton ||= new)
        def self.convert(value, formats = :default) = singleton.convert(value, formats)
        def convert(value, formats = :default) = Bunraku.ask(:new, 'String', formats == :default ? [value] : [value, formats])
      end

      module Iterable
        def self.asserted_iterable(caller, value, _infer_elements = false)
          found = on(value)
          raise ArgumentError, "#{caller.class.name}(): wrong argument type (#{value.class}; is not Iterable." if found.nil?

          found
        end

        def self.on(value, *)
          case value
          when Hash, Array, Enumerator then value.each
          when Integer then value.negative? ? nil : value.times
          when String then value.each_char
          else value.respond_to?(:each) ? value.each : nil
          end
        end
      end

      module PuppetObject; end
      class AssertionError < Puppet::Error; end

      SIMPLE = /\A[A-Z]\w*\z/.freeze

      class << self
        def from_text(text)
          head = text[/\A[\w:]+/].to_s
          cls =
            if head == 'Class' then PClassType
            elsif text.match?(/\A[A-Z][\w:]* = /) then PTypeAliasType
            elsif head == 'Any' then PAnyType
            elsif BUILTIN.include?(head) then const_get("P#{head}Type")
            elsif head == 'Resource' || (text.include?('[') && !text.include?('{')) || Bunraku.ask(:is_resource_type, head)
              PResourceType
            else PTypeAliasType
            end
          cls.new(text)
        end

        # Splits the arguments in [..] at their commas.
        def split(text)
          out = []
          depth = 0
          quote = nil
          current = +''
          escaped = false
          text.each_char do |c|
            if quote
              current << c
              quote = nil if c == quote && !escaped
              escaped = c == '\\' && !escaped
              next
            end
            case c
            when "'", '"' then quote = c
            when '[', '{', '(' then depth += 1
            when ']', '}', ')' then depth -= 1
            when ','
              if depth.zero?
                out << current.strip
                current = +''
                next
              end
            end
            current << c
          end
          out << current.strip unless current.strip.empty?
          out
        end

        def unquote(text)
          return text unless text.start_with?("'", '"')

          text[1..-2].gsub(/\\(['"\\])/, '\1')
        end
      end
      BUILTIN = (constants.grep(/\AP[A-Z].*Type\z/).map { |c| c.to_s[1..-5] } - %w[Any Class Resource]).freeze
    end

    module Time
      class TimeData < Numeric
        include Comparable
        attr_reader :nsecs

        def initialize(nsecs) = @nsecs = nsecs
        def <=>(other) = other.is_a?(self.class) ? nsecs <=> other.nsecs : to_f <=> other
        def ==(other) = other.is_a?(self.class) && other.nsecs == nsecs
        alias eql? ==
        def hash = @nsecs.hash
        def to_f = @nsecs / 1_000_000_000.0
        def to_i = @nsecs / 1_000_000_000
        alias to_int to_i
        def to_r = Rational(@nsecs, 1_000_000_000)
        def marshal_dump = @nsecs
        def marshal_load(nsecs) = @nsecs = nsecs
        def bunraku_value? = true
        def to_s = Bunraku.ask(:to_text, self)
        alias inspect to_s
      end

      class Timestamp < TimeData
        def self.now = from_time(::Time.now)
        def self.from_time(time) = new(time.tv_sec * 1_000_000_000 + time.tv_nsec)
        def self.parse(text, format = :default, _timezone = nil)
          Bunraku.ask(:new, 'Timestamp', format == :default ? [text] : [text, format])
        end

        def format(text, timezone = nil) = Bunraku.call_puppet('strftime', [self, text, timezone].compact)
        def to_time = ::Time.at(to_r).utc
        def +(other) = Timestamp.new(@nsecs + nanos(other))
        def -(other) = other.is_a?(Timestamp) ? Timespan.new(@nsecs - other.nsecs) : Timestamp.new(@nsecs - nanos(other))

        private

        def nanos(v) = v.is_a?(TimeData) ? v.nsecs : (v * 1_000_000_000).to_i
      end

      class Timespan < TimeData
        def self.parse(text, *) = Bunraku.ask(:new, 'Timespan', [text])
        def format(text) = Bunraku.call_puppet('strftime', [self, text])
        def total_seconds = to_i
        def +(other) = Timespan.new(@nsecs + (other.is_a?(TimeData) ? other.nsecs : (other * 1_000_000_000).to_i))
        def -(other) = Timespan.new(@nsecs - (other.is_a?(TimeData) ? other.nsecs : (other * 1_000_000_000).to_i))
      end
    end

    module Loader
      # The replacement for Puppet's loaders that functions receive.
      class Shim
        def initialize(name = nil) = @name = name
        def private_loader = self
        def public_loader = self
        def parent = self
        def environment = Puppet::Node::Environment.current
        def loader_name = @name.to_s
        def load(kind, name)
          case kind
          when :function then Bunraku.function?(name.to_s) ? Callee.new(name.to_s) : nil
          when :type then Types.from_text(Bunraku.ask(:parse_type, name.to_s))
          end
        end

        def load_typed(*) = nil
        def find(*) = nil
        def to_s = "(Loader '#{@name}')"

        class Callee
          attr_reader :name

          def initialize(name) = @name = name
          def call(_scope, *args, &block) = Bunraku.call_puppet(@name, args, block)
        end
      end

      class LoadError < Puppet::Error; end
      class TypedName
        attr_reader :type, :name

        def initialize(type, name, *)
          @type = type
          @name = name
        end
      end
    end

    class Loaders
      def self.shim = (@shim ||= new)
      def self.loaders = shim
      def self.find_loader(_name = nil) = shim.public_environment_loader
      def self.implementation_registry = nil
      def public_environment_loader = (@loader ||= Loader::Shim.new('environment'))
      alias private_environment_loader public_environment_loader
      alias puppet_system_loader public_environment_loader
      alias static_loader public_environment_loader
      def [](*) = public_environment_loader
      def find_loader(*) = public_environment_loader
      def private_loader_for_module(*) = public_environment_loader
      def public_loader_for_module(*) = public_environment_loader
    end

    module Evaluator
      class Jumper < StandardError; end
      module Runtime3ResourceSupport
        def self.find_resource_type_or_class(_scope, name)
          %i[type_known define_known class_known].any? { |kind| Bunraku.ask(kind, name.to_s) } ? Puppet::Resource::Type.new(:definition, name.to_s) : nil
        end

        def self.find_resource_type(_scope, name) = find_resource_type_or_class(nil, name)
      end

      module Runtime3Converter
        def self.map_args(args, _scope, undef_value) = args.map { |a| a.nil? ? undef_value : a }
        def self.convert(value, _scope, undef_value) = value.nil? ? undef_value : value
        def self.instance = self
      end

      class Collectors; end
      class PuppetProc; end
    end

    module PuppetStack
      def self.stacktrace
        info = Bunraku.ask(:stacktrace)
        info.is_a?(Array) ? info : []
      end

      def self.top_of_stack = stacktrace.first || []
      def self.stacktrace_from_backtrace(*) = []
    end

    # Merge strategies of lookups.
    class MergeStrategy
      def self.strategy(given)
        return given if given.is_a?(MergeStrategy)

        name, *options = given.is_a?(Hash) ? [given['strategy'], given.reject { |k, _| k == 'strategy' }] : [given.to_s]
        new(name, options[0] || {})
      end

      def initialize(name, options = {})
        @name = name.to_s
        @options = options
      end

      def key = @name.to_sym

      def merge(first, second)
        case @name
        when 'first', 'default' then first
        when 'hash' then second.merge(first)
        when 'unique' then (Array(first).flatten + Array(second).flatten).uniq
        when 'deep', 'unconstrained_deep', 'reverse_deep' then deep(first, second)
        else raise ArgumentError, "Unknown merge strategy: '#{@name}'"
        end
      end

      private

      # Merges the values of `second` that `first` lacks, key by key; arrays are joined.
      def deep(first, second)
        if first.is_a?(Hash) && second.is_a?(Hash)
          second.merge(first) { |_key, b, a| deep(a, b) }
        elsif first.is_a?(Array) && second.is_a?(Array) then second | first
        else first
        end
      end
    end

    module Serialization
      class ToDataConverter
        def self.convert(value, options = {}) = Bunraku.ask(:to_rich_data, value, options[:rich_data] != false)
      end

      class FromDataConverter
        def self.convert(value, *) = Bunraku.ask(:from_rich_data, value)
      end
    end

    module Adapters; end
    module Issues
      def self.method_missing(name, *) = Struct.new(:issue_code).new(name)
    end

    module Lookup
      def self.lookup(name, type, default, has_default, merge, _invocation)
        Bunraku.call_puppet('lookup', has_default ? [name, type, merge, default] : [name, type, merge])
      end

      def self.search_and_merge(name, _invocation, merge, *) = Bunraku.call_puppet('lookup', [name, nil, merge])

      class Invocation
        def initialize(*) = nil
        def scope = Puppet::Parser::Scope.current
      end

      module Interpolation
        def interpolate(value, context, _allow_methods) = context.interpolate(value)
      end
    end

    module Parser
      class EvaluatingParser
        def self.singleton = (@singleton ||= new)
        def evaluate_string(_scope, text, *) = Bunraku.ask(:evaluate, text)
        def parse_string(text, *) = text
        def self.quote(text) = "\"#{text.gsub(/["\\$]/) { |c| "\\#{c}" }}\""
      end
    end
  end

  # The context that a Hiera data function receives in addition to its options.
  class LookupContext < Bunraku::Obj
    def environment_name = context(:environment_name)
    def module_name = context(:module_name)
    def not_found = Bunraku.no_such_key { context(:not_found) }
    def interpolate(value) = context(:interpolate, value)
    def cache(key, value) = context(:cache, key, value)
    def cache_all(hash) = context(:cache_all, hash)
    def cache_has_key(key) = context(:cache_has_key, key)
    alias cache_has_key? cache_has_key
    def cached_value(key) = context(:cached_value, key)
    def cached_entries(&block)
      entries = context(:cached_entries).to_h
      return entries.each_pair unless block

      entries.each_pair { |k, v| block.arity == 2 ? block.call(k, v) : block.call([k, v]) }
      nil
    end

    def cached_file_data(path)
      @file_data ||= {}
      stat = File.stat(path)
      stamp = [stat.mtime, stat.size, stat.ino]
      Bunraku::Reads.file(path)
      known = Bunraku.file_data[path]
      return known[1] if known && known[0] == stamp

      content = File.read(path, encoding: 'UTF-8')
      data = block_given? ? yield(content) : content
      Bunraku.file_data[path] = [stamp, data]
      data
    end

    def explain(&block)
      context(:explain, block.call.to_s) if context(:explaining?)
      nil
    end

    def explaining? = context(:explaining?) ? true : false
    def invocation = self
    def scope = Puppet::Parser::Scope.current

    private

    def context(name, *args) = Bunraku.ask(:method, @handle, name.to_s, args, 0, 0)
  end
end

module Bunraku
  def self.file_data = (@file_data ||= {})
end

module SemanticPuppet
  class Version
    class ValidationFailure < ArgumentError; end
    include Comparable
    attr_reader :major, :minor, :patch, :prerelease, :build

    PATTERN = /\A(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?\z/.freeze

    def self.parse(text)
      m = PATTERN.match(text.to_s) or raise ValidationFailure, "Unable to parse '#{text}' as a semantic version identifier"
      new(m[1].to_i, m[2].to_i, m[3].to_i, m[4], m[5])
    end

    def self.valid?(text) = PATTERN.match?(text.to_s)
    def self._load(text) = parse(text.force_encoding('UTF-8'))

    def initialize(major, minor, patch, prerelease = nil, build = nil)
      @major = major
      @minor = minor
      @patch = patch
      @prerelease = prerelease.is_a?(Array) ? prerelease.join('.') : prerelease
      @build = build.is_a?(Array) ? build.join('.') : build
    end

    def _dump(_depth) = to_s
    def bunraku_value? = true
    def stable? = @prerelease.nil?

    def to_s = "#{@major}.#{@minor}.#{@patch}#{"-#{@prerelease}" if @prerelease}#{"+#{@build}" if @build}"
    def ==(other) = other.is_a?(Version) && to_s == other.to_s
    alias eql? ==
    def hash = to_s.hash
    def next(part)
      case part
      when :major then Version.new(@major + 1, 0, 0)
      when :minor then Version.new(@major, @minor + 1, 0)
      else Version.new(@major, @minor, @patch + 1)
      end
    end

    def <=>(other)
      return nil unless other.is_a?(Version)

      order = [major, minor, patch] <=> [other.major, other.minor, other.patch]
      return order unless order.zero?
      return 0 if prerelease == other.prerelease
      return 1 if prerelease.nil?
      return -1 if other.prerelease.nil?

      a = prerelease.split('.')
      b = other.prerelease.split('.')
      a.zip(b).each do |x, y|
        return 1 if y.nil?

        xn = x.match?(/\A\d+\z/)
        yn = y.match?(/\A\d+\z/)
        order = xn && yn ? x.to_i <=> y.to_i : (xn ? -1 : (yn ? 1 : x <=> y))
        return order unless order.zero?
      end
      a.size <=> b.size
    end
  end

  class VersionRange
    attr_reader :text

    def self.parse(text, *) = new(text)
    def self._load(text) = new(text.force_encoding('UTF-8'))
    def initialize(text, *) = @text = text.to_s
    def _dump(_depth) = @text
    def bunraku_value? = true
    def include?(version) = Bunraku.ask(:type_instance, "SemVer['#{@text}']", version)
    alias === include?
    alias cover? include?
    alias member? include?
    def to_s = @text
    alias inspect to_s
    def ==(other) = other.is_a?(VersionRange) && other.text == @text
  end
end

Semantic = SemanticPuppet unless defined?(Semantic)
