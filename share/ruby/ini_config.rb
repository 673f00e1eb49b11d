# frozen_string_literal: true
# Puppet::Util::IniConfig: INI files that preserve comments and order.

Bunraku.part('parsed_file')

module Puppet
  module Util
    module IniConfig
      class IniParseError < Puppet::Error
        include Puppet::ExternalFileError
      end

      class Section
        attr_reader :name, :file, :entries
        attr_writer :destroy

        def initialize(name, file)
          @name = name
          @file = file
          @entries = [] # [key, value], or a line as written.
          @dirty = @destroy = false
        end

        def dirty? = @dirty || @destroy
        def destroy? = @destroy
        def mark_dirty = @dirty = true
        def mark_clean = @dirty = false
        def add_line(line) = @entries << line
        def [](key) = entry(key)&.last

        def []=(key, value)
          @dirty = true
          found = entry(key)
          found ? found[1] = value : @entries << [key, value]
        end

        def format
          return +'' if @destroy

          lines = @entries.map { |e| e.is_a?(Array) ? (e[1].nil? ? '' : "#{e[0]}=#{e[1]}\n") : e }
          "[#{name}]\n#{lines.join}"
        end

        private

        def entry(key) = @entries.find { |e| e.is_a?(Array) && e[0] == key }
      end

      class PhysicalFile
        COMMENT = Regexp.union(/^\s*$/, /^[#;]/, /^\s*rem\s/i)
        CONTINUATION = /^[ \t\r\n\f]/
        SECTION = /^\[([^\]]+)\]/
        PROPERTY = /^\s*([^\s=]+)\s*=\s*(.*)$/

        attr_reader :filetype, :contents
        attr_accessor :destroy_empty, :file_collection

        def initialize(file, options = {})
          @file = file
          @contents = [] # Sections, and the lines before the first one.
          @filetype = FileType.filetype(:flat).new(file)
          @destroy_empty = options.fetch(:destroy_empty, false)
        end

        def read
          text = @filetype.read
          raise IniParseError, "Cannot read nonexistent file #{@file.inspect}" if text.nil?

          parse(text)
        end

        def parse(text)
          section = key = nil
          text.each_line.with_index(1) do |line, number|
            case line
            when COMMENT then section ? section.add_line(line) : @contents << line
            when ->(l) { section && key && CONTINUATION.match?(l) } then section[key] += "\n#{line.chomp}"
            when SECTION
              name = Regexp.last_match(1)
              section&.mark_clean
              section = add_section(name)
              key = nil
            when PROPERTY
              key = Regexp.last_match(1)
              value = Regexp.last_match(2).rstrip
              raise IniParseError, "Property with key #{key.inspect} outside of a section" unless section

              section[key] = value
            else raise IniParseError.new("Can't parse line '#{line.chomp}'", @file, number)
            end
          end
          section&.mark_clean
        end

        def sections = @contents.grep(Section)
        def get_section(name) = sections.find { |s| s.name == name }
        def format = @contents.map { |c| c.is_a?(Section) ? c.format : c }.join

        def store
          if @destroy_empty && sections.all?(&:destroy?)
            ::File.unlink(@file)
          elsif sections.any?(&:dirty?)
            @filetype.write(format)
          end
          sections.each(&:mark_clean)
        end

        def add_section(name)
          if get_section(name) || @file_collection&.get_section(name)
            raise IniParseError.new("Section #{name.inspect} is already defined, cannot redefine", @file)
          end

          Section.new(name, @file).tap { |section| @contents << section }
        end
      end

      class FileCollection
        attr_reader :files

        def initialize = @files = {}
        def read(file) = new_file(file).read
        def store = @files.each_value(&:store)
        def each_section(&block) = @files.each_value { |file| file.sections.each(&block) }
        def each_file(&block) = @files.each_key(&block)
        def get_section(name) = @files.values.filter_map { |file| file.get_section(name) }.last
        alias [] get_section
        def include?(name) = get_section(name) ? true : false
        def add_section(name, file) = (@files[file] || new_file(file)).add_section(name)

        private

        def new_file(file) = @files[file] = PhysicalFile.new(file).tap { |made| made.file_collection = self }
      end
      File = FileCollection
    end
  end
end
