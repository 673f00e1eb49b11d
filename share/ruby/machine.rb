# frozen_string_literal: true
# Types and providers of modules at work: reads, compares and changes the machine. `types` is the
# language in which they are written; this part gives its objects their life. One process serves one
# run (src/apply/ruby_types.h); src/apply/ruby_resource.cc has the other end.

Bunraku.part('types')
require 'English'

module Bunraku
  # The resources of a run that are Ruby's, by number.
  module Machine
    @resources = {}
    @numbers = {}
    @count = 0

    class << self
      attr_reader :resources

      def call(verb, args)
        Reads.quiet { send(:"do_#{verb}", *args) }
      rescue SystemExit => e
        raise Puppet::Error, "the Ruby code called exit (status #{e.status})"
      end

      def number_of(resource) = @numbers[resource.object_id]

      def keep(resource)
        return number_of(resource) if number_of(resource)

        @count += 1
        @resources[@count] = resource
        @numbers[resource.object_id] = @count
        @count
      end

      # Where a message comes from: what the other side makes a path of.
      def source(object)
        case object
        when Puppet::Type then number_of(object) ? "@#{number_of(object)}" : object.ref
        when Puppet::Parameter
          owner = object.resource
          number = owner && number_of(owner)
          number ? "@#{number}/#{object.name}" : object.to_s
        when Puppet::Provider, Class, Module then object.to_s
        end
      end

      # ---- what the other side asks ----

      def do_facts(known)
        Bunraku.part('facts')
        Facter.setup(known)
        nil
      end

      def do_type(file, name)
        type = Types.load_file(file, name)
        properties = type.properties
        Types.describe_type(type, file, name).merge(
          'refreshes' => type.method_defined?(:refresh), 'self_refresh' => type.self_refresh ? true : false,
          'generates' => type.method_defined?(:generate), 'eval_generates' => type.method_defined?(:eval_generate),
          'depth_first' => type.depth_first_type?, 'pre_run_check' => type.method_defined?(:pre_run_check), 'has_ensure' => type.validproperty?(:ensure),
          'composite' => type.key_attributes.length > 1, 'properties' => properties.map { |p| p.name.to_s }
        )
      end

      # Makes a resource as Puppet::Type.new does.
      def do_make(type, title, parameters, file, line)
        klass = Puppet::Type.type(type)
        resource = klass.allocate
        resource.file = file
        resource.line = line
        number = keep(resource)
        resource.begin_life(title, parameters.transform_keys(&:to_sym))
        [number, *state(resource)]
      end

      def do_set(number, name, value)
        resource = @resources.fetch(number)
        resource[name.to_sym] = value
        state(resource)
      end

      def do_validate(number)
        @resources.fetch(number).check_whole
        nil
      end

      def do_watch(number, name)
        @resources.fetch(number).newattr(name.to_sym) ? true : false
      end

      def do_suitable(number)
        resource = @resources.fetch(number)
        [resource.suitable?, provider_of(resource)]
      end

      def do_retrieve(number)
        resource = @resources.fetch(number)
        resource.current = resource.retrieve.transform_keys { |k| k.is_a?(Puppet::Parameter) ? k.name : k.to_sym }
        resource.current.to_h { |name, value| [name.to_s, plain(value)] }
      end

      def do_insync(number, name)
        resource = @resources.fetch(number)
        name = name.to_sym
        resource.parameter(name).safe_insync?(resource.current[name]) ? true : false
      end

      # [before, after, change] as texts, and the name of the event.
      def do_texts(number, name)
        resource = @resources.fetch(number)
        property = resource.parameter(name.to_sym)
        is = resource.current[name.to_sym]
        should = property.should
        [property.is_to_s(is).to_s, property.should_to_s(should).to_s, property.change_to_s(is, should).to_s]
      end

      def do_event(number, name)
        property = @resources.fetch(number).parameter(name.to_sym)
        value = property.should
        [property.event_name.to_s, property.class.value_option(property.class.value_name(value), :invalidate_refreshes) ? true : false]
      end

      # Nothing, or what a failure says and what it wraps.
      def do_sync(number, name)
        @resources.fetch(number).parameter(name.to_sym).sync
        nil
      rescue Puppet::ResourceError => e
        raise unless e.respond_to?(:bare) && e.bare

        [e.bare, e.original.to_s]
      end

      def do_flush(number)
        @resources.fetch(number).flush
        nil
      end

      def do_refresh(number)
        @resources.fetch(number).refresh
        nil
      end

      def do_relations(number) = @resources.fetch(number).automatic_relations
      def do_pre_run(number)
        resource = @resources.fetch(number)
        resource.pre_run_check if resource.respond_to?(:pre_run_check)
        nil
      end

      def do_generate(number) = described(@resources.fetch(number).generate)
      def do_eval_generate(number) = described(@resources.fetch(number).eval_generate)
      def do_ancestors(number)
        resource = @resources.fetch(number)
        resource.respond_to?(:ancestors) ? Array(resource.ancestors).map(&:to_s) : []
      end

      def do_finish(number)
        @resources.fetch(number).finish
        nil
      end

      def do_prefetch(type, provider, numbers)
        klass = Puppet::Type.type(type)
        found = klass.provider(provider)
        of_this = numbers.map { |n| @resources.fetch(n) }
        found.prefetch(of_this.to_h { |r| [r.name, r] })
        nil
      end

      def do_prefetches(type, provider) = Puppet::Type.type(type).provider(provider)&.respond_to?(:prefetch) || false

      def do_instances(file, type)
        klass = Types.load_file(file, type)
        klass.instances.map do |r|
          number = keep(r)
          [number, r.title.to_s, *state(r)]
        end
      end

      def do_finish_providers
        Puppet::Type.registry.each_value do |type|
          type.provider_classes.each { |p| p.post_resource_eval if p.respond_to?(:post_resource_eval) }
        end
        nil
      end

      # ---- values ----

      # [provider, [name, values or value, whether it has one]..] as it stands now.
      def state(resource)
        attributes = resource.parameters_hash.map do |name, parameter|
          next if name == :provider

          if parameter.is_a?(Puppet::Property)
            should = parameter.raw_should
            [name.to_s, plain(should || []), !should.nil?]
          else
            [name.to_s, plain(parameter.value), true]
          end
        end
        [provider_of(resource), attributes.compact]
      end

      def provider_of(resource) = resource.provider ? resource.provider.class.name.to_s : nil

      def plain(value)
        case value
        when nil, true, false, Integer, Float then value
        when Symbol then value.to_s
        when ::String then value.instance_of?(::String) ? value : ::String.new(value)
        when Array then value.map { |v| plain(v) }
        when Hash then value.to_h { |k, v| [plain(k), plain(v)] }
        else value.respond_to?(:unwrap) ? plain(value.unwrap) : value.to_s
        end
      end

      # Resources that Ruby code made: of a type of its own by their number, native ones as what was given.
      def described(made)
        Array(made).compact.map do |r|
          kind = r.class.name.to_s
          if r.class.native?
            [kind, r.title.to_s, 0, plain(r.given), []]
          else
            number = keep(r)
            [kind, r.title.to_s, number, provider_of(r), state(r)[1]]
          end
        end
      end
    end
  end

  class << self
    def log(level, message, source = nil)
      source = Machine.source(source) unless source.nil? || source.is_a?(::String)
      send_message([3, level.to_s, message.to_s, source])
    end
  end
