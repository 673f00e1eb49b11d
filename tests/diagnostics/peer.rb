# Runs real Puppet, loaded once. Each input line is a JSON list of arguments; the response is a JSON
# line with the standard error. ruby -I PUPPET/lib peer.rb
require 'json'
require 'tempfile'
require 'puppet'
require 'puppet/util/command_line'
require 'puppet/application/apply'
require 'puppet/indirector/facts/facter'
$stdout.sync = true
# Collects the facts of the machine once.
module KnownFacts
  VALUES = Puppet.runtime[:facter].to_hash.freeze
  def find(request) = Puppet::Node::Facts.new(request.key, VALUES.dup).tap { |facts| facts.add_local_facts }
end
Puppet::Node::Facts::Facter.prepend(KnownFacts)
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
