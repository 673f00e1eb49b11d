module RSpec::Puppet
  # Converts Bunraku's JSON catalog to Puppet's catalog.
  module Bunraku
    RELATIONS = %i[require before notify subscribe].freeze
    REFERENCE = /\A[A-Z]\w*(::[A-Z]\w*)*\[.+\]\z/m.freeze

    class << self
      def catalog(request, environment, facts)
        data = ask(request)['catalog']
        exported = request[:keep_virtual]
        data['resources'].select! { |r| r['exported'] } if exported
        data['edges'] = [] if exported
        catalog = ::Puppet::Resource::Catalog.from_data_hash(data)
        catalog.environment_instance = environment
        catalog.resources.each { |resource| relate(resource) }
        catalog.define_singleton_method(:bunraku_request) { request }
        resolve(facts, catalog)
        catalog
      end

      private

      # In JSON a relation is a text or a list of texts.
      def relate(resource)
        RELATIONS.each do |name|
          value = resource[name]
          next if value.nil?
          resource[name] = value.is_a?(Array) ? value.flatten.map { |v| reference(v) } : reference(value)
        end
      end

      def reference(value)
        value.is_a?(String) && value =~ REFERENCE ? ::Puppet::Resource.new(nil, value) : value
      end

      def resolve(facts, catalog)
        resolver = ::Puppet::Pops::Evaluator::DeferredResolver
        resolver.resolve_and_replace(facts, catalog)
      rescue NameError
        # Before Puppet 6 there were no Deferred values to resolve.
      end
    end
  end
end
