# Generates other resources: a file when the catalog is prepared, and things while it is applied.
Puppet::Type.newtype(:tree) do
  def self.title_patterns
    [[%r{\A(\w+)/(\w+)\z}, [[:left], [:right]]], [/\A(\w+)\z/, [[:left]]]]
  end
  newparam(:left, namevar: true)
  newparam(:right, namevar: true) { defaultto 'none' }
  def generate = [Puppet::Type.type(:file).new(path: "#{ENV.fetch('WORK')}/#{self[:left]}", ensure: 'file', content: "#{self[:left]}-#{self[:right]}\n")]
  def eval_generate = [Puppet::Type.type(:thing).new(path: "leaf_#{self[:left]}", size: 1, ensure: :present)]
end
