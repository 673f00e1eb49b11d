# frozen_string_literal: true
# Puppet::Util::Lockfile and Pidlock (a lock file with the id of the process that holds it), and
# temporary files.

require 'tempfile'

module Puppet
  module Util
    class Lockfile
      attr_reader :file_path

      def initialize(path) = @file_path = path

      def lock(data = nil)
        Puppet::FileSystem.exclusive_create(@file_path, nil) { |file| file.print(data) }
        true
      rescue Errno::EEXIST
        false
      end

      def unlock
        return false unless locked?

        ::File.unlink(@file_path)
        true
      end

      def locked? = ::File.exist?(@file_path)
      def lock_data = locked? ? ::File.read(@file_path) : nil
    end

    class Pidlock
      def initialize(path) = @lockfile = Lockfile.new(path)
      def file_path = @lockfile.file_path
      def mine? = ::Process.pid == lock_pid
      def lock = locked? ? mine? : @lockfile.lock(::Process.pid)
      def unlock = mine? ? @lockfile.unlock : false
      def lock_pid = Integer(@lockfile.lock_data.to_s, exception: false)

      # The lock of a process that has ended is invalid.
      def locked?
        pid = lock_pid
        @lockfile.unlock unless pid && alive?(pid)
        @lockfile.locked?
      end

      private

      def alive?(pid)
        ::Process.kill(0, pid)
        true
      rescue Errno::EPERM
        true
      rescue SystemCallError
        false
      end
    end
  end

  module FileSystem
    class Uniquefile < ::Tempfile
      def self.open_tmp(name)
        file = new(name)
        yield file
      ensure
        file&.close!
      end
    end
  end
end
