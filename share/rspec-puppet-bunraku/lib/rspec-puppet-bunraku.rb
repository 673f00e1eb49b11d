# Makes rspec-puppet use catalogs that Bunraku compiles; see README.md.
require 'rspec-puppet'
require 'rspec-puppet-bunraku/worker'
require 'rspec-puppet-bunraku/catalog'

module RSpec::Puppet
  # Sends the requests of rspec-puppet for Puppet's compiler to Bunraku.
  module Bunraku
    # Replaces the method of the same name in rspec-puppet's Support.
    module Support
      # Version 2.9 passes a hash, later ones pass keywords.
      def build_catalog_without_cache_v2(hash = {}, **keywords)
        given = hash.merge(keywords)
        nodename, facts_val = given.values_at(:nodename, :facts_val)
        # Types, providers and Deferred functions read these facts.
        stub_facts! facts_val
        Puppet::Type.eachtype { |type| type.defaultprovider = nil }
        request = Bunraku.request(
          node: nodename, code: given[:code], facts: facts_val, variables: given[:node_params] || {}, keep_virtual: given[:exported],
          modulepath: adapter.modulepath, environment: environment.to_s, hiera_config: Puppet[:hiera_config],
          trusted: Bunraku.trusted(nodename, given[:trusted_facts_val], given[:trusted_external_data]),
          server_facts: Bunraku.server_facts? ? server_facts_hash : nil
        )
        Bunraku.catalog(request, adapter.current_environment, Puppet::Node::Facts.new(nodename, facts_val.dup))
      end
    end

    # Bunraku finds dependency cycles, because Puppet would initialize all resources for this check.
    module Compile
      private

      def cycles_found?
        return super unless @catalogue.respond_to?(:bunraku_request)
        told = Bunraku.ask(@catalogue.bunraku_request.merge(checks: true))
        raise ::Puppet::Error, told['refused'] if told['refused']
        @cycles = told['cycles'].map { |cycle| "#{cycle}\n" }
        !@cycles.empty?
      end
    end

    class << self
      # Returns the worker; a worker that has ended is replaced.
      def worker
        @worker = nil if @worker && !@worker.alive?
        @worker ||= Worker.new(ENV['BUNRAKU'] || 'bunraku')
      end

      # Returns the answer to a request. An error in it is raised as Puppet's error.
      def ask(request)
        answer = worker.ask(request)
        answer['logs'].each { |log| tell(log) }
        if (error = answer['error'])
          # The class that Puppet's evaluator raises; examples name it or one of its base classes.
          kind = defined?(::Puppet::PreformattedError) ? ::Puppet::PreformattedError : ::Puppet::Error
          raise kind, error['message']
        end
        answer
      end

      # Versions before 4 have a setting; later ones always provide server facts.
      def server_facts?
        configuration = RSpec.configuration
        !configuration.respond_to?(:trusted_server_facts) || configuration.trusted_server_facts
      end

      def trusted(node, extensions, external)
        host, domain = node.split('.', 2)
        { authenticated: 'remote', certname: node, extensions: extensions || {}, hostname: host, domain: domain,
          external: external || {} }
      end

      def request(given)
        settings = { basemodulepath: given[:modulepath].join(':') }
        %i[strict strict_variables].each { |name| settings[name] = Puppet[name].to_s if Puppet.settings.valid?(name) }
        given[:keep_virtual] = given[:keep_virtual] ? true : false
        given.merge(settings: settings).compact
      end

      private

      def tell(log)
        level = log['level'].to_sym
        where = log['line'] ? " (#{log['file'] ? "file: #{log['file']}, " : ''}line: #{log['line']})" : ''
        Puppet.send(level, log['message'] + where) if %i[debug info notice warning err alert emerg crit].include?(level)
      end
    end
  end

  unless ENV['BUNRAKU_RSPEC'] == 'off'
    Support.prepend(Bunraku::Support)
    # These example groups have already included Support.
    [ClassExampleGroup, DefineExampleGroup, HostExampleGroup, TypeAliasExampleGroup].each do |group|
      group.prepend(Bunraku::Support)
    end
    ManifestMatchers::Compile.prepend(Bunraku::Compile)
  end
end
