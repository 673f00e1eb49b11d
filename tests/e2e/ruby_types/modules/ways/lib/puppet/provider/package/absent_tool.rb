require 'puppet/provider/package'

Puppet::Type.type(:package).provide :absent_tool, parent: Puppet::Provider::Package do
  commands tool: 'there-is-no-such-tool'
  def query = nil
end
