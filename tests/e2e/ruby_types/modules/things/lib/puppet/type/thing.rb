# A file with a number in it, which represents a typical type.
Puppet::Type.newtype(:thing) do
  @doc = 'A thing.'
  ensurable
  newparam(:path, namevar: true) { desc 'Where it is, below $WORK.' }
  newparam(:mode) do
    newvalues(:loud, :quiet)
    defaultto :quiet
  end
  newproperty(:size) do
    validate { |v| raise ArgumentError, "size must be a number, not #{v}" unless v.to_s.match?(/\A\d+\z/) || v == 'x' }
    munge(&:to_s)
  end
  autorequire(:file) { ENV.fetch('WORK') }
  autorequire(:thing) { self[:path] == 'z' ? 'a' : [] }
  validate { raise Puppet::Error, 'a loud thing needs a size' if self[:mode] == :loud && !self[:size] }
  def refresh = notice("again #{self[:path]}")
end
