# frozen_string_literal: true
# Runs types and providers of modules: reads, compares and changes the machine. types.rb implements
# the language in which they are written; this part makes their objects work. One process serves one
# run. If nothing on the machine is changed, it serves one catalog after the other
# (src/resources/apply/ruby_types.h). src/resources/apply/ruby_resource.cc is the other end.

Bunraku.part('types')
require 'English'

module Bunraku
  # The Ruby resources of a run, by number.
  module ProviderHost
    @resources = {}
    @numbers = {}
    @count = 0
    @code = []
    @known_code = []
    @features = 0
    @whole = {}

    class << self
      attr_reader :resources, :code

      def call(verb, args)
        Reads.quiet { send(:"do_#{verb}", *args) }
      rescue SystemExit => e
        raise Puppet::Error, "the Ruby code called exit (status #{e.status})"
      end

      def number_of(resource) = @numbers[resource.object_id]

      def keep(resource)
        return number_of(resource) if number_of(resource)

        @count += 1
        @resources[@count] = resource
        @numbers[resource.object_id] = @count
        @count
      end

      # Returns the source of a message, from which Bunraku makes a path. Bunraku does not know a
      # resource that is still being created; Puppet, too, logs such a resource without a path.
      def source(object)
        case object
        when Puppet::Type then known(object) ? "@#{number_of(object)}" : "/#{object.ref}"
        when Puppet::Parameter
          owner = object.resource
          if owner.nil? then object.to_s
          else "#{known(owner) ? "@#{number_of(owner)}" : "/#{owner.ref}"}/#{object.name}"
          end
        when Puppet::Provider, Class, Module then object.to_s
        end
      end

      def known(resource) = number_of(resource) && !resource.equal?(@making)

      # ---- requests of Bunraku ----

      # Begins a catalog and drops the state of the previous one. Loaded code remains loaded, as in
      # Puppet. A rehearsal does not change the machine.
      def do_begin(rehearsal)
        @resources.clear
        @numbers.clear
        Puppet::Type.registry.each_value { |type| type.defaultprovider = nil }
        Bunraku.part('facts')
        Facter.know { Bunraku.ask(:machine_facts) }
        Puppet::Util.remember_programs if rehearsal
        nil
      end

      # Returns the code files that were run since the last call.
      def do_loaded
        if @features != $LOADED_FEATURES.size
          @features = $LOADED_FEATURES.size
          @code.concat($LOADED_FEATURES.select { |f| Bunraku.load_path.any? { |folder| f.start_with?("#{folder}/") } })
        end
        found = (@code - @known_code).uniq
        @known_code.concat(found)
        @code.clear
        found
      end

      def do_type(file, name)
        type = type_of(file, name)
        properties = type.properties
        Types.describe_type(type, file, name).merge(
          'refreshes' => type.method_defined?(:refresh), 'self_refresh' => type.self_refresh ? true : false,
          'generates' => type.method_defined?(:generate), 'eval_generates' => type.method_defined?(:eval_generate),
          'depth_first' => type.depth_first_type?, 'pre_run_check' => type.method_defined?(:pre_run_check), 'has_ensure' => type.validproperty?(:ensure),
          'composite' => type.key_attributes.length > 1, 'properties' => properties.map { |p| p.name.to_s }
        )
      end

      # Returns the type of a file; without a file, the complete built-in type. Another child may
      # have described the type.
      def type_of(file, name)
        return Types.load_file(file, name) unless file.empty?

        known = Puppet::Type.registry[name.to_sym]
        known && @whole[name].equal?(known) ? known : (@whole[name] = Types.whole(name))
      end

      # Creates a resource like Puppet::Type.new.
      def do_make(code, type, title, parameters, file, line, sensitive, metaparameters)
        klass = type_of(code, type)
        resource = klass.allocate
        resource.whole!
        resource.file = file || ''
        resource.line = line
        number = keep(resource)
        @making = resource
        resource.given_metaparameters = references(metaparameters).transform_keys(&:to_sym)
        given = references(parameters).transform_keys(&:to_sym)
        if klass.instance_method(:initialize).owner.equal?(klass)
          # The type has its own initialize, which calls Puppet's.
          resource.send(:initialize, given.merge(title: title))
        else
          resource.begin_life(title, given, sensitive)
        end
        [number, *state(resource), !resource.method(:finish).owner.equal?(Puppet::Type), resource.relates?,
         (resource.own_secrets || []).map(&:to_s)]
      ensure
        @making = nil
      end

      # Types see references to resources as Puppet::Resource.
      def references(value)
        case value
        when Array then value.map { |v| references(v) }
        when Hash then value.to_h { |k, v| [references(k), references(v)] }
        when nil, true, false, Integer, Float, ::String, Symbol then value
        else
          kind = value.class.name
          if kind == 'Puppet::Pops::Types::PClassType' then Puppet::Resource.new('class', value.class_name)
          elsif kind == 'Puppet::Pops::Types::PResourceType' && value.title then Puppet::Resource.new(value.type_name.to_s, value.title.to_s)
          else value
          end
        end
      end

      # Reports whether a module's provider is the default on this machine for a built-in type.
      # `score` is that of the best built-in provider. Providers of modules whose names are in
      # `built_in` are ignored.
      def do_default_here(type, score, named_by_facts, built_in)
        found = Types.whole(type).defaultprovider
        return false if !found || built_in.include?(found.name.to_s)
        return true unless score
        return found.default? if (found.default? ? true : false) != named_by_facts

        found.specificity > score
      end

      def do_set(number, name, value)
        resource = @resources.fetch(number)
        resource[name.to_sym] = references(value)
        state(resource)
      end

      def do_validate(number)
        @resources.fetch(number).check_whole
        nil
      end

      def do_watch(number, name)
        @resources.fetch(number).newattr(name.to_sym) ? true : false
      end

      def do_suitable(number)
        resource = @resources.fetch(number)
        [resource.suitable?, provider_of(resource)]
      end

      def do_retrieve(number)
        resource = @resources.fetch(number)
        resource.current = resource.retrieve.transform_keys { |k| k.is_a?(Puppet::Parameter) ? k.name : k.to_sym }
        [resource.current.to_h { |name, value| [name.to_s, plain(value)] },
         resource.current.filter_map { |name, value| name.to_s if value.is_a?(Symbol) }]
      end

      def do_insync(number, name)
        resource = @resources.fetch(number)
        name = name.to_sym
        resource.parameter(name).safe_insync?(resource.current[name]) ? true : false
      end

      # Returns [before, after, change] as texts, and the name of the event.
      def do_texts(number, name)
        resource = @resources.fetch(number)
        property = resource.parameter(name.to_sym)
        is = resource.current[name.to_sym]
        should = property.should
        [property.is_to_s(is).to_s, property.should_to_s(should).to_s, property.change_to_s(is, should).to_s]
      end

      def do_event(number, name)
        property = @resources.fetch(number).parameter(name.to_sym)
        value = property.should
        [property.event_name.to_s, property.class.value_option(property.class.value_name(value), :invalidate_refreshes) ? true : false]
      end

      # Returns nil, or the text of an error and that of the error it wraps.
      def do_sync(number, name)
        @resources.fetch(number).parameter(name.to_sym).sync
        nil
      rescue Puppet::ResourceError => e
        raise unless e.place_is_known

        [e.bare, e.original.to_s]
      end

      def do_flush(number)
        @resources.fetch(number).flush
        nil
      end

      def do_refresh(number)
        @resources.fetch(number).refresh
        nil
      end

      # Returns the relations of each resource; nil for one that raises, which is then requested
      # separately.
      def do_relations(numbers)
        return @resources.fetch(numbers).automatic_relations unless numbers.is_a?(Array)

        numbers.map do |number|
          @resources.fetch(number).automatic_relations
        rescue StandardError
          nil
        end
      end

      def do_pre_run(number)
        resource = @resources.fetch(number)
        resource.pre_run_check if resource.respond_to?(:pre_run_check)
        nil
      end

      def do_generate(number) = described(@resources.fetch(number).generate)
      def do_eval_generate(number) = described(@resources.fetch(number).eval_generate)
      def do_ancestors(number)
        resource = @resources.fetch(number)
        resource.respond_to?(:ancestors) ? Array(resource.ancestors).map(&:to_s) : []
      end

      def do_finish(number)
        @resources.fetch(number).finish
        nil
      end

      def do_prefetch(type, provider, numbers)
        klass = Puppet::Type.type(type)
        found = klass.provider(provider)
        of_this = numbers.map { |n| @resources.fetch(n) }
        found.prefetch(of_this.to_h { |r| [r.name, r] })
        nil
      end

      def do_prefetches(type, provider) = Puppet::Type.type(type).provider(provider)&.respond_to?(:prefetch) || false

      def do_instances(file, type)
        klass = file.empty? ? Types.whole(type) : Types.load_file(file, type)
        klass.instances.map do |r|
          number = keep(r)
          [number, r.title.to_s, *state(r)]
        end
      end

      def do_report(name, data)
        Bunraku.part('reports')
        Puppet::Reports.process(name, data)
      end

      def do_finish_providers
        Puppet::Type.registry.each_value do |type|
          type.provider_classes.each { |p| p.post_resource_eval if p.respond_to?(:post_resource_eval) }
        end
        nil
      end

      # ---- values ----

      # Returns the present state: [provider, [name, values or value, whether it has one]..].
      def state(resource)
        attributes = resource.parameters_hash.map do |name, parameter|
          next if name == :provider

          if parameter.is_a?(Puppet::Property)
            should = parameter.raw_should
            secret = parameter.sensitive || (parameter.respond_to?(:is_sensitive) && parameter.is_sensitive)
            [name.to_s, plain(should || []), !should.nil?, secret ? true : false]
          else
            [name.to_s, plain(parameter.value), true]
          end
        end
        [provider_of(resource), attributes.compact]
      end

      def provider_of(resource) = resource.provider ? resource.provider.class.name.to_s : nil

      def plain(value)
        case value
        when nil, true, false, Integer, Float then value
        when Symbol then value.to_s
        when ::String then value.instance_of?(::String) ? value : ::String.new(value)
        when Array then value.map { |v| plain(v) }
        when Hash then value.to_h { |k, v| [plain(k), plain(v)] }
        else value.respond_to?(:unwrap) ? plain(value.unwrap) : value.to_s
        end
      end

      # Describes resources that Ruby code created: Ruby types by their number, native types by
      # their given parameters.
      def described(made)
        Array(made).compact.map do |r|
          kind = r.class.name.to_s
          if r.kept?
            [kind, r.title.to_s, 0, plain(r.given), []]
          else
            number = keep(r)
            [kind, r.title.to_s, number, provider_of(r), state(r)[1]]
          end
        end
      end
    end
  end

  class << self
    def log(level, message, source = nil)
      source = ProviderHost.source(source) unless source.nil? || source.is_a?(::String)
      send_message([FromRuby::LOG, level.to_s, message.to_s, source])
    end
  end
