# frozen_string_literal: true
# The type package and the base classes of its providers, for providers of modules. Packages of
# built-in providers do not use this code (src/resources/apply/types/package).

Puppet::Type.newtype(:package) do
  feature :reinstallable, 'The provider can reinstall packages.', methods: [:reinstall]
  feature :installable, 'The provider can install packages.', methods: [:install]
  feature :uninstallable, 'The provider can remove packages.', methods: [:uninstall]
  feature :upgradeable, 'The provider can bring a package to its newest version.', methods: %i[update latest]
  feature :purgeable, 'The provider can remove a package with its configuration.', methods: [:purge]
  feature :versionable, 'The provider can install the version that is asked for.'
  feature :version_ranges, 'The provider understands ranges of versions.'
  feature :holdable, 'The provider can hold the version of a package.', methods: %i[hold unhold]
  feature :install_only, 'The provider can leave packages as they were installed.'
  feature :install_options, 'The provider takes options for installing.'
  feature :uninstall_options, 'The provider takes options for removing.'
  feature :disableable, 'The provider can disable packages.', methods: [:disable]
  feature :supports_flavors, 'The provider knows variants of a package.'
  feature :package_settings, 'The provider manages settings of a package.',
          methods: %i[package_settings_insync? package_settings package_settings=]
  feature :virtual_packages, 'The provider takes names of virtual packages.'
  feature :targetable, 'The provider can be told which program to use.'

  ensurable do
    attr_accessor :latest

    newvalue(:present, event: :package_installed) { provider.install }
    newvalue(:absent, event: :package_removed) { provider.uninstall }
    newvalue(:purged, event: :package_purged, required_features: :purgeable) { provider.purge }
    newvalue(:disabled, required_features: :disableable) { provider.disable }
    aliasvalue(:installed, :present)
    newvalue(:latest, required_features: :upgradeable) { could_update { provider.update } }
    newvalue(/./, required_features: :versionable) { could_update { provider.install } }
    defaultto :installed

    def could_update
      yield
    rescue StandardError => e
      fail Puppet::Error, "Could not update: #{e}", e
    end

    # Returns the newest version; the provider is queried at most every five minutes.
    def newest
      return @latest if @latest && @asked && Time.now - @asked < 300

      @asked = Time.now
      @latest = provider.latest
    rescue StandardError => e
      raise Puppet::Error, "Could not get latest version: #{e}", e.backtrace
    end

    def insync?(is)
      gone = %i[absent purged].include?(is)
      @should.each do |wanted|
        case wanted
        when :present then return true unless gone || is == :disabled
        when :absent then return true if gone
        when :purged then return true if is == :purged
        when :latest
          return false if gone

          newest
          return true if [is].flatten.include?(@latest) || is == :present

          debug "#{@resource.name} #{is.inspect} is installed, latest is #{@latest.inspect}"
        when *Array(is) then return true
        else return provider.insync?(is) if provider.respond_to?(:insync?)
        end
      end
      false
    end

    def retrieve = provider.properties[:ensure]
    def should_to_s(value = @should) = super(@latest || value)

    def change_to_s(current, desired)
      return 'purged' if desired == :purged
      return 'created' if [nil, :absent, :purged].include?(current) && !%i[absent purged].include?(desired)

      super
    end
  end

  newparam(:name) do
    isnamevar
    validate { |value| raise ArgumentError, "Name must be a String not #{value.class}" unless value.is_a?(String) }
  end
  newparam(:command, required_features: :targetable) { defaultto :default }
  define_singleton_method(:title_patterns) { [[/(.*)/m, [[:name]]]] }

  newproperty(:package_settings, required_features: :package_settings) do
    { validate: :unsafe_validate, munge: :unsafe_munge }.each do |asked, own|
      define_method(own) do |value|
        provider.respond_to?(:"package_settings_#{asked}") ? provider.send(:"package_settings_#{asked}", value) : super(value)
      end
    end
    def insync?(is) = provider.package_settings_insync?(should, is)

    def should_to_s(value) = provider.respond_to?(:package_settings_should_to_s) ? provider.package_settings_should_to_s(should, value) : super
    def is_to_s(value) = provider.respond_to?(:package_settings_is_to_s) ? provider.package_settings_is_to_s(should, value) : super
    def change_to_s(is, want) = provider.respond_to?(:package_settings_change_to_s) ? provider.package_settings_change_to_s(is, want) : super
  end
  newproperty(:flavor, required_features: :supports_flavors) do
    validate do |value|
      raise ArgumentError, 'Cannot have both `ensure => disabled` and `flavor`' if @resource[:ensure].to_s == 'disabled' && value
    end
  end
  newproperty(:mark, required_features: :holdable) do
    newvalues(:hold, :none)
    munge do |value|
      unless %w[hold none].include?(value.to_s)
        raise ArgumentError, "Invalid hold value #{value.inspect}. Valid values are: hold/none"
      end

      value.to_sym
    end
    def insync?(is) = @should[0] == is
    def retrieve = provider.properties[:mark]
    def sync = @should[0] == :hold ? provider.hold : provider.unhold
  end

  newparam(:source) { validate { |value| provider.validate_source(value) } }
  %i[instance status adminfile responsefile category platform root vendor description].each { |name| newparam(name) }
  newparam(:configfiles) do
    defaultto :keep
    newvalues(:keep, :replace)
  end
  newparam(:allowcdrom) { newvalues(:true, :false) }
  newparam(:enable_only, parent: Puppet::Parameter::Boolean) { defaultto false }
  newparam(:environment) do
    validate do |values|
      ::Kernel.Array(values).each do |value|
        raise ArgumentError, "Invalid environment setting '#{value}'" unless value =~ /\A\w+=/
      end
    end
  end
  newparam(:install_only, parent: Puppet::Parameter::Boolean, required_features: :install_only) { defaultto false }
  newparam(:install_options, parent: Puppet::Parameter::PackageOptions, required_features: :install_options)
  newparam(:uninstall_options, parent: Puppet::Parameter::PackageOptions, required_features: :uninstall_options)
  newparam(:allow_virtual, boolean: true, parent: Puppet::Parameter::Boolean, required_features: :virtual_packages) do
    defaultto { provider.class.respond_to?(:defaultto_allow_virtual) ? provider.class.defaultto_allow_virtual : true }
  end
  newparam(:reinstall_on_refresh) do
    newvalues(:true, :false)
    defaultto :false
  end

  autorequire(:file) do
    source = self[:source]
    [self[:responsefile], self[:adminfile], source && Puppet::Util.absolute_path?(source) ? source : nil].compact
  end

  def exists? = provider.get(:ensure) != :absent
  def present?(current) = super && current[:ensure] != :purged

  def clear
    @parameters[:ensure]&.latest = nil
  end

  def refresh
    return unless provider.feature?(:reinstallable) && self[:reinstall_on_refresh] == :true
    return if %i[purged absent].include?(self[:ensure])

    provider.reinstall
  end

  validate do
    if @parameters[:mark] && %i[absent purged].include?(should(:ensure))
      raise ArgumentError, 'You cannot use "mark" property while "ensure" is one of ["absent", "purged"]'
    end
  end
