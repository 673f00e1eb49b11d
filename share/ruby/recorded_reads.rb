# frozen_string_literal: true
# Records the reads of module code for the trace of a compile (src/language/ruby/host.h lists the
# kinds). The Ruby methods that read files, the environment, the clock and so on are wrapped to
# report before they run. They remain methods of their classes. A file is loaded once, but the reads
# during its loading are reported again to each compile that uses it.

module Bunraku
  module Reads
    # Clocks that return the time of day.
    CLOCKS = (Process.constants.grep(/\ACLOCK_(?:REALTIME|TAI)/).map { |n| Process.const_get(n) } +
              %i[GETTIMEOFDAY_BASED_CLOCK_REALTIME TIME_BASED_CLOCK_REALTIME]).freeze
    # The load path of this Ruby at its start. Its files change only if Ruby itself is upgraded,
    # except for the folders of RUBYLIB, which belong to the user.
    USERS_OWN = ENV.fetch('RUBYLIB', '').split(':').reject(&:empty?).map { |d| File.absolute_path(d) }.freeze
    OWN = ($LOAD_PATH - USERS_OWN).freeze
    BUILT_IN = $LOADED_FEATURES.reject { |f| f.start_with?('/') }.map { |f| f[/\A[^.]+/] }.freeze

    @seen = {}
    # The same by kind, to avoid the creation of a key.
    @reported = Hash.new { |reported, kind| reported[kind] = {} }
    @used = {}
    @pending = []
    @kept = {}
    @libraries = []
    @seeds = {}
    @opened = {}
    @codes = {}

    class << self
      # ---- recording ----

      # Runs a block for one piece of code (a function, a backend, a template) whose results may be
      # cached. All of its reads in a compile are reported for it; reads of facts are reported for
      # each call.
      def of(code)
        before = [@seen, @reported, @used, @opened]
        @seen, @reported, @used = (@codes[code] ||= [{}, Hash.new { |reported, kind| reported[kind] = {} }, {}])
        @reported['fact'].clear
        @reported['trusted'].clear
        @opened = {}
        yield
      ensure
        @seen, @reported, @used, @opened = before
      end

      # Reports a read once per compile, and adds it to the file that is being loaded.
      def note(kind, name)
        return if name.nil?

        thread = Thread.current
        return if thread.thread_variable_get(:bunraku_quiet)

        frame = thread.thread_variable_get(:bunraku_loading)
        return if frame.nil? && @reported[kind].key?(name)

        key = [kind, as_text(name)].freeze
        @reported[kind][key[1]] = true
        frame[key] = true if frame
        tell(key)
      end

      # Fact hashes that were returned and not read yet.
      attr_reader :opened

      # Returns the reads since the last message as [kind, name, kind, name ..]; nil if there are
      # none. `all` is true at the end of a call.
      def take(all)
        note_opened if all && !@opened.empty?
        return if @pending.empty?

        notes = @pending
        @pending = []
        notes.flatten(1)
      end

      # Begins another compile.
      def reset
        @seen = {}
        @reported.clear
        @used = {}
        @pending = []
        @opened = {}
        @codes = {}
        return if @seeds.empty?

        quiet { Kernel.srand }
        @seeds = {}
      end

      # Runs the block without recording, for reads of the host and of Ruby's library.
      def quiet
        thread = Thread.current
        before = thread.thread_variable_get(:bunraku_quiet)
        thread.thread_variable_set(:bunraku_quiet, true)
        yield
      ensure
        thread.thread_variable_set(:bunraku_quiet, before)
      end

      # Wraps a module's block that runs within `quiet`, so that its reads are recorded.
      def with_recording(block)
        proc do |*args|
          thread = Thread.current
          before = thread.thread_variable_get(:bunraku_quiet)
          thread.thread_variable_set(:bunraku_quiet, nil)
          begin
            block.call(*args)
          ensure
            thread.thread_variable_set(:bunraku_quiet, before)
          end
        end
      end

      def loading? = !Thread.current.thread_variable_get(:bunraku_loading).nil?
      def quiet? = Thread.current.thread_variable_get(:bunraku_quiet)

      # Returns an absolute path, otherwise as written; nil if it is not a path.
      def path(name)
        name = name.to_path if name.respond_to?(:to_path)
        name = name.to_str if !name.is_a?(::String) && name.respond_to?(:to_str)
        return unless name.is_a?(::String)

        name.start_with?('/') && !name.include?('/.') && !name.include?('//') ? name : File.absolute_path(name)
      rescue ArgumentError, EncodingError
        nil
      end

      def file(name, mode = 'r')
        reads = case mode
                when ::Integer then mode & 3 != File::WRONLY
                when ::String then mode.start_with?('r') || mode.include?('+')
                else true
                end
        note('file', path(name)) if reads
      end

      # Records a read of the file's time and size.
      def stat(name) = note('stat', path(name))

      # Kernel#open and the readers of IO run a name that begins with a pipe as a program.
      def file_or_command(name, mode = 'r')
        if name.is_a?(::String) && name.start_with?('|')
          note('command', name.delete_prefix('|').strip)
        else
          file(name, mode)
        end
      end

      # Arguments: [environment,] program [, arguments ..] [, options]. The program may also be
      # [program, its name].
      def command(args)
        note('command', args.reject { |w| w.is_a?(Hash) }.map { |w| w.is_a?(Array) ? w.first : w }.join(' '))
      end

      # IO.popen takes the program and its arguments as one value, followed by a mode.
      def pipe(args)
        program = args.find { |w| !w.is_a?(Hash) }
        command(program.is_a?(Array) ? program : [program])
      end

      def glob(patterns, base = nil, flags = 0)
        base = base.nil? || base == '' ? nil : path(base)
        Array(patterns).each do |pattern|
          pattern = pattern.to_path if pattern.respond_to?(:to_path)
          next unless pattern.is_a?(::String)

          note('glob', pattern.start_with?('/') ? pattern : File.join(base || quiet { Dir.pwd }, pattern))
        end
        return if flags.nil? || (flags & (File::FNM_DOTMATCH | File::FNM_CASEFOLD)).zero?

        note('opaque', 'Dir.glob with File::FNM_DOTMATCH or File::FNM_CASEFOLD')
      end

      def variables(names) = names.each { |name| note('variable', name) }

      def clock(which) = CLOCKS.include?(which) ? note('clock', 'Time') : nil

      # After `srand` with a seed, random numbers are deterministic, unless the seed itself was
      # random.
      def seeded(seed, before)
        @seeds[before] = true unless @seeded
        @seeded = !@seeds.key?(seed)
      end

      def unseeded = @seeded = false
      def chance = @seeded ? nil : note('random', 'Kernel#rand')

      # ---- files of Ruby code ----

      # Records the use of a file, with all reads of its loading.
      def asked(kind, path)
        thread = Thread.current
        return if thread.thread_variable_get(:bunraku_quiet)

        key = [kind, as_text(path)].freeze
        frame = thread.thread_variable_get(:bunraku_loading)
        frame[key] = true if frame
        closure([key]).each_key { |k| tell(k) } unless @seen.key?(key)
      end

      # Records the use of a function or type of that file.
      def used(path)
        return if path.nil? || @used[path]

        @used[path] = true
        asked('code', path)
      end

      # Returns the reads of a search for a function that finds a 3.x function.
      def places_of_function(name)
        places = [['feature', "puppet/functions/#{name}"], ['feature', "puppet/parser/functions/#{name}"]]
        folder = Bunraku.environment_directory
        places << ['exists', "#{folder}/functions/#{name}.pp"] unless folder.to_s.empty?
        places.freeze
      end

      # Records the search for a function that an earlier compile has loaded.
      def named(places)
        places.each { |kind, name| note(kind, name) }
      end

      # Runs a block that loads a file and returns its result. The block returns false if the file
      # was loaded before.
      def loading(path, kind = 'code')
        asked(kind, path)
        frame = {}
        result = within(frame) { yield }
        @kept[as_text(path)] = frame if result
        result
      end

      # Returns the result of the block, and all of its reads.
      def collect
        frame = {}
        result = within(frame) { yield }
        [result, closure(frame.keys).keys.flatten(1)]
      end

      # Records a file that Ruby searches in its load path.
      def required(name)
        return yield if !name.is_a?(::String) || quiet?

        found, path = place(name)
        if found ? own?(path) : BUILT_IN.include?(name)
          note('opaque', 'Fiddle') if name.start_with?('fiddle')
          note('library', name)
          return library { yield }
        end
        note('feature', name.delete_suffix('.rb').delete_suffix('.so')) unless name.start_with?('/', './', '../', '~')
        if found.nil?
          note('exists', name.end_with?('.rb') ? name : "#{name}.rb") if name.start_with?('/')
          return library { yield }
        end

        note('opaque', "C extension #{path}") if found == :so
        note('library', path) if kind_of(path) == 'file'
        loading(path, kind_of(path)) { yield }
      end

      # Kernel#load: a name is searched in the load path, then in the working directory.
      def loaded(name)
        text = name.respond_to?(:to_path) ? name.to_path : name
        return yield if !text.is_a?(::String) || quiet?

        path = text
        unless text.start_with?('/', '~')
          path = quiet { $LOAD_PATH.map { |d| File.join(d, text) }.find { |f| File.file?(f) } } || File.absolute_path(text)
          note('feature', text.delete_suffix('.rb')) unless text.start_with?('./', '../')
        end
        own?(path) ? library { yield } : loading(path, kind_of(path)) { yield }
      end

      # Records a file that may be loaded at any time from now on (autoload).
      def promised(name)
        found, path = place(name) if name.is_a?(::String) && !quiet?
        return if path.nil? || found.nil? || own?(path)

        note('feature', name.delete_suffix('.rb')) unless name.start_with?('/')
        asked(kind_of(path), path)
      end

      # ---- the wrappers ----

      # Wraps methods of `owner`: calls `tell` with the receiver, the arguments and the options
      # first.
      def before(owner, *names, &tell)
        names.each do |name|
          wrap(owner, name) do |original, receiver, args, options, block|
            tell.call(receiver, args, options) unless Reads.quiet?
            original.bind_call(receiver, *args, **options, &block)
          end
        end
      end

      # Wraps methods of Ruby's library whose own reads are not recorded; `tell` records one read
      # for all of them.
      def instead(owner, *names, &tell)
        names.each do |name|
          wrap(owner, name) do |original, receiver, args, options, block|
            tell.call(receiver, args, options) unless Reads.quiet?
            block &&= Reads.with_recording(block) unless Reads.quiet?
            Reads.quiet { original.bind_call(receiver, *args, **options, &block) }
          end
        end
      end

      def wrap(owner, name, &run)
        return unless owner.method_defined?(name) || owner.private_method_defined?(name)

        original = owner.instance_method(name)
        hidden = owner.private_method_defined?(name)
        owner.send(:define_method, name) do |*args, **options, &block|
          run.call(original, self, args, options, block)
        end
        owner.send(:private, name) if hidden
      end

      # Wraps libraries after they are loaded.
      def library(&load)
        result = quiet(&load)
        libraries_loaded
        result
      end

      def after_library(constant, &wrap) = @libraries << [constant, wrap]

      def libraries_loaded
        @libraries.reject! do |constant, wrap|
          next unless Object.const_defined?(constant) && !Object.autoload?(constant)

          wrap.call(Object.const_get(constant))
          true
        end
      end

      private

      def note_opened
        opened = @opened
        @opened = {}
        opened.each { |path, kind| note(kind, path.delete_prefix("#{kind}:")) }
      end

      def tell(key)
        return if @seen.key?(key)

        @seen[key] = true unless key[0] == 'fact' || key[0] == 'trusted'
        @pending << key
      end

      def as_text(name)
        return name if name.nil?

        name = name.to_s
        name.encoding == Encoding::UTF_8 && name.valid_encoding? ? name.dup : name.b.force_encoding(Encoding::UTF_8)
      end

      # Returns the reads, and those of the loaded files among them.
      def closure(keys, out = {})
        keys.each do |key|
          next if out.key?(key)

          out[key] = true
          frame = @kept[key[1]] if key[0] == 'code' || key[0] == 'file'
          closure(frame.keys, out) if frame
        end
        out
      end

      # Adds the reads of the block to the frame. They also count for the file whose loading
      # encloses it.
      def within(frame)
        thread = Thread.current
        before = thread.thread_variable_get(:bunraku_loading)
        thread.thread_variable_set(:bunraku_loading, frame)
        yield
      ensure
        thread.thread_variable_set(:bunraku_loading, before)
        before&.merge!(frame)
      end

      def place(name)
        $LOAD_PATH.resolve_feature_path(name)
      rescue StandardError, LoadError
        nil
      end

      def within?(path, folders) = folders.any? { |d| path.start_with?(d) && (path.size == d.size || path[d.size] == '/') }

      def own?(path)
        return false if within?(path, Bunraku.load_path)

        within?(path, OWN) || (Bunraku.gems? && within?(path, quiet { ::Gem.path }))
      end

      def kind_of(path) = within?(path, USERS_OWN) && !within?(path, Bunraku.load_path) ? 'file' : 'code'
    end
  end
