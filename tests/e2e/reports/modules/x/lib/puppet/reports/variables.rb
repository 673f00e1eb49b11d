Puppet::Reports.register_report(:variables) do
  def process
    v = instance_variables.map(&:to_s)
    format = v.include?('@environment') ? 3 : v.include?('@report_format') ? 2 : v.include?('@resource_statuses') ? 1 : 0
    Puppet.warning("format #{format} status #{instance_variable_get(:@status).inspect} " \
                   "log #{logs.first.instance_variables.map(&:to_s).sort.inspect}")
    yaml = begin
      YAML.load(to_yaml).class
    rescue StandardError
      'not plain'
    end
    events = resource_statuses.values.flat_map(&:events)
    Puppet.warning("property #{events.map { |e| e.property.class }.uniq.inspect} " \
                   "tags #{resource_statuses.values.first.tags.class} yaml #{yaml} server_used #{respond_to?(:server_used)}")
    Puppet.warning("metrics #{metrics['resources'].instance_variables.map(&:to_s).sort.inspect} " \
                   "#{metrics['resources']['total']} #{instance_variable_get(:@host)} #{v.include?('@data')}")
    failed = events.find { |e| e.status == 'failure' }
    Puppet.warning("event #{failed.name.inspect} #{failed.time.class}")
  end
end
