# frozen_string_literal: true
# Types of Bunraku in custom facts: facts read services, packages, users and groups with providers
# written in Ruby, as with Puppet. They read the machine and are not used to change it.

Bunraku.part('provider_host')

module Bunraku
  module Types
    # Replaces the stand-ins of provider_host, which store their parameters only.
    module FactTypes
      PROVIDERS = { user: :useradd, group: :groupadd }.freeze

      def native(name)
        found = bring(name.to_sym) or return super
        find_package_providers(found) if found.name == :package
        found.ancestor(:debian, parent: :init) { include DebianService } if found.name == :service
        found.defaultprovider = found.provider(PROVIDERS[found.name] || service_or_package(found))
        found
      end

      def service_or_package(type)
        chosen = Reads.quiet { default_provider(type.name.to_s) }
        return chosen if chosen && type.provider(chosen)

        type.name == :service ? :init : :gem
      end

      def find_package_providers(type)
        apt = type.ancestor(:dpkg) { include DpkgQuery }
        type.ancestor(:apt, parent: apt)
        rpm = type.ancestor(:rpm) { include RpmQuery }
        %i[yum dnf zypper].each { |name| type.ancestor(name, parent: rpm) }
      end
    end

    # Reads whether a service starts at boot, without systemd.
    module DebianService
      def enabled?
        said = execute(['/usr/sbin/invoke-rc.d', '--quiet', '--query', @resource[:name], 'start'], failonfail: false)
        return :true if [104, 106].include?(said.exitstatus)

        links = Dir.glob("/etc/rc*.d/S??#{@resource[:name]}")
        [101, 105].include?(said.exitstatus) && links.length >= 4 ? :true : :false
      end
    end

    # Reads one package. `properties` reports a missing package, as Puppet's base class does.
    module PackageQuery
      def properties
        @property_hash = query || { ensure: :absent } if @property_hash.nil? || @property_hash.empty?
        @property_hash.dup
      end

      def run_query(*command)
        Puppet::Util::Execution.execute(command, failonfail: true, combine: false).to_s
      rescue Puppet::ExecutionFailure
        nil
      end
    end

    module DpkgQuery
      include PackageQuery

      def query
        said = run_query('dpkg-query', '-W', '--showformat', '${Status} ${Version}\n', @resource[:name])
        _, error, status, version = said.to_s.lines.first.to_s.split
        found = { name: @resource[:name], provider: name_of_provider }
        return found.merge(ensure: :purged) unless error == 'ok' && status && status != 'not-installed'

        found.merge(ensure: status == 'installed' ? version : :absent)
      end

      def name_of_provider = self.class.name
    end

    module RpmQuery
      include PackageQuery

      def query
        said = run_query('rpm', '-q', '--qf', '%{VERSION}-%{RELEASE}\n', @resource[:name]) or return nil
        { name: @resource[:name], provider: self.class.name, ensure: said.lines.first.to_s.strip }
      end
    end
    singleton_class.prepend FactTypes
  end
end
