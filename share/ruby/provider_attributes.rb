# frozen_string_literal: true
# Extends parameters and properties for provider_host: how they are compared, changed and displayed.

module Puppet
  class Parameter
    def log(message) = Bunraku.logged(resource.loglevel, message, self)
    def file = resource&.file
    def line = resource&.line
    def path = "#{resource&.path}/#{name}"
    def provider = resource&.provider
    def noop = false
    def pathbuilder = [name]
    def format(text, *args) = Kernel.format(text.gsub('%s', '%s'), *args)
    def remove = (@resource = nil)
    alias inspect to_s
  end

  class Property
    def unsafe_validate(value)
      super
      needed = self.class.value_option(self.class.value_name(value), :required_features) or return
      needed = Array(needed)
      return if provider.nil? || provider.class.satisfies?(*needed)

      raise ArgumentError, "Provider #{provider.class.name} must have features '#{needed.join(', ')}' to set '#{self.class.name}' to '#{value}'"
    end

    def raw_should = defined?(@should) ? @should : nil

    def should
      return nil unless defined?(@should) && @should

      devfail("should for #{self.class.name} on #{resource.name} is not an array") unless @should.is_a?(::Array)
      match_all? ? @should.map { |v| unmunge(v) } : unmunge(@should[0])
    end

    def value = should
    def value=(values)
      self.should = values
    end

    def insync?(is)
      devfail "#{self.class.name}'s should is not array" unless @should.is_a?(::Array)
      return true if @should.empty?
      return @should.any? { |want| property_matches?(is, want) } unless match_all?
      return false unless is.is_a?(::Array) && is.length == @should.length

      is == @should || is == @should.map(&:to_s) || is.zip(@should).all? { |a, b| property_matches?(a, b) }
    end

    def safe_insync?(is)
      return true unless raw_should

      insync?(is)
    end

    def is_to_s(value) = self.class.format_value_for_display(value)
    def should_to_s(value) = self.class.format_value_for_display(value)

    def change_to_s(current, desired)
      if current == :absent then "defined '#{name}' as #{should_to_s(desired)}"
      elsif desired == :absent || desired == [:absent] then "undefined '#{name}' from #{is_to_s(current)}"
      else "#{name} changed #{is_to_s(current)} to #{should_to_s(desired)}"
      end
    rescue Puppet::Error
      raise
    rescue StandardError => e
      raise Puppet::DevError, "Could not convert change '#{name}' to string: #{e}", e.backtrace
    end

    def event_name
      value = should
      found = self.class.value_option(self.class.value_name(value), :event)
      return found if found && value
      return :"#{name}_changed" unless name == :ensure

      :"#{resource.type}_#{{ present: 'created', absent: 'removed' }.fetch(value, 'changed')}"
    end

    def retrieve = provider.send(self.class.name)

    def set(value)
      found = self.class.value_collection.match?(value)
      method = found&.method
      if method && respond_to?(method)
        begin
          send(method)
        rescue Puppet::Error
          raise
        rescue StandardError => e
          text = "Could not set '#{value}' on #{self.class.name}: #{e}"
          error = Puppet::ResourceError.new(text, file, line, nil, e)
          error.place_is_known = true
          error.set_backtrace(e.backtrace)
          Bunraku.log(:err, error.message)
          raise error
        end
      elsif found&.block
        instance_eval(&found.block)
      else
        call_provider(value)
      end
    end

    def call_provider(value)
      fail "#{self.class.name} cannot handle values of type #{value.inspect}" unless provider
      method = "#{self.class.name}="
      fail "The #{provider.class.name} provider can not handle attribute #{self.class.name}" unless provider.respond_to?(method)

      provider.send(method, value)
    end

    def sync
      wanted = should
      devfail("Got a nil value for should") if wanted.nil? && !raw_should
      set(wanted)
    end

    class Ensure
      def change_to_s(current, desired)
        if current == :absent || current.nil? then 'created'
        elsif desired == :absent then 'removed'
        else "#{name} changed #{is_to_s(current)} to #{should_to_s(desired)}"
        end
      end

      def retrieve
        # A provider with a property hash reports its state in `ensure`; most have only exists?.
        found =
          if provider.respond_to?(:properties) then return provider.properties[:ensure] || :absent
          elsif provider.respond_to?(:exists?) then provider.exists?
          elsif @resource.respond_to?(:exists?) then @resource.exists?
          else raise Puppet::DevError, "No ability to determine if #{@resource.name} exists"
          end
        found ? :present : :absent
      end
    end

    class List
      def is_to_s(value) = value == :absent ? super : self.class.format_value_for_display(value.is_a?(::Array) ? value.join(delimiter) : value)
      def should_to_s(value) = is_to_s(value)
      def add_should_with_current(should, current) = should + (current.is_a?(::Array) ? current : [])

      def should
        return nil unless defined?(@should) && @should

        members = @should
        members = add_should_with_current(members, retrieve) unless inclusive?
        dearrayify(members)
      end

      def retrieve
        found = provider.send(name)
        found.nil? || found == :absent ? :absent : found.split(delimiter)
      end

      def insync?(is)
        return true unless is

        prepare_is_for_comparison(is) == should
      end

      def prepare_is_for_comparison(is) = is.nil? || is == :absent ? '' : dearrayify(is.is_a?(::Array) ? is : [is])
      def dearrayify(array) = array.sort.uniq.join(delimiter)
    end

    class OrderedList
      def dearrayify(array) = array.join(delimiter)
      def add_should_with_current(should, current) = current.is_a?(::Array) ? should + (current - should) : should
    end

    class KeyValue
      def hashify(list) = list.to_h { |v| v.is_a?(::Hash) ? v.first : v.split(separator, 2) }

      def should
        return nil unless defined?(@should) && @should

        members = hashify(@should)
        current = inclusive? ? {} : retrieve
        current = {} unless current.is_a?(::Hash)
        current.merge(members)
      end

      def insync?(is)
        return true unless is

        is == should
      end
    end
  end
end
