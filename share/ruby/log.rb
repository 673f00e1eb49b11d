# frozen_string_literal: true
# Puppet::Util::Log: log messages and their destinations. Messages of Ruby code go to Bunraku, and
# also to destinations that Ruby code adds.

require 'set'
require 'time'

module Puppet
  module Util
    # Tags of resources and messages.
    class TagSet < ::Set
      def self.from_data_hash(data) = new(data)
      def to_data_hash = to_a
      def to_yaml(...) = to_a.to_yaml(...)
      def join(*args) = to_a.join(*args)
    end

    module Tagging
      ValidTagRegex = /\A[[:alnum:]_][[:alnum:]_:.-]*\Z/u

      def tag(*names)
        @tags ||= TagSet.new
        names.flatten.compact.each do |given|
          name = given.to_s.downcase
          unless valid_tag?(name)
            error = Puppet::ParseError.new("Invalid tag '#{name}'")
            raise error
          end
          @tags.merge(name.include?('::') ? [name, *name.split('::')] : [name])
        end
      end

      def tag_if_valid(name)
        tag(name) if name.is_a?(::String) && valid_tag?(name)
      end

      def tagged?(*names) = names.flatten.any? { |name| tags.include?(name.to_s.downcase) }
      def raw_tagged?(names) = names.any? { |name| tags.include?(name) }
      def set_tags(source) = @tags = source.tags
      def tags = (@tags ||= TagSet.new).dup

      def merge_tags_from(source)
        @tags ||= TagSet.new
        source.respond_to?(:merge_into) ? source.merge_into(@tags) : @tags.merge(source.tags)
      end

      def merge_into(set)
        set.merge(@tags) unless @tags.nil?
      end

      def tags=(given)
        @tags = TagSet.new
        given = given.strip.split(/\s*,\s*/) if given.is_a?(::String)
        tag(*given) unless given.nil?
      end

      def valid_tag?(name)
        ValidTagRegex.match?(name.encode(::Encoding::UTF_8))
      rescue ::EncodingError
        false
      end
    end

    # Objects that are written to YAML as their to_data_hash, with their class as the tag.
    module PsychSupport
      def init_with(coder) = initialize_from_hash(coder.map)
      def encode_with(coder) = coder.represent_map("!ruby/object:#{self.class.name}", to_data_hash)
      def to_json(*args) = to_data_hash.to_json(*args)
    end

    class Log
      include Tagging
      include PsychSupport

      LEVELS = Puppet::LOG_LEVELS
      OPTIONAL = %w[file line pos issue_code environment node backtrace].freeze

      class << self
        def levels = LEVELS.dup
        def eachlevel(&block) = LEVELS.each(&block)
        def validlevel?(level) = LEVELS.include?(level)
        def level = Bunraku.log_level

        def level=(level)
          raise Puppet::DevError, "Invalid loglevel #{level}" unless validlevel?(level.to_sym)

          Bunraku.log_level = level.to_sym
        end

        def sendlevel?(level) = LEVELS.index(level) >= LEVELS.index(self.level)

        def create(args)
          raise Puppet::DevError, 'Logs require a level' unless args.include?(:level)
          raise Puppet::DevError, "Invalid log level #{args[:level]}" unless validlevel?(args[:level])

          made = new(args)
          sendlevel?(args[:level]) ? made : nil
        end

        def from_data_hash(data) = allocate.tap { |log| log.initialize_from_hash(data) }
        def destinations = (@destinations ||= {})

        # Adds an object that collects messages. Other destinations are ignored, because Bunraku
        # itself decides where it logs.
        def newdestination(destination)
          return if destinations.key?(destination)
          return if %w[console syslog eventlog].include?(destination.to_s) || destination.to_s.start_with?('/')

          taker = %i[handle <<].find { |m| destination.respond_to?(m) } unless destination.is_a?(Array)
          raise Puppet::DevError, "Unknown destination type #{destination}" unless taker && !destination.is_a?(::String)

          destinations[destination] = taker
        end

        def with_destination(destination)
          newdestination(destination)
          yield
        ensure
          close(destination)
        end

        def close(destination) = destinations.delete(destination)
        def close_all = destinations.clear
        def newmessage(log) = destinations.each { |destination, taker| destination.send(taker, log) }
        %i[flush force_flushqueue flushqueue reopen setup_default].each { |name| define_method(name) { nil } }
        def autoflush=(_value); end
        def queuemessage(_message) = nil

        # Returns the message that was just sent, for callers that use the return value.
        def sent(level, message, source)
          allocate.tap { |log| log.fill(level: level, message: message, source: source) }
        end
      end

      attr_accessor :time, :remote, :file, :line, :pos, :issue_code, :environment, :node, :backtrace
      attr_reader :level, :message, :source

      def initialize(args)
        fill(args)
        source = args[:source]
        Bunraku.log(level, message, source.is_a?(::String) || source.is_a?(Symbol) ? source.to_s : source)
        self.class.newmessage(self) if self.class.sendlevel?(level)
      end

      def fill(args)
        self.level = args[:level]
        self.message = args[:message]
        self.source = args[:source] || 'Puppet'
        @time = Bunraku::Reads.quiet { ::Time.now }
        tag(*args[:tags]) if args[:tags]
        OPTIONAL.each { |name| args[name.to_sym] && send("#{name}=", args[name.to_sym]) }
      end

      def initialize_from_hash(data)
        @level = data['level'].to_sym
        @message = data['message']
        @source = data['source']
        @tags = TagSet.new(data['tags'])
        @time = data['time'].is_a?(::String) ? ::Time.parse(data['time']) : data['time']
        OPTIONAL.each { |name| data[name] && send("#{name}=", data[name]) }
      end

      def to_data_hash
        { 'level' => @level.to_s, 'message' => to_s, 'source' => @source, 'tags' => @tags.to_a,
          'time' => @time.iso8601(9), 'file' => @file, 'line' => @line }
      end
      alias to_hash to_data_hash

      def to_structured_hash
        hash = { 'level' => @level, 'message' => @message, 'source' => @source, 'tags' => @tags.to_a, 'time' => @time.iso8601(9) }
        OPTIONAL.each { |name| instance_variable_defined?("@#{name}") && hash[name] = instance_variable_get("@#{name}") }
        hash
      end

      def message=(text)
        raise ArgumentError, 'Puppet::Util::Log requires a message' unless text

        @message = text.to_s
      end

      def level=(level)
        raise ArgumentError, 'Puppet::Util::Log requires a log level' unless level
        raise ArgumentError, 'Puppet::Util::Log requires a symbol or string' unless level.respond_to?(:to_sym)

        @level = level.to_sym
        raise ArgumentError, "Invalid log level #{@level}" unless self.class.validlevel?(@level)

        tag(level)
      end

      def source=(source)
        if defined?(Puppet::Type) && source.is_a?(Puppet::Type)
          @source = source.path
          merge_tags_from(source)
          self.file = source.file
          self.line = source.line
        else
          @source = source.to_s
        end
      end

      def to_report = "#{time} #{source} (#{level}): #{self}"

      def to_s
        return message if issue_code.nil?

        text = environment.nil? ? message : "Could not parse for environment #{environment}: #{message}"
        text += Puppet::Util::Errors.error_location_with_space(file, line, pos)
        text = "#{text} on node #{node}" unless node.nil?
        backtrace.is_a?(Array) ? "#{text}\n#{backtrace.join("\n")}" : text
      end
    end
  end

  Log = Util::Log

  # Collects messages for Puppet's test helpers.
  module Test
    class LogCollector
      def initialize(logs) = @logs = logs
      def <<(value) = @logs << value
    end
  end
end