end

module Puppet
  class Provider
    class Package
      def self.prefetch(packages)
        instances.each do |found|
          wanted = packages[found.name]
          wanted.provider = found if wanted
        end
      end

      def flush = @property_hash.clear

      def properties
        gone = self.class.feature?(:purgeable) ? :purged : :absent
        if @property_hash.empty?
          @property_hash = query || {}
          @property_hash[:ensure] = gone if @property_hash.empty?
        end
        @property_hash.dup
      end

      def validate_source(_value) = true

      def join_options(options)
        options&.flat_map { |o| o.is_a?(::Hash) ? o.keys.sort.map { |k| "#{k}=#{o[k]}" } : [o] }
      end

      # Providers with the attribute command, which names the program to use.
      class Targetable < Package
        def self.prefetch(packages)
          mine = packages.values.select { |p| p.provider.instance_of?(self) }
          mine.map { |p| p.original_parameters[:command] }.uniq.each do |program|
            instances(program).each do |found|
              mine.each do |wanted|
                next unless wanted[:name] == found.name && wanted.original_parameters[:command] == program

                wanted.provider = found
              end
            end
          end
        end

        def self.validate_command(program)
          raise Puppet::Error, "Provider #{name} package command is not functional on this host" unless program
          raise Puppet::Error, "Provider #{name} package command '#{program}' does not exist on this host" unless ::File.file?(program)
        end

        def resource_or_provider_command = resource.original_parameters[:command] || self.class.provider_command
      end
    end
  end
