# frozen_string_literal: true
# Custom facts: Facter's Ruby API, over the facts that are known already.

module Facter
  FACTERVERSION = '4.2.13'
  class Error < StandardError; end

  # One way to find a fact's value.
  class Resolution
    attr_reader :name, :fact, :weight, :order
    attr_accessor :timeout

    def initialize(name, fact, order)
      @name = name
      @fact = fact
      @order = order
      @confines = []
      @weight = nil
      @has_weight = nil
    end

    def has_weight(weight)
      @has_weight = weight
      self
    end

    def weight = @has_weight || @confines.size

    def confine(what = nil, value = nil, &block)
      case what
      when Hash then what.each { |fact, values| @confines << ConfineFact.new(fact, values, nil) }
      when nil then @confines << ConfineBlock.new(block)
      else @confines << ConfineFact.new(what, value, block)
      end
    end

    def setcode(text = nil, &block)
      @code = block || -> { Facter::Core::Execution.execute(text) }
    end

    def suitable? = @confines.all?(&:true?)
    def on_flush(&block) = @flush = block
    def flush = @flush&.call
    def set_options(options) = options.each { |k, v| send(%i[weight has_weight].include?(k) ? :has_weight : "#{k}=", v) if k != :value }
    def options(options) = set_options(options)
    def has_timeout(seconds) = @timeout = seconds
    def aggregate? = false

    attr_writer :value

    def value
      return @value unless @code

      if @timeout && @timeout.positive?
        require 'timeout'
        Timeout.timeout(@timeout) { @code.call }
      else
        @code.call
      end
    end
  end

  # A value put together from chunks.
  class Aggregate < Resolution
    def chunk(name, options = {}, &block)
      raise ArgumentError, "#{self.class.name}#chunk requires a block" unless block

      (@chunks ||= {})[name] = [Array(options[:require]), block]
    end

    def aggregate(&block)
      raise ArgumentError, "#{self.class.name}#aggregate requires a block" unless block

      @aggregate = block
    end

    def aggregate? = true

    def value
      done = {}
      run = lambda do |name, path|
        return done[name] if done.key?(name)
        raise Facter::Error, "dependency cycles: #{path.join(' -> ')}" if path.include?(name)

        needed, block = (@chunks || {}).fetch(name)
        done[name] = block.call(*needed.map { |n| run.call(n, path + [name]) })
      end
      (@chunks || {}).each_key { |name| run.call(name, []) }
      return @aggregate.call(done) if @aggregate

      Facter::Util.deep_merge_all(done.values)
    end
  end

  class ConfineFact
    def initialize(fact, values, block)
      @fact = fact.to_s
      @values = values.is_a?(Array) ? values : [values]
      @block = block
    end

    def true?
      value = Facter.value(@fact)
      return false if value.nil?
      return @block.call(convert(value)) ? true : false if @block

      value = convert(value)
      @values.any? do |wanted|
        wanted = convert(wanted)
        case wanted
        when Proc then wanted.call(value)
        when Range, Regexp then wanted === value # rubocop:disable Style/CaseEquality
        when Symbol then wanted.to_s == value.to_s
        else wanted == value || wanted.to_s == value.to_s
        end
      end
    end

    private

    def convert(value)
      case value
      when Symbol then value.to_s.downcase
      when String then value.downcase
      else value
      end
    end
  end

  class ConfineBlock
    def initialize(block) = @block = block
    def true? = @block.call ? true : false
  end

  class Fact
    attr_reader :name, :resolutions, :file

    def initialize(name, file)
      @name = name
      @file = file
      @resolutions = []
      @done = false
      @in_progress = false
    end

    def add(options, &block)
      type = options.delete(:type) || :simple
      found = options[:name] && @resolutions.find { |r| r.name == options[:name] }
      name = options.delete(:name)
      unless found
        found = (type == :aggregate ? Aggregate : Resolution).new(name, self, @resolutions.size)
        @resolutions << found
      end
      has = options.delete(:has_weight) || options.delete(:weight)
      found.has_weight(has) if has
      found.timeout = options.delete(:timeout) if options.key?(:timeout)
      found.value = options.delete(:value) if options.key?(:value)
      found.instance_eval(&block) if block
      found
    end

    def resolution(name) = @resolutions.find { |r| r.name == name }

    def define_resolution(name, options = {}, &block)
      add({ name: name }.merge(options), &block)
    end

    # As Facter: the heaviest suitable resolution that gives something.
    def value
      return @value if @done
      raise Facter::Error, "dependency cycle of the fact '#{@name}'" if @in_progress

      @in_progress = true
      best = nil
      begin
        suitable = @resolutions.select do |r|
          r.suitable?
        rescue StandardError => e
          Facter.report(self, e)
          false
        end
        suitable.sort_by { |r| [-r.weight, r.order] }.each do |r|
          best =
            begin
              Facter.normalize(r.value)
            rescue StandardError, ScriptError => e
              Facter.report(self, e)
              nil
            end
          unless best.nil?
            @weight = r.weight
            break
          end
        end
      ensure
        @in_progress = false
      end
      @done = true
      @value = best
    end

    attr_reader :weight

    def flush
      @done = false
      @resolutions.each(&:flush)
    end
  end

  module Core
    module Execution
      class ExecutionFailure < StandardError; end

      class << self
        def which(program)
          return (File.executable?(program) && File.file?(program) ? program : nil) if program.start_with?('/')

          search_paths.map { |d| File.join(d, program) }.find { |p| File.file?(p) && File.executable?(p) }
        end

        def search_paths = ENV.fetch('PATH', '/usr/sbin:/usr/bin:/sbin:/bin').split(':') | %w[/sbin /usr/sbin]
        def absolute_path?(path, *) = path.start_with?('/')
        def expand_command(command)
          program, rest = command.split(/\s+/, 2)
          path = which(program.delete(%q('"))) or return nil
          rest ? "#{path} #{rest}" : path
        end

        def with_env(values)
          saved = Bunraku::Reads.quiet { ENV.to_h }
          values.each { |k, v| ENV[k] = v }
          yield
        ensure
          ENV.replace(saved)
        end

        def execute(command, options = {})
          on_fail = options.fetch(:on_fail, :raise)
          expanded = options[:expand] == false ? command : expand_command(command) || command
          output = nil
          begin
            run = -> { output = with_env('LANG' => 'C', 'LC_ALL' => 'C') { capture(expanded) } }
            limit = options[:timeout] || options[:time_limit] || options[:limit]
            if limit
              require 'timeout'
              Timeout.timeout(limit, &run)
            else
              run.call
            end
          rescue StandardError => e
            raise ExecutionFailure, "Failed while executing '#{command}': #{e.message}" if on_fail == :raise

            return on_fail
          end
          output
        end

        def capture(command)
          r, w = IO.pipe
          pid = Process.spawn('/bin/sh', '-c', command, in: '/dev/null', out: w, err: '/dev/null')
          w.close
          text = r.read
          r.close
          Process.wait(pid)
          status = $?.exitstatus # rubocop:disable Style/SpecialGlobalVars
          raise ExecutionFailure, "Could not execute '#{command}': command not found" if status == 127 && text.empty?

          text.force_encoding('UTF-8').strip
        end

        def exec(command) = execute(command, on_fail: nil)

        def execute_command(command, *)
          [execute(command, on_fail: ''), '']
        end
      end
    end
  end

  module Util
    class Resolution < Facter::Resolution
      class << self
        def exec(command) = Facter::Core::Execution.exec(command)
        def which(program) = Facter::Core::Execution.which(program)
        def with_env(values, &block) = Facter::Core::Execution.with_env(values, &block)
      end
    end

    module FileRead
      def self.read(path) = File.exist?(path) ? File.read(path) : nil
    end

    module IP
      def self.method_missing(*) = nil
    end

    module PuppetSettings
      def self.with_puppet = yield
    end

    module Config
      def self.windows? = false
      def self.is_windows? = false
    end

    module Root
      def self.root? = Process.uid.zero?
    end

    def self.deep_merge_all(values)
      values.reduce do |a, b|
        if a.is_a?(Hash) && b.is_a?(Hash)
          a.merge(b) { |_, x, y| deep_merge_all([x, y]) }
        elsif a.is_a?(Array) && b.is_a?(Array)
          a + b
        elsif b.nil? then a
        elsif a.nil? then b
        else
          raise Facter::Error, "Cannot merge #{a.inspect}:#{a.class} and #{b.inspect}:#{b.class}"
        end
      end
    end
  end

  @facts = {}
  @known = nil
  @loaded = {}

  class << self
    attr_reader :facts

    def setup(known)
      @known = known
      @facts = {}
      @loaded = {}
    end

    # Code that asks while a catalog is compiled means the machine it runs on.
    def known = (@known ||= this_machine)

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
        'puppetversion' => Puppet::PUPPETVERSION, 'facterversion' => FACTERVERSION, 'rubyversion' => RUBY_VERSION,
        'ruby' => { 'version' => RUBY_VERSION }, 'path' => ENV.fetch('PATH', ''),
        'identity' => { 'uid' => Process.uid, 'gid' => Process.gid, 'privileged' => Process.uid.zero? },
        'networking' => { 'hostname' => short, 'domain' => domain, 'fqdn' => host },
        'os' => { 'name' => name, 'family' => family,
                  'release' => { 'full' => version, 'major' => version[/\A\d+/], 'minor' => version[/\A\d+\.(\d+)/, 1] } } }
    end

    def add(name, options = {}, &block)
      options = options.dup
      name = name.to_s.downcase
      file = caller_locations(1, 1).first&.path
      fact = (@facts[name] ||= Fact.new(name, file))
      fact.add(options, &block)
      fact
    end

    def define_fact(name, options = {}, &block)
      fact = (@facts[name.to_s.downcase] ||= Fact.new(name.to_s.downcase, nil))
      fact.instance_eval(&block) if block
      fact.add(options) if options.key?(:value)
      fact
    end

    # Known facts are of weight 0: a custom fact of the same name goes first.
    # Values are kept for the life of the process: what they were found by is told in one.
    def value(name)
      Bunraku::Reads.note('host', "Facter #{name}")
      Bunraku::Reads.quiet { find_value(name) }
    end

    def find_value(name)
      name = name.to_s.downcase
      unless @facts.key?(name) || known.key?(name)
        load_by_name(name)
      end
      if @facts.key?(name)
        v = @facts[name].value
        return v unless v.nil?
      end
      return known[name] if known.key?(name)

      # "os.release.major"
      parts = name.split('.')
      return nil if parts.size < 2

      base = find_value(parts.shift)
      parts.reduce(base) do |v, key|
        case v
        when Hash then v[key]
        when Array then key.match?(/\A\d+\z/) ? v[key.to_i] : nil
        end
      end
    end

    def [](name) = fact(name)

    def fact(name)
      v = value(name)
      return nil if v.nil?

      Struct.new(:name, :value).new(name.to_s, v)
    end

    def load_by_name(name)
      return if (@loaded[name] ||= false)

      @loaded[name] = true
      (@directories || []).each do |dir|
        path = "#{dir}/#{name}.rb"
        load_file(path) if File.file?(path)
      end
    end

    attr_writer :directories

    def load_file(path)
      return if @loaded[path]

      @loaded[path] = true
      Kernel.load(path)
    rescue StandardError, ScriptError => e
      Bunraku.log(:err, "Facter: error while resolving custom facts in #{path} #{e.message}")
    end

    def report(fact, error)
      where = fact.file || error.backtrace&.first.to_s[/\A[^:]+/]
      Bunraku.log(:err, "Facter: Error while resolving custom fact fact='#{fact.name}', resolution='<anonymous>': #{error.message}#{where && ''}")
    end

    def normalize(value)
      case value
      when String
        text = value.encoding == Encoding::UTF_8 && value.valid_encoding? ? value : value.dup.force_encoding('UTF-8').scrub
        text
      when Symbol then value.to_s
      when Hash then value.to_h { |k, v| [k.to_s, normalize(v)] }
      when Array then value.map { |v| normalize(v) }
      when nil, true, false, Integer, Float then value
      when Date, ::Time then value.to_s
      else value.to_s
      end
    rescue NameError
      value.to_s
    end

    def to_hash
      Bunraku::Reads.note('host', 'Facter *')
      Bunraku::Reads.quiet { known.merge(@facts.transform_values(&:value).compact) }
    end
    alias collection itself
    def list = (known.keys + @facts.keys).uniq.sort
    def each(&block) = to_hash.each(&block)
    def loadfacts = nil
    def flush = @facts.each_value(&:flush)
    def reset = nil
    def clear = nil
    def search(*) = nil
    def search_path = []
    def search_external(*) = nil
    def search_external_path = []
    def version = FACTERVERSION
    def debugging? = false
    def debugging(*) = nil
    def trace? = false
    def warnonce(text) = log_once(:warning, text)
    def debugonce(text) = log_once(:debug, text)
    def debug(text = nil) = Bunraku.log(:debug, "Facter: #{text || yield}")
    def info(text) = Bunraku.log(:info, "Facter: #{text}")
    def warn(text) = Bunraku.log(:warning, "Facter: #{text}")
    def error(text) = Bunraku.log(:err, "Facter: #{text}")
    def log_exception(error, text = nil) = Bunraku.log(:err, "Facter: #{text || error.message}")
    def which(name) = Core::Execution.which(name)
    def to_user_output(*) = nil
    def on_message(*) = nil
    def loaded? = true
    def method_missing(name, *args)
      # Facter.kernel, as of old.
      return super unless args.empty?

      value(name)
    end
    def respond_to_missing?(*) = true

    private

    def log_once(level, text)
      @once ||= {}
      return if @once[text]

      @once[text] = true
      Bunraku.log(level, "Facter: #{text}")
    end
  end
end

module Bunraku
  module Facts
    def self.resolve(directories, known)
      Facter.setup(known || {})
      Facter.directories = directories
      directories.each { |dir| Dir.glob("#{dir}/*.rb").sort.each { |file| Facter.load_file(file) } }
      Facter.facts.each_with_object({}) do |(name, fact), out|
        value = fact.value
        # A known fact stays where the custom one found nothing, or is no heavier than it.
        next if value.nil?

        out[name] = value
      end
    end
  end
end
