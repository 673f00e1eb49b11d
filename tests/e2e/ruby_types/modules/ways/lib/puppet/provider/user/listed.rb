require 'puppet/provider/nameservice/objectadd'

# Users are the lines of a file that a command changes.
Puppet::Type.type(:user).provide :listed, parent: Puppet::Provider::NameService::ObjectAdd do
  commands add: 'sh', delete: 'sh', modify: 'sh'
  defaultfor kernel: :linux
  has_features :manages_shell, :manages_passwords
  options :comment, flag: '-c', method: :gecos
  verify(:uid, 'it must be above ten') { |value| value > 10 }

  def file = "#{ENV.fetch('WORK')}/users"

  def getinfo(_refresh)
    line = File.exist?(file) && File.readlines(file, chomp: true).find { |l| l.start_with?("#{@resource[:name]}:") }
    line && %i[name uid comment shell password].zip(line.split(':', -1)).to_h.merge(uid: Integer(line.split(':')[1]))
  end

  def groups = ''

  def addcmd
    words = [@resource[:name], @resource.should(:uid) || autogen(:uid) % 1, @resource.should(:comment), @resource.should(:shell), @resource.should(:password)]
    [command(:add), '-c', "echo '#{words.join(':')}' >>#{file}"]
  end

  def deletecmd = [command(:delete), '-c', "sed -i '/^#{@resource[:name]}:/d' #{file}"]

  def modifycmd(param, value)
    field = { uid: 2, comment: 3, shell: 4, password: 5 }.fetch(param)
    [command(:modify), '-c', "test '#{value}' != no && awk -F: -v OFS=: '$1 == \"#{@resource[:name]}\" { $#{field} = \"#{value}\" } 1' #{file} >#{file}.new && mv #{file}.new #{file}"]
  end
end
