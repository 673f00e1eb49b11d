# Runs a module's own provider on files, without Puppet. Reads resources (JSON) on standard input, and
# prints for each the messages of two runs and the resulting content of the file.
#
#   providers.rb MODULES <CASES >ANSWERS
require 'json'

module Puppet
  class Error < StandardError; end
  module Util; end

  class Type
    PROVIDERS = {}
    Base = Struct.new(:resource) do
      def self.desc(*) = nil
    end
    Named = Struct.new(:name) do
      def provide(_, &body) = PROVIDERS[name] = Class.new(Base, &body)
    end
    def self.type(name) = Named.new(name)
  end
end

class Given
  attr_reader :parameters

  def initialize(parameters) = @parameters = parameters
  def [](name) = @parameters[name]
  def []=(name, value)
    @parameters[name] = value
  end
  def noop? = false
  def self.validattr?(*) = true
end

{ 'ini_setting' => 'inifile', 'ini_subsetting' => 'inifile', 'file_line' => 'stdlib' }.each do |type, name|
  file = "#{ARGV[0]}/#{name}/lib/puppet/provider/#{type}/ruby.rb"
  load file if File.exist?(file)
end

SWITCHES = { 'true' => true, 'yes' => true, true => true, 'no' => false, 'false' => false, false => false }.freeze
DEFAULTS = {
  'ini_setting' => { section: '', key_val_separator: ' = ', force_new_section_creation: true, section_prefix: '[', section_suffix: ']', indent_char: ' ', refreshonly: false },
  'ini_subsetting' => { section: '', key_val_separator: ' = ', subsetting_separator: ' ', subsetting_key_val_separator: '', quote_char: '', use_exact_match: :false, insert_type: :end,
                        delete_if_empty: :false },
  'file_line' => { match_for_absence: false, replace: true, replace_all_matches_not_matching_line: false, encoding: 'UTF-8', append_on_no_match: true }
}.freeze

def munged(type, given)
  a = DEFAULTS[type].merge(given)
  if type == 'ini_setting'
    %i[force_new_section_creation refreshonly].each { a[_1] = SWITCHES[a[_1]] }
    a[:value] = a[:value].to_s.strip unless a[:value].nil?
  elsif type == 'ini_subsetting'
    %i[use_exact_match insert_type delete_if_empty].each { a[_1] = a[_1].to_s.to_sym }
  end
  a
end

def run(type, resource, wanted)
  resource[:ensure] = wanted
  provider = Puppet::Type::PROVIDERS.fetch(type.to_sym).new(resource)
  is = provider.exists? ? :present : :absent
  wanted = resource[:ensure]
  return '' if resource[:refreshonly]

  if is != wanted
    begin
      wanted == :present ? provider.create : provider.destroy
    rescue StandardError => e
      return "change from '#{is}' to '#{wanted}' failed: #{"Could not set '#{wanted}' on ensure: " unless e.is_a?(Puppet::Error)}#{e.message}"
    end
    return wanted == :present ? 'created' : 'removed'
  end
  return '' if type == 'file_line' || is == :absent || resource[:value].nil? || provider.value == resource[:value]

  old = provider.value
  provider.value = resource[:value]
  "value changed #{old} to #{resource[:value]}"
rescue StandardError => e
  "Could not evaluate: #{e.message}"
end

answers = JSON.parse($stdin.read).map do |type, given|
  given = given.transform_keys(&:to_sym)
  wanted = (given.delete(:ensure) || 'present').to_sym
  resource = Given.new(munged(type, given))
  said = Array.new(2) { run(type, resource, wanted) }
  said.map! { |s| s.lines.first.to_s.chomp.b.inspect }
  [said, File.exist?(given[:path]) ? File.binread(given[:path]).unpack1('H*') : nil]
end
puts JSON.generate(answers)
