Facter.add(:unsaid) { setcode { nil } }
