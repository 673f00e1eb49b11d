# frozen_string_literal: true
# The Ruby end of Bunraku's plugin host. It answers calls over a socket, calls back, and provides
# the parts of Puppet's Ruby API that modules use. src/language/ruby/protocol.h lists the messages.

module Bunraku
  # Ruby's additions to the message of a NameError ("Did you mean?", the source line) take
  # milliseconds to load. They are loaded only when such a message is needed.
  module NameErrorAddenda
    class << self
      attr_accessor :loaded
    end

    def to_s
      return super if NameErrorAddenda.loaded

      NameErrorAddenda.loaded = true
      begin
        Reads.quiet { %w[error_highlight did_you_mean].each { |name| require name } }
      rescue ::LoadError
        # The message then has no additions.
      end
      to_s
    end
  end
  ::NameError.prepend(NameErrorAddenda)

  # Unwinds Ruby code for a break, return or next of the Puppet language.
  class Unwind < StopIteration; end

  UNSET = Object.new.freeze
  # The messages that end a call.
  ANSWERS = [FromRuby::VALUE, FromRuby::ERROR, FromRuby::UNWIND].freeze
  # The messages that need neither values nor functions of the language.
  WITHOUT_LANGUAGE = [ToRuby::FACTS, ToRuby::SETUP, ToRuby::RESET].freeze

  class << self
    attr_reader :environment, :environment_directory, :load_path, :functions

    # Runs the main loop of a child, after the parts are loaded.
    def live
      $PROGRAM_NAME = 'bunraku: Ruby code of modules'
      $stdout.sync = true
      @main_pid = $$ # rubocop:disable Style/SpecialGlobalVars
      at_exit { exit!(0) if $$ != @main_pid } # rubocop:disable Style/SpecialGlobalVars
      watch_parent
      while (message = receive)
        message[0] == ToRuby::SIMPLIFY ? send_last_simplified : serve(message)
      end
      exit!(0)
    end

    # Ends this process and all processes it started when the parent ends. Code that never returns
    # to the main loop would not notice that the socket is closed.
    def watch_parent
      parent = Reads.quiet { Process.ppid }
      Thread.new do
        Thread.current.thread_variable_set(:bunraku_quiet, true)
        sleep 2 while Process.ppid == parent
        Process.kill(:KILL, 0)
      end
    end

    def receive
      head = @input.read(4)
      exit!(0) unless head && head.bytesize == 4
      text = @input.read(head.unpack1('N'))
      begin
        Marshal.load(text)
      rescue ::ArgumentError # The message contains a class of values.rb.
        raise if @parts['values']

        language
        Marshal.load(text)
      end
    end

    # Loads values, functions and scopes. A child that evaluates facts rarely needs them.
    def language
      part('values')
      part('functions')
    end

    def send_message(message)
      # A fork of this process must not use the socket.
      exit!(0) if $$ != @main_pid # rubocop:disable Style/SpecialGlobalVars
      begin
        body = Marshal.dump(message)
      rescue TypeError, ArgumentError, NoMethodError
        message = simplify(message)
        body = Marshal.dump(message)
      end
      @last = message
      send_reads(ANSWERS.include?(message[0]))
      @output.write([body.bytesize].pack('N'), body)
    end

    # Sends the recorded reads before any other message, so that they are not lost however a call
    # ends.
    def send_reads(answer)
      notes = Reads.take(answer) or return

      body = Marshal.dump([FromRuby::READS, *notes])
      @output.write([body.bytesize].pack('N'), body)
    end

    def send_last_simplified
      send_message(simplify(@last))
    end

    # Reduces a value to known classes; other objects become text.
    def simplify(v)
      case v
      when nil, true, false, Integer, Float, Symbol then v
      when ::String then recode(v.instance_of?(::String) ? v : ::String.new(v))
      when Array then v.map { |x| simplify(x) }
      when Hash then v.each_with_object({}) { |(k, x), h| h[simplify(k)] = simplify(x) }
      when Regexp then v
      else
        return v if v.respond_to?(:bunraku_value?)

        name = v.class.name
        return v.to_f if name == 'BigDecimal'
        return simplify(v.to_a) if name == 'Set' || v.is_a?(Enumerator)
        return DataTypes.as_object(v) if defined?(DataTypes) && DataTypes.type_name_of(v)

        Runtime.new(v)
      end
    end

    # Converts text of other encodings to UTF-8.
    def recode(text)
      return text if [Encoding::UTF_8, Encoding::US_ASCII, Encoding::BINARY].include?(text.encoding)

      text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace)
    end

    # Marks Symbols, which are not Puppet values, so that the return type of a function can reject
    # them.
    def with_symbols(v)
      case v
      when Symbol then %i[undef default].include?(v) ? v : Runtime.new(v)
      when Array then v.any? { |x| symbols?(x) } ? v.map { |x| with_symbols(x) } : v
      when Hash
        symbols?(v) ? v.to_h { |k, x| [with_symbols(k), with_symbols(x)] } : v
      else v
      end
    end

    def symbols?(v)
      case v
      when Symbol then !%i[undef default].include?(v)
      when Array then v.any? { |x| symbols?(x) }
      when Hash then v.any? { |k, x| symbols?(k) || symbols?(x) }
      else false
      end
    end

    def log(level, message, source = nil)
      send_message([FromRuby::LOG, level.to_s, message.to_s, source])
    end

    # Sends a request to the compile, and serves the calls it makes in the meantime.
    def ask(what, *args)
      send_message([FromRuby::CALLBACK, what, *args])
      loop_for_answer(what == :call_function ? args[0] : nil)
    end

    # Reports whether a function exists. A positive answer is cached for the compile. A request
    # while a file is loaded counts as a read of that file, and is made each time.
    def function?(name)
      return ask(:function_exists, name) if Reads.loading?

      (@functions_there ||= {})[name] ||= ask(:function_exists, name)
    end

    def loop_for_answer(function)
      while true
        message = receive
        case message[0]
        when ToRuby::VALUE then return message[1]
        when ToRuby::ERROR then raise remote_error(message, function)
        when ToRuby::UNWIND then raise Unwind
        when ToRuby::SIMPLIFY then send_last_simplified
        when ToRuby::UNSET then return UNSET
        else serve(message)
        end
      end
    end

    # Hiera's not_found: notifies the compile, then leaves the function.
    def no_such_key
      @no_such_key = false
      begin
        yield
      rescue Unwind
        @no_such_key = true
      end
      throw :no_such_key
    end

    # Returns an error of the compile that Ruby code may rescue. It has a token, so that the compile
    # can restore the original error. An error that was raised in Ruby and did not pass through
    # Puppet code is the same object.
    def remote_error(message, function = nil)
      _, text, token, code = message
      part('errors')
      error = @raised if @raised && code != 'LOCATED' && sent_text(@raised) == text
      error ||= Errors.make(text, code, function) || ArgumentError.new(text)
      error.instance_variable_set(:@bunraku_token, token) unless code == 'UNKNOWN_FUNCTION'
      error
    end

    def serve(message)
      code = code_of(message)
      return answer(message) unless code

      @functions_there = nil
      Reads.of(code) { answer(message) }
    end

    # Returns the code that a message calls if its result may be cached.
    def code_of(message)
      case message[0]
      when ToRuby::CALL then "function #{message[1]}"
      when ToRuby::RENDER then "template #{message[2]}"
      when ToRuby::HIERA3 then "backend #{message[1]['backend']}"
      end
    end

    # Answers a message. A thrown symbol is caught here, because it bypasses the `rescue` clauses of
    # the code it leaves.
    def answer(message)
      left = true
      result = catch(:no_such_key) do
        value = dispatch(message)
        left = false
        value
      end
      if left
        raise Unwind if @no_such_key

        raise ArgumentError, 'uncaught throw :no_such_key'
      end
    rescue Unwind
      send_message([FromRuby::UNWIND])
    rescue Exception => e # rubocop:disable Lint/RescueException
      @raised = e
      send_message(describe_error(e))
    else
      send_message([FromRuby::VALUE, result])
    end

    def describe_error(e)
      token = e.instance_variable_get(:@bunraku_token) || 0
      text = sent_text(e)
      # Other errors with a position contain it in their text.
      located = e.is_a?(Puppet::ParseError)
      file = located && e.file ? e.file.to_s : nil
      line = located && e.line ? e.line.to_i : nil
      column = located && e.pos ? e.pos.to_i : nil
      trace = trace_of(e).first(20)
      code = e.respond_to?(:issue_code) && e.issue_code ? e.issue_code.to_s : nil
      code = own_code(e) || code
      [FromRuby::ERROR, e.class.name.to_s, text, token, trace, file, line, code, column]
    end

    # Returns the backtrace without frames of this host. If a wrapper of Reads called a Ruby method,
    # its frame appears at the module's call.
    def trace_of(e)
      called = []
      frames = e.backtrace || []
      frames.each_with_index.each_with_object([]) do |(frame, i), out|
        if frame.start_with?('bunraku/')
          called << frame[/:in .*/] if frames[i + 1].to_s.match?(%r{\Abunraku/recorded_reads\.rb:.*\bbind_call'})
        else
          called.each { |label| out << "#{frame[/\A.*?:\d+/]}#{label}" }
          called.clear
          out << frame
        end
      end
    end

    # Returns the code of errors that Puppet does not extend with wording or position. Its rescue
    # clauses do not catch them, or take their text as complete.
    def own_code(e)
      case e
      when ScriptError, SecurityError then 'SCRIPT_ERROR'
      when StopIteration then 'PREFORMATTED'
      when Puppet::PreformattedError then e.file || e.line ? nil : 'PREFORMATTED'
      end
    end

    def sent_text(e)
      text =
        case e
        when SystemExit then "the Ruby code called exit (status #{e.status})"
        when NoMemoryError then 'the Ruby code used more memory than it may (failed to allocate memory)'
        when SystemStackError then 'stack level too deep'
        when SignalException then "the Ruby process got signal #{e.message}"
        when Puppet::ParseError then e.bare # The position is sent separately.
        when Puppet::ExternalFileError then e.place_is_known ? e.bare : e.message
        else e.message.to_s
        end
      text = text.encode('UTF-8', invalid: :replace, undef: :replace) unless text.encoding == Encoding::UTF_8
      text
    end

    def dispatch(message)
      language unless WITHOUT_LANGUAGE.include?(message[0])
      case message[0]
      when ToRuby::CALL then with_changes { call(message[1], message[2], message[3], message[4], message[5]) }
      when ToRuby::LOAD then load_function(message[1], message[2])
      when ToRuby::RENDER then with_changes { Puppet::Parser::TemplateWrapper.render(message[1], message[2], message[3]) }
      when ToRuby::PROC then @procs.fetch(message[1]).call(*message[2])
      when ToRuby::LOAD_TYPE
        part('types')
        Types.describe_file(message[1], message[2])
      when ToRuby::CHECK
        part('types')
        Types.check(message[1], message[2], message[3])
      when ToRuby::LOAD_DATA
        part('data_types')
        DataTypes.describe_file(message[1], message[2])
      when ToRuby::METHOD
        part('data_types')
        DataTypes.call(message[1], message[2], message[3], message[4])
      when ToRuby::FACTS
        part('facts')
        ::Facter::Facts.call(message[1], message[2])
      when ToRuby::SETUP then setup(message[1])
      when ToRuby::RESET
        @function_cache = @functions_there = @raised = @files_of = @libraries = nil
        Reads.reset
        Runtime.forget
        Puppet.forget_compile
      when ToRuby::TITLE
        part('types')
        Types.parse_title(message[1], message[2], message[3])
      when ToRuby::HIERA3
        part('hiera')
        Hiera3.lookup(message[1])
      when ToRuby::MANAGE
        part('provider_host')
        ProviderHost.call(message[1], message[2])
      when ToRuby::READY then ready(message[1])
      else raise ArgumentError, "unknown message #{message[0]}"
      end
    end

    # Reports lists and hashes that Ruby code looked up and then changed in place. The compile sees
    # the change, as in Puppet, where both share the object.
    def with_changes
      outer = @looked_up
      @looked_up = nil
      result = yield
      @looked_up&.each { |name, (value, was)| changed(name, value) unless value.hash == was }
      result
    ensure
      @looked_up = outer
    end

    def changed(name, value)
      ask(:variable_changed, name, value)
    rescue TypeError
      nil # Ruby's own objects are not values.
    end

    # Returns the value that the running code gets for a variable. Repeated lookups of an unchanged
    # array or hash return the same object.
    def looked_up(name, value)
      return value unless value.is_a?(Array) || value.is_a?(Hash)

      now = value.hash
      before, was = (@looked_up ||= {})[name]
      return before if was == now

      @looked_up[name] = [value, now]
      value
    end

    def setup(options)
      @load_path = options['load_path'] || []
      @environment = options['environment']
      @environment_directory = options['environment_directory']
      $LOAD_PATH.unshift(*@load_path)
      limit = options['memory_limit']
      if limit.positive?
        used = Reads.quiet { File.read('/proc/self/statm') }.to_i * 4096
        Process.setrlimit(Process::RLIMIT_AS, used + limit)
      end
      nil
    end

    # ---- functions ----

    def call(name, signature, args, block, arity)
      function = @functions[name]
      Reads.used(@function_files[name])
      if signature.negative?
        Puppet::Parser::Scope.current.send(function, args)
      else
        function.invoke_signature(signature, args, block.zero? ? nil : block_proc(block, arity))
      end
    end

    # Converts a Puppet lambda to a block.
    def block_proc(handle, arity)
      block = proc { |*args| Bunraku.ask(:yield, handle, args) }
      block.define_singleton_method(:arity) { arity }
      block.define_singleton_method(:bunraku_handle) { handle }
      block.define_singleton_method(:lambda?) { true }
      block.define_singleton_method(:parameters) do
        info = Bunraku.ask(:block_info, handle)
        info ? info[1].each_with_index.map { |n, i| [i < info[0] ? :req : :opt, n.to_sym] } : []
      end
      block
    end

    # Functions that may return one of their arguments, such as a default.
    ANSWER_WITH_ARGUMENTS = %w[lookup hiera hiera_array hiera_hash get getvar dig pick pick_default].freeze

    def call_puppet(name, args, block = nil)
      if block.nil?
        # A symbol would be returned as text, but callers compare it:
        # `lookup(.., default: :none) == :none`.
        symbols = {}
        args = hide_symbols(args, symbols) if ANSWER_WITH_ARGUMENTS.include?(name.to_s)
        answer = ask(:call_function, name.to_s, args, 0, 0)
        symbols.empty? ? answer : reveal_symbols(answer, symbols)
      else
        id = (@proc_count += 1)
        @procs[id] = block
        arity = block.arity
        arity = -1 if arity > 100 || arity < -100
        begin
          ask(:call_function, name.to_s, args, id, arity)
        ensure
          @procs.delete(id)
        end
      end
    end

    def hide_symbols(value, symbols)
      case value
      when :undef, :default then value
      when Symbol then "\u{E000}:#{value}".tap { |text| symbols[text] = value }
      when Array then value.map { |v| hide_symbols(v, symbols) }
      when Hash then value.transform_values { |v| hide_symbols(v, symbols) }
      else value
      end
    end

    def reveal_symbols(value, symbols)
      case value
      when String then symbols.fetch(value, value)
      when Array then value.map { |v| reveal_symbols(v, symbols) }
      when Hash then value.transform_values { |v| reveal_symbols(v, symbols) }
      else value
      end
    end

    def load_function(file, name)
      @function_files[name] = file
      described, reads = Reads.collect { Reads.loading(file) { load_function_file(file, name) } }
      described.merge('reads' => reads)
    end

    FUNCTION_FILE = %r{/puppet/(?:parser/)?functions/(.+)\.rb\z}
    # Files that are loaded only by name, when they are needed.
    LOADED_BY_NAME = %r{/puppet/(?:type|provider|datatypes|reports)/}

    # Loads the code of calls that memos have replaced, because other code may use it without a
    # `require`. Returns the names of the functions it loaded.
    def ready(files)
      files.filter_map do |file|
        name = file[FUNCTION_FILE, 1]&.gsub('/', '::')
        if name.nil?
          require file unless LOADED_BY_NAME.match?(file)
        elsif !@functions.key?(name)
          load_function(file, name)
          next name
        end
        nil
      rescue StandardError, ScriptError
        nil # The next use of the file reports the error.
      end
    end

    def load_function_file(file, name)
      # The text is checked before it runs, as Puppet's loaders do.
      source = Reads.quiet { File.read(file, encoding: 'UTF-8') }
      @loading = name
      if file.include?('/puppet/parser/functions/')
        load_legacy(file, name, source)
      else
        load_modern(file, name, source)
      end
    end

    def load_legacy(file, name, source, judge: true)
      if judge && (source.match?(/\bdef\b/) || !source.include?('newfunction'))
        require 'ripper'
        tree = Ripper.sexp(source)
        unless tree.nil? || legacy_content?(tree, file)
          raise ArgumentError,
                "The code loaded from #{file} does not seem to be a Puppet 3x API function - no 'newfunction' call."
        end
      end
      info = eval(source, TOPLEVEL_BINDING.dup, file, 1)
      unless info.is_a?(Hash)
        raise ArgumentError,
              "Illegal legacy function definition! The code loaded from #{file} did not return the result of calling 'newfunction'. Got '#{info.class}'"
      end
      unless info[:name] == "function_#{name}"
        raise ArgumentError,
              "The code loaded from #{file} produced mis-matched name, expected 'function_#{name}', got '#{info[:name]}'"
      end
      @functions[name] = :"function_#{name}"
      { 'name' => name, 'legacy' => true, 'statement' => info[:type] == :statement,
        'arity' => info[:arity], 'doc' => info[:doc].to_s }
    end

    # Defines the 3.x function of a name that also has a 4.x function, which hides it from all
    # callers except the scope's own methods. Returns false if the name does not have both.
    def define_hidden_legacy(name)
      return true if @unjudged&.include?(name)

      modern = @functions[name]
      return false if modern.is_a?(Symbol)

      newer = modern || Puppet::Parser::Scope::NEWER_ONLY.key?(name) || file_of("puppet/functions/#{name}")
      file = file_of("puppet/parser/functions/#{name}")
      return false unless file

      # Puppet's legacy loader does not check files, so helper methods are allowed there.
      source = Reads.quiet { File.read(file, encoding: 'UTF-8') }
      return false unless newer || source.match?(/^\s*def\b/)

      (@unjudged ||= []) << name unless newer
      begin
        Reads.loading(file) { load_legacy(file, name, source, judge: false) }
      ensure
        modern ? @functions[name] = modern : @functions.delete(name)
      end
      true
    end

    # Returns the file of that name in the first module that has one. The result is cached for the
    # compile, because the search examines every module.
    def file_of(name)
      Reads.note('feature', name)
      (@files_of ||= {}).fetch(name) do
        @libraries ||= Puppet::Node::Environment.current.modules.map { |m| "#{m.path}/lib/" }
        @files_of[name] = Reads.quiet { @libraries.map { |l| "#{l}#{name}.rb" }.find { |f| File.file?(f) } }
      end
    end

    # Returns true if `newfunction` is called. Such a file must not define methods.
    def legacy_content?(node, file)
      return false unless node.is_a?(Array)

      found = false
      if %i[fcall call].include?(node[0])
        identity = node.find { |x| x.is_a?(Array) && x[0] == :@ident }
        found = true if identity && identity[1] == 'newfunction'
      elsif %i[def defs].include?(node[0])
        identity = node.find { |x| x.is_a?(Array) && x[0] == :@ident }
        # Puppet 8.11 reports the column as the line.
        raise SecurityError,
              "Illegal method definition of method '#{identity ? identity[1] : '<unknown>'}' in source #{file} on line " \
              "#{identity ? identity[2][1] : '<unknown>'} in legacy function. " \
              'See https://puppet.com/docs/puppet/latest/functions_refactor_legacy.html for more information'
      end
      node.each { |child| found = true if legacy_content?(child, file) }
      found
    end

    def load_modern(file, name, source)
      unless source.is_a?(String) && source =~ /Puppet::Functions\.create_function/
        raise ArgumentError,
              "The code loaded from #{file} does not seem to be a Puppet 4x API function - no create_function call."
      end
      # create_function reads this from the binding of its block.
      binding = TOPLEVEL_BINDING.dup
      binding.local_variable_set(:loader_injected_arg, Puppet::Pops::Loader::Shim.new(name))
      created = eval(source, binding, file, 1)
      unless created.is_a?(Class)
        raise ArgumentError,
              "The code loaded from #{file} did not produce a Function class when evaluated. Got '#{created.class}'"
      end
      actual = created.name.to_s
      unless actual == name
        raise ArgumentError,
              "The code loaded from #{file} produced mis-matched name, expected '#{name}', got #{actual}"
      end
      function = created.new(Puppet::Parser::Scope.global, Puppet::Pops::Loader::Shim.new(name))
      @functions[name] = function
      created.describe
    end
  end

  # A type that Bunraku sends as text.
  class TypeRef
    def self._load(text) = Puppet::Pops::Types.from_text(text.force_encoding('UTF-8'))
  end

  class Uri
    def self._load(text)
      require 'uri'
      Bunraku.part('uri')
      URI.parse(text.force_encoding('UTF-8'))
    end
  end

  class ResourceRef
    def self._load(text)
      text.force_encoding('UTF-8')
      type = Puppet::Pops::Types.from_text(text)
      case type
      when Puppet::Pops::Types::PClassType then Puppet::Resource.new('class', type.class_name)
      when Puppet::Pops::Types::PResourceType then Puppet::Resource.new(type.type_name.to_s, type.title.to_s)
      else type
      end
    end
  end

  # An object of a class that Puppet does not know. It is sent as its text and number, and is the
  # same object when it returns.
  class Runtime
    @objects = {}

    class << self
      attr_reader :objects

      def forget = @objects = {}
    end

    def initialize(object)
      @object = object
      Runtime.objects[object.object_id] = object
    end

    def _dump(_depth)
      text = begin
        @object.to_s
      rescue StandardError
        @object.class.name.to_s
      end
      Marshal.dump([@object.class.name.to_s, text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace), @object.object_id])
    end

    def self._load(dumped)
      id, text = dumped.force_encoding('UTF-8').split(':', 2)
      objects.fetch(id.to_i) { text }
    end

    def bunraku_value? = true
  end

  # An instance of an Object type, or a value that Ruby code can only pass on.
  class Obj
    attr_reader :_pcore_type_name, :_pcore_init_hash

    def initialize(type, data, handle)
      @_pcore_type_name = type
      @_pcore_init_hash = data
      @handle = handle
    end

    def self._load(text)
      type, data, handle = Marshal.load(text)
      case type
      when 'Puppet::LookupContext' then Puppet::LookupContext.new(type, data, handle)
      when 'Deferred' then Puppet::Pops::Types::Deferred.new(type, data, handle)
      else
        Bunraku.part('data_types') unless type.empty?
        made = DataTypes.instantiate(type, data, handle) if defined?(DataTypes)
        made || new(type, data, handle)
      end
    end

    def _dump(_depth) = Marshal.dump([@_pcore_type_name, @_pcore_init_hash, @handle || 0])
    def bunraku_value? = true
    def bunraku_handle = @handle

    def _pcore_type = Puppet::Pops::Types.from_text(@_pcore_type_name)

    def respond_to_missing?(name, all = false)
      (@_pcore_init_hash.is_a?(Hash) && @_pcore_init_hash.key?(name.to_s)) || super
    end

    def method_missing(name, *args, &block)
      if args.empty? && @_pcore_init_hash.is_a?(Hash) && @_pcore_init_hash.key?(name.to_s)
        return @_pcore_init_hash[name.to_s]
      end
      return super if @handle.nil? || @handle.zero?

      Bunraku.ask(:method, @handle, name.to_s, args, 0, 0)
    end

    def [](name) = @_pcore_init_hash[name.to_s]
    def ==(other) = other.is_a?(Obj) && other._pcore_type_name == @_pcore_type_name && other._pcore_init_hash == @_pcore_init_hash
    alias eql? ==
    def hash = [@_pcore_type_name, @_pcore_init_hash].hash
    def to_s = Bunraku.ask(:to_text, self).to_s
  end

  # Libraries that Puppet's own process has always loaded. Here each is loaded when its constant is
  # first used.
  { YAML: 'yaml', Psych: 'psych', JSON: 'json', Set: 'set', Date: 'date', DateTime: 'date',
    Digest: 'digest', Base64: 'base64', ERB: 'erb', OpenSSL: 'openssl', IPAddr: 'ipaddr', Socket: 'socket',
    Resolv: 'resolv', Tempfile: 'tempfile', FileUtils: 'fileutils', Pathname: 'pathname', StringIO: 'stringio',
    SecureRandom: 'securerandom', Net: 'net/http', Timeout: 'timeout', OpenStruct: 'ostruct', Zlib: 'zlib',
    Singleton: 'singleton', Forwardable: 'forwardable', Shellwords: 'shellwords', Etc: 'etc', Open3: 'open3',
    StringScanner: 'strscan', Logger: 'logger', Benchmark: 'benchmark', CGI: 'cgi', PP: 'pp' }.each do |name, file|
    Object.autoload(name, file) unless Object.const_defined?(name)
  end

  # Most code that uses RubyGems only compares versions, so these classes load separately. All of
  # RubyGems takes fifty milliseconds.
  unless Object.const_defined?(:Gem)
    module ::Gem
      autoload :Version, 'rubygems/version'
      autoload :Requirement, 'rubygems/requirement'
      %i[VERSION Specification Dependency Platform LoadError].each { |name| autoload name, 'rubygems' }

      class << self
        def method_missing(name, ...)
          return super if Bunraku.gems?

          require 'rubygems'
          public_send(name, ...)
        end

        def respond_to_missing?(name, all = false)
          return super if Bunraku.gems?

          require 'rubygems'
          respond_to?(name, all)
        end

        def const_missing(name)
          return super if Bunraku.gems?

          require 'rubygems'
          const_get(name)
        end
      end
    end
  end
  def self.gems? = !::Gem.autoload?(:Specification)

  # Methods that those libraries add to every object.
  module Serialized
    def to_yaml(...)
      require 'yaml'
      to_yaml(...)
    end

    def to_json(...)
      require 'json'
      to_json(...)
    end
  end
  Object.include(Serialized)

  # Loads a library at the first use of a method that it adds to a class.
  def self.comes_with(library, owner, *names)
    names.each do |name|
      next if owner.method_defined?(name)

      owner.define_method(name) do |*args, **options, &block|
        require library
        public_send(name, *args, **options, &block)
      end
    end
  end
  comes_with('set', Enumerable, :to_set)
  comes_with('shellwords', ::String, :shellescape, :shellsplit)
  comes_with('shellwords', Array, :shelljoin)
  comes_with('pp', Object, :pretty_inspect)
  comes_with('time', Time, :iso8601, :xmlschema, :rfc2822, :rfc822, :httpdate)
  comes_with('time', Time.singleton_class, :parse, :strptime, :iso8601, :xmlschema, :rfc2822, :httpdate)

  # The namespace of modules' extensions, which puppet_x.rb defines.
  ::PuppetX = Module.new unless defined?(::PuppetX)

  # Replaces `require` for Puppet's own libraries: Bunraku already provides their names, or a module
  # does.
  module Require
    OWN = %r{\A(?:puppet|puppet_x|facter|hiera|semantic_puppet|puppet/.*|facter/.*|hiera/.*|semantic_puppet/.*|puppet/resource_api.*)(?:\.rb)?\z}
    PARTS = { 'puppet/resource_api' => 'resource_api', 'puppet/type' => 'types', 'puppet/provider' => 'types',
              'puppet/property' => 'types', 'puppet/parameter' => 'types' }.freeze

    def require(name)
      text = name.respond_to?(:to_path) ? name.to_path : name
      if text.is_a?(String) && OWN.match?(text)
        Bunraku.require_own(text) { |path| Reads.required(path) { super(path) } }
      else
        # Other libraries below net/ define the module Net, whose autoload of net/http would then be
        # skipped. They need net/http themselves.
        Object.const_get(:Net) if Object.autoload?(:Net) && text.is_a?(String) && text.start_with?('net/') && text != 'net/http'
        Reads.required(text) do
          super
        rescue LoadError => e
          raise if !text.is_a?(String) || text.start_with?('/') || (e.path && e.path != text)

          # The library may be a gem, either a default one of Ruby (net/ftp) or an installed one.
          super('rubygems') unless Bunraku.gems?
          raise e unless Gem.try_activate(text)

          super
        end
      end
    end

    # Like Ruby's own, which resolves the name relative to the calling file and calls no other
    # method.
    def require_relative(name)
      from = caller_locations(1, 1).first
      base = from.absolute_path || from.path
      raise LoadError, 'cannot infer basepath' if base.nil? || base.start_with?('(eval') || base == '-e'

      name = name.respond_to?(:to_path) ? name.to_path : name
      path = File.expand_path(name, File.dirname(base))
      Reads.required(path) { super(path) }
    end
    private :require_relative
  end

  # Returns the first file of a name ("puppet/type/x") in the libraries of the environment and its
  # modules.
  def self.find_code(name)
    Reads.note('feature', name)
    Reads.quiet do
      @load_path.each { |dir| return "#{dir}/#{name}.rb" if File.file?("#{dir}/#{name}.rb") }
      nil
    end
  end

  # Reports whether Puppet has a library of that name. Files of modules must exist.
  def self.known?(name)
    return true unless name.start_with?('puppet/', 'facter/')

    part('own_libraries')
    OwnLibraries.include?(name)
  end

  def self.require_own(name, &load)
    relative = name.end_with?('.rb') ? name : "#{name}.rb"
    # A module's facter/util/x, puppet/provider/x, puppet/type/x and so on.
    if (path = find_code(relative.delete_suffix('.rb')))
      part('types') if name.start_with?('puppet/type', 'puppet/provider', 'puppet/property', 'puppet/parameter')
      part('facts') if name.start_with?('facter')
      return load.call(path)
    end
    case name
    when %r{\Apuppet/resource_api} then part('resource_api')
    when %r{\Apuppet/(type|provider|property|parameter)} then part('types')
    when %r{\Afacter} then part('facts')
    when %r{\A(?:puppet/(?:pops|parser|functions)|semantic_puppet)} then language
    when %r{\Ahiera/backend/(?!yaml_backend|json_backend)\w+_backend}
      # Only gems have this file; Bunraku does not.
      part('hiera')
      return load.call(name)
    when %r{\Ahiera} then part('hiera')
    end
    if (m = %r{\Apuppet/type/([a-z0-9_]+)\z}.match(name))
      return false if Puppet::Type.type(m[1])
    end
    known?(relative.delete_suffix('.rb')) ? false : load.call(name)
  end
end

# Ruby runs without its own warnings, because modules are loaded more often here. Warnings of
# modules are logged.
module Bunraku
  module Warn
    private

    def warn(*messages, uplevel: nil, category: nil)
      return if category && !Warning[category]

      lines = messages.flatten.map { |text| text.to_s.end_with?("\n") ? text.to_s : "#{text}\n" }
      return if lines.empty?

      place = uplevel && caller_locations(uplevel + 1, 1)&.first
      lines[0] = "#{place.path}:#{place.lineno}: warning: #{lines[0]}" if place
      $stderr.write(lines.join)
      nil
    end
  end
end

module Kernel
  prepend Bunraku::Require
  prepend Bunraku::Warn
  define_singleton_method(:warn) { |*messages, **options| Object.new.send(:warn, *messages, **options) }
end

class Object
  def _(text) = text
  def n_(one, many, count) = count == 1 ? one : many
  def N_(text) = text
  def s_(text) = text
  private :_, :n_, :N_, :s_

  # Puppet's old helpers for singleton methods.
  def meta_def(name, &block) = singleton_class.send(:define_method, name, &block)
  def meta_undef(name) = singleton_class.send(:remove_method, name)
  def meta_eval(&block) = singleton_class.instance_eval(&block)
  private :meta_def, :meta_undef, :meta_eval

  # A method of ActiveSupport that Puppet contains.
  def instance_variables_hash = instance_variables.to_h { |n| [n, instance_variable_get(n)] }
  private :instance_variables_hash
end
