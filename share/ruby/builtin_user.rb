# frozen_string_literal: true
# The type user, for providers of modules. Accounts of the built-in provider do not use this code
# (src/resources/apply/types/user).
Bunraku.part('name_service')

Puppet::Type.newtype(:user) do
  { allows_duplicates: 'Several users may have one number.', manages_homedir: 'The provider makes and removes home folders.',
    manages_passwords: 'The provider sets passwords.', manages_password_age: 'The provider sets the age of passwords.',
    manages_password_salt: 'The provider sets the salt of passwords.', manages_solaris_rbac: 'The provider knows roles of Solaris.',
    manages_roles: 'The provider manages roles.', manages_expiry: 'The provider sets when an account ends.',
    system_users: 'The provider makes system users.', manages_aix_lam: 'The provider manages modules of AIX.',
    manages_local_users_and_groups: 'The provider can keep to the files of this machine.',
    manages_shell: 'The provider sets the shell.', manages_loginclass: 'The provider sets the login class.' }.each { |name, doc| feature(name, doc) }

  number = ->(value) { value.is_a?(String) && value.match?(/^[-0-9]+$/) ? Integer(value) : value }
  list = lambda do |what|
    lambda do |value|
      raise ArgumentError, "#{what} names must be provided, not numbers" if value.match?(/^\d+$/)
      raise ArgumentError, "#{what} names must be provided as an array, not a comma-separated list" if value.include?(',')
    end
  end

  newproperty(:ensure, parent: Puppet::Property::Ensure) do
    newvalue(:present, event: :user_created) { provider.create }
    newvalue(:absent, event: :user_removed) { provider.delete }
    newvalue(:role, event: :role_created, required_features: :manages_solaris_rbac) { provider.create_role }
    defaultto { @resource.managed? ? :present : nil }

    def retrieve
      return :absent unless provider.exists?

      provider.respond_to?(:is_role?) && provider.is_role? ? :role : :present
    end

    def sync
      super
      roles = @resource.property(:roles)
      roles.sync if roles && !roles.safe_insync?(roles.retrieve)
    end
  end
  newproperty(:home)
  newproperty(:uid) { munge(&number) }
  newproperty(:gid) do
    munge(&number)
    def insync?(is) = @should.any? { |wanted| is == Puppet::Util.gid(wanted) }

    def sync
      found = @should.lazy.filter_map { |wanted| Puppet::Util.gid(wanted) }.first
      fail "Could not find group(s) #{@should.join(',')}" unless found
      provider.gid = found
    end
  end
  newproperty(:comment) do
    def insync?(is) = !@should.empty? && provider.respond_to?(:comments_insync?) ? provider.comments_insync?(is, @should) : super
  end
  newproperty(:shell, required_features: :manages_shell)
  newproperty(:password, required_features: :manages_passwords) do
    validate { |value| raise ArgumentError, "Passwords cannot include ':'" if value.is_a?(String) && value.include?(':') }
    sensitive true
  end
  { password_min_age: 'Password minimum age', password_max_age: 'Password maximum age',
    password_warn_days: 'Password warning days' }.each do |name, words|
    newproperty(name, required_features: :manages_password_age) do
      munge { |value| value.is_a?(String) ? Integer(value) : value }
      validate { |value| raise ArgumentError, "#{words} must be provided as a number." unless value.to_s.match?(/^-?\d+$/) }
    end
  end
  newproperty(:groups, parent: Puppet::Property::List) do
    validate do |value|
      raise ArgumentError, 'Group names must be provided, not GID numbers.' if value.match?(/^\d+$/)
      raise ArgumentError, 'Group names must be provided as an array, not a comma-separated list.' if value.include?(',')
      raise ArgumentError, 'Group names must not be empty. If you want to specify "no groups" pass an empty array' if value.empty?
    end
    def retrieve = provider.respond_to?(:groups_to_s) ? provider.groups_to_s(provider.groups).split(',') : super
    def insync?(is) = provider.respond_to?(:groups_insync?) ? provider.groups_insync?(is, @should) : super

    def change_to_s(current, desired)
      desired = desired.split(',') unless desired == :absent
      desired = provider.groups_to_s(desired).split(',').uniq if provider.respond_to?(:groups_to_s)
      super
    end
  end

  newparam(:name) { isnamevar }
  %i[membership role_membership auth_membership profile_membership key_membership attribute_membership].each do |name|
    newparam(name) do
      newvalues(:inclusive, :minimum)
      defaultto :minimum
    end
  end
  newparam(:system, boolean: true, parent: Puppet::Parameter::Boolean) { defaultto false }
  newparam(:allowdupe, boolean: true, parent: Puppet::Parameter::Boolean) { defaultto false }
  newparam(:managehome, boolean: true, parent: Puppet::Parameter::Boolean) do
    defaultto false
    validate do |value|
      if munge(value) && provider && !provider.class.feature?(:manages_homedir)
        raise ArgumentError, "User provider #{provider.class.name} can not manage home directories"
      end
    end
  end
  newproperty(:expiry, required_features: :manages_expiry) do
    newvalues :absent, /^\d{4}-\d{2}-\d{2}$/
    validate do |value|
      if value.to_s != 'absent' && !value.to_s.match?(/^\d{4}-\d{2}-\d{2}$/)
        raise ArgumentError, 'Expiry dates must be YYYY-MM-DD or the string "absent"'
      end
    end
  end
  { roles: %i[List manages_roles Role], auths: %i[List manages_solaris_rbac Auth],
    profiles: %i[OrderedList manages_solaris_rbac Profile] }.each do |name, (kind, needed, word)|
    newproperty(name, parent: Puppet::Property.const_get(kind), required_features: needed) do
      define_method(:membership) { :"#{word.to_s.downcase}_membership" }
      validate(&list.call(word))
    end
  end
  newproperty(:keys, parent: Puppet::Property::KeyValue, required_features: :manages_solaris_rbac) { define_method(:membership) { :key_membership } }
  newproperty(:project, required_features: :manages_solaris_rbac)
  newparam(:ia_load_module, required_features: :manages_aix_lam)
  newproperty(:attributes, parent: Puppet::Property::KeyValue, required_features: :manages_aix_lam) do
    define_method(:membership) { :attribute_membership }
    define_method(:delimiter) { ' ' }
  end
  newproperty(:salt, required_features: :manages_password_salt)
  newproperty(:iterations, required_features: :manages_password_salt) { munge(&number) }
  newparam(:forcelocal, boolean: true, required_features: :manages_local_users_and_groups, parent: Puppet::Parameter::Boolean) { defaultto false }
  newparam(:purge_ssh_keys)
  newproperty(:loginclass, required_features: :manages_loginclass) do
    validate { |value| raise ArgumentError, 'Class name must be provided.' if value.match?(/^\d+$/) }
  end

  # Only the built-in provider purges unmanaged keys.
  validate do
    raise ArgumentError, 'purge_ssh_keys needs the provider useradd' unless [nil, false, :false, 'false'].include?(self[:purge_ssh_keys])
  end

  autorequire(:group) do
    groups = Array(@parameters[:gid]&.shouldorig).map { |g| g.is_a?(String) && g.match?(/^\d+$/) ? Integer(g) : g }
    found = groups.map do |group|
      next group unless group.is_a?(Integer)

      catalog.resources.find { |r| r.class.name == :group && r[:gid].to_s == group.to_s }
    end
    found + should(:groups).to_s.split(',')
  end
  autorequire(:user) { should(:roles).to_s.split(',') }

  def exists? = provider.exists?
