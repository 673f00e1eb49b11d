# frozen_string_literal: true
# The type service and the base classes of its providers, for providers of modules. Services of
# built-in providers do not use this code (src/resources/apply/types/service).

Puppet::Type.newtype(:service) do
  feature :refreshable, 'The provider can restart the service.', methods: [:restart]
  feature :enableable, 'The provider can enable and disable the service.', methods: %i[disable enable enabled?]
  feature :delayed_startable, 'The provider can delay the start.', methods: [:delayed_start]
  feature :manual_startable, 'The provider can leave the start to people.', methods: [:manual_start]
  feature :controllable, 'The provider uses a control variable.'
  feature :flaggable, 'The provider can pass flags to the service.'
  feature :maskable, 'The provider can mask the service.', methods: [:mask]
  feature :configurable_timeout, 'The provider takes a time within which a change must be done.'
  feature :manages_logon_credentials, 'The provider can say as whom the service runs.'

  newproperty(:enable, required_features: :enableable) do
    newvalue(:true, event: :service_enabled) { provider.enable }
    newvalue(:false, event: :service_disabled) { provider.disable }
    newvalue(:manual, event: :service_manual_start, required_features: :manual_startable) { provider.manual_start }
    newvalue(:mask, event: :service_disabled, required_features: :maskable) { provider.mask }
    newvalue(:delayed, event: :service_delayed_start, required_features: :delayed_startable) { provider.delayed_start }
    def retrieve = provider.enabled?
    def insync?(is) = provider.respond_to?(:enabled_insync?) ? provider.enabled_insync?(is) : super
  end

  newproperty(:ensure) do
    newvalue(:stopped, event: :service_stopped) { provider.stop }
    newvalue(:running, event: :service_started, invalidate_refreshes: true) { provider.start }
    aliasvalue(:false, :stopped)
    aliasvalue(:true, :running)
    def retrieve = provider.status

    def sync
      settle(:logonaccount)
      super
      settle(:enable)
    end

    # Brings another property in sync after the service was started or stopped.
    def settle(name)
      other = @resource.property(name) or return
      other.sync unless other.safe_insync?(other.retrieve)
    end
  end

  newproperty(:logonaccount, required_features: :manages_logon_credentials) do
    def insync?(is) = provider.respond_to?(:logonaccount_insync?) ? provider.logonaccount_insync?(is) : super
  end
  newproperty(:flags, required_features: :flaggable)
  newparam(:logonpassword, required_features: :manages_logon_credentials) do
    validate { |value| raise ArgumentError, "Passwords cannot include ':'" if value.is_a?(String) && value.include?(':') }
    sensitive true
    defaultto { @resource[:logonaccount] ? '' : nil }
  end
  newparam(:binary)
  newparam(:hasstatus) do
    newvalues(:true, :false)
    defaultto :true
  end
  newparam(:name) { isnamevar }
  newparam(:path) do
    munge { |value| [value].flatten.flat_map { |p| p.split(File::PATH_SEPARATOR) } }
    defaultto { provider.class.defpath if provider.class.respond_to?(:defpath) }
  end
  newparam(:pattern) { defaultto { @resource[:binary] || @resource[:name] } }
  %i[restart start status stop].each { |name| newparam(name) }
  newparam(:control) do
    defaultto { "#{resource.name.tr('.', '_').upcase}_START" if resource.provider.feature?(:controllable) }
  end
  newparam(:hasrestart) { newvalues(:true, :false) }
  newparam(:manifest)
  newparam(:timeout, required_features: :configurable_timeout) do
    defaultto { provider.respond_to?(:default_timeout) ? provider.default_timeout : 10 }
    munge do |value|
      next value.to_i if value.to_i.positive?

      raise Puppet::Error, "\"#{value.to_i}\" is not a positive integer: the timeout parameter must be specified as a positive integer"
    end
  end

  def refresh
    if (@parameters[:ensure] || newattr(:ensure)).retrieve == :running
      provider.restart
    else
      debug 'Skipping restart; service is not running'
    end
  end

  # A stopped service has other properties as well.
  def retrieve = properties.to_h { |p| [p.name, p.retrieve] }

  validate do
    if @parameters[:logonpassword] && @parameters[:logonaccount].nil?
      raise Puppet::Error, "The 'logonaccount' parameter is mandatory when setting 'logonpassword'."
    end
  end
end

Puppet::Type.type(:service).ancestor(:service) do
  define_singleton_method(:instances) { [] }
  define_method(:restartcmd) { nil }

  def restart
    if @resource[:restart] || restartcmd
      service_command(:restart)
      nil
    else
      stop
      start
    end
  end

  def service_execute(type, command, must_work = true, squelch = false, combine = true)
    execute(command, failonfail: must_work, override_locale: false, squelch: squelch, combine: combine)
  rescue Puppet::ExecutionFailure => e
    @resource.fail Puppet::Error, "Could not #{type} #{@resource.ref}: #{e}", e
  end

  def service_command(type, must_work = true)
    own = @resource[type]
    service_execute(type, own ? [own] : [send(:"#{type}cmd")].flatten, must_work)
  end

  def texecute(...)
    service_execute(...)
    nil
  end

  def ucommand(type, must_work = true)
    service_command(type, must_work)
    nil
  end
