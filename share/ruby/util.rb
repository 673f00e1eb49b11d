# frozen_string_literal: true
# Puppet::Util and related modules, as far as modules use them during a compile.

module Puppet
  # The run mode: user (apply, resource), agent or server.
  class Util::RunMode
    DEFAULTS = { 'show_diff' => false, 'noop' => false, 'trace' => false, 'debug' => false }.freeze
    attr_reader :name

    def self.[](name)
      name = :server if name.to_sym == :master
      (@modes ||= {})[name.to_sym] ||= new(name.to_sym)
    end

    def initialize(name) = @name = name
    def server? = @name == :server
    alias master? server?
    def agent? = @name == :agent
    def user? = @name == :user
    { conf: :confdir, code: :codedir, var: :vardir, log: :logdir, run: :rundir, public: :publicdir }.each do |kind, setting|
      define_method(:"#{kind}_dir") { Puppet[setting] }
    end
  end

  module Util
    class << self
      def absolute_path?(path, platform = nil)
        return windows_path?(path) if platform == :windows

        path.to_s.start_with?('/')
      end

      def windows_path?(path) = path.to_s.match?(%r{\A(?:(?:[A-Z]:[\\/])|(?:[\\/][\\/][^\\/]+[\\/][^\\/]+)|(?:[\\/][\\/]\?[\\/]))}i)

      # From now on, paths of programs are cached for two seconds.
      def remember_programs = @programs ||= {}

      def which(program)
        return find_program(program) unless @programs

        now = Bunraku::Reads.quiet { Process.clock_gettime(Process::CLOCK_MONOTONIC, :second) } / 2
        key = [program, ENV.fetch('PATH', '')]
        found = @programs[key]
        found = @programs[key] = [now, find_program(program)] unless found && found[0] == now
        found[1]
      end

      def find_program(program)
        return (File.file?(program) && File.executable?(program) ? program : nil) if absolute_path?(program)

        ENV.fetch('PATH', '').split(File::PATH_SEPARATOR).each do |dir|
          path = File.join(dir, program)
          return path if File.file?(path) && File.executable?(path)
        end
        nil
      end

      def execute(*args) = Puppet::Util::Execution.execute(*args)
      def execpipe(*args, &block) = Puppet::Util::Execution.execpipe(*args, &block)
      def symbolizehash(hash) = hash.transform_keys { |k| k.respond_to?(:to_sym) ? k.to_sym : k }
      def symbolize_hash(hash) = symbolizehash(hash)
      def deterministic_rand(seed, max) = deterministic_rand_int(seed, max).to_s
      def deterministic_rand_int(seed, max) = Random.new(seed).rand(max)

      def withumask(mask)
        before = File.umask(mask)
        yield
      ensure
        File.umask(before)
      end

      def withenv(hash, _mode = :posix)
        saved = Bunraku::Reads.quiet { ENV.to_h }
        hash.each { |k, v| ENV[k.to_s] = v }
        yield
      ensure
        ENV.replace(saved)
      end

      def get_env(name, *) = instead(:get_env, 'ENV[]') { ENV.fetch(name, nil) }
      def set_env(name, value = nil, *) = instead(:set_env, 'ENV[]=') { ENV[name] = value }
      def get_environment(*) = instead(:get_environment, 'ENV.to_hash') { ENV.to_hash }
      def clear_environment(*) = instead(:clear_environment, 'ENV.clear') { ENV.clear }

      def merge_environment(hash, *)
        instead(:merge_environment, 'ENV.merge!') { ENV.merge!(hash.transform_keys(&:to_s)) }
      end

      # OpenVox 9 logs that its functions for environment variables are deprecated.
      def instead(name, other)
        if Puppet.openvox9?
          Puppet.deprecation_warning("Puppet::Util.#{name} is deprecated and will be removed in a future version. " \
                                     "Use #{other} directly instead.")
        end
        yield
      end
      private :instead

      # Returns the seconds that the block took.
      def thinmark
        began = Bunraku::Reads.quiet { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
        yield
        Bunraku::Reads.quiet { Process.clock_gettime(Process::CLOCK_MONOTONIC) } - began
      end

      def benchmark(*args, &block)
        message = args.pop
        level = args[0].is_a?(Symbol) ? args[0] : args[1]
        raise Puppet::DevError, 'Failed to provide level to benchmark' unless level

        seconds = thinmark(&block)
        Bunraku.logged(level, message + Kernel.format(' in %0.2f seconds', seconds)) unless level == :none
        seconds
      end

      def path_to_uri(path) = URI::Generic.build(scheme: 'file', path: uri_encode(path))
      def uri_to_path(uri)
        return unless uri.is_a?(URI)

        # In a path, a plus sign is literal.
        uri_unescape(uri.path.encode(Encoding::UTF_8))
      end

      def uri_encode(text, *) = URI::DEFAULT_PARSER.escape(text)
      def uri_query_encode(text, *) = text.b.gsub(/[^A-Za-z0-9\-._~]/) { |c| Kernel.format('%%%02X', c.ord) }.force_encoding(Encoding::UTF_8)
      def uri_unescape(text) = URI::DEFAULT_PARSER.unescape(text)
      def safe_posix_fork(*) = raise(NotImplementedError, 'fork')
      def exit_on_fail(*) = yield
      def default_env = {}
      def replace_file(file, mode)
        require 'tempfile'
        temporary = Tempfile.new(File.basename(file), File.dirname(file))
        yield temporary
        temporary.close
        File.chmod(mode, temporary.path) if mode
        File.rename(temporary.path, file)
      end

      def resolve_stackframe(frame) = frame.sub(/\A(\S+):(?=\d+:in)/) { File.exist?($1) ? "#{File.realpath($1)}:" : "#{$1}:" } # rubocop:disable Style/PerlBackrefs
      def logmethods(*) = nil
      def create_erb(text) = ERB.new(text, trim_mode: '-')
      def pretty_backtrace(trace = caller, *) = Array(trace).join("\n")
      def rich_data_to_data(value) = Bunraku.ask(:to_rich_data, value, true)
      def chuser = nil
      def uid(user) = POSIX.uid(user)
      def gid(group) = POSIX.gid(group)
      def symbolize(value) = value.respond_to?(:intern) ? value.intern : value
    end

    # Modules that include Puppet::Util call these as their own methods.
    %i[absolute_path? which execute execpipe symbolizehash deterministic_rand withumask withenv benchmark thinmark
       replace_file symbolize uri_encode path_to_uri get_env set_env get_environment clear_environment
       merge_environment].each do |name|
      define_method(name) { |*args, &block| Puppet::Util.send(name, *args, &block) }
    end
    AbsolutePathPosix = %r{^/}.freeze
    AbsolutePathWindows = %r{\A(?:(?:[A-Z]:[\\/])|(?:[\\/][\\/]))}i.freeze
    ALNUM_HYPHEN = nil

    module Execution
      NoOptionsSpecified = {}.freeze

      class ProcessOutput < String
        attr_reader :exitstatus

        def initialize(text, status)
          super(text)
          @exitstatus = status
        end
      end

      class << self
        def execute(command, options = {})
          require 'open3'
          raise ArgumentError, "Working directory #{options[:cwd]} does not exist!" if options[:cwd] && !File.directory?(options[:cwd])

          argv = command.is_a?(Array) ? command.flatten.map(&:to_s) : [command.to_s]
          environment = (options[:override_locale] == false ? {} : { 'LANG' => 'C', 'LC_ALL' => 'C' })
          environment.merge!((options[:custom_environment] || {}).to_h { |k, v| [k.to_s, v&.to_s] })
          settings = { stdin_data: options[:stdinfile] ? File.read(options[:stdinfile]) : '' }
          settings[:chdir] = options[:cwd] if options[:cwd]
          begin
            if options[:combine] == false
              out, _err, status = Open3.capture3(environment, *argv, **settings)
            else
              out, status = Open3.capture2e(environment, *argv, **settings)
            end
          rescue SystemCallError => e
            raise Puppet::ExecutionFailure, "Execution of '#{argv.join(' ')}' returned 1: #{e.message}" unless options[:failonfail] == false

            return ProcessOutput.new(e.message, 127)
          end
          code = status.exitstatus || (128 + status.termsig.to_i)
          if options.fetch(:failonfail, true) && code != 0
            raise Puppet::ExecutionFailure, "Execution of '#{argv.join(' ')}' returned #{code}: #{out.strip}"
          end

          ProcessOutput.new(options[:squelch] ? '' : out, code)
        end
        alias util_execute execute

        def execpipe(command, failonfail = true)
          text = command.is_a?(Array) ? command.join(' ') : command
          output = IO.popen("#{text} 2>&1") { |pipe| yield pipe }
          raise Puppet::ExecutionFailure, output.to_s if failonfail && $? && $?.exitstatus != 0 # rubocop:disable Style/SpecialGlobalVars

          output
        end

        def execfail(command, exception)
          execute(command)
        rescue Puppet::ExecutionFailure => e
          raise exception, e.message
        end
      end
    end

    module SUIDManager
      def self.run_and_capture(command, *_ids, **options)
        out = Execution.execute(command, { failonfail: false, combine: true }.merge(options))
        [out, out]
      end

      def self.asuser(*) = yield
      def self.root? = Process.uid.zero?
      %i[uid euid gid egid groups].each { |name| define_singleton_method(name) { Process.send(name) } }
    end

    # Ids and names of users and groups; nil if there is none.
    module POSIX
      class << self
        def gid(group) = known { ::Etc.getgrnam(group.to_s).gid } || (number?(group) ? group.to_i : nil)
        def uid(user) = known { ::Etc.getpwnam(user.to_s).uid } || (number?(user) ? user.to_i : nil)
        def number?(text) = text.to_s.match?(/\A-?\d+\z/)

        def known
          yield
        rescue ArgumentError
          nil
        end

        def groups_of(user)
          found = []
          ::Etc.group { |g| found << g.name if g.mem.include?(user) }
          found.uniq
        end
      end
    end

    module Package
      # Puppet's comparison of version texts: digits compare as numbers, and ~ sorts before
      # everything.
      def self.versioncmp(a, b, ignore_trailing_zeroes = false)
        if ignore_trailing_zeroes
          a = normalize(a)
          b = normalize(b)
        end
        pattern = /[-.]|\d+|[^-.\d]+/
        left = a.scan(pattern)
        right = b.scan(pattern)
        while !left.empty? && !right.empty?
          x = left.shift
          y = right.shift
          next if x == y
          return -1 if x == '-'
          return 1 if y == '-'
          return -1 if x == '.'
          return 1 if y == '.'
          if x.match?(/^\d+$/) && y.match?(/^\d+$/)
            if x.start_with?('0') || y.start_with?('0')
              order = x.upcase <=> y.upcase
              return order unless order.zero?
            else
              order = x.to_i <=> y.to_i
              return order unless order.zero?
            end
          else
            order = x.upcase <=> y.upcase
            return order unless order.zero?
          end
        end
        a <=> b
      end

      def self.normalize(version) = version.sub(/^([^.]+(?:\.[^.]+)*?)(?:\.0)+$/, '\1')

      private

      def versioncmp(*args) = Package.versioncmp(*args)
    end

    module Platform
      def self.windows? = false
      def self.jruby? = false
      def self.default_paths = %w[/usr/sbin /sbin]
      def self.jruby_fips? = false
      def self.default_fips? = false
      def windows? = false
      module_function :windows?
    end

    module Windows; end
    module SELinux
      def selinux_support? = false
      module_function :selinux_support?
    end

    # Converts text of any encoding to UTF-8.
    module CharacterEncoding
      def self.convert_to_utf_8(text)
        return text if text.encoding == Encoding::UTF_8 && text.valid_encoding?
        return text.dup.force_encoding(Encoding::UTF_8) if text.encoding == Encoding::BINARY && text.dup.force_encoding(Encoding::UTF_8).valid_encoding?

        text.encode(Encoding::UTF_8)
      rescue EncodingError => e
        Puppet.debug("#{e.message}: #{text.dump} is not UTF-8 and result of transcoding is undefined")
        text
      end

      def self.override_encoding_to_utf_8(text)
        made = text.dup.force_encoding(Encoding::UTF_8)
        made.valid_encoding? ? made : text
      end
    end

    module Backups
      def perform_backup(*) = true
    end

    module Colors
      def colorize(_color, text) = text
      def console_color(_color, text) = text
    end

    class Feature; end

    class Terminal
      def self.width
        require 'io/console'
        IO.console ? IO.console.winsize[1] : 80
      end
    end
    module InstanceLoader; end

    class Json
      class ParseError < StandardError; end

      def self.load(text, options = {})
        require 'json'
        JSON.parse(text, options)
      rescue JSON::ParserError => e
        raise ParseError, text == '' ? e.class.name : e.message.sub(/\A\d+: /, '')
      end

      def self.load_file(path, options = {}) = load(File.read(path, encoding: 'UTF-8'), options)
      def self.load_file_if_valid(path, options = {})
        load_file(path, options)
      rescue StandardError
        nil
      end

      def self.dump(value, options = {})
        require 'json'
        options[:pretty] ? JSON.pretty_generate(value) : JSON.generate(value)
      end
    end

    module Yaml
      class YamlLoadError < Puppet::Error; end

      class << self
        def safe_load(text, classes = [], file = nil)
          require 'yaml'
          YAML.safe_load(text, permitted_classes: classes, aliases: true, filename: file, fallback: false)
        rescue Psych::Exception => e
          raise YamlLoadError, "(#{file || '<unknown>'}): #{e.message.sub(/\A\(.*?\): /, '')}"
        end

        def safe_load_file(path, classes = []) = safe_load(File.read(path, encoding: 'UTF-8'), classes, path)
        alias load_file safe_load_file
        def safe_load_file_if_valid(path, classes = [])
          safe_load_file(path, classes)
        rescue StandardError
          nil
        end

        def dump(value, path)
          require 'yaml'
          File.write(path, YAML.dump(value))
        end
      end
    end

    # Checksums, as private methods of the including class.
    module Checksums
      LITE = 512
      KNOWN = %i[sha256 sha256lite md5 md5lite sha1 sha1lite sha512 sha384 sha224 mtime ctime none].freeze

      module_function

      def known_checksum_types = KNOWN
      def valid_checksum?(type, value) = send("#{type}?", value)
      def checksum?(text) = text =~ /^\{(\w{3,10})\}\S+/
      def sumdata(text) = text[/^\{\w+\}(.+)/m, 1]
      def sumtype(text) = text[/^\{(\w+)\}/, 1]

      { 'md5' => 32, 'sha1' => 40, 'sha224' => 56, 'sha256' => 64, 'sha384' => 96, 'sha512' => 128 }.each do |kind, length|
        define_method(kind) { |text| Checksums.digest_of(kind).update(text).hexdigest }
        define_method("#{kind}_file") { |path, lite = false| Checksums.of_file(kind, path, lite) }
        define_method("#{kind}?") { |text| text.match?(/\A[0-9a-f]{#{length}}\z/i) }
        names = [kind, "#{kind}_file", "#{kind}?"]
        if %w[md5 sha1 sha256].include?(kind)
          define_method("#{kind}lite") { |text| Checksums.digest_of(kind).update(text[0, LITE]).hexdigest }
          define_method("#{kind}lite_file") { |path| Checksums.of_file(kind, path, true) }
          define_method("#{kind}lite?") { |text| send("#{kind}?", text) }
          names += ["#{kind}lite", "#{kind}lite_file", "#{kind}lite?"]
        end
        module_function(*names)
      end

      def mtime(_text) = ''
      def ctime(_text) = ''
      def none(_text) = ''
      def mtime_file(path) = ::File.stat(path).mtime
      def ctime_file(path) = ::File.stat(path).ctime
      def none_file(_path) = ''

      def self.digest_of(kind)
        require 'digest'
        require 'openssl' if kind == 'sha224'
        kind == 'sha224' ? OpenSSL::Digest.new('SHA224') : Digest.const_get(kind.upcase).new
      end

      def self.of_file(kind, path, lite)
        digest = digest_of(kind)
        ::File.open(path, 'rb') { |file| lite ? digest.update(file.read(LITE).to_s) : digest.update(file.read) }
        digest.hexdigest
      end
    end

    # Creates named classes as constants of the calling class.
    module ClassGen
      def genclass(name, options = {}, &block) = made_constant(::Class.new(options[:parent] || self), name, options, &block)
      def genmodule(name, options = {}, &block) = made_constant(::Module.new, name, options, &block)

      def rmclass(name, options = {})
        constant = options[:constant] || "#{options[:prefix]}#{name.to_s.split('_').map(&:capitalize).join}"
        const_defined?(constant, false) ? remove_const(constant) && true : false
      end

      private

      def made_constant(made, name, options, &block)
        constant = options[:constant] || "#{options[:prefix]}#{name.to_s.split('_').map(&:capitalize).join}"
        remove_const(constant) if const_defined?(constant, false) && options[:overwrite]
        raise Puppet::SubclassAlreadyDefined, "Class #{constant} is already defined in #{self}" if const_defined?(constant, false)

        const_set(constant, made)
        made.instance_variable_set(:@name, name)
        (options[:attributes] || {}).each { |key, value| made.respond_to?("#{key}=") ? made.send("#{key}=", value) : made.instance_variable_set("@#{key}", value) }
        made.class_eval(&block) if block
        made.class_eval(&options[:block]) if options[:block]
        options[:hash][name] = made if options[:hash]
        options[:array] << made if options[:array]
        made
      end
    end

    module Diff
      def diff(*) = ''
      module_function :diff
    end

    module NetworkDevice; end
    module Warnings
      def self.warnonce(*) = nil
    end

    module SymbolicFileMode
      def valid_symbolic_mode?(value)
        text = value.to_s
        text.match?(/^0?[0-7]{1,4}$/) || text.match?(/^([ugoa]*[-=+][-=+rstwxXugo]*)(,[ugoa]*[-=+][-=+rstwxXugo]*)*$/)
      end

      def display_mode(value)
        value.is_a?(String) && value.match?(/^0?[0-7]{1,4}$/) ? value.rjust(4, '0') : value.to_s
      end

      def normalize_symbolic_mode(value)
        return nil if value.nil?

        value = value.to_s
        value.match?(/^0?[0-7]{1,4}$/) ? value.to_i(8).to_s(8) : value
      end

      def symbolic_mode_to_int(text, mode = 0, directory = false)
        raise Puppet::Error, 'An empty mode string is illegal' if text.nil? || text == ''
        return text.to_i(8) if text.match?(/\A[0-7]+\z/)
        raise Puppet::Error, 'Numeric modes must be in octal, not decimal!' if text.match?(/\A\d+\z/)

        executable = mode.anybits?(0o111)
        bits = { 'u' => (mode >> 6) & 7, 'g' => (mode >> 3) & 7, 'o' => mode & 7, 's' => (mode >> 9) & 7 }
        text.split(/\s*,\s*/).each do |clause|
          bits = symbolic_clause(clause, bits, directory || executable)
        rescue Puppet::Error => e
          where = clause == text ? '' : " at #{clause.inspect}"
          raise Puppet::Error, "#{e.message}#{where} in symbolic mode #{text.inspect}"
        end
        (bits['s'] << 9) | (bits['u'] << 6) | (bits['g'] << 3) | bits['o']
      end

      # Returns the mode bits after one clause, such as "u+rwX".
      def symbolic_clause(clause, before, executable)
        whom, steps = clause.match(/\A([ugoa]*)([-+=].*)\z/)&.captures
        raise Puppet::Error, 'Missing action' unless steps

        bits = before.dup
        whom = 'a' if whom.empty?
        whom.gsub('a', 'ugo').chars.uniq.each do |who|
          value = before[who]
          sign = nil
          change = ->(old, bit) { sign == '-' ? old & ~bit : old | bit }
          steps.each_char do |step|
            case step
            when '-', '+', '='
              sign = step
              value = 0 if step == '='
            when 'u', 'g', 'o' then value = change.call(value, before[step])
            when 'r', 'w', 'x' then value = change.call(value, { 'r' => 4, 'w' => 2, 'x' => 1 }[step])
            when 'X'
              raise Puppet::Error, "X only works with the '+' operator" unless sign == '+'

              value = change.call(value, 1) if executable
            when 's', 't'
              bit = step == 't' ? 1 : { 'u' => 4, 'g' => 2, 'o' => 1 }[who]
              bits['s'] = change.call(bits['s'], bit)
            else raise Puppet::Error, 'Unknown operation'
            end
          end
          bits[who] = value
        end
        bits
      end
    end

    class Autoload
      def initialize(*) = nil
      def load(*) = false
      def loaded?(*) = false
      def loadall(*) = nil
      def files_to_load(*) = []
      def self.load_file(path, *)
        found = Bunraku.find_code(path)
        found ? Kernel.load(found) : false
      end
    end

    module Profiler
      def self.profile(*) = yield
    end
    module ConstantInflector
      def self.constant2file(name) = name.to_s.gsub(/::/, '/').gsub(/([a-z])([A-Z])/, '\1_\2').downcase
      def self.file2constant(path) = path.split('/').map { |p| p.split('_').map(&:capitalize).join }.join('::')
    end
  end

  module FileSystem
    class << self
      def exist?(path) = File.exist?(path.to_s)
      def directory?(path) = File.directory?(path.to_s)
      def file?(path) = File.file?(path.to_s)
      def readable?(path) = File.readable?(path.to_s)
      def executable?(path) = File.executable?(path.to_s)
      def symlink?(path) = File.symlink?(path.to_s)
      def readlink(path) = File.readlink(path.to_s)
      def read(path, options = {}) = File.read(path.to_s, **{ encoding: 'UTF-8' }.merge(options.slice(:encoding)))
      def read_preserve_line_endings(path) = File.read(path.to_s, encoding: 'UTF-8', mode: 'rb:UTF-8')
      def binread(path) = File.binread(path.to_s)
      def each_line(path, &block) = File.foreach(path.to_s, encoding: 'UTF-8', &block)
      def pathname(path) = Pathname.new(path)
      def assert_path(path)
        return path if path.is_a?(Pathname)
        raise ArgumentError, "FileSystem implementation expected Pathname, got: '#{path.class}'" unless path.is_a?(String)

        pathname(path)
      end
      def path_string(path) = path.to_s
      def basename_string(path) = File.basename(path.to_s)
      def basename(path) = File.basename(path.to_s)
      def dir(path) = File.dirname(path.to_s)
      alias dir_string dir
      def expand_path(path, base = nil) = File.expand_path(path.to_s, base)
      def stat(path) = File.stat(path.to_s)
      def lstat(path) = File.lstat(path.to_s)
      def size(path) = File.size(path.to_s)
      def children(path) = Dir.children(path.to_s).map { |n| File.join(path.to_s, n) }
      def open(path, mode = nil, options = 'r', &block) = File.open(path.to_s, options, mode, &block)
      def mkpath(path)
        require 'fileutils'
        FileUtils.mkdir_p(path.to_s)
      end
      def dir_mkpath(path) = mkpath(File.dirname(path.to_s)) && nil
      def unlink(*paths) = File.unlink(*paths.map(&:to_s))
      def touch(path, *)
        require 'fileutils'
        FileUtils.touch(path.to_s)
      end
      def chmod(mode, path) = FileUtils.chmod(mode, path.to_s)
      def dir_exist?(path) = File.exist?(File.dirname(path.to_s))
      def symlink(path, link, options = {})
        FileUtils.ln_s(path.to_s, link.to_s, **options) && 0
      end

      def exclusive_create(path, mode, &block)
        flags = File::CREAT | File::EXCL | File::WRONLY
        mode ? File.open(path.to_s, flags, mode, &block) : File.open(path.to_s, flags, &block)
      end

      def compare_stream(path, stream) = File.binread(path.to_s) == stream.read
      def replace_file(path, mode = nil, &block) = Puppet::Util.replace_file(path.to_s, mode, &block)
      def exclusive_open(path, mode, options = 'r', &block) = File.open(path.to_s, options, mode, &block)
    end
  end

  class Application; end
  class Face; end
  module Indirector; end
  module SSL
    class Certificate; end
    def self.method_missing(*) = nil
  end

  module Network
    module HTTP
      class Connection; end
    end
    module HttpPool
      # Opens a Net::HTTP connection with this machine's certificates.
      def self.connection(host, port, use_ssl: true, ssl_context: nil)
        url = URI("http#{'s' if use_ssl}://#{host}:#{port}")
        Puppet::HTTP::Client.new(ssl_context: ssl_context).send(:connection, url, {})
      end

      def self.http_instance(host, port, use_ssl = true, _verify_peer = true) = connection(host, port, use_ssl: use_ssl)
      def self.method_missing(*) = raise(Puppet::Error, 'the network is not available to Ruby code here')
    end
  end

  class Configurer; end
  module FileBucket
    class Dipper; end
  end

  class ConstantAlreadyDefined < Puppet::Error; end
  class SubclassAlreadyDefined < Puppet::Error; end

  class Context
    class UndefinedBindingError < Puppet::Error; end
    class StackedBindingError < Puppet::Error; end
  end

  module GettextConfig
    def self.gettext_loaded? = true
    def self.method_missing(*) = nil
  end
  module ModuleTool; end
  class Confine; end
end

# Loads larger parts of share/ruby at the first use of their names.
module Bunraku
  def self.lazy(owner, parts)
    owner.singleton_class.prepend(Module.new do
      define_method(:const_missing) do |name|
        part = parts[name] or return super(name)

        Bunraku.part(part)
        const_defined?(name, false) ? const_get(name, false) : super(name)
      end
    end)
  end

  lazy(Puppet, Type: 'types', Provider: 'types', Property: 'types', Parameter: 'types', CompilableResourceType: 'types',
               ResourceApi: 'resource_api', DataTypes: 'data_types', Pops: 'values', LookupContext: 'values', Functions: 'functions',
               Parser: 'functions', FileServing: 'file_serving', HTTP: 'http', Transaction: 'reports', Reports: 'reports', Log: 'log', Test: 'log')
  lazy(Puppet::Util, Log: 'log', TagSet: 'log', Tagging: 'log', PsychSupport: 'log', Metric: 'reports', Lockfile: 'lockfile',
                     Pidlock: 'lockfile', FileType: 'parsed_file', FileParsing: 'parsed_file', IniConfig: 'ini_config',
                     RpmCompare: 'rpm_compare')
  lazy(Puppet::Resource, Status: 'reports')
  lazy(Puppet::FileSystem, Uniquefile: 'lockfile')
end

module Bunraku
  # Top-level names that load a part of share/ruby.
  module ConstMissing
    PARTS = { Facter: 'facts', Hiera: 'hiera', SemanticPuppet: 'values' }.freeze

    def const_missing(name)
      part = PARTS[name]
      return super unless part

      Bunraku.part(part)
      Object.const_get(name)
    end
  end
end

class Module
  prepend Bunraku::ConstMissing
end

# URI() loads its library, which redefines this method.
module Kernel
  def URI(text) # rubocop:disable Naming/MethodName
    Kernel.require 'uri'
    Kernel.URI(text)
  end
  private :URI
end

# Libraries of Ruby that Puppet has always loaded before it runs module code.
{ Digest: 'digest', JSON: 'json', YAML: 'yaml', Psych: 'psych', Set: 'set', IPAddr: 'ipaddr', URI: 'uri',
  OpenSSL: 'openssl', Date: 'date', DateTime: 'date', FileUtils: 'fileutils', Tempfile: 'tempfile',
  StringIO: 'stringio', Shellwords: 'shellwords', SecureRandom: 'securerandom', Base64: 'base64', Open3: 'open3',
  Etc: 'etc', Socket: 'socket', Timeout: 'timeout', ERB: 'erb', Pathname: 'pathname', Forwardable: 'forwardable',
  Singleton: 'singleton', Benchmark: 'benchmark', CGI: 'cgi', Zlib: 'zlib', Resolv: 'resolv', Find: 'find',
  Logger: 'logger', BigDecimal: 'bigdecimal', StringScanner: 'strscan', OpenStruct: 'ostruct', PP: 'pp',
  Ripper: 'ripper', Net: 'net/http', Rational: nil, UNIXSocket: 'socket', TCPSocket: 'socket' }.each do |name, library|
  Object.autoload(name, library) if library && !Object.const_defined?(name)
end
