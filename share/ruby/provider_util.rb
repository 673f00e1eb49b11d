# frozen_string_literal: true
# Extends Puppet::Util for provider_host: programs run by providers, users, messages with a source.

module Puppet
  module Util
    # Types and providers call these as their own methods.
    singleton_methods(false).each do |name|
      # Providers have properties `uid` and `gid`.
      next if %i[const_missing uid gid].include?(name) || method_defined?(name) || private_method_defined?(name)

      define_method(name) { |*args, **options, &block| Util.send(name, *args, **options, &block) }
    end
  end

  # Runs programs for providers: in the locale C, without the user's own variables.
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
        raise ArgumentError, "Working directory #{options[:cwd]} does not exist!" if options[:cwd] && !::File.directory?(options[:cwd])

        output, status = run(argv, options)
        code = status.exitstatus || (128 + status.termsig.to_i)
        raise Puppet::ExecutionFailure, "Execution of '#{shown}' returned #{code}: #{output.strip}" if options[:failonfail] && code != 0

        ProcessOutput.new(output, code)
      end
      alias util_execute execute

      # The output goes to a file, because a background process of the command may keep it open.
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

        # Permanent; used in a child before it executes another program.
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
        Bunraku.logged(level, block ? block.call : args.join(' '), self)
      end
    end
    def send_log(level, message) = Bunraku.logged(level, message, self)
  end

  class << self
    def log_exception(exception, message = :default, options = {})
      Bunraku.logged(options[:level] || :err, message == :default ? exception.message : message)
    end
  end
end
