# frozen_string_literal: true
# Base class of providers for users and groups: commands that change one entry of a name service.

module Puppet
  Etc = ::Etc unless const_defined?(:Etc, false)

  class Provider
    remove_const(:NameService) if const_defined?(:NameService, false)

    class NameService < Provider
      class << self
        def initvars
          @checks = {}
          @options = {}
          super
        end

        def autogen_default(param) = (@autogen_defaults ||= {})[param.to_sym]
        def autogen_defaults(hash) = hash.each { |param, value| (@autogen_defaults ||= {})[param.to_sym] = value }

        def section
          raise Puppet::DevError, 'Cannot determine Etc section without a resource type' unless resource_type

          resource_type.name == :group ? 'gr' : 'pw'
        end

        def instances
          found = []
          Puppet::Etc.send(section == 'gr' ? :group : :passwd) { |entry| found << entry.name }
          found.map { |name| new(name: name, canonical_name: name, ensure: :present) }
        end

        # Options of a parent class do not count.
        def option(name, option) = (@options || {}).dig(name.to_sym, option)

        def options(name, hash)
          raise Puppet::DevError, "#{name} is not a valid attribute for #{resource_type.name}" unless resource_type.valid_parameter?(name)

          ((@options ||= {})[name] ||= {}).update(hash)
        end

        def resource_type=(type)
          super
          type.validproperties.each do |name|
            next if name == :ensure

            define_method(name) { get(name) || :absent } unless public_method_defined?(name)
            define_method(:"#{name}=") { |*values| set(name, *values) } unless public_method_defined?(:"#{name}=")
          end
        end

        def verify(name, error, &block) = @checks[name.to_sym] = { error: error, block: block }

        def validate(name, value)
          check = @checks[name.to_sym] or return
          raise ArgumentError, "Invalid value #{value}: #{check[:error]}" unless check[:block].call(value)
        end

        def autogen_id(_field, type)
          database, id = { user: %i[passwd uid], group: %i[group gid] }[type]
          raise Puppet::DevError, "autogen_id() does not support auto generation of id for resource type #{type}" unless database

          unless @prevauto
            highest = []
            Puppet::Etc.send(database) { |entry| highest << entry.send(id) }
            @prevauto = highest.reject { |number| number > 65_000 }.max || 1000
          end
          @prevauto += 1
        end
      end

      def initialize(resource)
        super
        @custom_environment = {}
        @objectinfo = nil
        @canonical_name = resource.is_a?(::Hash) && resource[:canonical_name] ? resource[:canonical_name] : resource[:name]
      end

      def autogen(field)
        field = field.to_sym
        return self.class.autogen_id(field, @resource.class.name) if { user: :uid, group: :gid }[@resource.class.name] == field

        self.class.autogen_default(field) || (respond_to?(:"autogen_#{field}") ? send(:"autogen_#{field}") : nil)
      end

      def run_command(words, secret) = execute(words, failonfail: true, combine: true, custom_environment: @custom_environment, sensitive: secret)

      def create
        if exists?
          info 'already exists'
          return nil
        end
        secret = has_sensitive_data?
        run_command(addcmd, secret)
        ageing = feature?(:manages_password_age) ? passcmd : nil
        run_command(ageing, secret) if ageing
      rescue Puppet::ExecutionFailure => e
        raise Puppet::Error, "Could not create #{@resource.class.name} #{@resource.name}: #{e}", e.backtrace
      end

      def delete
        unless exists?
          info 'already absent'
          return nil
        end
        run_command(deletecmd, false)
      rescue Puppet::ExecutionFailure => e
        raise Puppet::Error, "Could not delete #{@resource.class.name} #{@resource.name}: #{e}", e.backtrace
      end

      def ensure = exists? ? :present : :absent
      def exists? = getinfo(true) ? true : false

      def get(param)
        known = getinfo(false)
        known ? unmunge(param, known[param]) : nil
      end

      def set(param, value)
        self.class.validate(param, value)
        words = modifycmd(param, munge(param, value))
        raise Puppet::DevError, 'Nameservice command must be an array' unless words.is_a?(::Array)

        run_command(words, has_sensitive_data?(param))
      rescue Puppet::ExecutionFailure => e
        raise Puppet::Error, "Could not set #{param} on #{@resource.class.name}[#{@resource.name}]: #{e}", e.backtrace
      end

      def munge(name, value) = self.class.option(name, :munge)&.call(value) || value

      def unmunge(name, value)
        code = self.class.option(name, :unmunge)
        code ? code.call(value) : value
      end

      def getinfo(refresh)
        if @objectinfo.nil? || refresh
          begin
            @objectinfo = Puppet::Etc.send(:"get#{self.class.section}nam", @canonical_name)
          rescue ArgumentError
            @objectinfo = nil
          end
        end
        @objectinfo && info2hash(@objectinfo)
      end

      def groups = Puppet::Util::POSIX.groups_of(@resource[:name]).join(',')

      def info2hash(info)
        self.class.resource_type.validproperties.each_with_object({}) do |param, found|
          field = posixmethod(param)
          found[param] = info.send(field) if info.respond_to?(field)
        end
      end

      def posixmethod(name) = name
      def passcmd = nil
      def has_sensitive_data?(_property = nil) = false
      def comments_insync?(current, should) = current == should[0].to_s.dup.force_encoding(current.encoding)

      # Entries that are added by commands with an option letter for each field.
      class ObjectAdd < NameService
        def deletecmd = [command(:delete), @resource[:name]]
        def flag(name) = self.class.option(name.to_sym, :flag) || "-#{name.to_s[0]}"
        def posixmethod(name) = self.class.option(name.to_sym, :method) || name.to_sym
      end
    end
  end
end
