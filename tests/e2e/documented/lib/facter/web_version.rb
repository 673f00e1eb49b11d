# The version of what serves.
Facter.add(:web_version) do
  setcode { '1' }
end