end

Puppet::Type.type(:service).ancestor(:base, parent: :service) do
  commands kill: 'kill'
  define_method(:statuscmd) { nil }
  define_method(:stopcmd) { nil }
  def startcmd = @resource[:binary] || raise(Puppet::Error, 'Services must specify a start command or a binary')

  def getpid
    @resource.fail 'Either stop/status commands or a pattern must be specified' unless @resource[:pattern]
    pattern = Regexp.new(@resource[:pattern])
    debug "Executing 'ps -ef'"
    Puppet::Util::Execution.execute('ps -ef').scrub.each_line do |line|
      next unless pattern.match?(line)

      debug "Process matched: #{line}"
      return line.strip.split(/[[:space:]]+/)[1]
    end
    nil
  end
  private :getpid

  def status
    if @resource[:status] || statuscmd
      service_command(:status, false).exitstatus.zero? ? :running : :stopped
    elsif (pid = getpid)
      debug "PID is #{pid}"
      :running
    else
      :stopped
    end
  end

  def start
    service_command(:start)
    nil
  end

  def stop
    if @resource[:stop] || stopcmd
      service_command(:stop)
      return nil
    end
    pid = getpid
    unless pid
      info "#{name} is not running"
      return false
    end
    begin
      kill pid
    rescue Puppet::ExecutionFailure => e
      @resource.fail Puppet::Error, "Could not kill #{name}, PID #{pid}: ", e
    end
    true
  end
end

Puppet::Type.type(:service).ancestor(:init, parent: :base) do
  class << self
    def defpath = ['/etc/init.d']
    def excludes = %w[functions.sh reboot.sh shutdown.sh functions halt killall single linuxconf reboot boot rcS]
    def instances = get_services(defpath)

    def get_services(paths, skipped = excludes)
      Array(paths).select { |p| File.directory?(p) }.flat_map do |path|
        Dir.children(path).sort.filter_map do |name|
          full = File.join(path, name)
          next if name.start_with?('.') || skipped.include?(name) || File.directory?(full) || !File.executable?(full)

          new(name: name, path: path, hasstatus: true)
        end
      end
    end
  end

  def paths
    @paths ||= Array(@resource[:path]).select do |path|
      next true if File.directory?(path)

      debug File.exist?(path) ? "Search path #{path} is not a directory" : "Search path #{path} does not exist"
      false
    end
  end

  def search(name)
    ['', '.sh'].each do |ending|
      paths.each do |path|
        found = File.join(path, "#{name}#{ending}")
        return found if File.exist?(found)

        debug("Could not find #{name}#{ending} in #{path}")
      end
    end
    raise Puppet::Error, "Could not find init script for '#{name}'"
  end

  def initscript = (@initscript ||= search(@resource[:name]))
  def startcmd = [initscript, :start]
  def stopcmd = [initscript, :stop]
  def restartcmd = @resource[:hasrestart] == :true && [initscript, :restart]
  def statuscmd = @resource[:hasstatus] == :true && [initscript, :status]
end

Puppet::Type.type(:service).ancestor(:systemd, parent: :base) do
  commands systemctl: 'systemctl'
  has_feature :maskable

  define_singleton_method(:instances) do
    systemctl('list-unit-files', '--type', 'service', '--full', '--all', '--no-pager').split("\n").filter_map do |line|
      m = /^(\S+)\s+(disabled|enabled|masked|indirect|bad|static)\s*/i.match(line)
      new(name: m[1]) if m && !%w[indirect bad].include?(m[2])
    end
  rescue Puppet::ExecutionFailure
    []
  end

  def startcmd = [command(:systemctl), 'start', '--', @resource[:name]]
  def stopcmd = [command(:systemctl), 'stop', '--', @resource[:name]]
  def statuscmd = [command(:systemctl), 'is-active', '--', @resource[:name]]
  def restartcmd = [command(:systemctl), 'restart', '--', @resource[:name]]

  def enabled?
    said = execute([command(:systemctl), 'is-enabled', '--', @resource[:name]], failonfail: false).strip
    return :mask if said == 'masked'

    %w[enabled enabled-runtime static indirect generated alias].include?(said) ? :true : :false
  end

  def systemctl_change(verb, text = verb)
    systemctl(verb, '--', @resource[:name])
  rescue Puppet::ExecutionFailure => e
    raise Puppet::Error, "Could not #{text} #{name}: #{e}", e.backtrace
  end

  def enable
    systemctl_change(:unmask)
    systemctl_change(:enable)
  end

  def disable = systemctl_change(:disable)

  def mask
    disable
    systemctl_change(:mask)
  end

  def status
    @resource[:status] ? super : (service_command(:status, false).exitstatus.zero? ? :running : :stopped)
  end
end
