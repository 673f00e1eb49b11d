# frozen_string_literal: true
# Puppet::FileServing: content and metadata of local files, of files in modules and of files on a
# server.

module Puppet
  module FileServing
    class Base
      attr_accessor :source, :relative_path
      attr_reader :path, :links

      def self.absolute?(path) = Puppet::Util.absolute_path?(path, :posix)

      def initialize(path, links: nil, relative_path: nil, source: nil)
        raise ArgumentError, 'Paths must be fully qualified' unless Base.absolute?(path)

        @path = path
        self.links = links || :manage
        @relative_path = relative_path
        @source = source
      end

      def links=(value)
        value = value.to_sym
        value = :manage if value == :ignore
        raise ArgumentError, ':links can only be set to :manage or :follow' unless %i[manage follow].include?(value)

        @links = value
      end

      def full_path
        [nil, '', '.'].include?(relative_path) ? path : ::File.join(path, relative_path)
      end

      def stat = links == :manage ? ::File.lstat(full_path) : ::File.stat(full_path)

      def exist?
        stat
        true
      rescue SystemCallError
        false
      end

      def to_data_hash = { 'path' => @path, 'relative_path' => @relative_path, 'links' => @links.to_s }
    end

    # Finds such objects: Metadata.indirection.find('puppet:///modules/x/y').
    class Indirected
      def initialize(model) = @model = model
      def name = @model.indirected_name

      def find(reference, options = {})
        reference = reference.to_s
        path = local_path(reference)
        return fetched(reference, options) unless path

        ::File.exist?(path) || ::File.symlink?(path) ? @model.of_file(path, options) : nil
      end

      # Returns the path of the file if it is on this machine or in a module here.
      def local_path(reference)
        return reference if reference.start_with?('/')
        return Puppet::Util.uri_to_path(URI.parse(Puppet::Util.uri_encode(reference))) if reference.start_with?('file:')

        Bunraku.ask(:find_file, reference.sub(%r{\Apuppet:///modules/}, ''), 'files') if reference.start_with?('puppet:///modules/')
      end

      # Fetches the file when a catalog is applied, from the source of its files.
      def fetched(reference, options)
        require 'tmpdir'
        ::Dir.mktmpdir do |folder|
          path = ::File.join(folder, 'content')
          return nil unless Bunraku.ask(:machine_fetch, reference, path)

          @model.of_file(path, options).tap { |found| found.source = reference }
        end
      end
    end

    class Content < Base
      attr_writer :content

      def self.indirection = (@indirection ||= Indirected.new(self))
      def self.indirected_name = :file_content
      def self.supported_formats = [:binary]
      def self.from_binary(content) = new('/this/is/a/fake/path').tap { |made| made.content = content }
      # Reads the content immediately, because a fetched file is deleted soon.
      def self.of_file(path, options) = new(path, links: options[:links]).tap { |made| made.content unless ::File.directory?(path) }

      def collect(_source_permissions = nil) = nil
      def content = @content ||= ::File.binread(full_path)
      def to_binary = StringIO.new(content)
    end

    class Metadata < Base
      include Puppet::Util::Checksums
      attr_reader :owner, :group, :mode, :checksum_type, :checksum, :ftype, :destination, :source_permissions
      attr_accessor :content_uri

      def self.indirection = (@indirection ||= Indirected.new(self))
      def self.indirected_name = :file_metadata

      def self.of_file(path, options)
        new(path, links: options[:links]).tap do |made|
          made.checksum_type = options[:checksum_type] if options[:checksum_type]
          made.collect(options[:source_permissions])
        end
      end

      def self.from_data_hash(data) = new(data.delete('path'), data)

      def initialize(path, data = {})
        %w[owner group mode destination content_uri].each { |name| instance_variable_set("@#{name}", data[name]) }
        @ftype = data['type']
        @checksum_type = data.dig('checksum', 'type') || Puppet[:digest_algorithm] || 'sha256'
        @checksum = data.dig('checksum', 'value')
        super(path, links: data['links'] || data[:links], relative_path: data['relative_path'] || data[:relative_path],
                    source: data['source'] || data[:source])
      end

      def checksum_type=(type)
        raise ArgumentError, "Unsupported checksum type #{type}" unless Puppet::Util::Checksums.respond_to?("#{type}_file")

        @checksum_type = type
      end

      def source_permissions=(value)
        raise ArgumentError, "Unsupported source_permission #{value}" unless %i[use use_when_creating ignore].include?(value.to_sym)

        @source_permissions = value.to_sym
      end

      def collect(source_permissions = nil)
        stat = self.stat
        ignored = source_permissions.nil? || source_permissions.to_sym == :ignore
        @owner = ignored ? ::Process.euid : stat.uid
        @group = ignored ? ::Process.egid : stat.gid
        @mode = (ignored ? 0o644 : stat.mode) & 0o7777
        @ftype = stat.ftype
        case @ftype
        when 'file' then sum
        when 'directory'
          @checksum_type = 'ctime'
          sum
        when 'link'
          @destination = ::File.readlink(full_path)
          @checksum = ::File.file?(full_path) ? sum : nil
        when 'fifo', 'socket'
          @checksum_type = 'none'
          @checksum = '{none}'
        else raise ArgumentError, "Cannot manage files of type #{@ftype}"
        end
      end

      def to_data_hash
        more = { 'content_uri' => content_uri, 'source' => source }.compact
        super.merge('owner' => owner, 'group' => group, 'mode' => mode, 'checksum' => { 'type' => checksum_type, 'value' => checksum },
                    'type' => ftype, 'destination' => destination, **more)
      end

      private

      def sum = @checksum = "{#{@checksum_type}}#{send("#{@checksum_type}_file", full_path)}"
    end
  end
end
