Facter.add(:app) { setcode { 1 } }
