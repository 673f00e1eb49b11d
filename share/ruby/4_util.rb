# frozen_string_literal: true
# Puppet::Util and its kin, as far as code in modules calls them while a catalog is compiled.

module Puppet
  class Util::RunMode
    DEFAULTS = { 'show_diff' => false, 'noop' => false, 'trace' => false, 'debug' => false }.freeze
    def server? = true
    alias master? server?
    def agent? = false
    def user? = false
    def name = :server
    def conf_dir = Puppet[:confdir]
    def var_dir = Puppet[:vardir]
  end

  module Util
    class << self
      def absolute_path?(path, platform = nil)
        return windows_path?(path) if platform == :windows

        path.to_s.start_with?('/')
      end

      def windows_path?(path) = path.to_s.match?(%r{\A(?:(?:[A-Z]:[\\/])|(?:[\\/][\\/][^\\/]+[\\/][^\\/]+)|(?:[\\/][\\/]\?[\\/]))}i)

      # From now on programs are looked for anew every other second only.
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

      def get_env(name, *) = ENV.fetch(name, nil)
      def set_env(name, value = nil, *) = ENV[name] = value
      def get_environment(*) = ENV.to_h
      def benchmark(*_args) = yield
      def thinmark = yield
      def path_to_uri(path) = URI::Generic.build(scheme: 'file', path: path)
      def uri_to_path(uri) = uri.path
      def uri_encode(text, *) = URI::DEFAULT_PARSER.escape(text)
      def uri_query_encode(text, *) = URI.encode_www_form_component(text)
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

      def resolve_stackframe(frame) = [frame[/\A(.*?):\d/, 1], frame[/:(\d+)/, 1].to_i]
      def logmethods(*) = nil
      def create_erb(text) = ERB.new(text, trim_mode: '-')
      def clear_environment(*) = nil
      def merge_environment(hash, *) = hash.each { |k, v| ENV[k.to_s] = v }
      def pretty_backtrace(trace = caller, *) = Array(trace).join("\n")
      def rich_data_to_data(value) = Bunraku.ask(:to_rich_data, value, true)
      def chuser = nil
      def symbolize(value) = value.respond_to?(:intern) ? value.intern : value
    end

    # Modules that include Puppet::Util call these as their own.
    %i[absolute_path? which execute execpipe symbolizehash deterministic_rand withumask withenv benchmark thinmark
       replace_file symbolize uri_encode path_to_uri].each do |name|
      define_method(name) { |*args, &block| Puppet::Util.send(name, *args, &block) }
    end
    AbsolutePathPosix = %r{^/}.freeze
    AbsolutePathWindows = %r{\A(?:(?:[A-Z]:[\\/])|(?:[\\/][\\/]))}i.freeze
    ALNUM_HYPHEN = nil

    module Execution
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

          ProcessOutput.new(out, code)
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
    end

    module Package
      # Puppet's comparison of version texts: digits as numbers, ~ before everything.
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

      def versioncmp(*args) = Package.versioncmp(*args)
    end

    module Platform
      def self.windows? = false
      def self.jruby? = false
      def self.default_paths = []
      def windows? = false
      module_function :windows?
    end

    module Windows; end
    module SELinux
      def selinux_support? = false
    end

    class Json
      class ParseError < StandardError; end

      def self.load(text, options = {})
        require 'json'
        JSON.parse(text, options)
      rescue JSON::ParserError => e
        raise ParseError, e.message
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
          YAML.safe_load(text, permitted_classes: classes, aliases: true, filename: file)
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

    module Checksums
      %w[md5 sha1 sha256 sha384 sha512].each do |kind|
        define_method(kind) do |text|
          require 'digest'
          Digest.const_get(kind.upcase).hexdigest(text)
        end
        define_method("#{kind}_file") do |path|
          require 'digest'
          Digest.const_get(kind.upcase).file(path).hexdigest
        end
        module_function kind
        module_function "#{kind}_file"
      end
    end

    module Tagging
      def tag(*) = nil
      def tags = []
    end

    module ClassGen
      def genclass(name, options = {}, &block) = Class.new(options[:parent] || self, &block)
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
      alias display_mode to_s

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

      # The bits after one clause, such as "u+rwX".
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
      def loadall(*) = nil
      def self.load_file(path, *)
        found = Bunraku.find_code(path)
        found ? Kernel.load(found) : false
      end
    end

      class FileType; end
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
      def dir_mkpath(path) = mkpath(File.dirname(path.to_s))
      def unlink(*paths) = File.unlink(*paths.map(&:to_s))
      def touch(path, *)
        require 'fileutils'
        FileUtils.touch(path.to_s)
      end
      def chmod(mode, path) = File.chmod(mode, path.to_s)
      def compare_stream(path, stream) = File.binread(path.to_s) == stream.read
      def replace_file(path, mode = nil, &block) = Puppet::Util.replace_file(path.to_s, mode, &block)
      def exclusive_open(path, mode, options = 'r', &block) = File.open(path.to_s, options, mode, &block)
    end
  end

  module Application; end
  module Face; end
  module Indirector; end
  module FileServing
    Indirected = Struct.new(:name) do
      def find(reference, *)
        path = Bunraku.ask(:find_file, reference.to_s.sub(%r{\Apuppet:///modules/}, ''), 'files')
        return fetched(reference.to_s) unless path && File.exist?(path)

        found(File.binread(path), path)
      end

      # On the machine that a catalog is applied to: from wherever its files come.
      def fetched(reference)
        require 'tmpdir'
        Dir.mktmpdir do |folder|
          path = File.join(folder, 'content')
          found(File.binread(path), path) if Bunraku.ask(:machine_fetch, reference, path)
        end
      end

      def found(content, path)
        Struct.new(:content, :path, :checksum) do
          def collect(*) = self
        end.new(content, path, nil)
      end
    end
    class Metadata
      def self.indirection = Indirected.new('file_metadata')
    end

    class Content
      def self.indirection = Indirected.new('file_content')
    end
  end

  module SSL
    class Certificate; end
    def self.method_missing(*) = nil
  end

  module Network
    module HTTP
      class Connection; end
    end
    module HttpPool
      def self.method_missing(*) = raise(Puppet::Error, 'the network is not available to Ruby code here')
    end
  end

  module HTTP; end
  module Transaction; end
  module Configurer; end
  module Context; end
  module GettextConfig
    def self.method_missing(*) = nil
  end
  module ModuleTool; end
  class Confine; end
end

# Larger parts of share/ruby are read when their names are first used.
module Puppet
  LAZY_PARTS = { Type: 'types', Provider: 'types', Property: 'types', Parameter: 'types', CompilableResourceType: 'types',
                 ResourceApi: 'resource_api', DataTypes: 'data_types', Pops: 'values', LookupContext: 'values',
                 Functions: 'functions', Parser: 'functions' }.freeze

  def self.const_missing(name)
    part = LAZY_PARTS[name]
    return super unless part

    Bunraku.part(part)
    const_get(name)
  end
end

module Bunraku
  # Parts of share/ruby behind names at the top.
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

# URI() comes with its library, which redefines this.
module Kernel
  def URI(text) # rubocop:disable Naming/MethodName
    Kernel.require 'uri'
    Kernel.URI(text)
  end
  private :URI
end

# Of Ruby's own library what Puppet has loaded whenever code of modules runs.
{ Digest: 'digest', JSON: 'json', YAML: 'yaml', Psych: 'psych', Set: 'set', IPAddr: 'ipaddr', URI: 'uri',
  OpenSSL: 'openssl', Date: 'date', DateTime: 'date', FileUtils: 'fileutils', Tempfile: 'tempfile',
  StringIO: 'stringio', Shellwords: 'shellwords', SecureRandom: 'securerandom', Base64: 'base64', Open3: 'open3',
  Etc: 'etc', Socket: 'socket', Timeout: 'timeout', ERB: 'erb', Pathname: 'pathname', Forwardable: 'forwardable',
  Singleton: 'singleton', Benchmark: 'benchmark', CGI: 'cgi', Zlib: 'zlib', Resolv: 'resolv', Find: 'find',
  Logger: 'logger', BigDecimal: 'bigdecimal', StringScanner: 'strscan', OpenStruct: 'ostruct', PP: 'pp',
  Ripper: 'ripper', Net: 'net/http', Rational: nil, UNIXSocket: 'socket', TCPSocket: 'socket' }.each do |name, library|
  Object.autoload(name, library) if library && !Object.const_defined?(name)
end
