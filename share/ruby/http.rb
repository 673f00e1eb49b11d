# frozen_string_literal: true
# Puppet::HTTP::Client, with the certificates of this machine.

require 'net/http'
require 'openssl'

module Puppet
  module HTTP
    class HTTPError < Puppet::Error; end
    class ConnectionError < HTTPError; end
    class ProtocolError < HTTPError; end
    class RouteError < HTTPError; end
    class SerializationError < HTTPError; end
    class TooManyRedirects < HTTPError
      def initialize(address) = super("Too many HTTP redirections for #{address}")
    end
    class TooManyRetryAfters < HTTPError
      def initialize(address) = super("Too many HTTP retries for #{address}")
    end

    class ResponseError < HTTPError
      attr_reader :response

      def initialize(response)
        super(response.reason)
        @response = response
      end
    end

    # A response of Net::HTTP in the form of Puppet's clients.
    class Response
      attr_reader :url

      def initialize(net, url)
        @net = net
        @url = url
      end

      def code = @net.code.to_i
      def reason = @net.message
      def body = @net.body
      def read_body(&block) = block ? block.call(body) : body
      def success? = @net.is_a?(Net::HTTPSuccess)
      def [](name) = @net[name]
      def each_header(&block) = @net.each_header(&block)
      def drain = true
    end
    ResponseNetHTTP = Response

    class Client
      MOST_REDIRECTS = 10
      attr_reader :pool

      def initialize(pool: nil, ssl_context: nil, system_ssl_context: nil, redirect_limit: MOST_REDIRECTS, retry_limit: 100)
        @pool = pool
        @ssl_context = ssl_context
        @system_ssl_context = system_ssl_context
        @redirect_limit = redirect_limit
        @retry_limit = retry_limit
      end

      def get(url, headers: {}, params: {}, options: {}, &block)
        request(Net::HTTP::Get, url, headers, params, options, &block)
      end

      def head(url, headers: {}, params: {}, options: {}) = request(Net::HTTP::Head, url, headers, params, options)
      def delete(url, headers: {}, params: {}, options: {}) = request(Net::HTTP::Delete, url, headers, params, options)

      def put(url, body, headers: {}, params: {}, options: {}) = send_body(Net::HTTP::Put, url, body, headers, params, options)

      def post(url, body, headers: {}, params: {}, options: {}, &block)
        send_body(Net::HTTP::Post, url, body, headers, params, options, &block)
      end

      def connect(uri, options: {})
        http = connection(uri, options)
        begin
          http.start
        rescue SystemCallError, SocketError, Timeout::Error, EOFError, OpenSSL::SSL::SSLError => e
          raise ConnectionError.new("Request to #{uri} failed: #{e.message}", e)
        end
        yield(http) if block_given?
      ensure
        http&.finish if http&.started?
      end

      def close = nil
      def default_ssl_context = @ssl_context
      def create_session = self

      def encode_query(url, params)
        return url if params.empty?

        url.dup.tap { |u| u.query = params.map { |k, v| "#{k}=#{Puppet::Util.uri_query_encode(v.to_s)}" }.join('&') }
      end

      private

      def send_body(kind, url, body, headers, params, options, &block)
        raise ArgumentError, "'#{kind::METHOD.downcase}' requires a string 'body' argument" unless body.is_a?(::String)

        request(kind, url, { 'Content-Type' => 'application/octet-stream' }.merge(headers.transform_keys(&:to_s)), params, options, body, &block)
      end

      def request(kind, url, headers, params, options, body = nil, &block)
        url = encode_query(url, params)
        (0..options.fetch(:redirect_limit, @redirect_limit)).each do
          response = exchange(kind, url, headers, options, body)
          unless [301, 302, 303, 307, 308].include?(response.code) && response['location']
            block&.call(response)
            return response
          end
          url = URI.join(url.to_s, response['location'])
        end
        raise TooManyRedirects, url
      end

      def exchange(kind, url, headers, options, body)
        request = kind.new(url)
        { 'User-Agent' => Puppet[:http_user_agent], 'X-Puppet-Version' => Puppet.version }.merge(headers).each { |k, v| v && request[k.to_s] = v.to_s }
        auth = options[:basic_auth]
        request.basic_auth(auth[:user].to_s, auth[:password].to_s) if auth
        request.body = body
        began = ::Process.clock_gettime(::Process::CLOCK_MONOTONIC)
        begin
          Response.new(connection(url, options).request(request), url)
        rescue SystemCallError, SocketError, Timeout::Error, EOFError, OpenSSL::SSL::SSLError => e
          elapsed = (::Process.clock_gettime(::Process::CLOCK_MONOTONIC) - began).round(3)
          raise ConnectionError.new("Request to #{url} failed after #{elapsed} seconds: #{e.message}", e)
        rescue Net::ProtocolError, Net::HTTPBadResponse => e
          raise ProtocolError.new("Request to #{url} failed: #{e.message}", e)
        end
      end

      def connection(url, options)
        http = Net::HTTP.new(url.hostname, url.port)
        http.open_timeout = seconds(:http_connect_timeout, 120)
        http.read_timeout = seconds(:http_read_timeout, 600)
        return http unless url.scheme == 'https'

        http.use_ssl = true
        context = options[:ssl_context] || @ssl_context
        return trust(http, context) if context.respond_to?(:store)

        http.ca_file = readable(:localcacert) unless options[:include_system_store]
        if (key = readable(:hostprivkey)) && (certificate = readable(:hostcert))
          http.key = OpenSSL::PKey.read(::File.read(key))
          http.cert = OpenSSL::X509::Certificate.new(::File.read(certificate))
        end
        http
      end

      def trust(http, context)
        http.cert_store = context.store
        http.key = context.private_key if context.respond_to?(:private_key)
        http.cert = context.client_cert if context.respond_to?(:client_cert)
        http.verify_mode = OpenSSL::SSL::VERIFY_NONE if context.respond_to?(:verify_peer) && !context.verify_peer
        http
      end

      def readable(setting)
        path = Puppet[setting].to_s
        ::File.readable?(path) && ::File.file?(path) ? path : nil
      end

      UNITS = { 's' => 1, 'm' => 60, 'h' => 3600, 'd' => 86_400, 'y' => 31_536_000 }.freeze

      def seconds(setting, usual)
        amount, unit = Puppet[setting].to_s.match(/\A(\d+)([smhdy]?)\z/)&.captures
        amount ? amount.to_i * UNITS.fetch(unit, 1) : usual
      end
    end
  end
end
