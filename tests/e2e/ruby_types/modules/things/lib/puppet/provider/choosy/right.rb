Puppet::Type.type(:choosy).provide(:right, parent: :base) do
  confine kernel: %w[Linux]
  confine operatingsystem: /\w/
  defaultfor kernel: :linux
end
