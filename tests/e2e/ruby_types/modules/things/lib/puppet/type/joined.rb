# Fails to join its pieces, and quotes a part of each.
Puppet::Type.newtype(:joined) do
  newparam(:name, namevar: true)
  def pieces = catalog.resources.select { |r| r.is_a?(Puppet::Type.type(:piece)) }
  def eval_generate = raise(Puppet::Error, "Duplicate key with values #{pieces.map { |p| p[:content][/\w+$/] }.join(' and ')}")
end
