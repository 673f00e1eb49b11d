require 'puppet'
require 'yaml'

Puppet::Reports.register_report(:tell) do
  desc 'Tells what is in a report.'

  def process
    Puppet.notice([report_name, host, status, environment, report_format, logs.length, logs.first.level.inspect, exit_status].join(' '))
    Puppet.notice("#{metrics['resources']['total']} #{metrics['events'].values.inspect}")
    resource_statuses.each do |name, s|
      next unless s.changed || s.failed

      Puppet.notice("#{name} #{s.failed} #{s.resource_type} #{s.events.map { |e| "#{e.property} #{e.status} #{e.desired_value} #{e.time.class}" }}")
    end
    Puppet.notice("#{self.class} #{time.class} #{raw_summary.keys}")
  end
end
