# frozen_string_literal: true
# Reports and the report processors of modules. puppet/reports/NAME.rb registers a module with
# `process`, and a copy of the report is extended with it. Processors read instance variables, so
# these have the names of Puppet 8.11.

Bunraku.part('log')

module Puppet
  module Util
    # A group of metrics.
    class Metric
      include PsychSupport
      attr_accessor :type, :name, :value, :label
      attr_writer :values

      def self.from_data_hash(data) = allocate.tap { |metric| metric.initialize_from_hash(data) }
      def self.labelize(name) = name.to_s.capitalize.tr('_', ' ')

      def initialize(name, label = nil)
        @name = name.to_s
        @label = label || self.class.labelize(name)
        @values = []
      end

      def initialize_from_hash(data)
        @name = data['name']
        @label = data['label'] || self.class.labelize(@name)
        @values = data['values']
      end

      def values = @values.sort_by { |v| v[1] }
      def [](name) = @values.find { |v| v[0] == name }&.fetch(2) || 0

      def newvalue(name, value, label = nil)
        raise ArgumentError, "metric name #{name.inspect} is not a string" unless name.is_a?(::String)

        @values.push([name, label || self.class.labelize(name), value])
      end

      def to_data_hash = { 'name' => @name, 'label' => @label, 'values' => @values }
    end
  end

  class Transaction
    class Event
      include Util::Tagging
      include Util::Logging
      include Util::PsychSupport

      ATTRIBUTES = %i[name resource property previous_value desired_value historical_value status message file line
                      source_description audited invalidate_refreshes redacted corrective_change].freeze
      EVENT_STATUSES = %w[noop success failure audit].freeze
      attr_accessor(*ATTRIBUTES, :time)
      attr_reader :default_log_level

      def self.from_data_hash(data) = allocate.tap { |event| event.initialize_from_hash(data) }

      def initialize(audited: false, corrective_change: false, desired_value: nil, file: nil, historical_value: nil,
                     invalidate_refreshes: nil, line: nil, message: nil, name: nil, previous_value: nil, property: nil,
                     redacted: false, resource: nil, source_description: nil, status: nil, tags: nil)
        @audited = audited
        @corrective_change = corrective_change
        @desired_value = desired_value
        @file = file
        @historical_value = historical_value
        @invalidate_refreshes = invalidate_refreshes
        @line = line
        @message = message
        @name = name
        @previous_value = previous_value
        @redacted = redacted
        @source_description = source_description
        @tags = tags
        self.property = property if property
        self.resource = resource if resource
        self.status = status if status
        @time = ::Time.now
      end

      def initialize_from_hash(data)
        @audited = data['audited']
        @property = data['property']
        @previous_value = data['previous_value']
        @desired_value = data['desired_value']
        @historical_value = data['historical_value']
        @message = data['message']
        @name = data['name']&.to_sym
        @status = data['status']
        @time = data['time'].is_a?(::String) ? ::Time.parse(data['time']) : data['time']
        @redacted = data.fetch('redacted', false)
        @corrective_change = data['corrective_change']
      end

      def to_data_hash
        { 'audited' => @audited, 'property' => @property, 'previous_value' => @previous_value,
          'desired_value' => @desired_value, 'historical_value' => @historical_value, 'message' => @message,
          'name' => @name&.to_s, 'status' => @status, 'time' => @time.iso8601(9), 'redacted' => @redacted,
          'corrective_change' => @corrective_change }
      end

      def property=(property)
        @property_instance = property
        @property = property.to_s
      end

      def resource=(resource)
        @default_log_level = resource[:loglevel] if resource.respond_to?(:[]) && !resource.is_a?(::String)
        @resource = resource.to_s
      end

      def status=(value)
        raise ArgumentError, "Event status can only be #{EVENT_STATUSES.join(', ')}" unless EVENT_STATUSES.include?(value)

        @status = value
      end

      def send_log = Puppet::Util::Logging.instance_method(:send_log).bind_call(self, status == 'failure' ? :err : (@default_log_level || :notice), message)
      def to_s = message.to_s
      def inspect = %(#<#{self.class.name} @name="#{@name.inspect}" @message="#{@message.inspect}">)
      def ==(other) = other.class == self.class && ATTRIBUTES.all? { |a| send(a) == other.send(a) }
      alias eql? ==
      def hash = ATTRIBUTES.map { |a| send(a) }.hash
    end

    class Report
      include Util::PsychSupport

      attr_accessor :configuration_version, :transaction_uuid, :code_id, :job_id, :catalog_uuid, :cached_catalog_status,
                    :server_used, :host, :environment, :initial_environment, :noop_pending, :resources_failed_to_generate,
                    :transaction_completed
      attr_reader :resource_statuses, :logs, :metrics, :time, :status, :puppet_version, :report_format, :noop,
                  :corrective_change
      # Only included if they have a value.
      OPTIONAL = %w[server_used catalog_uuid job_id code_id cached_catalog_status].freeze
      TOTAL = 'total'

      def self.from_data_hash(data) = allocate.tap { |report| report.initialize_from_hash(data) }

      def initialize(configuration_version = nil, environment = nil, transaction_uuid = nil, job_id = nil, start_time = ::Time.now)
        @metrics = {}
        @logs = []
        @resource_statuses = {}
        @external_times = {}
        @host = Puppet[:node_name_value]
        @time = start_time
        @report_format = 12
        @puppet_version = Puppet.version
        @configuration_version = configuration_version
        @transaction_uuid = transaction_uuid
        @job_id = job_id
        @environment = environment
        @status = 'failed'
        @noop = Puppet[:noop]
        @noop_pending = @corrective_change = @transaction_completed = false
        (OPTIONAL - ['job_id']).each { |name| instance_variable_set("@#{name}", nil) }
      end

      def initialize_from_hash(data)
        %w[puppet_version report_format configuration_version transaction_uuid environment status transaction_completed noop
           noop_pending host time corrective_change].each { |name| instance_variable_set("@#{name}", data[name]) }
        OPTIONAL.each { |name| data[name] && instance_variable_set("@#{name}", data[name]) }
        @server_used = data['master_used'] if @server_used.nil? && data['master_used']
        @time = ::Time.parse(@time) if @time.is_a?(::String)
        @metrics = data['metrics'].transform_values { |m| Util::Metric.from_data_hash(m) }
        @logs = data['logs'].map { |log| Util::Log.from_data_hash(log) }
        @resource_statuses = data['resource_statuses'].transform_values { |s| s.nil? || s.empty? ? nil : Resource::Status.from_data_hash(s) }
      end

      def to_data_hash
        hash = { 'host' => @host, 'time' => @time.iso8601(9) }
        %w[configuration_version transaction_uuid report_format puppet_version status transaction_completed noop noop_pending
           environment].each { |name| hash[name] = instance_variable_get("@#{name}") }
        hash['logs'] = @logs.map(&:to_data_hash)
        hash['metrics'] = @metrics.transform_values(&:to_data_hash)
        hash['resource_statuses'] = @resource_statuses.transform_values { |s| s&.to_data_hash }
        hash['corrective_change'] = @corrective_change
        OPTIONAL.each { |name| (value = instance_variable_get("@#{name}")).nil? || hash[name] = value }
        hash
      end

      def name = host

      def <<(log)
        @logs << log
        self
      end

      def add_metric(name, values)
        metric = Util::Metric.new(name)
        values.each { |label, value| metric.newvalue(label, value) }
        @metrics[metric.name] = metric
      end

      def add_times(name, value, accumulate = true)
        @external_times[name] = accumulate && @external_times[name] ? @external_times[name] + value : value
      end

      def add_resource_status(status) = @resource_statuses[status.resource] = status
      def has_noop_events?(resource) = resource.events.any? { |event| event.status == 'noop' }
      def resource_unchanged?(status) = %i[failed failed_to_restart out_of_sync skipped].none? { |state| status.send(state) }

      def exit_status
        changes = @metrics['changes']
        resources = @metrics['resources']
        return -1 unless changes && resources

        status = changes[TOTAL].positive? ? 2 : 0
        status |= 4 if resources['failed'].positive? || resources['failed_to_restart'].positive?
        status
      end

      def raw_summary
        out = { 'version' => { 'config' => configuration_version, 'puppet' => Puppet.version },
                'application' => { 'run_mode' => Puppet.run_mode.name.to_s, 'initial_environment' => initial_environment,
                                   'converged_environment' => environment } }
        @metrics.each_value do |metric|
          out[metric.name.to_s] = metric.values.to_h { |name, _label, value| [name.to_s, value] }
          out[metric.name.to_s][TOTAL] ||= 0 unless metric.name.to_s == 'time'
        end
        (out['time'] ||= {})['last_run'] = ::Time.now.tv_sec
        out
      end

      def summary
        raw_summary.sort.map do |section, values|
          order = ->(a, b) { a == TOTAL ? 1 : b == TOTAL ? -1 : values[a].to_s <=> values[b].to_s }
          rows = values.keys.sort(&order).reject { |name| values[name] == 0 } # rubocop:disable Style/NumericPredicate: texts, too
          "#{Util::Metric.labelize(section)}:\n" + rows.map do |name|
            value = values[name].is_a?(::Float) ? Kernel.format('%0.2f', values[name]) : values[name]
            Kernel.format("   %15s %s\n", "#{Util::Metric.labelize(name)}:", value)
          end.join
        end.join
      end
    end
  end

  class Resource
    class Status
      include Util::PsychSupport
      include Util::Tagging

      STATES = %i[skipped failed failed_to_restart restarted changed out_of_sync scheduled corrective_change].freeze
      attr_accessor :file, :line, :evaluation_time, :provider_used, :failed_dependencies, *STATES
      attr_reader :source_description, :containment_path, :time, :resource, :change_count, :out_of_sync_count,
                  :resource_type, :title, :events

      STATES.each { |state| define_method("#{state}?") { send(state) ? true : false } }

      def self.from_data_hash(data) = allocate.tap { |status| status.initialize_from_hash(data) }

      def initialize_from_hash(data)
        %w[resource_type provider_used title resource containment_path file line evaluation_time change_count out_of_sync_count
           tags time out_of_sync changed skipped failed failed_to_restart corrective_change].each do |name|
          instance_variable_set("@#{name}", data[name])
        end
        @tags = Util::TagSet.new(@tags)
        @time = ::Time.parse(@time) if @time.is_a?(::String)
        @events = data['events'].map { |event| Transaction::Event.from_data_hash(event) }
      end

      def to_data_hash
        hash = %w[title file line resource resource_type provider_used containment_path evaluation_time tags time failed
                  failed_to_restart changed out_of_sync skipped change_count out_of_sync_count events
                  corrective_change].to_h { |name| [name, instance_variable_get("@#{name}")] }
        hash.merge('tags' => @tags.to_a, 'time' => @time.iso8601(9), 'failed_to_restart' => failed_to_restart?,
                   'events' => @events.map(&:to_data_hash))
      end

      def dependency_failed? = failed_dependencies && !failed_dependencies.empty?

      def add_event(event)
        @events << event
        case event.status
        when 'failure' then @failed = true
        when 'success'
          @change_count += 1
          @changed = true
        end
        if event.status != 'audit'
          @out_of_sync_count += 1
          @out_of_sync = true
        end
        @corrective_change = true if event.corrective_change
      end

      def <<(event)
        add_event(event)
        self
      end
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

        path = file_of("puppet/reports/#{name}.rb") or return nil
        ::Kernel.load(path)
        @reports[name]
      end

      # Folders in which packages install processors, in addition to Puppet's own libraries.
      VENDOR = %w[/usr/lib/ruby/vendor_ruby /usr/share/ruby/vendor_ruby /opt/puppetlabs/puppet/lib/ruby/vendor_ruby].freeze

      # Searches the modules, Ruby's load path and the gems.
      def file_of(name)
        path = Bunraku.find_code(name.delete_suffix('.rb'))
        path ||= ($LOAD_PATH + VENDOR).map { |folder| "#{folder}/#{name}" }.find { |file| ::File.file?(file) }
        return path if path

        require 'rubygems' unless Bunraku.gems?
        Gem.find_latest_files(name, false).first
      end

      def reports = @reports.keys

      # Returns false if no processor has that name.
      def process(name, data)
        processor = report(name) or return false
        report = Transaction::Report.from_data_hash(data)
        report.extend(processor)
        report.process
        true
      end
    end
  end
end
