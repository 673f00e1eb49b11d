require 'json'

module RSpec::Puppet
  module Bunraku
    # One `bunraku compile --worker` process and the pipe to it.
    class Worker
      def initialize(program)
        @line = IO.popen([program, 'compile', '--worker', '--log-level', 'crit'], 'r+')
        @owner = Process.pid
        @count = 0
      rescue SystemCallError => e
        raise "#{program} cannot be run: #{e.message} (BUNRAKU names the program)"
      end

      # Also false in a forked process, because two processes must not share the pipe.
      def alive?
        @owner == Process.pid && !@line.closed?
      end

      def ask(request)
        id = (@count += 1)
        @line.puts(JSON.generate(request.merge(id: id)))
        @line.flush
        said = @line.gets
        if said.nil?
          @line.close
          raise 'bunraku compile --worker has ended'
        end
        answer = JSON.parse(said, max_nesting: false)
        raise "bunraku answered request #{answer['id'].inspect}, not #{id}" unless answer['id'] == id
        answer
      rescue Errno::EPIPE
        @line.close
        raise 'bunraku compile --worker has ended'
      end
    end
  end
end
