# frozen_string_literal: true
# Puppet::Util::RpmCompare: versions of RPM packages.

module Puppet
  module Util
    module RpmCompare
      ARCH_LIST = %w[noarch i386 i686 ppc ppc64 armv3l armv4b armv4l armv4tl armv5tel armv5tejl armv6l armv7l m68kmint s390
                     s390x ia64 x86_64 sh3 sh4].freeze
      ARCH_REGEX = Regexp.new(ARCH_LIST.map { |arch| "\\.#{arch}" }.join('|'))

      # Compares segments of digits and of letters from the left. A tilde sorts before everything.
      def rpmvercmp(left, right)
        return 0 if left == right

        until left.empty? && right.empty?
          left, right = [left, right].map { |text| text.sub(/\A[^A-Za-z0-9~]+/, '') }
          if left.start_with?('~') || right.start_with?('~')
            return 1 unless left.start_with?('~')
            return -1 unless right.start_with?('~')

            left, right = left[1..], right[1..]
            next
          end
          break if left.empty? || right.empty?

          number = left.match?(/\A\d/)
          a, b = [left, right].map { |text| text[number ? /\A\d+/ : /\A[A-Za-z]+/].to_s }
          left, right = left[a.length..], right[b.length..]
          return number ? 1 : -1 if b.empty?

          order = number ? a.to_i <=> b.to_i : a <=> b
          return order unless order.zero?
        end
        left.length <=> right.length
      end

      def rpm_parse_evr(text)
        epoch, rest = text.include?(':') ? text.split(':', 2) : [nil, text]
        epoch = Integer(epoch, exception: false)&.to_s if epoch
        version, release = rest.split('-', 2)
        arch = release && release[ARCH_REGEX]
        { epoch: epoch, version: version.to_s, release: arch ? release.gsub(ARCH_REGEX, '') : release, arch: arch&.delete('.') }
      end

      def compare_values(left, right)
        return left.nil? ? (right.nil? ? 0 : -1) : 1 if left.nil? || right.nil?

        rpmvercmp(left, right)
      end

      def rpm_compare_evr(should, is)
        wanted, found = [should, is].map { |text| rpm_parse_evr(text) }
        parts = [(:epoch unless wanted[:epoch].nil?), :version, (:release unless wanted[:release].nil?)].compact
        parts.map { |part| compare_values(wanted[part], found[part]) }.find { |order| !order.zero? } || 0
      end
    end
  end
end
