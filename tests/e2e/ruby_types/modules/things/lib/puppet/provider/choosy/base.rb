Puppet::Type.type(:choosy).provide(:base) do
  def by = 'whom'

  def by=(value)
    notice("#{value} by #{self.class.name}")
  end
end