end

%w[provider_util provider_attributes provider_base provider_type].each { |part| Bunraku.part(part) }

module Bunraku
  module ProviderHost
    # The catalog of the run, as types see it.
    module Catalog
      def self.instance = (@instance ||= Puppet::Resource::Catalog.allocate.extend(self))

      def resources
        own = ProviderHost.resources.values
        natives = Bunraku.ask(:machine_natives).map { |type, title| native(type, title) }
        own + natives.compact
      end
      alias vertices resources

      def each(&block) = resources.each(&block)

      def resource(type, title = nil)
        type, title = Puppet::Resource.type_and_title(type, title)
        key = type.to_s.downcase
        found = ProviderHost.resources.values.find { |r| r.class.name.to_s == key && (r.title == title || r.name == title) }
        found || native(key, title)
      end

      def native(type, title)
        given = Bunraku.ask(:machine_resource, type, title) or return nil
        klass = Puppet::Type.type(type.downcase) or return nil
        return nil unless klass.native?

        klass.new(given.transform_keys(&:to_sym).merge(title: title)).tap(&:known!)
      end

      def resource_refs = resources.map(&:ref)
      def resource_keys = resources.map { |r| [r.class.name.to_s.split('::').map(&:capitalize).join('::'), r.title] }
      def container_of(resource) = resource.respond_to?(:parent) ? resource.parent : nil
      def host_config? = true
      def name = Puppet[:certname]
      def environment = Bunraku.environment
      def environment_instance = Puppet::Node::Environment.current
      def classes = []
      def add_resource(*) = nil
    end

    # Replaces native types by stand-ins that store their parameters.
    module NativeStandIns
      def native(name)
        (bring(name) || super)&.tap { |klass| klass.native = true }
      end

      # Returns a built-in type with fully defined attributes, for providers of modules.
      def whole(name)
        name = name.to_sym
        known = Puppet::Type.type(name)
        return known if known && !known.provider_hash.empty?

        Puppet::Type.registry.delete(name)
        (bring(name) || plain(name)).tap { |klass| klass.native = true }
      end

      def bring(name)
        return nil unless Bunraku.part?("builtin_#{name}")

        Bunraku.part("builtin_#{name}")
        Puppet::Type.registry[name.to_sym]
      end

      # Creates a type from the list of its attributes.
      def plain(name)
        listed = Bunraku.ask(:machine_type_spec, name.to_s) || []
        Puppet::Type.newtype(name) do
          listed.each do |attribute, property, namevar, values, patterns, all, feature|
            next if attribute == 'provider'

            options = feature.empty? ? {} : { required_features: feature.split }
            if attribute == 'ensure' && values == 'present|absent' then ensurable
            elsif property
              options[:array_matching] = :all if all
              newproperty(attribute.to_sym, options) { Types.allow(self, values, patterns) }
            else
              newparam(attribute.to_sym, options) do
                isnamevar if namevar
                Types.allow(self, values, patterns)
              end
            end
          end
        end
      end

      def allow(attribute, values, patterns)
        return if values.empty?

        values.split('|').each do |entry|
          value, *others = entry.split('=')
          attribute.newvalues(value.to_sym)
          others.each { |o| attribute.aliasvalue(o.to_sym, value.to_sym) }
        end
        attribute.newvalues(/./) if patterns
      end
    end
    Types.singleton_class.prepend(NativeStandIns)

    # Ruby has no list of files that are loaded by `load`.
    module RecordLoaded
      def loaded(name, &)
        ProviderHost.code << name.to_s
        super
      end
    end
    Reads.singleton_class.prepend(RecordLoaded)
  end
end
