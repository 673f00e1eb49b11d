Puppet::Type.type(:choosy).provide(:right, parent: :base) do
  confine kernel: %w[Linux]
  defaultfor kernel: :linux
end
