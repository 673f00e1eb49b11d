# Runs the probes when its property `run` is set.
Puppet::Type.type(:probe).provide(:probe) do
  desc 'The provider.'
  commands shell: 'sh'
  optional_commands none: 'no-such-program'
  has_feature :featured
  defaultfor kernel: :linux
  mk_resource_methods

  def self.instances = [new(name: 'i1', ensure: :present, number: 3), new(name: 'i2', ensure: :absent)]
  def self.probe(text) = eval(text)
  def special = nil
  def exists? = true
  def create = nil
  def destroy = nil
  def list = %w[a b]
  def featured_only = :absent
  def number = 3

  def run=(_value)
    load resource[:script]
    ProbeRunner.run('type') { |text| resource.probe(text) }
    ProbeRunner.run('typeclass') { |text| resource.class.probe(text) }
    ProbeRunner.run('provider') { |text| eval(text) }
    ProbeRunner.run('providerclass') { |text| self.class.probe(text) }
    ProbeRunner.run('property') { |text| resource.property(:list).probe(text) }
  end
end
