# frozen_string_literal: true
# Runs programs for custom facts. Also contains other internals of Facter that facts are known to
# use.

require 'timeout'

module Facter
  VERSION = '4.11.0'
  FACTERVERSION = VERSION

  class Error < StandardError; end
  class ResolveCustomFactError < StandardError; end

  module Core
    module Execution
      class ExecutionFailure < StandardError; end

      SOURCE = 'Facter::Core::Execution::Posix'
      VALID_OPTIONS = %i[on_fail expand logger timeout].freeze
      OLD_TIMEOUTS = %i[limit time_limit].freeze
      USUAL_TIMEOUT = 300

      class << self
        def impl = self
        def search_paths = ENV.fetch('PATH', '').split(':') + %w[/sbin /usr/sbin]
        def absolute_path?(path, *) = path.start_with?('/')

        def which(program)
          places = absolute_path?(program) ? [program] : search_paths.map { |dir| File.join(dir, program) }
          places.find { |path| File.executable?(path) && File.file?(path) }
        end

        def expand_command(command)
          quoted = command.match(/\A"(.+?)"(?:\s+(.*))?/) || command.match(/\A'(.+?)'(?:\s+(.*))?/)
          program, rest = quoted ? quoted.captures : command.split(/ /, 2)
          path = program && which(program) or return nil
          path = "'#{path}'" if path.match?(/\s/)
          rest ? "#{path} #{rest}" : path
        end

        def with_env(values)
          old = values.to_h { |name, _| [name, ENV.fetch(name.to_s, nil)] }
          values.each { |name, value| ENV[name.to_s] = value }
          yield
        ensure
          old&.each { |name, value| ENV[name.to_s] = value }
        end

        def exec(command)
          Facter.deprecated('Facter::Core::Execution.exec is deprecated and will be removed in a future major version. ' \
                            'Use Facter::Core::Execution.execute instead.')
          execute(command, on_fail: nil)
        end

        def execute(command, options = {})
          on_fail = options.fetch(:on_fail, :raise)
          logger = options[:logger]
          timeout = (options[:timeout] || options[:time_limit] || options[:limit]).to_i
          old = Facter.openfact6? ? options.keys & OLD_TIMEOUTS : []
          old.each { |key| Facter.deprecated("#{key} is deprecated and will be removed in a future version, use timeout instead") }
          extra = options.keys - VALID_OPTIONS - old
          unless extra.empty?
            Facter.say(:warning, "Unexpected key passed to Facter::Core::Execution.execute option: #{extra.join(',')} " \
                                 "- valid keys: #{VALID_OPTIONS.join(',')}", SOURCE)
          end
          plain = logger || (!options.fetch(:expand, true) && builtin?(command))
          expanded = plain ? command : expand_command(command)
          if expanded.nil?
            raise ExecutionFailure, "Could not execute '#{command}': command not found" if on_fail == :raise

            return on_fail
          end
          out, = execute_command(expanded, on_fail, logger, timeout.positive? ? timeout : nil)
          out
        end

        # Returns output and errors of a command; `on_fail` if it cannot be run.
        def execute_command(command, on_fail = nil, logger = nil, timeout = nil)
          debug("Executing command: #{command}")
          out, errors = capture(command.to_s, timeout || USUAL_TIMEOUT, on_fail)
          tell_errors(errors, command, logger)
          out.force_encoding(Encoding.default_external) unless out.valid_encoding?
          [out.strip, errors]
        rescue StandardError => e
          text = "Failed while executing '#{command}': #{e.message}"
          if logger
            debug(text)
            return +''
          end
          raise ExecutionFailure, text if on_fail == :raise

          on_fail
        end

        private

        def debug(text) = Facter.debugging? && Facter.say(:debug, text, SOURCE)

        # Sets $? to the status of the program, which facts read.
        def capture(command, timeout, on_fail)
          out_r, out_w = IO.pipe
          err_r, err_w = IO.pipe
          pid = Process.spawn({ 'LC_ALL' => 'C', 'LANG' => 'C' }, command, in: '/dev/null', out: out_w, err: err_w)
          [out_w, err_w].each(&:close)
          texts = { out_r => +'', err_r => +'' }
          unless read_all(texts, timeout)
            message = "Timeout encounter after #{timeout}s, killing process with pid: #{pid}"
            raise message if on_fail == :raise

            debug(message)
          end
          texts.values.each { |text| text.force_encoding('UTF-8') }
        ensure
          [out_r, out_w, err_r, err_w].each { |io| io&.close unless io&.closed? }
          finish(pid) if pid
        end

        # Returns true at the end of all outputs, and false after the timeout.
        def read_all(texts, timeout)
          deadline = Facts.now + timeout
          open = texts.keys
          until open.empty?
            ready, = IO.select(open, nil, nil, [deadline - Facts.now, 0].max)
            return false unless ready

            ready.each do |io|
              texts[io] << io.readpartial(65_536)
            rescue EOFError
              open.delete(io)
            end
          end
          true
        end

        # Waits for a program that has closed its output. Kills a program that hangs or has exceeded
        # its time limit, with all processes that it started.
        def finish(pid)
          20.times do |i|
            return if Process.wait(pid, Process::WNOHANG)

            sleep(0.0005 * (i + 1)) unless $! # rubocop:disable Style/SpecialGlobalVars
          end
          family(pid).each do |id|
            Process.kill(:KILL, id)
          rescue SystemCallError
            next
          end
          Process.wait(pid)
        end

        def family(pid)
          list = "/proc/#{pid}/task/#{pid}/children"
          children = File.exist?(list) ? File.read(list).split.map(&:to_i) : []
          [pid] + children.flat_map { |child| family(child) }
        rescue SystemCallError
          [pid]
        end

        def builtin?(command)
          IO.popen(['/bin/sh', '-c', "type #{command}"], err: '/dev/null', &:read).include?('builtin')
        end

        def tell_errors(text, command, logger)
          return if text.nil? || text.empty? || !Facter.debugging?

          message = "Command #{command} completed with the following stderr message: #{text.strip}"
          logger ? logger.debug(message) : Facter.say(:debug, message, command.split('/').last)
        end
      end
    end
  end

  # A named logger of one part of the code.
  class Log
    def initialize(sender)
      @name = case sender
              when String then sender
              when Module then sender.name
              else sender.class.name
              end
    end

    def debug(text)
      Facter.say(:debug, text.to_s, @name) if Facter.debugging?
    end

    def debugonce(text) = debug(text)
    def info(text) = Facter.say(:info, text.to_s, @name)
    def warn(text) = Facter.say(:warning, text.to_s, @name)
    def warnonce(text) = warn(text)
    def error(text, *) = Facter.say(:err, text.to_s, @name)
    def log_exception(exception) = Facter.log_exception(exception)
  end

  module Util
    module FileRead
      def self.read(path) = File.exist?(path) ? File.read(path) : nil
    end

    class FileHelper
      class << self
        def safe_read(path, default = '') = File.readable?(path) ? File.read(path, encoding: 'UTF-8') : default

        def safe_readlines(path, default = [], separator = $/, chomp: false) # rubocop:disable Style/SpecialGlobalVars
          return default unless File.readable?(path)

          File.readlines(path, separator, chomp: chomp, encoding: 'UTF-8')
        end

        def dir_children(path) = Dir.children(path)
      end
    end

    module IP
      def self.method_missing(*) = nil
      def self.respond_to_missing?(*) = true
    end

    module PuppetSettings
      def self.with_puppet = yield
    end

    module Config
      def self.windows? = false
      def self.is_windows? = false
      def self.is_mac? = false
      def self.mac? = false
    end

    module Root
      def self.root? = Process.uid.zero?
    end
  end
end
