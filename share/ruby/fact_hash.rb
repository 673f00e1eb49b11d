# frozen_string_literal: true
# $facts and $trusted for Ruby code: hashes that record which of their values are read.

module Bunraku
  # Represents a Hash, and is one for `is_a?`, `instance_of?`, `class` and `case`. It is a separate
  # object, so that no Ruby method can read it unrecorded: methods that accept a Hash call to_hash,
  # which records a read of everything.
  class FactHash
    KIND_OF = ::Kernel.instance_method(:kind_of?)

    # `kind` is "fact" or "trusted". `path` is the position of this hash: "os.release".
    def initialize(kind, path, hash)
      FactHash.become_known
      @kind = kind
      @path = path
      @hash = hash
    end

    class << self
      # Returns the value of the variable with that name.
      def variable(name, value)
        return value unless value.instance_of?(Hash)

        case name
        when 'facts', '::facts' then new('fact', '', value)
        when 'trusted', '::trusted' then new('trusted', '', value)
        else value
        end
      end

      # Makes `case` and `Hash === x` accept these hashes.
      def become_known
        return if @known

        @known = true
        ::Hash.define_singleton_method(:===) do |object|
          super(object) || (equal?(::Hash) && FactHash.mine?(object))
        end
      end

      # Independent of methods that the object overrides.
      def mine?(object) = KIND_OF.bind_call(object, FactHash)
    end

    def [](key) = found(key, @hash[key])

    def fetch(*args, &block)
      return whole.fetch(*args, &block) unless args.size.between?(1, 2)

      key = args[0]
      return found(key, @hash.fetch(key)) if @hash.key?(key)

      found(key, nil)
      @hash.fetch(*args, &block)
    end

    def dig(*keys)
      return whole.dig if keys.empty?

      value = self[keys[0]]
      keys.size == 1 || value.nil? ? value : value.dig(*keys.drop(1))
    end

    def key?(key)
      found(key, @hash[key])
      @hash.key?(key)
    end
    alias has_key? key?
    alias include? key?
    alias member? key?

    def fetch_values(*keys, &block) = keys.map { |key| fetch(key, &block) }
    def values_at(*keys) = keys.map { |key| self[key] }

    def nil? = false
    def class = ::Hash
    def is_a?(type) = ::Hash <= type ? true : super
    alias kind_of? is_a?
    def instance_of?(type) = type.equal?(::Hash)
    def respond_to?(name, all = false) = ::Hash.method_defined?(name) || super
    def frozen? = @hash.frozen?
    def freeze = self
    def itself = self
    def instance_variables = []
    def to_hash = whole

    # A copy is a plain Hash, and so is the result of Marshal.
    def dup = whole.dup
    def clone(**options) = whole.clone(**options)
    def marshal_dump = whole

    def marshal_load(hash)
      @kind = nil
      @path = ''
      @hash = hash
    end

    # All other methods read the whole hash.
    own = instance_methods(false)
    kept = %i[__send__ __id__ object_id send public_send tap then yield_self equal? instance_variable_get
              instance_variable_set instance_variable_defined? remove_instance_variable method
              public_method singleton_class singleton_method singleton_methods define_singleton_method extend
              instance_eval instance_exec enum_for to_enum display !]
    (::Hash.public_instance_methods - own - kept).each do |name|
      define_method(name) { |*args, **options, &block| whole.public_send(name, *args, **options, &block) }
    end

    private

    def respond_to_missing?(name, all = false) = @hash.respond_to?(name, all)

    # Handles methods that are added to Hash later.
    def method_missing(name, *args, **options, &block)
      @hash.respond_to?(name) ? whole.public_send(name, *args, **options, &block) : super
    end

    def whole
      Reads.note(@kind, @path) if @kind
      @hash
    end

    # For a nested hash, later reads are recorded. If there are none, the read is recorded as one of
    # its existence.
    def found(key, value)
      return value if @kind.nil?

      segment = key.to_s
      segment = "'#{segment}'" if segment.include?('.')
      path = @path.empty? ? segment : "#{@path}.#{segment}"
      Reads.opened.delete("#{@kind}:#{@path}") unless value.nil? || Reads.opened.empty?
      unless value.instance_of?(::Hash)
        Reads.note(@kind, path)
        return value
      end
      Reads.opened["#{@kind}:#{path}"] = @kind unless Reads.quiet?
      FactHash.new(@kind, path, value)
    end
  end
end
