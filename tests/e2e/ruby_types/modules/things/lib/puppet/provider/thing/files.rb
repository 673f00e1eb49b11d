Puppet::Type.type(:thing).provide(:files) do
  commands cat: 'cat'
  def file = "#{ENV.fetch('WORK')}/#{resource[:path]}"
  def exists? = File.exist?(file)

  def create
    notice "creating #{resource[:mode]}"
    File.write(file, resource[:size].to_s)
  end

  def destroy = File.unlink(file)
  def size = cat(file)

  def size=(value)
    raise Puppet::Error, 'no such size' if value == 'x'

    File.write(file, value)
  end
end
