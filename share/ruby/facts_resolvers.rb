# frozen_string_literal: true
# Facter's resolvers and options, under the names that custom facts use. The resolvers return values
# of the built-in facts.

module Facter
  # The options of this run.
  class OptionStore
    DEFAULTS = { debug: false, verbose: false, log_level: :warn, show_legacy: true, custom_facts: true, blocked_facts: [],
                 ruby: true, external_facts: true, config: nil, strict: false, json: false, cache: true, yaml: false,
                 puppet: false, ttls: [], block: true, cli: false, config_file_custom_dir: [], config_file_external_dir: [],
                 default_external_dir: [], fact_groups: {}, sequential: true, block_list: [], color: true, trace: false,
                 timing: false, external_dir: [], custom_dir: [], hocon: false, allow_external_loggers: true,
                 force_dot_resolution: false, http_debug: false }.freeze

    class << self
      def all = DEFAULTS.to_h { |name, _| [name, send(name)] }
      def set(name, value) = own[name.to_sym] = value
      def reset = own.clear

      DEFAULTS.each do |name, usual|
        define_method(name) { own.fetch(name) { usual } }
        define_method(:"#{name}=") { |value| set(name, value) }
      end

      def debug = own.fetch(:debug) { Facter.debugging? }
      def trace = own.fetch(:trace) { Facter.trace? }
      def custom_dir = own.fetch(:custom_dir) { Facter.search_path }
      def external_dir = own.fetch(:external_dir) { Facter.search_external_path }

      private

      def own = @own ||= {}
    end
  end

  class Options
    class << self
      def get = OptionStore.all
      def [](name) = OptionStore.send(name.to_sym)
      def []=(name, value)
        OptionStore.set(name, value)
      end

      def cli? = OptionStore.cli
      def custom_dir? = !OptionStore.custom_dir.empty?
      def custom_dir = OptionStore.custom_dir
      def external_dir? = !OptionStore.external_dir.empty?
      def external_dir = OptionStore.external_dir
      def store(options) = options.each { |name, value| OptionStore.set(name, value) }
    end
  end

  # The cached values of resolvers, which are dropped together with those of Facter.
  class SessionCache
    @resolvers = []

    class << self
      def subscribe(resolver) = @resolvers.include?(resolver) || @resolvers << resolver

      def invalidate_all_caches
        @resolvers.each(&:invalidate_cache)
        @resolvers.clear
      end
    end
  end

  module Resolvers
    # Base class of resolvers in modules.
    class BaseResolver
      class << self
        attr_reader :log

        def init_resolver
          @fact_list = {}
          @semaphore = Mutex.new
          @log = Log.new(self)
        end

        def invalidate_cache = @fact_list = {}

        def resolve(name, options = {})
          @semaphore.synchronize do
            SessionCache.subscribe(self)
            post_resolve(name, options)
            cache_nil_for_unresolved_facts(name)
          end
        rescue LoadError, NameError => e
          log.error("Resolving fact #{name}, but got #{e} at #{Array(e.backtrace)[0]}")
          @fact_list[name] = nil
        end

        def cache_nil_for_unresolved_facts(name) = @fact_list.fetch(name) { @fact_list[name] = nil }

        def post_resolve(_name, _options)
          raise NotImplementedError, "You must implement post_resolve(fact_name, options) method in #{self.name}"
        end
      end
    end

    # Creates a resolver whose names map to paths of facts. If `names` is nil, they are the names
    # within `fact`.
    def self.of_facts(fact, names = nil)
      Class.new(BaseResolver) do
        init_resolver
        define_singleton_method(:post_resolve) do |name, _options|
          query = names ? names[name] : "#{fact}.#{name}"
          @fact_list[name] = Facter.core_value(query) if query
        end
      end
    end

    Uname = of_facts(nil, { kernelname: 'kernel', kernelrelease: 'kernelrelease', kernelversion: 'kernelversion',
                            machine: 'os.hardware', processor: 'os.hardware', nodename: 'networking.hostname' })
    Hostname = of_facts('networking')
    Networking = of_facts(nil, { primary_interface: 'networking.primary', **%i[interfaces ip ip6 mac mtu netmask netmask6
                                                                               network network6 scope6 dhcp].to_h { |n| [n, "networking.#{n}"] } })
    Identity = of_facts('identity')
    Timezone = of_facts(nil, { timezone: 'timezone' })
    Path = of_facts(nil, { path: 'path' })
    LoadAverages = of_facts(nil, { load_averages: 'load_averages' })
    Mountpoints = of_facts(nil, { mountpoints: 'mountpoints' })
    Partitions = of_facts(nil, { partitions: 'partitions' })
    Uptime = of_facts('system_uptime')
    Augeas = of_facts(nil, { augeas_version: 'augeas.version' })

    # /etc/os-release, with names in lower case.
    class OsRelease < BaseResolver
      init_resolver

      class << self
        def post_resolve(name, _options)
          return if @fact_list.key?(name)

          Util::FileHelper.safe_readlines('/etc/os-release').each do |line|
            key, value = line.strip.split('=', 2)
            @fact_list[key.downcase.to_sym] = value.delete('"') if value
          end
          @fact_list[:identifier] = @fact_list[:id]
          @fact_list[:version_id] += '.0' if @fact_list[:version_id]&.match?(/\A\d+\z/) && !%w[debian arch].include?(@fact_list[:id])
        end
      end
    end

    module Linux
      Hostname = Resolvers::Hostname
      Networking = Resolvers::Networking
      LoadAverages = Resolvers::LoadAverages
      Memory = Resolvers.of_facts(nil, { total: 'memory.system.total_bytes', memfree: 'memory.system.available_bytes',
                                         used_bytes: 'memory.system.used_bytes', capacity: 'memory.system.capacity',
                                         swap_total: 'memory.swap.total_bytes', swap_free: 'memory.swap.available_bytes',
                                         swap_used_bytes: 'memory.swap.used_bytes', swap_capacity: 'memory.swap.capacity' })
      Processors = Resolvers.of_facts(nil, { processors: 'processors.count', physical_count: 'processors.physicalcount',
                                             **%i[models speed cores threads isa].to_h { |n| [n, "processors.#{n}"] } })
    end
    Memory = Linux::Memory
    Processors = Linux::Processors

    SELinux = of_facts('os.selinux')
  end

  module Util
    module Facts
      module UnitConverter
        UNITS = %w[bytes KiB MiB GiB TiB PiB EiB].freeze

        class << self
          def bytes_to_mb(bytes) = bytes && (bytes.to_f / (1024 * 1024))

          def bytes_to_human_readable(bytes)
            return unless bytes
            return "#{bytes} bytes" if bytes < 1024

            power = (Math.log2(bytes) / 10.0).floor
            number = (bytes.to_f / (1024**power)).round(2)
            number, power = 1.0, power + 1 if number >= 1024
            Kernel.format('%<number>.2f %<unit>s', number: number, unit: UNITS[power] || UNITS.last)
          end

          def hertz_to_human_readable(speed)
            return if !speed || speed.zero?

            unit = { 3 => 'k', 6 => 'M', 9 => 'G', 12 => 'T' }
            power = (Math.log10(speed) / 3).floor * 3
            Kernel.format('%<number>.2f %<unit>sHz', number: (speed.to_f / (10**power)).round(2), unit: unit[power])
          end
        end
      end
    end
  end

  class << self
    # Returns the values of the queries in `arguments`, as on the command line; all facts if there
    # are none.
    def resolve(arguments)
      queries = arguments.split.reject { |word| word.start_with?('-') }
      queries.empty? ? to_hash : queries.to_h { |query| [query, value(query)] }
    end

    # Returns the output of `facter` for these queries, and its exit status.
    def to_user_output(options, *queries)
      found = queries.empty? ? to_hash : queries.to_h { |query| [query, value(query)] }
      text = if options[:json] then JSON.pretty_generate(found)
             elsif options[:yaml] then found.to_yaml.sub(/\A---\s/, '')
             elsif found.size == 1 then found.values.first.then { |v| v.is_a?(::String) ? v : v.nil? ? '' : JSON.pretty_generate(v) }
             else found.map { |name, v| "#{name} => #{v.is_a?(Hash) || v.is_a?(Array) ? JSON.pretty_generate(v) : v}" }.join("\n")
             end
      [text, found.value?(nil) && OptionStore.strict ? 1 : 0]
    end
  end
end
