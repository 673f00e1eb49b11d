# Real Puppet, loaded once: each line of the input is a JSON list of arguments; the answer is a line of JSON
# with what it wrote to its standard error. ruby -I PUPPET/lib peer.rb
require 'json'
require 'tempfile'
require 'puppet'
require 'puppet/util/command_line'
require 'puppet/application/apply'
$stdout.sync = true
$stdin.each_line do |line|
  said = Tempfile.new('said')
  pid = fork do
    $stderr.reopen(said)
    $stdout.reopen(File::NULL)
    Puppet::Util::CommandLine.new('puppet', JSON.parse(line)).execute
  end
  Process.wait(pid)
  puts JSON.generate([File.read(said.path, encoding: 'UTF-8')])
  said.close!
end
