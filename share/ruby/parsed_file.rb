# frozen_string_literal: true
# Providers whose resources are the lines of a file: parsing and formatting of lines, and the base
# class that stores them for all resources of a run.

module Puppet
  module Util
    class FileType
      class FileReadError < Puppet::Error; end

      class << self
        attr_accessor :name

        # Each class has its own hash in this instance variable, which modules examine to see
        # whether they were loaded before.
        def filetypes = (@filetypes ||= {})
        def filetype(name) = filetypes[name.to_sym] || (equal?(FileType) ? nil : FileType.filetype(name))

        def newfiletype(name, &block)
          made = ::Class.new(self, &block)
          made.name = name.to_sym
          filetypes[name.to_sym] = made
        end
      end

      attr_reader :path
      attr_accessor :synced, :loaded

      def initialize(path, default_mode = nil)
        raise ArgumentError, "Filetype #{self.class.name} needs a path" unless path

        @path = path
        @default_mode = default_mode
      end

      def backup = nil
      def remove = ::File.exist?(@path) ? ::File.unlink(@path) : nil

      # A plain file. It is replaced in one step by a new file with the same owner and mode.
      newfiletype(:flat) do
        def read
          return nil unless ::File.exist?(@path)

          ::File.read(@path, encoding: ::Encoding.default_external)
        rescue SystemCallError => e
          raise FileReadError, "#{self.class.name} could not read #{@path}: #{e}"
        end

        def write(text)
          require 'tempfile'
          before = ::File.exist?(@path) ? ::File.stat(@path) : nil
          real = before ? ::File.realpath(@path) : @path
          ::Tempfile.create('bunraku', ::File.dirname(real)) do |file|
            file.write(text)
            file.flush
            file.fsync
            mode = before ? before.mode & 0o7777 : @default_mode || 0o600
            file.chmod(mode)
            file.chown(before.uid, before.gid) if before && ::Process.uid.zero?
            ::File.rename(file.path, real)
          end
        end
      end

      # A file in memory.
      newfiletype(:ram) do
        def self.texts = (@texts ||= {})
        def read = self.class.texts[@path] || ''
        def write(text) = self.class.texts[@path] = text
      end
    end

    # Converts lines to records and back.
    module FileParsing
      # One kind of line.
      class FileRecord
        attr_accessor :name, :type, :fields, :optional, :absent, :joiner, :separator, :rollup, :match, :rts, :block_eval

        def initialize(name, type, options, &block)
          @name = name
          @type = type
          raise ArgumentError, 'Invalid record type' unless %i[record text].include?(type)

          @absent = ''
          @rollup = true
          options.each { |k, v| send("#{k}=", v) }
          if type == :record
            @optional = Array(@optional)
            @separator ||= /\s+/
            @separator = /\s/ if @separator == ' '
            @joiner ||= ' '
          end
          given(block) if block
        end

        def fields=(list)
          @fields = list.map(&:to_sym)
        end

        def optional=(list)
          @optional = Array(list).map(&:to_sym)
        end

        # Hooks may also be given as options.
        %i[process to_line post_parse pre_gen].each do |hook|
          define_method("#{hook}=") { |code| define_singleton_method(hook, &code) }
        end

        def text? = @type == :text

        def join(details)
          parts = @fields.map do |field|
            next details[field].to_s unless details[field].nil? || details[field] == :absent
            raise ArgumentError, "Field '#{field}' is required" unless @optional.include?(field)

            @absent
          end
          parts.compact.join(@joiner)
        end

        private

        # A block replaces `process`, or, with (block_eval: :instance), defines methods.
        def given(block)
          case @block_eval
          when nil, :process then define_singleton_method(:process, &block)
          when :instance then instance_eval(&block)
          else raise ArgumentError, "Invalid 'block_eval' value '#{@block_eval}'"
          end
        end
      end

      attr_writer :line_separator, :trailing_separator

      def line_separator = @line_separator || "\n"
      def trailing_separator = defined?(@trailing_separator) ? @trailing_separator : true

      def records_by_name = (@record_types ||= {})

      def record_line(name, options, &block)
        raise ArgumentError, 'Must include a list of fields' unless options.include?(:fields)

        bad = options[:fields].map(&:to_sym) & %i[record_type target on_disk]
        raise ArgumentError, "Cannot have fields named #{bad.first}" unless bad.empty?

        new_line_type(FileRecord.new(name.to_sym, :record, options, &block))
      end

      def text_line(name, options, &block)
        raise ArgumentError, 'You must provide a :match regex for text lines' unless options.include?(:match)

        new_line_type(FileRecord.new(name.to_sym, :text, options, &block))
      end

      def new_line_type(record)
        raise ArgumentError, "Line type #{record.name} is already defined" if records_by_name.key?(record.name)

        records_by_name[record.name] = record
      end

      def clear_records = records_by_name.clear
      def record_type(name) = records_by_name[name.to_sym]
      def fields(name) = record_type(name)&.fields&.dup
      def valid_attr?(name, attribute)
        record = record_type(name)
        return true if record&.fields.nil? ? false : record.fields.include?(attribute.to_sym)

        attribute.to_sym == :ensure
      end

      def lines(text) = text.split(line_separator)

      def parse(text)
        lines(text).each_with_index.map do |line, i|
          # Puppet 8.11 reports line numbers that are too high by one.
          parse_line(line) or raise Puppet::ResourceError.new("Could not parse line #{line.inspect}", nil, i + 2)
        end
      end

      def parse_line(line)
        raise Puppet::DevError, 'No record types defined; cannot parse lines' if records_by_name.empty?

        records_by_name.each_value do |record|
          found = record.text? ? parse_text(line, record) : parse_record(line, record)
          return found if found
        end
        nil
      end

      def parse_text(line, record)
        return nil unless line.match?(record.match)

        if record.respond_to?(:process)
          (record.process({ line: line }) || { line: line }).merge(record_type: record.name)
        else
          { record_type: record.name, line: line }
        end
      end

      def parse_record(line, record)
        found =
          if record.respond_to?(:process) then processed(line, record)
          elsif record.match then matched(line, record)
          else split(line, record)
          end
        return nil unless found

        found[:record_type] = record.name
        record.post_parse(found) if record.respond_to?(:post_parse)
        found
      end

      def processed(line, record)
        found = record.process(line.dup)
        raise Puppet::DevError, "Process record type #{record.name} returned non-hash" unless found.nil? || found.is_a?(::Hash)

        found
      end

      def matched(line, record)
        captures = record.match.match(line) or return nil

        record.fields.zip(captures.captures).to_h { |field, v| [field, v == record.absent ? :absent : v] }
      end

      def split(line, record)
        parts = line.split(record.separator)
        found = record.fields.to_h do |field|
          value = parts.shift
          [field, value && value != record.absent ? value : :absent]
        end
        found[record.fields.last] = [found[record.fields.last], *parts].join(record.joiner) if record.rollup && !parts.empty?
        found
      end

      def to_file(records)
        text = records.map { |r| to_line(r) }.join(line_separator)
        trailing_separator ? text + line_separator : text
      end

      def to_line(details)
        record = record_type(details[:record_type]) or raise ArgumentError, "Invalid record type #{details[:record_type].inspect}"

        if record.respond_to?(:pre_gen)
          details = details.dup
          record.pre_gen(details)
        end
        return details[:line] if record.text?
        return record.to_line(details) if record.respond_to?(:to_line)

        line = record.join(details)
        return line unless record.rts

        line.sub(record.rts.is_a?(::Regexp) ? record.rts : /[ \t]+$/, '')
      end
    end
  end

  class Provider
    # The base class: one list of records for all resources. Changed files are written.
    class ParsedFile < Provider
      extend Puppet::Util::FileParsing

      class << self
        attr_accessor :default_target, :target, :raise_prefetch_errors

        def initvars
          super
          @records = []
          @target_objects = {}
          @modified = []
          @target = nil
        end

        def resource_type=(type)
          super
          mk_resource_methods
        end

        def filetype = (@filetype ||= Puppet::Util::FileType.filetype(:flat))

        def filetype=(type)
          type = Puppet::Util::FileType.filetype(type) || raise(ArgumentError, "Invalid filetype #{type}") unless type.is_a?(::Class)
          @filetype = type
        end

        def header
          "# HEADER: This file was autogenerated at #{::Time.now}\n" \
            "# HEADER: by puppet.  While it can still be managed manually, it\n" \
            "# HEADER: is definitely not recommended.\n"
        end

        # A header in the file that matches this stays at the top, or is dropped.
        def native_header_regex = nil
        def drop_native_header = false

        def to_file(records)
          text = super
          match = native_header_regex && text.match(native_header_regex)
          return header + text unless match

          rest = match.pre_match + match.post_match
          drop_native_header ? header + rest : match[0] + header + rest
        end

        def clear
          @target_objects.clear
          @records.clear
        end

        def record?(name) = @records.find { |r| r[:name] == name }
        def modified(target) = @modified.include?(target) ? nil : @modified << target
        def target_object(target) = @target_objects[target] ||= filetype.new(target)
        def target_records(target) = @records.select { |r| r[:target] == target }
        def skip_record?(record) = record_type(record[:record_type]).text?

        def flush(record)
          unless record[:on_disk]
            record[:on_disk] = true
            @records << record
            modified(record[:target] || default_target)
          end
          flushed = []
          @modified.sort_by(&:to_s).uniq.each do |target|
            Puppet.debug "Flushing #{resource_type.name} provider target #{target}"
            flushed << target
            flush_target(target)
          end
        ensure
          @modified -= flushed if flushed
        end

        def flush_target(target)
          if @raise_prefetch_errors && (@failed_targets || {}).key?(target)
            raise Puppet::Error, "Failed to read #{target}'s records when prefetching them. Reason: #{@failed_targets[target]}"
          end

          target_object(target).backup if target_object(target).respond_to?(:backup)
          target_object(target).write(to_file(target_records(target).reject { |r| r[:ensure] == :absent }))
        end

        def instances
          targets.flat_map { |t| prefetch_target(t) }.reject { |r| skip_record?(r) }.map { |r| new(r) }
        end

        def prefetch(resources = nil)
          @records = targets(resources).flat_map { |t| prefetch_target(t) }
          match_providers_with_resources(resources)
        end

        def prefetch_target(target)
          begin
            found = retrieve(target)
            raise Puppet::DevError, "Prefetching #{target} for provider #{name} returned nil" if found.nil?
          rescue Puppet::Util::FileType::FileReadError => e
            (@failed_targets ||= {})[target] = e if @raise_prefetch_errors
            Puppet.err "Could not prefetch #{resource_type.name} provider '#{name}' target '#{target}': #{e}. Treating as empty"
            found = []
          end
          found.each do |record|
            record[:on_disk] = true
            record[:target] = target
            record[:ensure] = :present
          end
          respond_to?(:prefetch_hook) ? prefetch_hook(found) : found
        end

        def retrieve(path)
          text = target_object(path).read
          text.nil? || text == '' ? [] : parse(text)
        rescue Puppet::ResourceError => e
          e.file = path
          raise
        end

        def match_providers_with_resources(resources)
          return unless resources

          left = resources.dup
          @records.each do |record|
            next if skip_record?(record)

            if (resource = resource_for_record(record, resources))
              resource.provider = new(record)
            elsif respond_to?(:match) && (resource = match(record, left))
              left.delete(resource.title)
              record[:name] = resource[:name]
              resource.provider = new(record)
            end
          end
        end

        def resource_for_record(record, resources) = record[:name] && resources[record[:name]]

        def targets(resources = nil)
          raise Puppet::DevError, 'Parsed Providers must define a default target' unless default_target

          named = (resources || {}).values.filter_map { |r| r.should(:target) || (r.class.validattr?(:target) ? r[:target] : nil) }
          [default_target, *@target_objects.keys, *named].uniq
        end

        def mk_resource_methods
          (resource_type.validproperties + resource_type.parameters).each do |attribute|
            define_method(attribute) do
              known = @property_hash[attribute] || self.class.valid_attr?(self.class.name, attribute)
              next @property_hash[attribute] || :absent if known

              @resource&.should(attribute)
            end
            define_method("#{attribute}=") do |value|
              mark_target_modified
              @property_hash[attribute] = value
            end
          end
        end
      end

      def initialize(record)
        super
        return unless @property_hash.empty?

        @property_hash = self.class.record?(resource[:name]) || { record_type: self.class.name, ensure: :absent }
      end

      def create
        @resource.class.validproperties.each do |property|
          value = @resource.should(property)
          @property_hash[property] = value if value
        end
        mark_target_modified
        :"#{@resource.class.name}_created"
      end

      def destroy
        mark_target_modified
        @property_hash[:ensure] = :absent
        :"#{@resource.class.name}_deleted"
      end

      def exists? = !(@property_hash[:ensure] == :absent || @property_hash[:ensure].nil?)
      def hash = @property_hash
      def prefetch = self.class.prefetch(resource[:name] => resource)
      def record_type = @property_hash[:record_type]

      def flush
        unless @property_hash[:target]
          @property_hash[:target] = @resource.should(:target) || self.class.default_target
          self.class.modified(@property_hash[:target])
        end
        @resource.class.key_attributes.each { |name| @property_hash[name] ||= @resource[name] }
        self.class.flush(@property_hash)
      end

      private

      def mark_target_modified
        wanted = @resource&.should(:target)
        self.class.modified(wanted) if wanted && wanted != @property_hash[:target]
        self.class.modified(@property_hash[:target]) if @property_hash[:target] && @property_hash[:target] != :absent
      end
    end
  end
end
