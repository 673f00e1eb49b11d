# frozen_string_literal: true
# The first file that a child runs. It knows the positions of the other parts of share/ruby and runs
# them.

module Bunraku
  # The files that every child runs, in this order. The other files run when they are first needed.
  LOADED_AT_START = %w[protocol plugin_host puppet_api util recorded_reads fact_hash].freeze

  class << self
    def run(files)
      # Most objects of the start live until the end of the process.
      GC.disable
      compiled = files.pop
      @compiled = compiled unless compiled.empty? || !defined?(RubyVM::InstructionSequence)
      @read_bytes = File.method(:binread) # Taken before recorded_reads wraps the method.
      $BT.close_on_exec = true
      $BT.autoclose = false
      @read_text = $BT.method(:pread)
      @input = $BI
      @output = IO.for_fd(3, 'wb', autoclose: false)
      @output.sync = true
      @files = files.to_h { |name, *rest| [File.basename(name, '.rb'), [name, *rest]] }
      @parts = {}
      @functions = {}
      @function_files = {}
      @procs = {}
      @proc_count = 0
      @environment = ''
      @environment_directory = ''
      @load_path = []
      LOADED_AT_START.each { |name| part(name) }
      GC.enable
      live
    end

    # Reports whether a file of share/ruby has this name. Such files run when they are first needed.
    def part?(name) = @files.key?(name)

    def part(name)
      return if @parts[name]

      @parts[name] = true
      file, offset, size, digest = @files.fetch(name)

      text = -> { @read_text.call(size, offset).force_encoding(Encoding::UTF_8) }
      code = compiled(name, file, text, digest) if @compiled && !digest.empty?
      code ? code.eval : eval(text.call, TOPLEVEL_BINDING, file)
    end

    # Loads the compiled form of a file, which takes a quarter of the time. The compiled files
    # belong to one version of Ruby. Each begins with a checksum, because Ruby does not validate
    # what it loads.
    def compiled(name, file, text, digest)
      version = "#{RUBY_VERSION}p#{RUBY_PATCHLEVEL}-#{RUBY_PLATFORM}"
      path = "#{@compiled}/#{name}-#{digest}-#{version}"
      begin
        kept = @read_bytes.call(path)
        code = kept.byteslice(8..)
        return RubyVM::InstructionSequence.load_from_binary(code) if code && kept.unpack1('Q>') == code.sum(64)
      rescue SystemCallError
        nil # Not compiled yet.
      end
      made = RubyVM::InstructionSequence.compile(text.call, file, file)
      keep = -> { keep_compiled(path, made.to_binary, "#{@compiled}/#{name}-*-#{version}") }
      defined?(Reads.quiet) ? Reads.quiet(&keep) : keep.call
      made
    rescue ::StandardError
      nil
    end

    def keep_compiled(path, code, versions)
      old = Dir.glob(versions) - [path]
      scratch = "#{path}.#{Process.pid}"
      File.open(scratch, File::WRONLY | File::CREAT | File::EXCL, 0o600) do |out|
        out.binmode
        out.write([code.sum(64)].pack('Q>'), code)
      end
      File.rename(scratch, path)
      File.unlink(*old) unless old.empty?
    rescue SystemCallError
      # The disk may be full; the file is then compiled each time.
      scratch && File.exist?(scratch) && File.unlink(scratch)
    end
  end
end
