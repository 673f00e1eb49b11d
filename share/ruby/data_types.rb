# frozen_string_literal: true
# Data types of the Puppet language that are written in Ruby.

module Puppet
  module DataTypes
    @definitions = {}

    class << self
      attr_reader :definitions

      def create_type(name, &block)
        builder = Builder.new(name.to_s)
        builder.instance_eval(&block)
        @definitions[name.to_s.downcase] = builder
        builder
      end
    end

    class Builder
      attr_reader :type_name, :interface_text, :implementation_block, :implementation_class_name, :file

      def initialize(name) = @type_name = name
      def interface(text) = @interface_text = text
      def implementation(&block) = @implementation_block = block
      def implementation_class(name) = @implementation_class_name = name
      def load_file(name) = require(name)
    end
  end
end

module Bunraku
  module DataTypes
    class << self
      def classes = (@classes ||= {})

      def describe_file(file, name)
        described, reads = Reads.collect { describe(file, name) }
        described.merge('reads' => reads)
      end

      def describe(file, name)
        if loaded[file]
          Reads.used(file)
        else
          Puppet::DataTypes.definitions.delete(name.downcase)
          Reads.loading(file) do
            eval(Reads.quiet { File.read(file, encoding: 'UTF-8') }, TOPLEVEL_BINDING.dup, file, 1)
            true
          end
          loaded[file] = true
        end
        files[name.downcase] = file
        builder = Puppet::DataTypes.definitions[name.downcase]
        unless builder
          raise ArgumentError,
                "The code loaded from #{file} does not seem to be a Puppet Data Type - no create_type call."
        end
        raise ArgumentError, "The code loaded from #{file} has no interface" unless builder.interface_text

        klass = class_of(builder)
        own = klass.public_instance_methods(false).map(&:to_s)
        { 'name' => builder.type_name, 'interface' => builder.interface_text, 'methods' => own }
      end

      def loaded = (@loaded ||= {})
      def files = (@files ||= {})

      def class_of(builder)
        classes[builder.type_name] ||=
          if builder.implementation_class_name
            constant = builder.implementation_class_name
            base = constant.is_a?(Class) ? constant : Object.const_get(constant.to_s)
            base
          else
            klass = const_set("Of#{builder.type_name.gsub('::', '_')}", Class.new(Bunraku::Obj))
            klass.class_eval(&builder.implementation_block) if builder.implementation_block
            klass
          end
      end

      def instantiate(type, data, handle)
        builder = Puppet::DataTypes.definitions[type.downcase] or return nil
        Reads.used(files[type.downcase])

        klass = class_of(builder)
        if klass <= Bunraku::Obj
          made = klass.new(type, data, handle)
          # The code of an implementation reads its attributes as instance variables.
          data.each { |name, value| made.instance_variable_set(:"@#{name}", value) } if data.is_a?(Hash)
          return made
        end

        made = klass.respond_to?(:_pcore_init_from_hash) ? klass.allocate.tap { |o| o._pcore_init_from_hash(data) } : klass.new(*data.values)
        made.instance_variable_set(:@bunraku_type, type)
        made
      end

      # Returns the type of an instance of a class that a module provides.
      def type_name_of(object)
        object.instance_variable_get(:@bunraku_type) || classes.key(object.class)
      end

      def as_object(object)
        hash = object.respond_to?(:_pcore_init_hash) ? object._pcore_init_hash : object.instance_variables.to_h { |n| [n.to_s.delete_prefix('@'), object.instance_variable_get(n)] }
        hash.delete('bunraku_type')
        Bunraku::Obj.new(type_name_of(object), hash, 0)
      end

      def call(type, data, method, args)
        builder = Puppet::DataTypes.definitions.fetch(type.downcase)
        object = instantiate(builder.type_name, data, 0)
        object.public_send(method, *args)
      end
    end
  end
end
