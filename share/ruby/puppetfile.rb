# Evaluates a Puppetfile that is a program. It runs in a separate Ruby process
# (src/language/ruby/puppetfile.cc), with the text on standard input and with its path and the
# environment's name as arguments. Prints the declarations as fields that end with a NUL: the word,
# its line, the number of arguments, and for each argument its key (empty if it has none), kind and
# text. A Puppetfile may only declare: the kernel refuses to run programs, open connections or
# change files.
module BunrakuPuppetfile
  OUT = STDOUT.dup
  STDOUT.reopen(STDERR)

  # System call numbers on x86_64 and aarch64. Numbers from 424 on are the same on all
  # architectures.
  CALLS = {
    # Programs and processes.
    execve: [59, 221], execveat: [322, 281], fork: [57], vfork: [58], ptrace: [101, 117],
    kill: [62, 129], tkill: [200, 130], process_vm_writev: [311, 271], pidfd_open: [434, 434],
    setns: [308, 268], unshare: [272, 97], bpf: [321, 280], io_uring_setup: [425, 425],
    # The network.
    socket: [41, 198], connect: [42, 203], bind: [49, 200], sendto: [44, 206], sendmsg: [46, 211],
    # Files.
    creat: [85], truncate: [76, 45], ftruncate: [77, 46], rename: [82], renameat: [264, 38],
    renameat2: [316, 276], mkdir: [83], mkdirat: [258, 34], rmdir: [84], link: [86],
    linkat: [265, 37], unlink: [87], unlinkat: [263, 35], symlink: [88], symlinkat: [266, 36],
    chmod: [90], fchmod: [91, 52], fchmodat: [268, 53], fchmodat2: [452, 452], chown: [92],
    fchown: [93, 55], lchown: [94], fchownat: [260, 54], utime: [132], utimes: [235],
    futimesat: [261], utimensat: [280, 88], mknod: [133], mknodat: [259, 33], mount: [165, 40],
    umount2: [166, 39], chroot: [161, 51], pivot_root: [155, 41], setxattr: [188, 5],
    lsetxattr: [189, 6], fsetxattr: [190, 7], fallocate: [285, 47], memfd_create: [319, 279],
    open_tree: [428, 428], move_mount: [429, 429]
  }.freeze

  # Installs the seccomp filter. Returns false if the kernel or the architecture does not support
  # it.
  def self.install_filter
    machine = RUBY_PLATFORM[/\A(x86_64|aarch64)-linux/, 1] or return false
    i = machine == 'x86_64' ? 0 : 1
    step = ->(code, yes, no, k) { [code, yes, no, k].pack('SCCL') }
    refuse = step[0x06, 0, 0, 0x00050001]  # EPERM
    unknown = step[0x06, 0, 0, 0x00050026] # ENOSYS, so that the C library uses the older call.
    allow = step[0x06, 0, 0, 0x7fff0000]
    program = [step[0x20, 0, 0, 4], step[0x15, 1, 0, [0xc000003e, 0xc00000b7][i]], refuse,
               step[0x20, 0, 0, 0], step[0x35, 0, 1, 0x40000000], refuse]
    CALLS.each_value do |numbers|
      program.push(step[0x15, 0, 1, numbers[i]], refuse) if numbers[i]
    end
    # clone3 and openat2 have their flags in memory, which a filter cannot read.
    [435, 437].each { |n| program.push(step[0x15, 0, 1, n], unknown) }
    # New threads are allowed, new processes are not.
    program.push(step[0x15, 0, 4, [56, 220][i]], step[0x20, 0, 0, 16],
                 step[0x45, 0, 1, 0x10000], allow, refuse)
    # Files may be opened for reading only: no O_WRONLY, O_RDWR, O_CREAT, O_TRUNC.
    opens = [[[2, 24], [257, 32]], [[56, 32]]][i]
    opens.each do |n, flags|
      program.push(step[0x15, 0, 4, n], step[0x20, 0, 0, flags], step[0x45, 0, 1, 0x243],
                   refuse, allow)
    end
    program << allow
    text = program.join
    head = [program.size].pack('Sx6') + [text].pack('p')
    syscall([157, 167][i], 38, 1, 0, 0, 0) # Sets no_new_privs.
    # TSYNC applies the filter to Ruby's other threads as well.
    syscall([317, 277][i], 1, 1, [head].pack('p').unpack1('J')) == 0
  rescue SystemCallError, NotImplementedError
    false
  end

  # r10k evaluates a Puppetfile in an object of its own. Some Puppetfiles read these attributes of
  # it.
  Environment = Struct.new(:name, :ref, :dirname)
  Librarian = Struct.new(:environment, :environment_name, :basedir, :puppetfile_path, :moduledir)

  # The statements of a Puppetfile, both of r10k and of librarian-puppet.
  class Statements
    def initialize(path, name, list)
      @librarian = Librarian.new(Environment.new(name, name, name), name, File.dirname(path), path,
                                 File.join(File.dirname(path), 'modules'))
      @__path = path
      @__list = list
    end
    %i[mod forge moduledir exclusion metadata modulefile].each do |word|
      define_method(word) do |*args|
        place = caller_locations.find { |l| l.path == @__path }
        @__list << [word, place ? place.lineno : 0, args]
        nil
      end
    end

    def method_missing(word, *) = raise(NoMethodError, "unrecognized declaration '#{word}'")
    def respond_to_missing?(*) = false
  end

  def self.field(text)
    "#{text.to_s.delete("\0")}\0"
  end

  def self.argument(key, value)
    kind = case value
           when Symbol then 'symbol'
           when true, false, nil then 'constant'
           else 'text'
           end
    field(key) + field(kind) + field(value.nil? ? 'nil' : value)
  end

  def self.run(path, name)
    text = STDIN.read.force_encoding('UTF-8')
    Process.setrlimit(Process::RLIMIT_CPU, 10)
    Process.setrlimit(Process::RLIMIT_AS, 2 << 30)
    Process.setrlimit(Process::RLIMIT_CORE, 0)
    Process.setrlimit(Process::RLIMIT_FSIZE, 0)
    list = []
    words = Statements.new(path, name, list)
    Dir.chdir(File.dirname(path))
    unless install_filter
      # Without seccomp, at least these methods are blocked.
      [Kernel, Kernel.singleton_class, Process.singleton_class, IO.singleton_class].each do |where|
        %i[system exec spawn fork popen `].each do |method_name|
          where.send(:define_method, method_name) { |*| raise SecurityError, 'a Puppetfile must not run programs' }
        end
      end
    end
    begin
      words.instance_eval(text, path)
    rescue SystemExit, ScriptError, StandardError, SystemStackError, NoMemoryError => e
      place = (e.backtrace_locations || []).find { |l| l.path == path }
      line = place ? place.lineno : e.message[/\A#{Regexp.escape(path)}:(\d+):/, 1]
      said = e.message.sub(/\A#{Regexp.escape(path)}:\d+: ?/, '').lines.first.to_s.strip
      said = 'a program cannot be run by a Puppetfile, and it cannot change files' if e.is_a?(Errno::EPERM)
      OUT.write(field('error') + field(line || 0) + field(0) + field(said))
      OUT.flush
      exit!(1)
    end
    out = +''
    list.each do |word, line, args|
      flat = args.flat_map { |a| a.is_a?(Hash) ? a.map { |k, v| argument(k, v) } : [argument('', a)] }
      out << field(word) << field(line) << field(flat.size) << flat.join
    end
    # The end marker distinguishes a complete output from that of a process that ended early.
    OUT.write(out + field('end') + field(0) + field(0))
    OUT.flush
    exit!(0)
  end
end
BunrakuPuppetfile.run(*ARGV) if $bunraku_puppetfile
