# Loads every function, type and fact file of the modules in a folder like the plugin host, and
# prints those that fail: ruby --disable=gems tests/ruby/load_all.rb /usr/share/puppet/modules
share = File.expand_path('../../share/ruby', __dir__)
modules = ARGV[0] || '/usr/share/puppet/modules'
Dir.glob("#{share}/*.rb").sort.each do |file|
  eval(File.read(file), TOPLEVEL_BINDING, file) if File.basename(file) == 'boot.rb'
end

module Bunraku
  class << self
    def start(share, paths)
      @files = Dir.glob("#{share}/*.rb").sort.to_h { |f| [File.basename(f, '.rb'), [f, f, File.size(f), '']] }
      @read_text = ->(_size, file) { File.read(file) }
      @parts = {}
      @functions = {}
      @function_files = {}
      @procs = {}
      @proc_count = 0
      @load_path = paths
      @environment = 'production'
      @environment_directory = ''
      $LOAD_PATH.unshift(*paths)
      Bunraku::LOADED_AT_START.each { |name| part(name) }
    end
  end
end
paths = Dir.glob("#{modules}/*/lib")
Bunraku.start(share, paths)
# A stub for the C++ side. Defined last, to replace the real methods.
module Bunraku
  class << self
    def ask(what, *args)
      case what
      when :parse_type then args[0]
      when :is_resource_type then false
      when :setting then nil
      end
    end

    def log(*) = nil
  end
end
Bunraku.language
failed = Hash.new(0)
count = Hash.new(0)
try = lambda do |kind, file, &block|
  count[kind] += 1
  block.call
rescue Exception => e # rubocop:disable Lint/RescueException
  failed[kind] += 1
  puts "#{kind} #{file}: #{e.class}: #{e.message.lines.first} #{e.backtrace.first(2).join(' < ')}"
end
Dir.glob("#{modules}/*/lib/puppet/functions/**/*.rb").sort.each do |file|
  name = file[%r{lib/puppet/functions/(.*)\.rb}, 1].gsub('/', '::')
  try.call('function', file) { Bunraku.load_function(file, name) }
end
Dir.glob("#{modules}/*/lib/puppet/parser/functions/*.rb").sort.each do |file|
  try.call('3.x function', file) { Bunraku.load_function(file, File.basename(file, '.rb')) }
end
Bunraku.part('types')
Dir.glob("#{modules}/*/lib/puppet/type/*.rb").sort.each do |file|
  try.call('type', file) { Marshal.dump(Bunraku::Types.describe_file(file, File.basename(file, '.rb'))) }
end
Bunraku.part('facts')
Dir.glob("#{modules}/*/lib/facter/*.rb").sort.each { |file| try.call('fact', file) { Kernel.load(file) } }
count.each { |kind, n| puts "#{kind}: #{n - failed[kind]} of #{n} load" }
exit(failed.empty? ? 0 : 1)