end

Puppet::Type.type(:package).ancestor(:gem, parent: Puppet::Provider::Package::Targetable) do
  has_feature :versionable, :install_options, :uninstall_options, :targetable, :version_ranges
  has_command(:gemcmd, 'gem') { is_optional }

  class << self
    def specificity = default_match ? super : 1
    def provider_command = command(:gemcmd)

    def execute_gem_command(program, arguments, environment = {})
      validate_command(program)
      execute([program] << arguments, failonfail: true, combine: true,
                                      custom_environment: { 'HOME' => ENV.fetch('HOME', nil) }.merge(environment))
    end

    def instances(program = nil)
      program ||= provider_command or return []
      gemlist(command: program, local: true).map { |found| new(found.merge(command: program)) }
    end

    def gemlist(options)
      arguments = ['list', options[:local] ? '--local' : '--remote']
      arguments.push('--source', options[:source]) if options[:source]
      arguments << "\\A#{options[:justme]}\\z" if options[:justme]
      begin
        found = execute_gem_command(options[:command], arguments).lines.filter_map { |line| gemsplit(line) }
      rescue Puppet::ExecutionFailure => e
        raise Puppet::Error, "Could not list gems: #{e}", e.backtrace
      end
      options[:justme] ? found.first : found
    end

    def gemsplit(line)
      if (m = /^(\S+)\s+\((.+)\)/.match(line))
        { name: m[1], ensure: m[2].sub('default: ', '').split(/,\s*/).map { |v| v.split[0] }, provider: name }
      else
        Puppet.warning "Could not match #{line}" unless line.chomp.empty?
        nil
      end
    end
  end

  def insync?(is)
    return false if is.nil? || is == :absent

    wanted = Gem::Dependency.new('', range(@resource[:ensure].to_s))
    Array(is).any? { |version| wanted.match?('', version) }
  rescue ArgumentError
    false
  end

  # Splits ranges such as ">=1.0 <2.0" and "1.0, < 2" like RubyGems.
  def range(text) = text.include?(',') ? text.split(',') : text.scan(/[<>=~!]*\s*[^\s<>=~!]+/)

  def install(versioned = true)
    program = resource_or_provider_command
    arguments = ['install', *(resource[:install_options] ? install_options : [])]
    wanted = resource[:ensure]
    arguments.push('-v', range(wanted).map(&:strip).join(', ')) if versioned && !wanted.is_a?(Symbol)
    arguments << '--no-document'
    source = resource[:source]
    arguments.concat(source ? from_source(source) : [resource[:name]])
    said = self.class.execute_gem_command(program, arguments)
    fail "Could not install: #{said.chomp}" if said.include?('ERROR')
  end

  def from_source(source)
    begin
      uri = URI.parse(source)
    rescue StandardError => e
      fail Puppet::Error, "Invalid source '#{source}': #{e}", e
    end
    case uri.scheme
    when nil then [source]
    when /file/i then [uri.path]
    when 'puppet' then raise Puppet::Error, 'puppet:// URLs are not supported as gem sources'
    else ['--source', source.to_s, resource[:name]]
    end
  end

  def latest
    asked = { command: resource_or_provider_command, justme: resource[:name] }
    asked[:source] = resource[:source] if resource[:source]
    self.class.gemlist(asked)[:ensure][0]
  end

  def query
    program = resource_or_provider_command
    self.class.gemlist(command: program, justme: resource[:name], local: true)&.merge(command: program)
  end

  def uninstall
    arguments = ['uninstall', '--executables', '--all', resource[:name]]
    arguments += uninstall_options if resource[:uninstall_options]
    said = self.class.execute_gem_command(resource_or_provider_command, arguments)
    fail "Could not uninstall: #{said.chomp}" if said.include?('ERROR')
  end

  def update = install(false)
  def install_options = join_options(resource[:install_options])
  def uninstall_options = join_options(resource[:uninstall_options])
end

Puppet::Type.type(:package).ancestor(:puppet_gem, parent: :gem) do
  has_feature :versionable, :install_options, :uninstall_options, :targetable, :version_ranges
  has_command(:gemcmd, '/opt/puppetlabs/puppet/bin/gem') { is_optional }
end
