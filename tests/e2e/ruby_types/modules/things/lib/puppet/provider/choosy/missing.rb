Puppet::Type.type(:choosy).provide(:missing, parent: :base) do
  commands nothing: 'no-such-command'
  defaultfor kernel: :linux
end
