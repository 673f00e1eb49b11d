# frozen_string_literal: true
# Custom facts: Facter's Ruby API. In a run of facts Bunraku provides the built-in facts. Code that
# reads facts during a compile gets those of the machine it runs on.

Bunraku.part('facts_execution')
Bunraku.part('facts_fact')

module Facter
  @facts = {}
  @loaded = {}
  @directories = []
  @options = {}
  @core = {}
  @once = {}

  class << self
    attr_reader :facts, :directories, :options

    # Begins a run; `options` are its folders and switches.
    def setup(options)
      Bunraku.singleton_class.prepend(Facts::Uninterrupted) unless @bound
      @bound = true
      @facts = {}
      @loaded = {}
      @core = {}
      @once = {}
      @all_loaded = false
      @options = options
      @directories = options['directories'] || []
    end

    # Reports whether this process runs facts.
    def running? = @bound ? true : false

    # Sets a block that returns the facts of the current run; it is called when a type reads a fact.
    def know(&facts)
      @known = nil
      @facts_of_run = facts
    end

    def add(name, options = {}, &block)
      fact = fact_named(name, options)
      fact.add({ fact_type: :custom }.merge(options), &block)
      fact
    rescue StandardError => e
      log_exception(e)
    end

    def define_fact(name, options = {}, &block)
      fact = fact_named(name, { fact_type: :custom }.merge(options))
      fact.instance_eval(&block) if block
      fact
    rescue StandardError => e
      log_exception(e)
    end

    # Values are cached for the life of the process, so the read of a fact is recorded as one read
    # of the host.
    def value(name)
      query = name.to_s.downcase
      Bunraku::Reads.note('host', "Facter #{query}")
      Bunraku::Reads.quiet { find_value(query) }
    end

    def [](name) = fact(name)

    def fact(name)
      query = name.to_s.downcase
      v = value(query)
      return nil if v.nil? && !@facts.key?(query) && !declared?(query)

      ResolvedFact.new(query, v)
    end

    # Returns the value of a built-in fact only.
    def core_value(query)
      query = query.to_s
      return Facts.dig(known, query) unless @bound

      @core.fetch(query) { @core[query] = Bunraku.ask(:fact, query) }
    end

    def to_hash
      Bunraku::Reads.note('host', 'Facter *')
      Bunraku::Reads.quiet do
        load_all
        all = (@bound ? Bunraku.ask(:facts) : known).dup
        @facts.each { |name, fact| (v = fact.value).nil? || all[name] = v }
        all.sort.to_h
      end
    end

    def list = to_hash.keys
    def collection = self

    def each
      to_hash.each { |name, value| yield(name, value) }
      self
    end

    def clear
      @facts = {}
      @loaded = {}
      @core = {}
      @once = {}
      @all_loaded = false
      nil
    end

    def flush
      @facts.each_value(&:flush)
      @core = {}
      nil
    end

    def reset = clear

    def loadfacts
      load_all
      nil
    end

    def search(*dirs)
      @directories += dirs
      @all_loaded = false
      nil
    end

    def search_path = @directories
    def search_external(dirs) = (@external = search_external_path + Array(dirs)) && nil
    def search_external_path = @external || []
    def load_external(*) = nil
    def loaded? = true
    def version = VERSION
    def debugging? = @options['debug'] ? true : false
    def debugging(bool) = (@options = @options.merge('debug' => bool))
    def trace? = @options['trace'] ? true : false
    def trace(bool) = (@options = @options.merge('trace' => bool))
    def http_debug? = false
    def http_debug(*) = nil
    def sequential? = true
    def enable_sequential = nil
    def disable_sequential = nil
    def timing? = false
    def on_message(*) = nil
    def clear_messages = @once.clear
    def puppet_facts = nil
    def which(name) = Core::Execution.which(name)

    def debug(message = nil)
      return unless debugging? || !@bound

      say(:debug, (message || (block_given? ? yield : '')).to_s)
    end

    def info(message) = say(:info, message.to_s)
    def warn(message) = say(:warning, message.to_s)
    def error(message) = say(:err, message.to_s)
    def debugonce(message) = once(:debug, message.to_s)
    def warnonce(message) = once(:warning, message.to_s)

    # Reports whether facts behave as with OpenFact 6, which OpenVox 9 has.
    def openfact6? = Puppet.openvox9?

    # Logs a warning of OpenFact 6.
    def deprecated(message) = openfact6? && warnonce(message)

    def log_exception(exception, message = nil)
      lines = []
      lines << message.to_s unless message.nil? || message.to_s.empty?
      if exception.is_a?(Exception)
        lines << exception.message if lines.empty?
        lines << 'backtrace:' << Bunraku.trace_of(exception) if trace? && exception.backtrace
      elsif lines.empty?
        lines << exception.to_s
      end
      say(:err, lines.flatten.join("\n"))
    end

    # Writes all log messages; `source` is the part of Facter that logs.
    def say(level, message, source = 'Facter')
      @bound ? Bunraku.log(level, message, source) : Bunraku.log(level, "Facter: #{message}")
      nil
    end

    %i[resolve to_user_output].each do |name|
      define_method(name) do |*args|
        Bunraku.part('facts_resolvers')
        send(name, *args)
      end
    end

    def method_missing(name, *args, &block)
      say(:err, "--#{name}-- not implemented but required \nwith params: #{args.inspect} \nwith block: " \
                "#{block.inspect}  \ncalled by:  \n#{caller} \n")
    end

    def respond_to_missing?(*) = false

    def load_by_name(name)
      @directories.each do |dir|
        path = "#{dir}/#{name}.rb"
        load_file(path) if File.file?(path)
      end
    end

    def load_all
      return if @all_loaded

      @all_loaded = true
      @directories.each { |dir| Dir.glob("#{dir}/*.rb").sort.each { |path| load_file(path) } }
    end

    def load_file(path)
      return if @loaded[path]

      @loaded[path] = true
      Facts.limited("file='#{path}'") { Kernel.load(path) }
    rescue ScriptError => e
      @loaded.delete(path)
      log_exception(e, "Error loading fact #{path}: #{e.message}")
    rescue StandardError => e
      log_exception(e, "error while resolving custom facts in #{path} #{e.message}")
    end

    def fact_named(name, options = {})
      key = name.to_s.downcase
      @facts[key] ||= Util::Fact.new(key, options)
    end

    private

    # Reports whether a module defines the fact, even if it has no value here.
    def declared?(query)
      Bunraku::Reads.quiet { Bunraku.load_path.any? { |dir| ::File.exist?("#{dir}/facter/#{query}.rb") } }
    end

    def once(level, message)
      return if @once[[level, message]]

      @once[[level, message]] = true
      level == :debug ? debug(message) : say(level, message)
    end

    # Custom and external facts take precedence over the built-in one. A path may lead into either.
    def find_value(query)
      load_by_name(query) unless @facts.key?(query)
      v = own_value(query)
      v = core_value(query) if v.nil?
      return v unless v.nil? && !@all_loaded

      load_all
      own_value(query)
    end

    def own_value(query)
      return @facts[query].value if @facts.key?(query)
      return nil unless query.include?('.')

      base, path = query.split('.', 2)
      @facts.key?(base) ? Facts.dig(@facts[base].value, path) : nil
    end

    def known = @known ||= @facts_of_run&.call || Facts.this_machine
  end

  # A fact and its value, as Facter.fact returns them.
  ResolvedFact = Struct.new(:name, :value) do
    def to_s = value.to_s
    def resolves?(query) = name == query
  end

  # Answers Bunraku's requests, and limits their time.
  module Facts
    # Protects messages from interruption: a time limit that ends one halfway would corrupt the
    # protocol.
    module Uninterrupted
      def ask(...) = Thread.handle_interrupt(Exception => :never) { super }
      def log(...) = Thread.handle_interrupt(Exception => :never) { super }
    end

    # Limit in seconds for facts that declare none.
    DEFAULT_LIMIT = 60

    # Ends a block at its time limit. In the thread of the block it becomes a `throw`, which a fact
    # with `rescue Exception` cannot stop. Timeout's own exception does the same in Ruby 3.1.
    class Expired < Exception
      # The call of `after` that raises the exception.
      Limit = Struct.new(:thread)

      def initialize(limit)
        super('execution expired')
        @limit = limit
      end

      # Ruby calls this method when it raises the exception.
      def exception(*)
        throw(@limit, caller) if Thread.current == @limit.thread
        self
      rescue UncaughtThrowError
        self
      end

      # Raises Timeout::Error if the block takes longer.
      def self.after(seconds, &block)
        limit = Limit.new(Thread.current)
        trace = catch(limit) do
          return Timeout.timeout(seconds, self, limit, &block)
        rescue Expired => e
          e.backtrace
        end
        raise Timeout::Error, 'execution expired', trace
      end
    end

    class << self
      # "load" returns the names of all custom facts in the folders. "value" returns the value of
      # one fact.
      def call(verb, args)
        case verb
        when 'load'
          Facter.setup(args[0])
          add_external(args[0]['external'] || [])
          Facter.load_all
          Facter.facts.select { |_, fact| fact.options[:fact_type] == :custom }.keys
        when 'value'
          fact = Facter.facts[args[0]]
          fact&.value
        else raise ArgumentError, "unknown verb #{verb}"
        end
      end

      def add_external(facts)
        facts.each do |name, value, file, weight|
          Facter.fact_named(name).add(fact_type: :external, value: value, file: file, weight: weight)
        end
      end

      # Runs the block within a time limit. If nothing in this process enforces it, Bunraku ends the
      # process.
      def limited(what, seconds = nil, &block)
        return yield unless Facter.options['directories']

        seconds = nil unless seconds&.positive?
        limit = seconds || Facter.options['limit'] || DEFAULT_LIMIT
        skipped = Facter.options['skip'] || []
        return nil if skipped.include?(what)

        outer = @deadline
        @deadline = now + limit
        Bunraku.ask(:time_limit, what, limit + GRACE)
        begin
          Expired.after(limit, &block)
        rescue Timeout::Error
          # If this process is replaced, the fact is not tried again.
          Bunraku.ask(:time_over, what)
          raise
        ensure
          @deadline = outer
          Bunraku.ask(:time_limit, nil, outer ? [outer - now, 0].max + GRACE : 0)
        end
      end

      # Seconds by which Bunraku's limit exceeds Ruby's.
      GRACE = 3

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      def dig(base, path)
        return base[path] if base.is_a?(Hash) && base.key?(path)

        path.split('.').reduce(base) do |v, key|
          case v
          when Hash then v[key]
          when Array then key.match?(/\A\d+\z/) ? v[key.to_i] : nil
          end
        end
      end

      def this_machine
        require 'socket'
        release = File.exist?('/etc/os-release') ? File.read('/etc/os-release').scan(/^(\w+)="?([^"\n]*)"?$/).to_h : {}
        id = release['ID'].to_s
        name = { 'debian' => 'Debian', 'ubuntu' => 'Ubuntu', 'rhel' => 'RedHat', 'centos' => 'CentOS', 'fedora' => 'Fedora',
                 'rocky' => 'Rocky', 'almalinux' => 'AlmaLinux', 'ol' => 'OracleLinux', 'alpine' => 'Alpine',
                 'arch' => 'Archlinux', 'gentoo' => 'Gentoo' }.fetch(id, id.capitalize)
        family = %w[Debian Ubuntu].include?(name) ? 'Debian' : name
        family = 'RedHat' if %w[RedHat CentOS Fedora Rocky AlmaLinux OracleLinux].include?(name)
        family = 'Suse' if id.match?(/suse|sles/)
        version = release['VERSION_ID'].to_s
        version = File.read('/etc/debian_version').strip if id == 'debian' && File.exist?('/etc/debian_version')
        host = Socket.gethostname
        kernel = File.exist?('/proc/sys/kernel/osrelease') ? File.read('/proc/sys/kernel/osrelease').strip : ''
        short, domain = host.split('.', 2)
        { 'kernel' => 'Linux', 'kernelrelease' => kernel, 'kernelversion' => kernel[/\A[\d.]+/], 'osfamily' => family,
          'kernelmajversion' => kernel[/\A\d+\.\d+/],
          'operatingsystem' => name, 'operatingsystemrelease' => version, 'operatingsystemmajrelease' => version[/\A\d+/],
          'hostname' => short, 'domain' => domain, 'fqdn' => host, 'clientcert' => host,
          'puppetversion' => Puppet::PUPPETVERSION, 'facterversion' => VERSION, 'rubyversion' => RUBY_VERSION,
          'ruby' => { 'version' => RUBY_VERSION }, 'path' => ENV.fetch('PATH', ''),
          'identity' => { 'uid' => Process.uid, 'gid' => Process.gid, 'privileged' => Process.uid.zero? },
          'networking' => { 'hostname' => short, 'domain' => domain, 'fqdn' => host },
          'os' => { 'name' => name, 'family' => family,
                    'release' => { 'full' => version, 'major' => version[/\A\d+/], 'minor' => version[/\A\d+\.(\d+)/, 1] } } }
      end
    end
  end
end

Bunraku.lazy(Facter, Resolvers: 'facts_resolvers', OptionStore: 'facts_resolvers', Options: 'facts_resolvers', SessionCache: 'facts_resolvers')
Bunraku.lazy(Facter::Util, Facts: 'facts_resolvers')
