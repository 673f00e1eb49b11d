# Groups are files with their members.
Puppet::Type.type(:group).provide :pigeon do
  has_feature :manages_members
  def file = "#{ENV.fetch('WORK')}/group-#{@resource[:name]}"
  def exists? = File.exist?(file)
  def create = write(@resource[:gid] || 1, @resource[:members] || [])
  def delete = File.delete(file)
  def write(gid, members) = File.write(file, "#{gid} #{members.join(' ')}")
  def read = File.read(file).split
  def gid = read[0].to_i
  def members = read.drop(1)
  def members_to_s(list) = list.join(',')

  def gid=(value)
    write(value, members)
  end

  def members=(list)
    write(gid, @resource.parameter(:members).actual_should(members, list))
  end
end