end

Puppet::Type.type(:user).ancestor(:useradd, parent: Puppet::Provider::NameService::ObjectAdd) do
  commands add: 'useradd', delete: 'userdel', modify: 'usermod', password: 'chage', chpasswd: 'chpasswd'
  options :home, flag: '-d', method: :dir
  options :comment, method: :gecos
  options :groups, flag: '-G'
  options :password_min_age, flag: '-m', field: 3
  options :password_max_age, flag: '-M', field: 4
  options :password_warn_days, flag: '-W', field: 5
  options :password, field: 1
  options :expiry, field: 7, munge: proc { |value| value == :absent ? '' : value },
                   unmunge: proc { |value| value == -1 ? :absent : (Date.new(1970, 1, 1) + value).to_s }
  verify(:gid, 'GID must be an integer') { |value| value.is_a?(Integer) }
  verify(:groups, 'Groups must be comma-separated') { |value| !value.match?(/\s/) }
  has_features :manages_homedir, :allows_duplicates, :manages_expiry, :system_users, :manages_passwords,
               :manages_password_age, :manages_shell

  %i[expiry password_min_age password_max_age password_warn_days password].each do |name|
    define_method(name) do
      line = File.foreach('/etc/shadow').find { |l| l.start_with?("#{@canonical_name}:") } or next :absent
      text = line.chomp.split(':', -1)[self.class.option(name, :field)]
      name == :password ? text : unmunge(name, text.empty? ? -1 : Integer(text))
    end
  end

  def shell=(value)
    check_valid_shell
    set(:shell, value)
  end

  def groups=(value)
    set(:groups, value)
  end

  def password=(value)
    file = Tempfile.new('puppet')
    file << "#{@resource[:name]}:#{value}\n"
    file.flush
    said = execute([command(:chpasswd), '-e'], failonfail: false, combine: true, stdinfile: file.path, sensitive: true)
    raise Puppet::ExecutionFailure, "chpasswd said #{said}" unless said == ''
  ensure
    file&.close!
  end

  def check_valid_shell
    shell = @resource.should(:shell).to_s
    raise Puppet::Error, "Shell #{shell} must exist" unless File.exist?(shell)
    raise Puppet::Error, "Shell #{shell} must be executable" unless File.executable?(shell)
  end

  def check_allow_dup = @resource.allowdupe? ? ['-o'] : []
  def check_manage_home = [@resource.managehome? ? '-m' : '-M']
  def check_system_users = self.class.feature?(:system_users) && @resource.system? ? ['-r'] : []
  def property_manages_password_age?(property) = property.to_s.match?(/password_.+_age|password_warn_days/)
  def has_sensitive_data?(property = nil) = property ? property == :password : !@resource[:password].nil?

  def add_properties
    @resource.class.validproperties.sort.flat_map do |name|
      next [] if %i[ensure password].include?(name) || property_manages_password_age?(name)

      value = @resource.should(name)
      value.nil? || value == '' ? [] : [flag(name), munge(name, value)]
    end
  end

  def addcmd
    own_group = !@resource.should(:gid) && Puppet::Util.gid(@resource[:name]) ? ['-g', @resource[:name]] : []
    [command(:add), *own_group, *add_properties, *check_allow_dup, *check_manage_home, *check_system_users, @resource[:name]]
  end

  def modifycmd(param, value)
    [command(property_manages_password_age?(param) ? :password : :modify), flag(param), value,
     *(param == :uid ? check_allow_dup : []), @resource[:name]]
  end

  def deletecmd = [command(:delete), *(@resource.managehome? ? ['-r'] : []), @resource[:name]]

  def passcmd
    limits = %i[password_min_age password_max_age password_warn_days].select { |name| @resource.should(name) }
    return nil if limits.empty?

    [command(:password), *limits.flat_map { |name| [flag(name), @resource.should(name)] }, @resource[:name]]
  end

  def create
    check_valid_shell if @resource[:shell]
    super
    set_password = @resource[:password]
    self.password = set_password if set_password
  end
end
