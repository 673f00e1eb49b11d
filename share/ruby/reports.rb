# frozen_string_literal: true
# Report processors of modules: puppet/reports/NAME.rb registers a module with `process`, which a copy
# of the report is extended with (Puppet 8.11, puppet/reports.rb).

require 'time'

module Puppet
  module Util
    # A group of figures.
    class Metric
      attr_accessor :type, :name, :value, :label
      attr_writer :values

      def self.from_data_hash(data)
        allocate.tap do |m|
          m.name = data['name']
          m.label = data['label'] || labelize(data['name'])
          m.values = data['values']
        end
      end

      def self.labelize(name) = name.to_s.capitalize.tr('_', ' ')
      def values = @values.sort_by { |v| v[1] }
      def [](name) = @values.find { |v| v[0] == name }&.fetch(2) || 0
      def newvalue(name, value, label = nil) = @values.push([name, label || self.class.labelize(name), value])
      def to_data_hash = { 'name' => @name, 'label' => @label, 'values' => @values }
    end
  end

  # What reports are made of: the data that was sent, with a reader for each field.
  module FromData
    def self.included(base) = base.extend(Fields)

    module Fields
      def fields(*names)
        names.each do |n|
          define_method(n) { @data[n.to_s] }
          define_method("#{n}=") { |v| @data[n.to_s] = v }
        end
      end

      def from_data_hash(data) = new(data)
    end

    def initialize(data) = @data = data
    def initialize_copy(_from) = @data = @data.dup
    def time = (at = @data['time']).is_a?(::String) ? ::Time.parse(at) : at
    def to_data_hash = @data
    def to_json(*args) = @data.to_json(*args)
    def to_yaml(*args) = @data.to_yaml(*args)
  end

  module Util
    # One message. What logs for itself is in 1_puppet.rb.
    class LogRecord
      include FromData
      fields :message, :source, :tags, :file, :line
      def level = @data['level']&.to_sym
      def level=(value)
        @data['level'] = value.to_s
      end

      def to_s = message.to_s
      def to_report = "#{time} #{"#{source} " unless source.to_s == 'Puppet'}(#{level}): #{self}"
    end
  end

  module Transaction
    class Event
      include FromData
      fields :audited, :property, :previous_value, :desired_value, :historical_value, :message, :name, :status, :redacted,
             :corrective_change
      def to_s = message.to_s
    end

    class Report
      include FromData
      fields :host, :transaction_uuid, :configuration_version, :puppet_version, :report_format, :status, :noop, :noop_pending,
             :environment, :corrective_change, :catalog_uuid, :code_id, :job_id, :cached_catalog_status, :transaction_completed
      attr_reader :logs, :metrics, :resource_statuses

      def initialize(data)
        super
        @logs = data['logs'].map { |l| Util::LogRecord.new(l) }
        @metrics = data['metrics'].transform_values { |m| Util::Metric.from_data_hash(m) }
        @resource_statuses = data['resource_statuses'].transform_values { |s| Resource::Status.new(s) }
      end

      alias name host
      def exit_status
        status = 0
        return status unless (changes = metrics['changes']) && (resources = metrics['resources'])

        status |= 2 if changes['total'].positive?
        status |= 4 if resources['failed'].positive? || resources['failed_to_restart'].positive?
        status
      end

      def raw_summary
        out = { 'version' => { 'config' => configuration_version, 'puppet' => puppet_version },
                'application' => { 'run_mode' => Puppet.run_mode.name.to_s, 'initial_environment' => environment, 'converged_environment' => environment } }
        metrics.each { |name, m| out[name] = m.values.to_h { |v| [v[0], v[2]] } }
        (out['time'] ||= {})['last_run'] = ::Time.now.to_i
        %w[resources changes events].each { |n| out[n] ||= {} }
        out
      end

      def summary
        raw_summary.sort.map do |section, values|
          rows = values.reject { |_, v| v.is_a?(Numeric) && v.zero? }.sort_by { |n, v| [n == 'total' ? 1 : 0, v.to_s] }
          "#{Util::Metric.labelize(section)}:\n" +
            rows.map { |n, v| Kernel.format("   %15s %s\n", "#{Util::Metric.labelize(n)}:", v.is_a?(Float) ? Kernel.format('%0.2f', v) : v) }.join
        end.join
      end
    end
  end

  class Resource
    class Status
      include FromData
      fields :title, :file, :line, :resource, :resource_type, :provider_used, :containment_path, :evaluation_time, :tags, :failed,
             :failed_to_restart, :changed, :out_of_sync, :skipped, :change_count, :out_of_sync_count, :corrective_change
      %i[failed failed_to_restart changed out_of_sync skipped corrective_change].each { |n| define_method("#{n}?") { @data[n.to_s] ? true : false } }

      def events = @events ||= @data['events'].map { |e| Transaction::Event.new(e) }
      def each(&block) = events.each(&block)
      def to_s = resource
    end
  end

  module Reports
    @reports = {}

    class << self
      def register_report(name, options = {}, &block)
        made = ::Module.new
        made.extend(Puppet::Util::Docs)
        made.define_singleton_method(:to_s) { name.to_s }
        made.send(:include, Puppet::Util)
        made.define_method(:report_name) { name }
        made.define_singleton_method(:options) { options }
        made.define_singleton_method(:useyaml=) { |_| nil }
        made.module_eval(&block)
        @reports[name.to_sym] = made
      end

      def report(name)
        name = name.to_sym
        return @reports[name] if @reports.key?(name)

        path = Bunraku.find_code("puppet/reports/#{name}") or return nil
        ::Kernel.load(path)
        @reports[name]
      end

      def reports = @reports.keys

      # False: no module has a processor of that name.
      def process(name, data)
        processor = report(name) or return false
        report = Transaction::Report.new(data)
        report.extend(processor)
        report.process
        true
      end
    end
  end
end