end

module Puppet
  module Util
    remove_const(:FileType) if const_defined?(:FileType, false)
    # Types and providers call these as their own.
    def self.const_missing(name)
      return super unless %i[FileType FileParsing].include?(name)

      Bunraku.part('parsed_file')
      const_get(name)
    end

    singleton_methods(false).each do |name|
      next if name == :const_missing || method_defined?(name) || private_method_defined?(name)

      define_method(name) { |*args, **options, &block| Util.send(name, *args, **options, &block) }
    end
  end

  # Programs as providers run them: in the locale C, without the user's own variables.
  module Util::Execution
    NO_OPTIONS = {}.freeze
    USER_VARIABLES = %w[HOME USER LOGNAME].freeze
    LOCALE_VARIABLES = %w[LANG LC_ALL LC_MESSAGES LANGUAGE LC_COLLATE LC_CTYPE LC_MONETARY LC_NUMERIC LC_TIME].freeze

    class << self
      def execute(command, options = NO_OPTIONS)
        plain = options.equal?(NO_OPTIONS)
        options = { failonfail: plain, combine: plain, override_locale: true, custom_environment: {} }.merge(options)
        argv = command.is_a?(::Array) ? command.flatten.map { |a| a.respond_to?(:unwrap) ? a.unwrap.to_s : a.to_s } : command.to_s
        secret = options[:sensitive] || Array(command).flatten.any? { |a| a.respond_to?(:unwrap) }
        shown = secret ? '[redacted]' : Array(argv).join(' ')
        who = { uid: options[:uid], gid: options[:gid] }.compact.map { |k, v| "#{k}=#{v}" }
        Puppet.debug "Executing#{" with #{who.join(' ')}" unless who.empty?}: '#{shown}'"
        output, status = run(argv, options)
        code = status.exitstatus || (128 + status.termsig.to_i)
        raise Puppet::ExecutionFailure, "Execution of '#{shown}' returned #{code}: #{output.strip}" if options[:failonfail] && code != 0

        ProcessOutput.new(output, code)
      end
      alias util_execute execute

      # The output goes to a file: what a command leaves running may keep it open.
      def run(argv, options)
        require 'tempfile'
        file = ::Tempfile.new('bunraku')
        file.unlink
        pid = ::Process.fork { child(argv, options, file) }
        _, status = ::Process.wait2(pid)
        file.rewind
        text = file.read.force_encoding(::Encoding.default_external)
        [text, status]
      ensure
        file&.close
      end

      def child(argv, options, file)
        $stdin.reopen(options[:stdinfile] || ::File::NULL)
        $stdout.reopen(options[:squelch] ? ::File::NULL : file)
        options[:combine] && !options[:squelch] ? $stderr.reopen($stdout) : $stderr.reopen(::File::NULL)
        ::Process.setsid
        LOCALE_VARIABLES.each { |v| ::ENV.delete(v) } if options[:override_locale]
        ::ENV.update('LANG' => 'C', 'LC_ALL' => 'C') if options[:override_locale]
        USER_VARIABLES.each { |v| ::ENV.delete(v) }
        (options[:custom_environment] || {}).each { |k, v| ::ENV[k.to_s] = v&.to_s }
        Util::SUIDManager.become(options[:uid], options[:gid])
        ::Dir.chdir(options[:cwd]) if options[:cwd]
        ::Kernel.exec(*(argv.is_a?(::Array) ? [[argv[0], argv[0]], *argv.drop(1)] : [argv]), close_others: true)
      rescue ::Exception => e # rubocop:disable Lint/RescueException: nobody above may go on in a copy of the process
        $stderr.puts "Could not execute posix command: #{e.message}"
        exit!(1)
      end

      def execpipe(command, failonfail = true)
        text = command.is_a?(::Array) ? command.join(' ') : command
        Puppet.debug "Executing '#{text}'"
        output = Util.withenv('LANG' => 'C', 'LC_ALL' => 'C') { ::IO.popen("#{text} 2>&1") { |pipe| yield pipe } }
        raise Puppet::ExecutionFailure, output.to_s if failonfail && $?.exitstatus != 0 # rubocop:disable Style/SpecialGlobalVars

        output
      end
    end
  end

  module Util
    module SUIDManager
      class << self
        def uid_of(who) = who.is_a?(::Integer) || who.to_s.match?(/\A\d+\z/) ? who.to_i : ::Etc.getpwnam(who.to_s).uid
        def gid_of(who) = who.is_a?(::Integer) || who.to_s.match?(/\A\d+\z/) ? who.to_i : ::Etc.getgrnam(who.to_s).gid

        # For good: in a child that is about to become another program.
        def become(uid, gid)
          return unless root? && (uid || gid)

          user = uid && ::Etc.getpwuid(uid_of(uid))
          group = gid ? gid_of(gid) : user.gid
          ::Process::Sys.setgid(group)
          user ? ::Process.initgroups(user.name, group) : ::Process.groups = [group]
          ::Process::Sys.setuid(user.uid) if user
        end

        def asuser(uid = nil, gid = nil)
          return yield unless root? && (uid || gid)

          before = [::Process.euid, ::Process.egid, ::Process.groups]
          ::Process.egid = gid ? gid_of(gid) : ::Etc.getpwuid(uid_of(uid)).gid
          ::Process.euid = uid_of(uid) if uid
          begin
            yield
          ensure
            ::Process.euid, ::Process.egid, ::Process.groups = before
          end
        end

        def run_and_capture(command, uid = nil, gid = nil, **options)
          out = Execution.execute(command, { failonfail: false, combine: true, uid: uid, gid: gid }.merge(options))
          [out, out.exitstatus]
        end
      end
    end
  end

  module Util::Logging
    Puppet::LOG_LEVELS.each do |level|
      define_method(level) do |*args, &block|
        Bunraku.log(level, block ? block.call : args.join(' '), self)
        nil
      end
    end
    def send_log(level, message) = Bunraku.log(level, message, self)
  end

  class ResourceError
    # The text without its place.
    attr_accessor :bare
  end

  class Parameter
    class << self
      def format_value_for_display(value)
        case value
        when ::String, Symbol then quoted(value.to_s)
        when ::Array then "[#{value.map { |v| format_value_for_display(v) }.join(', ')}]"
        when ::Hash then "{#{value.map { |k, v| "#{format_value_for_display(k)} => #{format_value_for_display(v)}" }.join(', ')}}"
        when nil then 'undef'
        else value.to_s
        end
      end
    end

    # As the language writes a string: in double quotes where it has control characters.
    def self.quoted(text)
      return "'#{text.gsub("'", "\\\\'")}'" unless text.match?(/[\x00-\x1f]/)

      escaped = text.gsub(/[\x00-\x1f"\\$]/) do |c|
        { "\t" => '\t', "\n" => '\n', "\r" => '\r', '"' => '\"', '\\' => '\\\\', '$' => '\$' }.fetch(c) { Kernel.format('\u{%X}', c.ord) }
      end
      "\"#{escaped}\""
    end

    def log(message) = Bunraku.log(resource.loglevel, message, self)
    def file = resource&.file
    def line = resource&.line
    def path = "#{resource&.path}/#{name}"
    def provider = resource&.provider
    def noop = false
    def pathbuilder = [name]
    def format(text, *args) = Kernel.format(text.gsub('%s', '%s'), *args)
    def remove = (@resource = nil)
    def tags = [name.to_s]
    alias inspect to_s
  end

  class Property
    class << self
      # As Puppet: the code of a value is a method of the property.
      def newvalue(name, options = {}, &block)
        value = value_collection.newvalue(name, options, &block)
        define_method(value.method, &value.block) if value.method && value.block
        value
      end

      def value_name(name) = value_collection.match?(name)&.name
      def value_option(name, option)
        found = name.nil? ? nil : value_collection.value(name)
        found&.send(option)
      end
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
          error = Puppet::ResourceError.new(text, file, line, e)
          error.bare = text
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
        # A provider that keeps what is there says so with `ensure`; most have only exists?.
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

  # Whether a provider is of use here.
  class Confine
    attr_reader :values, :kind
    attr_accessor :for_binary, :name

    def initialize(kind, values)
      @kind = kind
      @values = values.is_a?(::Array) ? values : [values]
    end

    def valid?
      case @kind
      when :exists then @values.all? { |v| v && (@for_binary ? Puppet::Util.which(v.to_s) : ::File.exist?(v.to_s)) }
      when :true then @values.all? { |v| called(v) }
      when :false then @values.none? { |v| called(v) }
      when :feature then @values.all? { |v| Puppet.features.send("#{v}?") }
      when :any then @values.any? { |v| called(v) }
      else fact?
      end
    end

    private

    def called(value) = value.respond_to?(:call) ? value.call : value

    def fact?
      found = Puppet.settings.valid?(@kind) ? Puppet[@kind] : Facter.value(@kind.to_s)
      Confine.matches?(found, @values)
    end

    def self.matches?(found, values)
      text = found.to_s.downcase
      return false if text.empty?

      Array(values).any? { |v| v.is_a?(::Regexp) ? text.match?(v) || found.to_s.match?(v) : text == v.to_s.downcase }
    end
  end

  class Provider
    extend Puppet::Util

    %i[prefetch post_resource_eval instances method_missing].each { |m| singleton_class.send(:remove_method, m) if singleton_class.method_defined?(m, false) }
    remove_method :flush if method_defined?(:flush, false)

    class << self
      def initvars
        @defaults = []
        @notdefaults = []
        @commands = {}
        @confines = []
      end

      def inherited(sub)
        super
        sub.initvars
      end

      def confines = (@confines ||= [])
      def own_commands = (@commands ||= {})

      def commands(hash) = hash.each { |name, path| has_command(name, path) }
      def optional_commands(hash) = hash.each { |name, path| has_command(name, path) { is_optional } }

      # What the block of has_command says.
      class CommandOptions
        attr_reader :optional, :environment_variables

        def is_optional = @optional = true
        def environment(variables) = @environment_variables = variables
      end

      def has_command(name, path, &block)
        name = name.to_sym
        options = CommandOptions.new
        options.instance_eval(&block) if block
        own_commands[name] = path
        confine({ exists: path, for_binary: true }) unless options.optional
        run = lambda do |args|
          resolved = Puppet::Util.which(path.to_s) or raise Puppet::MissingCommand, "Command #{name} is missing"
          Puppet::Util::Execution.execute([resolved, *args.flatten], failonfail: true, combine: true,
                                          custom_environment: options.environment_variables || {})
        end
        singleton_class.send(:remove_method, name) if singleton_class.method_defined?(name, false)
        define_singleton_method(name) { |*args| run.call(args) }
        define_method(name) { |*args| self.class.send(name, *args) } unless method_defined?(name, false)
      end

      def command(name)
        found = self
        found = found.superclass until found == Provider || found.own_commands.key?(name.to_sym)
        path = found.own_commands[name.to_sym] if found.respond_to?(:own_commands)
        raise Puppet::DevError, "No command #{name} defined for provider #{self.name}" unless path

        Puppet::Util.which(path.to_s) or raise Puppet::MissingCommand, "Command #{name} is missing"
      end

      def confine(hash = nil, &block)
        if hash.nil? || block
          confines << Puppet::Confine.new(:true, block) if block
          return
        end
        binary = hash.delete(:for_binary)
        hash.each do |kind, values|
          made = Puppet::Confine.new(kind.to_sym, values)
          made.for_binary = binary
          confines << made
        end
      end

      # Confines are a class's own: those of a parent do not count.
      def suitable?(*) = confines.all?(&:valid?)
      def confine_collection = confines

      def defaultfor(*hashes) = (@defaults ||= []).concat(hashes)
      def notdefaultfor(*hashes) = (@notdefaults ||= []).concat(hashes)
      def default? = default_match ? true : false

      def default_match
        return nil if some_match(@notdefaults || [])

        some_match(@defaults || [])
      end

      def some_match(defaults)
        defaults.find do |hash|
          hash.all? do |key, values|
            key == :feature ? Array(values).all? { |v| Puppet.features.send("#{v}?") } : Puppet::Confine.matches?(Facter.value(key.to_s), values)
          end
        end
      end

      def specificity
        match = default_match
        ((match ? match.length : 0) * 100) + ancestors.grep(::Class).length
      end

      def has_feature(*names) = (@features ||= []).concat(names.map(&:to_sym))
      alias has_features has_feature

      def declared_feature?(name)
        (@features || []).include?(name.to_sym) || (superclass.respond_to?(:declared_feature?) && superclass.declared_feature?(name))
      end

      def feature?(name)
        name = name.to_s.downcase.to_sym
        return true if declared_feature?(name)

        _docs, options = resource_type.provider_feature(name)
        methods = Array(options && options[:methods])
        !methods.empty? && methods.all? { |m| method_defined?(m) }
      end

      def features = resource_type.feature_names.select { |f| feature?(f) }
      def satisfies?(*names) = names.flatten.all? { |f| feature?(f) }

      def supports_parameter?(param)
        param = resource_type.attrclass(param) unless param.is_a?(::Class)
        param&.required_features ? satisfies?(*param.required_features) : true
      end

      def mk_resource_methods
        (resource_type.validproperties + resource_type.parameters).each do |attribute|
          next if attribute == :name

          define_method(attribute) { @property_hash[attribute].nil? ? :absent : @property_hash[attribute] }
          define_method("#{attribute}=") { |value| @property_hash[attribute] = value }
        end
      end

      def instances
        raise Puppet::DevError, "To support listing resources of this type the '#{name}' provider needs to implement an " \
                                "'instances' class method returning the current set of resources. " \
                                'We recommend porting your module to the simpler Resource API instead: https://puppet.com/search/docs?keys=resource+api'
      end

      def execute(*args) = Puppet::Util::Execution.execute(*args)
      def execpipe(*args, &block) = Puppet::Util::Execution.execpipe(*args, &block)
      def execfail(*args) = Puppet::Util::Execution.execfail(*args)
      def supports_noop = false
      def to_s = resource_type.nil? ? super : "Puppet::Type::#{resource_type.to_s.sub(/\APuppet::Type::/, '')}::Provider#{name.to_s.capitalize}"
      alias inspect to_s
    end
    initvars

    # Larger bases are read when they are named.
    remove_const(:ParsedFile)
    def self.const_missing(name)
      return super unless name == :ParsedFile

      Bunraku.part('parsed_file')
      const_get(name)
    end

    def initialize(resource = nil)
      # No copy: a record of a file is changed in place.
      if resource.is_a?(::Hash)
        @property_hash = resource
      else
        @resource = resource if resource
        @property_hash = {}
      end
    end

    def name
      return @property_hash[:name] if @property_hash[:name]
      return resource.name if resource

      raise Puppet::DevError, "No resource and no name in property hash in #{self.class.name} instance"
    end

    def get(param) = @property_hash[param.to_sym].nil? ? :absent : @property_hash[param.to_sym]
    def set(params) = params.each { |k, v| @property_hash[k.to_sym] = v }
    def clear = @resource = nil
    def command(name) = self.class.command(name)
    def execpipe(*args, &block) = Puppet::Util::Execution.execpipe(*args, &block)
    def execfail(*args) = Puppet::Util::Execution.execfail(*args)
    def features = self.class.features
    def feature?(name) = self.class.feature?(name)
    def satisfies?(*names) = self.class.satisfies?(*names)
    def to_s = "#{@resource || self.class}(provider=#{self.class.name})"
    def <=>(other) = name <=> other.name
    include Comparable
    alias inspect to_s
  end

  class Type
    NOT_ASKED = %i[name depthfirst? path].freeze
    %i[flush exists? generate eval_generate refresh retrieve_resource].each { |m| remove_method(m) if method_defined?(m, false) }
    # What a native type has is kept as it is given.
    attr_accessor :current, :exported, :virtual, :given

    class << self
      def native? = @native ? true : false
      attr_writer :native

      def feature_names = (@features || {}).keys
      def depth_first_type? = method_defined?(:depthfirst?) && instance_method(:depthfirst?).owner != Puppet::Type

      def provider_classes = @providers_hash.values.grep(::Class)
      def loaded_providers = @providers_hash.keys.filter_map { |n| provider(n) }
      def suitableprovider = loaded_providers.select(&:suitable?)

      def defaultprovider
        return @defaultprovider if @defaultprovider

        suitable = suitableprovider
        chosen = suitable.select(&:default?)
        chosen = suitable if chosen.empty?
        best = chosen.map(&:specificity).max
        chosen = chosen.select { |p| p.specificity == best }
        if chosen.length > 1
          Puppet.warning "Found multiple default providers for #{name}: #{chosen.map { |p| p.name.to_s }.join(', ')}; using #{chosen[0].name}"
        end
        @defaultprovider = chosen.first
      end
      attr_writer :defaultprovider

      def providify
        return if @paramhash.key?(:provider)

        type = self
        newparam(:provider) do
          desc "The specific backend to use for this `#{type.name}` resource. You will seldom need to specify this --- " \
               "Puppet will usually discover the appropriate provider for your platform.Available providers are:\n\n#{type.providers.map(&:to_s).sort.join("\n")}"
          validate do |value|
            value = value[0] if value.is_a?(::Array)
            value = value.class.name if value.is_a?(Puppet::Provider)
            raise ArgumentError, "Invalid #{@resource.class.name} provider '#{value}'" unless @resource.class.provider(value.to_s)
          end
          munge do |value|
            value = value[0] if value.is_a?(::Array)
            value = value.to_sym if value.is_a?(::String)
            @resource.provider = value
            value.is_a?(Puppet::Provider) ? value.class.name : value
          end
          defaultto { @resource.class.defaultprovider&.name }
        end
      end

      def providers_by_source
        first = defaultprovider
        [first, *suitableprovider.reject { |p| p == first }].compact.select { |p| p.singleton_class.method_defined?(:instances) }
      end

      def instances
        raise Puppet::DevError, "#{name} has no providers and has not overridden 'instances'" if provider_hash.empty?

        found = {}
        providers_by_source.flat_map do |provider|
          properties = self.properties.select { |p| provider.supports_parameter?(p) }.map(&:name)
          provider.instances.filter_map do |instance|
            next if found.key?(instance.name) && isomorphic?

            found[instance.name] = instance
            made = new(name: instance.name, provider: instance)
            properties.each { |n| made.newattr(n) }
            made
          end
        end
      end

      def autos = @autos
    end

    def initialize(resource = {})
      if resource.is_a?(Puppet::Resource)
        begin_life(resource.title, resource.to_hash)
      else
        hash = resource.transform_keys(&:to_sym)
        title = hash.delete(:title) || hash[:name] || hash[self.class.key_attributes.first]
        title ||= hash[:path] || hash.values.first if self.class.native?
        raise Puppet::Error, 'Title or name must be provided' if title.nil?

        @catalog = hash.delete(:catalog)
        begin_life(title, hash)
      end
    end

    # What Puppet's Type#initialize does, step by step.
    def begin_life(title, hash)
      @title = title.to_s
      @parameters = {}
      @tags ||= []
      @current = {}
      @original_parameters = hash.dup
      if self.class.native?
        @given = hash
        return
      end
      hash = hash.reject { |k, v| v.nil? || (METAPARAMS.include?(k) && self.class.attrclass(k).nil?) }
      given_names(hash)
      set_default(:provider) unless hash.key?(:provider)
      missing = []
      (self.class.allattrs + hash.keys).uniq.each do |name|
        next if @parameters.key?(name) && self.class.key_attributes == [name]
        next if METAPARAMS.include?(name) && self.class.attrclass(name).nil?

        hash.key?(name) ? set_wrapped(name, hash[name]) : missing << name
      end
      missing.each { |name| set_default(name) }
      check_whole
    end

    # The names that the title gives, and the one name variable first of all.
    def given_names(hash)
      if (only = name_var) && hash.key?(:name) && only != :name
        hash[only] = hash.delete(:name)
      end
      from_title(@title).each { |k, v| hash[k.to_sym] = v unless hash.key?(k.to_sym) || v.nil? }
      self[only] = hash.delete(only) if only && hash.key?(only)
    end

    def name_var
      names = self.class.key_attributes
      names.length == 1 ? names.first : false
    end

    def set_wrapped(name, value)
      self[name] = value
    rescue ArgumentError, Puppet::Error, TypeError
      raise
    rescue StandardError => e
      raise Puppet::DevError, "Could not set #{name} on #{self.class.name}: #{e}", e.backtrace
    end

    def check_whole
      return unless respond_to?(:unsafe_validate)

      begin
        unsafe_validate
      rescue Puppet::Error, ArgumentError => e
        error = Puppet::Error.new("Validation of #{ref} failed: #{e}", e)
        error.set_backtrace(e.backtrace)
        raise error
      end
    end
    alias validate check_whole

    def [](name)
      name = name.to_sym
      return @given[name] if self.class.native? && @given

      raise Puppet::Error, "Invalid parameter #{name}(#{name.inspect})" unless self.class.validattr?(name)

      name = name_var if name == :name && name_var
      @parameters[name]&.value
    end

    def []=(name, value)
      name = name.to_sym
      if self.class.native? && @given
        @given[name] = value
        Bunraku.ask(:machine_set, self.class.name.to_s, @title, name.to_s, Bunraku::Machine.plain(value)) if @known
        return
      end
      raise Puppet::Error, "no parameter named '#{name}'" unless self.class.validattr?(name)

      name = name_var if name == :name && name_var
      raise Puppet::Error, "Got nil value for #{name}" if value.nil?

      attribute = newattr(name) or return
      begin
        attribute.value = value
      rescue Puppet::Error, ArgumentError => e
        error = Puppet::Error.new("Parameter #{name} failed on #{ref}: #{e}", e)
        error.set_backtrace(e.backtrace)
        raise error
      end
    end

    def newattr(name)
      klass = name.is_a?(::Class) ? name : self.class.attrclass(name)
      unless klass
        return nil if METAPARAMS.include?(name.to_sym)

        raise Puppet::Error, "Resource type #{self.class.name} does not support parameter #{name}"
      end
      name = klass.name
      if provider && !provider.class.supports_parameter?(klass)
        missing = klass.required_features.reject { |f| provider.class.feature?(f) }
        debug "Provider #{provider.class.name} does not support features #{missing.join(', ')}; not managing attribute #{name}"
        return nil
      end
      @parameters[name] ||= klass.new(resource: self)
    end

    def set_default(name)
      klass = self.class.attrclass(name)
      return unless klass && klass.method_defined?(:default) && !@parameters.key?(klass.name)

      parameter = newattr(klass.name) or return
      value = parameter.default
      if value
        parameter.value = value
      else
        @parameters.delete(parameter.name)
      end
    end

    def provider=(value)
      if value.is_a?(Puppet::Provider)
        @provider = value
        @provider.resource = self
      elsif (klass = self.class.provider(value.to_s))
        @provider = klass.new(self)
      else
        raise ArgumentError, "Could not find #{value} provider of #{self.class.name}"
      end
    end

    def suitable?
      return true unless self.class.paramclass(:provider)
      return provider.class.suitable? if provider

      set_default(:provider)
      provider ? true : false
    end

    def parameters = @parameters
    alias parameters_hash parameters
    def parameter(name) = @parameters[name.to_sym]
    def property(name) = @parameters[name.to_sym].then { |p| p.is_a?(Puppet::Property) ? p : nil }
    def properties = self.class.properties.filter_map { |p| @parameters[p.name] }
    def parameters_with_value = self.class.parameters.filter_map { |n| @parameters[n] }
    def eachparameter(&block) = parameters_with_value.each(&block)
    def should(name) = @parameters[name.to_sym].then { |p| p.is_a?(Puppet::Property) ? p.should : nil }
    def value(name) = @parameters[name.to_sym]&.value
    def delete(name)
      raise Puppet::DevError, "Undefined attribute '#{name}' in #{self}" unless @parameters.key?(name.to_sym)

      @parameters.delete(name.to_sym)
    end

    def name = name_var ? (self[name_var] || @title) : @title
    def title = @title || name
    def managed? = properties.any? { |p| p.raw_should && !p.raw_should.empty? }
    def ensure_wanted = should(:ensure)
    def deleting? = should(:ensure) == :absent
    def present?(current = retrieve) = current[:ensure] != :absent
    def noop? = false
    def noop = false
    def loglevel = :notice
    def insync?(is) = properties.all? { |p| p.safe_insync?(is[p.name]) }

    def retrieve
      fail "Provider #{provider.class.name} is not functional on this host" if provider.is_a?(Puppet::Provider) && !provider.class.suitable?

      result = {}
      state = property(:ensure)
      state = newattr(:ensure) if state.nil? && self.class.validattr?(:ensure)
      result[:ensure] = ensure_state = state.retrieve if state
      properties.each do |p|
        next if p.name == :ensure

        result[p.name] = ensure_state == :absent ? :absent : p.retrieve
      end
      result
    end
    alias currentpropvalues retrieve

    def retrieve_resource = retrieve
    def flush
      provider.flush if provider.respond_to?(:flush)
    end

    def catalog = @catalog ||= Bunraku::Machine::Catalog.instance
    def ref = "#{self.class.name.to_s.split('::').map(&:capitalize).join('::')}[#{title}]"
    alias to_s ref
    alias inspect ref
    def path = Bunraku.ask(:machine_path, Bunraku::Machine.number_of(self) || 0) || "/#{ref}"
    def tagged?(*names) = names.flatten.any? { |n| @tags.include?(n.to_s) }
    def tag(*names) = @tags |= names.flatten.map(&:to_s)
    def log(message) = Bunraku.log(:notice, message, self)
    def to_hash = self.class.native? ? @given : @parameters.transform_values(&:value)
    def to_resource = Puppet::Resource.new(self.class.name.to_s, title, parameters: to_hash)
    def finish = nil
    def isomorphic? = self.class.isomorphic?
    def self_refresh? = self.class.self_refresh
    def known! = (@known = true)

    # [kind, type, title] of what the type asks for.
    def automatic_relations
      %w[require subscribe before notify].flat_map do |kind|
        (self.class.autos[kind] || {}).flat_map do |type, block|
          list = instance_exec(&block)
          Array(list).flatten.compact.map do |one|
            case one
            when Puppet::Type then [kind, one.class.name.to_s, one.title.to_s]
            when Puppet::Resource then [kind, one.type.downcase, one.title.to_s]
            else [kind, type.to_s, one.to_s]
            end
          end
        end
      end
    end

    class << self
      alias types_provide provide
      def provide(name, options = {}, &block)
        parent = options[:parent]
        # A provider of another type, or one whose file is yet to be read.
        if parent.is_a?(Symbol) || parent.is_a?(::String)
          found = provider(parent)
          raise Puppet::DevError, "Could not find parent provider #{parent} of #{name}" unless found

          options = options.merge(parent: found)
        end
        @defaultprovider = nil
        types_provide(name, options, &block)
      end
    end
  end

  class << self
    def log_exception(exception, message = :default, options = {})
      Bunraku.log(options[:level] || :err, message == :default ? exception.message : message)
    end
  end
end

module Bunraku
  module Machine
    # The catalog of the run, as code of types looks at it.
    class Catalog
      include Enumerable
      def self.instance = (@instance ||= new)

      def resources
        own = Machine.resources.values
        natives = Bunraku.ask(:machine_natives).map { |type, title| native(type, title) }
        own + natives.compact
      end
      alias vertices resources

      def each(&block) = resources.each(&block)

      def resource(type, title = nil)
        type, title = Puppet::Resource.type_and_title(type, title)
        key = type.to_s.downcase
        found = Machine.resources.values.find { |r| r.class.name.to_s == key && (r.title == title || r.name == title) }
        found || native(key, title)
      end

      def native(type, title)
        given = Bunraku.ask(:machine_resource, type, title) or return nil
        klass = Puppet::Type.type(type.downcase) or return nil
        return nil unless klass.native?

        klass.new(given.transform_keys(&:to_sym).merge(title: title)).tap(&:known!)
      end

      def resource_refs = resources.map(&:ref)
      def container_of(_resource) = nil
      def host_config? = true
      def environment = Bunraku.environment
      def add_resource(*) = nil
    end

    # Native types are stand-ins that keep what they are given.
    module KeepNatives
      def native(name)
        super&.tap { |klass| klass.native = true }
      end
    end
    Types.singleton_class.prepend(KeepNatives)
  end
end
