Puppet::Type.type(:talker).provide(:plain) do
  # A constant of the whole program, because a block opens no namespace: the type can read it.
  TALKER_NAME = /\A[a-z]\z/.freeze
end
