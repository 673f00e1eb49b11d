# A resident Puppet 8 with its types and providers and those of modules. Reads the folder of one job
# per line, applies it in a child process, and prints "done FOLDER". Several jobs may run at the
# same time. RUBYLIB contains Puppet's lib folder, PEER_MODULES folders of modules.
answers = $stdout.dup # output while loading goes elsewhere
answers.sync = true
$stdout.reopen($stderr)
require 'puppet'
require 'puppet/util/command_line'
require 'puppet/application/apply'
require 'puppet/configurer'
require 'puppet/transaction/report'
require 'puppet/network/format_support'
require 'puppet/pops'
require 'puppet/facter_impl'
require 'facter'

NEW_MOUNTS = 0x00020000
UNSHARE = 272 # x86_64

$facts = Facter.to_hash
module SameFacts
  def find(request)
    self.class.setup_search_paths(request) # which logs the folders
    Puppet::Node::Facts.new(request.key, $facts.dup)
  end
end

# Facts that settings and providers request by name. Facter itself would load the facts of all
# modules each time.
module SameValues
  def value(name)
    found = name.to_s.split('.').reduce($facts) { |above, key| above.is_a?(Hash) ? above[key] : nil }
    found.nil? ? super : found
  end
end
# Uses only gems that contain Puppet code. Puppet would otherwise search all gems for each file.
module FewGems
  def directories
    @few ||= super.select { |folder| File.directory?("#{folder}/puppet") }
  end
end
require 'puppet/util/rubygems'
Puppet::Util::RubyGems::Gems18Source.prepend(FewGems)
require 'puppet/indirector/facts/facter'
Puppet::Node::Facts::Facter.prepend(SameFacts)
Puppet::FacterImpl.prepend(SameValues)

def load_types(folders)
  libraries = folders.flat_map { |folder| Dir.glob("#{folder}/*/lib") }
  $LOAD_PATH.concat(libraries)
  Puppet.override(current_environment: Puppet::Node::Environment::NONE) { Puppet::Type.loadall }
  %w[indirector/catalog/compiler indirector/node/plain indirector/report/processor indirector/report/yaml reports/store util/command_line/puppet_option_parser].each { |name| require "puppet/#{name}" }
  libraries.each { |library| $LOAD_PATH.delete(library) }
end

def words(file)
  File.read(file).split("\n")
end

def run(job, here)
  syscall(UNSHARE, NEW_MOUNTS)
  system('bash', "#{here}/box", job) or exit!(97)
  2.times do |i|
    script = "#{job}/before#{i + 1}.sh"
    system('bash', script, out: "#{job}/before#{i + 1}.log", err: %i[child out]) if File.exist?(script)
    child = fork do
      STDIN.reopen('/dev/null')
      STDOUT.reopen("#{job}/run#{i + 1}.out", 'w')
      STDERR.reopen("#{job}/run#{i + 1}.err", 'w')
      Dir.chdir('/')
      File.umask(0o022)
      ENV.replace(ENV.to_h.slice('RUBYLIB').merge(words("#{job}/env").to_h { |l| l.split('=', 2) }))
      Puppet::Util::CommandLine.new('puppet', words("#{job}/args")).execute
    end
    _, status = Process.wait2(child)
    File.write("#{job}/run#{i + 1}.exit", "#{status.exitstatus || "signal #{status.termsig}"}\n")
  end
end

here = __dir__
GC.disable
load_types(ENV.fetch('PEER_MODULES', '').split(':'))
GC.enable
GC.start
answers.puts 'ready'
while (job = $stdin.gets&.chomp)
  child = fork do
    $stdin.reopen('/dev/null')
    GC.disable # memory pages stay shared, and a run is short
    run(job, here)
    exit!(0)
  end
  Thread.new(child, job) do |pid, name|
    Process.wait(pid)
    answers.puts "done #{name}"
  end
end