end

# ---- Ruby's own classes ----

Bunraku::Reads.instance_eval do
  # Files and folders.
  before(IO.singleton_class, :read, :binread, :readlines, :foreach) do |io, args, options|
    io.equal?(IO) ? file_or_command(args[0], options[:mode] || 'r') : file(args[0], options[:mode] || 'r')
  end
  before(File, :initialize) do |_, args, options|
    if args[0].is_a?(Integer) then note('opaque', 'a file descriptor')
    else file(args[0], args[1] || options[:mode] || options[:flags] || 'r')
    end
  end
  before(IO.singleton_class, :new, :open) { |io, _, _| note('opaque', 'a file descriptor') if io.equal?(IO) }
  before(IO.singleton_class, :sysopen, :for_fd) { note('opaque', 'a file descriptor') }
  before(IO.singleton_class, :copy_stream) { |_, args, _| file(args[0]) unless args[0].respond_to?(:read) }
  before(File.singleton_class, :exist?, :file?, :directory?, :readable?, :writable?, :executable?, :symlink?,
         :realpath, :realdirpath, :readlink, :ftype,
         :readable_real?, :writable_real?, :executable_real?, :world_readable?, :world_writable?, :owned?, :grpowned?, :pipe?,
         :socket?, :blockdev?, :chardev?, :setuid?, :setgid?, :sticky?) do |_, args, _|
    note('exists', path(args[1].is_a?(::String) && !args[0].to_s.start_with?('/') ? File.join(args[1], args[0]) : args[0]))
  end
  before(File.singleton_class, :stat, :lstat, :size, :size?, :zero?, :empty?, :mtime) { |_, args, _| stat(args[0]) }
  before(File.singleton_class, :atime, :ctime, *(%i[birthtime] & File.singleton_methods(false))) { note('opaque', 'when a file was read or made') }
  before(File.singleton_class, :identical?) { |_, args, _| args.each { |name| note('exists', path(name)) } }
  before(File.singleton_class, :expand_path) do |_, args, _|
    note('variable', 'HOME') if args.any? { |name| name.is_a?(::String) && name.start_with?('~') }
  end
  sizes = %i[size size? zero? empty? identical?] & FileTest.singleton_methods(false)
  before(FileTest.singleton_class, *(FileTest.singleton_methods(false) - sizes)) do |_, args, _|
    args.each { |name| note('exists', path(name)) }
  end
  before(FileTest.singleton_class, *sizes) { |_, args, _| args.each { |name| stat(name) } }
  before(File::Stat, :initialize) { |_, args, _| stat(args[0]) }
  before(File, :mtime, :size, :lstat) { |file, _, _| stat(file.path) if file.path }
  before(IO, :stat) { |io, _, _| stat(io.path) if io.respond_to?(:path) && io.path }
  before(File, :atime, :ctime) { note('opaque', 'when a file was read or made') }
  before(Dir.singleton_class, :exist?) { |_, args, _| note('exists', path(args[0])) }
  before(Dir.singleton_class, :entries, :children, :each_child, :foreach, :empty?, :open) do |_, args, _|
    note('folder', path(args[0]))
  end
  before(Dir, :initialize) { |_, args, _| note('folder', path(args[0])) }
  before(Dir.singleton_class, :glob) { |_, args, options| glob(args[0], options[:base], options[:flags] || args[1]) }
  before(Dir.singleton_class, :[]) { |_, args, options| glob(args.flatten, options[:base]) }
  before(Dir.singleton_class, :pwd, :getwd) { note('opaque', 'the working directory') }
  before(Dir.singleton_class, :home) { note('variable', 'HOME') }

  # The environment.
  environment = ENV.singleton_class
  before(environment, :[], :fetch, :key?, :has_key?, :include?, :member?, :assoc, :delete) do |_, args, _|
    note('variable', args[0])
  end
  before(environment, :values_at, :slice) { |_, args, _| variables(args) }
  before(environment, :to_h, :to_hash, :to_a, :each, :each_pair, :each_key, :each_value, :keys, :values, :key, :value?,
         :has_value?, :rassoc, :inspect, :invert, :select, :filter, :reject, :select!, :filter!, :reject!, :delete_if, :keep_if,
         :size, :length, :empty?, :except, :shift) { note('variable', '*') }

  # Programs.
  kernel = [Kernel, Kernel.singleton_class]
  kernel.each do |owner|
    before(owner, :`, :system, :spawn, :exec) { |_, args, _| command(args) }
    before(owner, :fork) { note('opaque', 'fork') }
    before(owner, :syscall) { note('opaque', 'syscall') }
    before(owner, :open) do |_, args, options|
      file_or_command(args[0], args[1] || options[:mode] || 'r') unless args[0].respond_to?(:to_open)
    end
    before(owner, :test) { |_, args, _| args.drop(1).each { |name| stat(name) } }
  end
  before(Process.singleton_class, :spawn, :exec) { |_, args, _| command(args) }
  before(Process.singleton_class, :fork, :daemon) { note('opaque', 'fork') }
  before(IO.singleton_class, :popen) { |_, args, _| pipe(args) }

  # Time and random numbers.
  before(Time.singleton_class, :now) { note('clock', 'Time') }
  before(Time, :initialize) { |_, args, _| note('clock', 'Time') if args.empty? }
  before(Process.singleton_class, :clock_gettime) { |_, args, _| clock(args[0]) }
  kernel.each do |owner|
    before(owner, :rand) { chance }
  end
  before(Random.singleton_class, :rand, :random_number, :bytes) { chance }
  (kernel + [Random.singleton_class]).each do |owner|
    wrap(owner, :srand) do |original, receiver, args, _, _|
      note('random', 'Kernel#srand') if args.empty?
      original.bind_call(receiver, *args).tap { |was| args.empty? ? unseeded : seeded(args[0], was) }
    end
  end
  before(Random.singleton_class, :new_seed, :seed, :urandom) { |_, _, _| note('random', 'Random') }
  before(Random, :initialize) { |_, args, _| note('random', 'Random') if args.empty? }
  before(Array, :shuffle, :shuffle!, :sample) { |_, _, options| chance unless options.key?(:random) }

  # This process and machine.
  before(Process.singleton_class, :pid, :ppid) { note('random', 'Process.pid') }
  before(Process.singleton_class, :uid, :euid, :gid, :egid, :groups) { note('host', 'Process.uid') }
  before(ObjectSpace.singleton_class, *ObjectSpace.singleton_methods(false) - %i[garbage_collect define_finalizer
                                                                               undefine_finalizer]) do
    note('opaque', 'ObjectSpace')
  end

  # Files of Ruby code; `require` itself is in plugin_host.rb.
  kernel.each do |owner|
    wrap(owner, :load) do |original, receiver, args, _, _|
      loaded(args[0]) { original.bind_call(receiver, *args) }
    end
  end
  wrap(Kernel.singleton_class, :require) do |original, receiver, args, _, _|
    required(args[0].respond_to?(:to_path) ? args[0].to_path : args[0]) { original.bind_call(receiver, *args) }
  end
  before(Module, :autoload) { |_, args, _| promised(args[1]) }
  # Kernel#autoload uses the class of the calling code, which a wrapper cannot preserve except at
  # the top level.
  TOPLEVEL_BINDING.receiver.define_singleton_method(:autoload) { |name, file| Object.autoload(name, file) }
  TOPLEVEL_BINDING.receiver.singleton_class.send(:private, :autoload)

  # ---- Ruby's library ----

  after_library(:Date) do |date|
    before(date.singleton_class, :today) { note('clock', 'Time') }
    # Omitted parts of a date are those of today.
    before(date.singleton_class, :parse, :strptime) { |_, args, _| note('clock', 'Time') unless args[0].to_s.match?(/\d{4}/) }
    before(::DateTime.singleton_class, :now) { note('clock', 'Time') }
    before(::DateTime.singleton_class, :parse, :strptime) do |_, args, _|
      note('clock', 'Time') unless args[0].to_s.match?(/\d{4}/)
    end
  end
  after_library(:Etc) do |etc|
    before(etc.singleton_class, :getpwnam, :getgrnam) { |receiver, args, _| note('host', "Etc #{args[0]}") }
    before(etc.singleton_class, :getpwuid, :getgrgid) { |_, args, _| note('host', "Etc #{args[0]}") }
    before(etc.singleton_class, :getlogin, :passwd, :group, :getpwent, :getgrent, :nprocessors, :uname, :sysconf) do
      note('host', 'Etc')
    end
  end
  after_library(:Socket) do |socket|
    before(socket.singleton_class, :gethostname, :getifaddrs, :ip_address_list) { note('host', 'Socket.gethostname') }
    before(socket.singleton_class, :getaddrinfo, :gethostbyname, :gethostbyaddr, :getservbyname, :getservbyport, :getnameinfo,
           :tcp, :unix, :udp_server_sockets) { |_, args, _| note('host', Array(args[0]).join(' ')) }
    before(::Addrinfo.singleton_class, :getaddrinfo, :tcp, :udp, :ip, :foreach) { |_, args, _| note('host', args[0]) }
    before(::IPSocket.singleton_class, :getaddress) { |_, args, _| note('host', args[0]) }
    before(::TCPSocket.singleton_class, :gethostbyname) { |_, args, _| note('host', args[0]) }
    before(::TCPSocket, :initialize) { |_, args, _| note('host', args[0]) }
    before(::UNIXSocket, :initialize) { |_, args, _| note('host', args[0]) }
    before(::UDPSocket, :connect, :send) { |_, args, _| note('host', args.find { |a| a.is_a?(::String) && !a.equal?(args[0]) } || args[0]) }
    before(socket, :connect, :connect_nonblock) { note('host', 'a socket') }
    # The connection may have been opened before the code that uses it ran.
    before(::BasicSocket, :send, :recv, :sendmsg, :recvmsg, :read_nonblock, :write_nonblock) { note('host', 'a socket') }
  end
  after_library(:Resolv) do |resolv|
    instead(resolv, :each_address, :each_name) { |_, args, _| note('host', args[0]) }
    instead(resolv::Hosts, :each_address, :each_name) { |_, args, _| note('host', args[0]) }
    instead(resolv::DNS, :each_address, :each_name, :each_resource, :fetch_resource) { |_, args, _| note('host', args[0]) }
  end
  after_library(:Zlib) { |zlib| before(zlib::GzipReader.singleton_class, :open) { |_, args, _| file(args[0]) } }
  after_library(:PTY) { |pty| before(pty.singleton_class, :spawn, :getpty) { |_, args, _| command(args) } }
  after_library(:OpenSSL) do |ssl|
    before(ssl::SSL::SSLSocket, :sysread, :syswrite) { note('host', 'a socket') } if defined?(ssl::SSL::SSLSocket)
    before(ssl::Random.singleton_class, :random_bytes, :pseudo_bytes) { note('random', 'OpenSSL::Random') }
    before(ssl::PKey.singleton_class, :generate_key, :generate_parameters) { note('random', 'OpenSSL::PKey') }
    before(ssl::Cipher, :random_key, :random_iv) { note('random', 'OpenSSL::Cipher') }
    %i[RSA DSA DH].each do |kind|
      before(ssl::PKey.const_get(kind), :initialize) { |_, args, _| note('random', 'OpenSSL::PKey') if args[0].is_a?(Integer) }
      before(ssl::PKey.const_get(kind).singleton_class, :generate) { note('random', 'OpenSSL::PKey') }
    end
    before(ssl::PKey::EC.singleton_class, :generate) { note('random', 'OpenSSL::PKey') }
  end
end
