# frozen_string_literal: true
# The type group, for providers of modules. Groups of the built-in provider do not use this code
# (src/resources/apply/types/group).
Bunraku.part('name_service')

Puppet::Type.newtype(:group) do
  feature :manages_members, 'The provider keeps the members with the group.'
  feature :manages_aix_lam, 'The provider manages modules of AIX.'
  feature :system_groups, 'The provider makes system groups.'
  feature :manages_local_users_and_groups, 'The provider can keep to the files of this machine.'

  ensurable do
    newvalue(:present) { provider.create }
    newvalue(:absent) { provider.delete }
    defaultto :present
  end

  newproperty(:gid) do
    def retrieve = provider.gid

    def sync
      raise Puppet::DevError, 'GID cannot be deleted' if should == :absent

      provider.gid = should
    end

    munge do |gid|
      next gid unless gid.is_a?(String)

      gid.match?(/^[-0-9]+$/) ? Integer(gid) : fail("Invalid GID #{gid}")
    end
  end

  newproperty(:members, array_matching: :all, required_features: :manages_members) do
    validate { |value| provider.respond_to?(:member_valid?) ? provider.member_valid?(value) : true }
    def insync?(is) = provider.respond_to?(:members_insync?) ? provider.members_insync?(is, @should) : super
    def should_to_s(value) = is_to_s(actual_should(retrieve, value))

    def is_to_s(value)
      return super unless provider.respond_to?(:members_to_s)

      provider.members_to_s(value.is_a?(Array) ? value : value.to_s.split(','))
    end

    def change_to_s(current, desired)
      desired = actual_should(current, desired)
      current = current.join(',') unless current == :absent
      super(current, desired.join(','))
    end

    def actual_should(current, desired)
      wanted = listed(desired)
      wanted = listed(current) + wanted unless @resource[:auth_membership]
      wanted.uniq.sort
    end

    def listed(value)
      return [] if value == :absent

      value.is_a?(String) ? value.split(',') : value
    end
  end

  newparam(:auth_membership, boolean: true, parent: Puppet::Parameter::Boolean) { defaultto false }
  newparam(:name) { isnamevar }
  newparam(:allowdupe, boolean: true, parent: Puppet::Parameter::Boolean) { defaultto false }
  newparam(:ia_load_module, required_features: :manages_aix_lam)
  newproperty(:attributes, parent: Puppet::Property::KeyValue, required_features: :manages_aix_lam) do
    define_method(:membership) { :attribute_membership }
    define_method(:delimiter) { ' ' }
  end
  newparam(:attribute_membership) do
    newvalues(:inclusive, :minimum)
    defaultto :minimum
  end
  newparam(:system, boolean: true, parent: Puppet::Parameter::Boolean) { defaultto false }
  newparam(:forcelocal, boolean: true, required_features: :manages_local_users_and_groups, parent: Puppet::Parameter::Boolean) { defaultto false }

  autorequire(:user) do
    @parameters[:members] && should(:auth_membership) ? Array(should(:members)) : []
  end
end

Puppet::Type.type(:group).ancestor(:groupadd, parent: Puppet::Provider::NameService::ObjectAdd) do
  commands add: 'groupadd', delete: 'groupdel', modify: 'groupmod'
  has_feature :system_groups
  options :members, flag: '-aU', method: :mem
  verify(:gid, 'GID must be an integer') { |value| value.is_a?(Integer) }

  def check_allow_dup = @resource.allowdupe? ? ['-o'] : []

  def addcmd
    gid = @resource.should(:gid)
    [command(:add), *(gid && gid != :absent ? [flag(:gid), gid] : []), *check_allow_dup, *(@resource.system? ? ['-r'] : []), @resource[:name]]
  end

  def modifycmd(param, value) = [command(:modify), flag(param), value, *(param == :gid ? check_allow_dup : []), @resource[:name]]
end
