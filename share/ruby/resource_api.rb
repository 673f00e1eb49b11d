# frozen_string_literal: true
# Types written for the resource API, which a hash defines.

module Puppet
  module ResourceApi
    class << self
      def register_type(definition)
        definition = definition.transform_keys(&:to_sym)
        raise Puppet::DevError, 'requires a hash as definition, not `nil`' if definition[:name].nil? && definition[:attributes].nil?
        raise Puppet::DevError, '`Hash` is required to have a `:name`' unless definition[:name]
        raise Puppet::DevError, "`#{definition[:name]}`: attributes must be a hash" unless definition[:attributes].is_a?(Hash)

        namevars = definition[:attributes].select { |_, o| o[:behaviour] == :namevar || o[:behavior] == :namevar }.keys
        patterns = definition[:title_patterns]
        Puppet::Type.newtype(definition[:name].to_sym) do
          @doc = definition[:docs] || definition[:desc]
          define_singleton_method(:providify) { nil }
          define_singleton_method(:type_definition) { definition }
          apply_to_device if Array(definition[:features]).include?('remote_resource')
          if patterns
            define_singleton_method(:title_patterns) do
              patterns.map do |entry|
                regexp = entry[:pattern].is_a?(Regexp) ? entry[:pattern] : Regexp.new(entry[:pattern])
                [regexp, regexp.names.map { |n| [n.to_sym] }]
              end
            end
          elsif namevars.length > 1
            define_singleton_method(:title_patterns) { [[/(.*)/m, [[namevars.first]]]] }
          end
          definition[:attributes].each do |name, options|
            behaviour = options[:behaviour] || options[:behavior]
            ResourceApi.attribute(self, name.to_sym, options, behaviour)
          end
          (definition[:autorequire] || {}).each { |type, value| autorequire(type.to_sym) { value } }
        end
      end

      def attribute(type, name, options, behaviour)
        body = proc do
          desc options[:desc].to_s
          isnamevar if behaviour == :namevar
          defaultto(options[:default]) if options.key?(:default) && !options[:default].nil?
          next unless options[:type]

          text = options[:type].to_s
          if (m = /\A(?:Optional\[)?Enum\[(.*?)\]\]?\z/.match(text))
            newvalues(*m[1].split(',').map { |v| v.strip.gsub(/\A['"]|['"]\z/, '').to_sym })
          elsif %w[Boolean Optional[Boolean]].include?(text)
            newvalues(:true, :false)
          end
        end
        if name == :ensure
          type.newproperty(:ensure, parent: Puppet::Property, &body)
        elsif %i[namevar parameter].include?(behaviour)
          type.newparam(name, &body)
        else
          type.newproperty(name, array_matching: options[:type].to_s.match?(/\A(?:Optional\[)?(?:Array|Hash|Tuple|Struct)/) ? :all : :first, &body)
        end
      end

      def register_transport(*) = nil
      def load_provider(*) = nil
      def caller_is_device? = false
    end

    class SimpleProvider; end
    class Parameter < Puppet::Parameter; end
    class Property < Puppet::Property; end
    module Transport
      def self.method_missing(*) = nil
    end
  end
end

Bunraku.part('provider_resource_api') if defined?(Bunraku::ProviderHost)
