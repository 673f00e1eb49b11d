# frozen_string_literal: true
# Functions of both APIs, their scope, and ERB templates.

Bunraku.part('values')

module Puppet
  module Pops
    module Functions
      class Function
        attr_reader :closure_scope, :loader

        def initialize(closure_scope, loader)
          @closure_scope = closure_scope
          @loader = loader
        end

        def call(scope, *args, &block) = Bunraku.call_puppet(self.class.name, args, block)

        def call_function(name, *args, &block) = internal_call_function(@closure_scope, name, args, &block)

        # Functions of the 4.x API call from the top scope: "::include" declares classes there.
        def internal_call_function(scope, name, args, &block)
          name = "::#{name}" if scope.equal?(Puppet::Parser::Scope.global) && !name.to_s.start_with?('::')
          Bunraku.call_puppet(name, args, block)
        rescue ArgumentError => e
          plain = name.to_s.delete_prefix('::')
          raise unless e.message == Bunraku::Errors.unknown(plain)

          raise ArgumentError, "Function #{self.class.name}(): Unknown function: '#{plain}'"
        end

        def self.dispatcher = (@dispatcher ||= [])
        def self.signatures = dispatcher
      end
    end
  end

  module Functions
    def self.create_function(name, base = Function, &block)
      loader = block.binding.local_variable_get(:loader_injected_arg) if block.binding.local_variable_defined?(:loader_injected_arg)
      create_loaded_function(name, loader, base, &block)
    rescue StandardError => e
      raise ArgumentError, "Function Load Error for function '#{name}': #{e.message}"
    end

    def self.create_loaded_function(name, loader, base = Function, &block)
      unless base.ancestors.include?(Puppet::Pops::Functions::Function)
        raise ArgumentError, "Functions must be based on Puppet::Pops::Functions::Function. Got #{base}"
      end

      name = name.to_s
      created = Class.new(base)
      created.instance_variable_set(:@loader, loader)
      created.instance_variable_set(:@func_name, name)
      created.define_singleton_method(:name) { @func_name }
      created.define_singleton_method(:loader) { @loader }
      created.class_eval(&block)
      created.add_default_dispatch(name.split('::').last) if created.dispatcher.empty?
      created.let_call_dispatch if created.method_defined?(:call, false)
      created
    end

    # One `dispatch` block.
    class Dispatch
      attr_reader :method, :parameters, :injections, :weaving, :block_type, :block_name, :block_required, :returns, :mismatch

      ALL_CALLABLES = 'Callable'

      def initialize(method, mismatch, internal)
        @method = method
        @mismatch = mismatch
        @internal = internal
        @parameters = [] # [type, name, form].
        @weaving = []    # Index of a parameter, or the name of an injected value.
        @optional = false
        @repeated = false
      end

      def param(type, name)
        add(type, name, 0)
        raise ArgumentError, 'A required parameter cannot be added after an optional parameter' if @optional
      end
      alias required_param param

      def optional_param(type, name)
        add(type, name, 1)
        @optional = true
      end

      def repeated_param(type, name)
        add(type, name, 2)
        @repeated = true
      end
      alias optional_repeated_param repeated_param

      def required_repeated_param(type, name)
        add(type, name, 3)
        raise ArgumentError, 'A required repeated parameter cannot be added after an optional parameter' if @optional

        @repeated = true
      end

      def block_param(*type_and_name)
        type, name =
          case type_and_name.size
          when 0 then [ALL_CALLABLES, :block]
          when 1 then [ALL_CALLABLES, type_and_name[0]]
          when 2 then type_and_name
          else raise ArgumentError, "block_param accepts max 2 arguments (type, name), got #{type_and_name.size}."
          end
        unless type.to_s.match?(/\A\s*(?:Callable|Optional\[\s*Callable|Variant\[\s*Callable)/)
          kind = Puppet::Pops::Types.from_text(type.to_s).class
          raise ArgumentError, "Expected PCallableType or PVariantType thereof, got #{kind}"
        end
        raise ArgumentError, "Expected block_param name to be a Symbol, got #{name.class}" unless name.is_a?(Symbol)
        raise ArgumentError, 'Attempt to redefine block' if @block_type

        @block_type = type.to_s
        @block_name = name
        @block_required = true
      end
      alias required_block_param block_param

      def optional_block_param(*type_and_name)
        block_param(*type_and_name)
        @block_required = false
      end

      def return_type(type)
        unless type.is_a?(String) || type.is_a?(Puppet::Pops::Types::PAnyType)
          raise ArgumentError, "Argument to 'return_type' must be a String reference to a Puppet Data Type. Got #{type.class}"
        end

        @returns = type.to_s
      end

      %i[scope cache compiler script_compiler pal_compiler].each do |injected|
        define_method(:"#{injected}_param") do
          unless @internal
            raise NoMethodError, "undefined method `#{injected}_param' for #<Puppet::Functions::DispatcherBuilder>"
          end

          @weaving << injected
        end
      end

      def returns? = !@returns.nil?

      def takes?(count)
        forms = @parameters.map { |p| p[2] }
        least = forms.count { |f| [0, 3].include?(f) }
        count >= least && (count <= forms.size || forms.any? { |f| f > 1 })
      end

      def describe
        { 'method' => @method.to_s, 'parameters' => @parameters, 'block_type' => @block_type,
          'block_name' => @block_name&.to_s, 'block_required' => @block_required || false,
          'return_type' => @returns, 'mismatch' => @mismatch }
      end

      # Inserts injected values into the arguments.
      def weave(args)
        return args if @weaving.all? { |w| w.is_a?(Integer) }

        taken = 0
        out = []
        @weaving.each_with_index do |w, i|
          case w
          when Integer
            if @parameters[w][2] >= 2 || (i == @weaving.size - 1 && args.size > taken + 1)
              out.concat(args[taken..] || [])
              taken = args.size
            elsif taken < args.size
              out << args[taken]
              taken += 1
            end
          when :scope then out << Puppet::Parser::Scope.current
          when :cache then out << Bunraku.function_cache
          else out << Bunraku::Compiler.shim
          end
        end
        out
      end

      private

      def add(type, name, form)
        raise ArgumentError, 'Parameters cannot be added after a block parameter' if @block_type
        raise ArgumentError, 'Parameters cannot be added after a repeated parameter' if @repeated
        raise ArgumentError, "Parameter name argument must be a Symbol. Got #{name.class}" if name.is_a?(String)
        unless type.is_a?(String) || type.is_a?(Puppet::Pops::Types::PAnyType)
          raise ArgumentError, "Parameter 'type' must be a String reference to a Puppet Data Type. Got #{type.class}"
        end

        @parameters << [type.to_s, name.to_s, form]
        @weaving << (@parameters.size - 1)
      end
    end

    class LocalTypes
      attr_reader :all

      def initialize = @all = []

      def type(text)
        unless text.match?(/\A\s*[A-Z]\w*\s*=/)
          where = caller(1, 1).first.sub(/:in.*$/, '')
          raise ArgumentError,
                "Expected a type alias assignment on the form 'AliasType = T', got '#{text}'.\nCalled from <#{where}>"
        end
        @all << text
      end
    end

    class Function < Puppet::Pops::Functions::Function
      class << self
        attr_reader :local

        def internal? = false
        def builder = self

        def dispatch(method, &block)
          d = Dispatch.new(method, false, internal?)
          d.instance_eval(&block)
          dispatcher << d
        end

        def argument_mismatch(method, &block)
          d = Dispatch.new(method, true, internal?)
          d.instance_eval(&block)
          dispatcher << d
        end

        def local_types(&block)
          types = LocalTypes.new
          types.instance_eval(&block)
          @local = types.all
          @local.each do |text|
            name, right = text.split('=', 2).map(&:strip)
            define_method("type_#{name}") { Puppet::Pops::Types.from_text(right) }
          end
        end

        # Adds a dispatch for the method that has the function's name, with its parameters as Any.
        def add_default_dispatch(simple)
          unless method_defined?(simple) || private_method_defined?(simple)
            raise ArgumentError,
                  "Function Creation Error, cannot create a default dispatcher for function '#{simple}', no method with this name found"
          end
          d = Dispatch.new(simple.to_sym, false, internal?)
          instance_method(simple).parameters.each do |kind, name|
            case kind
            when :req then d.param('Any', name || :arg)
            when :opt then d.optional_param('Any', name)
            when :rest then d.repeated_param('Any', name == :* ? :args : name || :args)
            end
          end
          dispatcher << d
        end

        # If a function defines `call`, it receives the scope and all arguments and calls the
        # dispatcher itself. Older modules use this to add the scope to the arguments.
        def let_call_dispatch
          own = dispatcher.dup
          all = Dispatch.new(:call_from_puppet, false, false)
          all.optional_repeated_param('Any', :args)
          dispatcher.replace([all])
          dispatcher.define_singleton_method(:dispatch) do |instance, _scope, args, &block|
            found = own.find { |d| !d.mismatch && d.takes?(args.size) }
            raise ArgumentError, "'#{instance.class.name}' does not accept #{args.size} arguments" unless found

            instance.send(found.method, *found.weave(args), &block)
          end
        end

        def describe
          { 'name' => name, 'internal' => internal?, 'signatures' => dispatcher.map(&:describe),
            'local_types' => @local || [] }
        end
      end

      def call_from_puppet(*args, &block) = call(Puppet::Parser::Scope.current, *args, &block)

      def invoke_signature(index, args, block)
        d = self.class.dispatcher[index]
        answer = catch(:next) { send(d.method, *d.weave(args), &block) }
        d.returns? ? Bunraku.with_symbols(answer) : answer
      end
    end

    class InternalFunction < Function
      def self.internal? = true
      def call_function_with_scope(_scope, name, *args, &block) = Bunraku.call_puppet(name, args, block)
    end

    class PuppetFunction < Function; end
    DispatcherBuilder = Dispatch
  end

  module Parser
    module Functions
      Environment = Puppet::Node::Environment
      @known = {}

      class << self
        attr_reader :known

        def newfunction(name, options = {}, &block)
          name = name.to_sym
          type = options[:type] || :statement
          raise Puppet::DevError, "Invalid statement type #{type.inspect}" unless %i[rvalue statement].include?(type)

          arity = options[:arity] || -1
          @known[name] = { type: type, arity: arity, doc: options[:doc] }
          file = block&.source_location&.first
          looked_for = Bunraku::Reads.places_of_function(name)
          Puppet::Parser::Scope.send(:define_method, :"real_function_#{name}", &block)
          Puppet::Parser::Scope.send(:define_method, :"function_#{name}") do |*args|
            given = Puppet::Parser::Functions.given(name, arity, args)
            Bunraku::Reads.used(file)
            Bunraku::Reads.named(looked_for)
            result = send(:"real_function_#{name}", given)
            type == :rvalue ? Puppet::Parser::Functions.convert_return(result) : nil
          end
          { arity: arity, type: type, name: "function_#{name}", doc: options[:doc] }
        end

        # Checks the arguments of a call of `function_NAME`. Raises Puppet's error if they are not
        # an array or if their number is wrong.
        def given(name, arity, args)
          unless args[0].is_a?(Array)
            raise ArgumentError,
                  'custom functions must be called with a single array that contains the arguments. ' \
                  "For example, function_#{name}([1]) instead of function_#{name}(1)"
          end
          count = args[0].size
          if arity >= 0 && count != arity
            raise ArgumentError, "#{name}(): Wrong number of arguments given (#{count} for #{arity})"
          elsif arity.negative? && count < (arity + 1).abs
            raise ArgumentError, "#{name}(): Wrong number of arguments given (#{count} for minimum #{(arity + 1).abs})"
          end
          args[0]
        end

        def convert_return(v)
          case v
          when :undef then nil
          when Array then v.any? { |x| x == :undef || x.is_a?(Array) || x.is_a?(Hash) } ? v.map { |x| convert_return(x) } : v
          when Hash then v.to_h { |k, x| [convert_return(k), convert_return(x)] }
          else v
          end
        end

        def function(name, *)
          name = name.to_sym
          if @known.key?(name)
            Bunraku::Reads.named(Bunraku::Reads.places_of_function(name))
          elsif !Bunraku.function?(name.to_s)
            return false
          end
          "function_#{name}"
        end

        def only_here?(name) = @known.key?(name.to_sym) && !Bunraku.function?(name.to_s)
        def rvalue?(name, *) = (@known[name.to_sym] || { type: :rvalue })[:type] == :rvalue
        def arity(name, *) = (@known[name.to_sym] || { arity: -1 })[:arity]
        def get_function(name, *) = @known[name.to_sym]
        def autoloader = self
        def loaded?(name, *) = @known.key?(name.to_sym)
        def load(*) = true
        def loadall(*) = nil
        def reset = nil
        def environment_module(*) = Puppet::Parser::Scope
        def functiondocs = ''
        def newfunctions(*) = nil
      end
    end

    module Files
      def self.find_template(template, _environment = nil) = find(template, 'templates')
      def self.find_file(file, _environment = nil) = find(file, 'files')
      # Returns the module of a pattern such as "a::b" or "a/*", and its manifests.
      def self.find_manifests_in_modules(pattern, _environment = nil)
        name, rest = pattern.to_s.split(%r{::|/}, 2)
        found = Puppet::Module.find(name) or return [nil, []]
        [name, Dir.glob("#{found.path}/manifests/#{rest ? "#{rest.gsub('::', '/')}.pp" : 'init.pp'}")]
      end

      def self.find(reference, folder)
        path = Bunraku.ask(:find_file, reference.to_s, folder)
        path && File.exist?(path) ? path : nil
      end
    end

    class Resource < Puppet::Resource
      def initialize(type, title, attributes = {})
        @scope = attributes[:scope]
        super(type, title, parameters: {})
        Array(attributes[:parameters]).each do |p|
          p.respond_to?(:name) ? self[p.name] = p.value : self[p[0]] = p[1]
        end
      end

      attr_reader :scope

      # Returns a resource of the catalog that is being compiled; `found` contains its parameters if
      # they are known.
      def self.known(type, title, found = {})
        new(type, title, parameters: found)
      end

      def source = nil
      def name = self[:name] || @title

      # As Param objects, unlike the parameters of a finished resource.
      def parameters
        values.to_h { |name, value| [name, Param.new(name: name, value: value)] }
      end

      def each_parameter(&block) = parameters.each_value(&block)
      alias eachparam each_parameter

      class Param
        attr_accessor :name, :value, :source, :line, :file, :add

        def initialize(options = {})
          options.each { |k, v| respond_to?("#{k}=") && send("#{k}=", v) }
        end
      end
    end

    class TypeLoader
      def initialize(*) = nil
      def try_load_fqname(_kind, name) = Puppet::Resource::TypeCollection.shim.find_hostclass(name)
    end

    module Compiler; end
    module AST; end

    # The scope of 3.x functions and templates; with `global`, that of 4.x functions.
    class Scope
      include Puppet::Util::Errors
      include Puppet::Util::Logging
      include Enumerable

      UNCAUGHT_THROW_EXCEPTION = UncaughtThrowError

      def self.current = (@current ||= new(''))
      def self.global = (@global ||= new('::'))
      def self.global_scope? = true

      def initialize(prefix) = @prefix = prefix

      def lookupvar(name, _options = nil)
        raise Puppet::ParseError, "Scope variable name #{name.inspect} is a #{name.class}, not a string" unless name.is_a?(String)

        value = Bunraku.ask(:variable, qualified(name))
        unless value.equal?(Bunraku::UNSET)
          return Bunraku::FactHash.variable(name, Bunraku.looked_up(qualified(name), as_set(name, value)))
        end

        return nil if name.match?(/\A(?:(?:caller_)?module_name|\d+)\z/)

        begin
          throw(:undefined_variable)
        rescue UncaughtThrowError
          Bunraku.ask(:undefined_variable, qualified(name))
        end
        nil
      end

      def [](name, _options = nil) = lookupvar(name)

      def setvar(name, value, _options = nil)
        Bunraku.ask(:set_variable, "#{@prefix}#{name}", value)
        # A template may continue to change the object after setvar; the variable must see this.
        if value.is_a?(Hash) || value.is_a?(Array) || value.is_a?(String)
          (@set ||= {})[name.to_s] = [value, Marshal.load(Marshal.dump(value))] # rubocop:disable Security/MarshalLoad
        end
        value
      rescue TypeError
        value
      end

      def as_set(name, value)
        object, was = @set && @set[name]
        object && was == value ? object : value
      end

      def []=(name, value)
        setvar(name, value)
      end

      def include?(name) = Bunraku.ask(:variable_set, qualified(name.to_s)) ? true : false
      alias exist? include?
      alias bound? include?
      alias variable_not_found include?

      def get_local_variable(name) = lookupvar(name)
      def to_hash(*)
        # Each fact is also a variable.
        %w[fact trusted].each { |kind| Bunraku::Reads.note(kind, '') }
        Bunraku.ask(:variables, @prefix == '::') || {}
      end
      alias to_h to_hash
      def each(&block) = to_hash.each(&block)
      def call_function(name, args, &block)
        args = [*args] # A Hash becomes its pairs, as in Puppet.
        # A file may define further functions in addition to the one it is named after.
        return send(:"function_#{name}", args) if Puppet::Parser::Functions.only_here?(name)

        Bunraku.call_puppet(name, args, block)
      end
      def compiler = Bunraku::Compiler.shim
      def catalog = Puppet::Resource::Catalog.shim
      def environment = Puppet::Node::Environment.current
      def known_resource_types = Puppet::Resource::TypeCollection.shim
      def find_hostclass(name, *) = known_resource_types.find_hostclass(name)
      def find_definition(name, *) = known_resource_types.find_definition(name)
      def find_resource_type(name, *) = Puppet::Type.type(name)
      def find_builtin_resource_type(name) = Puppet::Type.type(name)
      def find_defined_resource_type(name) = find_definition(name)
      def catalog_resource(*args) = catalog.resource(*args)
      def findresource(type, title = nil) = catalog.resource(type, title)
      def source = (info = Bunraku.ask(:scope_info)) && Puppet::Resource::Type.new(info['kind'].to_sym, info['class_name'])
      def tags = Bunraku.ask(:tags) || []
      def tagged?(*names) = names.flatten.any? { |n| tags.include?(n.to_s) }
      def tag(*names) = Bunraku.call_puppet('tag', names)
      def to_s = Bunraku.ask(:scope_info)['label']
      def inspect = "#<#{self}>"
      def parent = ParentScope.at(1)
      def parent_module_name = parent&.source&.module_name
      def node_name = Bunraku.ask(:scope_info)['node']
      def lookupdefaults(type) = Bunraku.ask(:defaults, type.to_s) || {}
      def is_topscope? = Bunraku.ask(:scope_info)['kind'] == 'top'
      def is_default?(*) = false
      def is_nodescope? = Bunraku.ask(:scope_info)['kind'] == 'node'
      def class_set(*) = nil
      def find_global_scope = Scope.global
      def with_global_scope = yield(Scope.global)
      def without_ephemeral_scopes = yield
      def is_classscope? = resource&.type == 'Class'
      def effective_symtable(*) = to_hash
      def class_scope(name) = ClassScope.new(name.respond_to?(:name) ? name.name : name.to_s)
      def define_settings(type, params) = Bunraku.ask(:set_defaults, type.to_s, params)
      def method_missing_warning(*) = nil
      def undef_as(default, value) = value.nil? || value == :undef ? default : value
      # Returns the number in a text according to Puppet's language; nil if there is none.
      def self.number?(value)
        return value if value.is_a?(Numeric)
        return nil unless value.is_a?(String)

        case value
        when /\A-?0[xX][0-9A-Fa-f]+\z/, /\A-?0[0-7]+\z/, /\A-?(?:0|[1-9]\d*)\z/ then Integer(value)
        when /\A-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE]-?\d+)?\z/ then value.to_f
        end
      end

      def self.true?(value) = ![nil, :undef, '', false].include?(value)
      def resolve_type_and_titles(type, titles) = [type, titles]
      def with_guarded_scope = yield
      def pop_ephemerals(*) = nil
      def ephemeral_level = 0
      def new_ephemeral(*) = nil
      def handle_not_found(*) = nil
      def namespaces = []
      def facts = Puppet::Node::Facts.new(node_name, lookupvar('facts'))
      def has_local_variable?(name) = include?(name)

      def resource
        info = Bunraku.ask(:scope_info)
        info['resource'] && Puppet::Parser::Resource.known(*info['resource'])
      end

      # Puppet functions whose legacy form is a stub that always fails. Old code that calls
      # `function_hiera` reaches such a stub. The value is the number of arguments, which the stub
      # checks first.
      NEWER_ONLY = {
        'assert_type' => -3, 'binary_file' => 1, 'break' => 0, 'defined' => -2, 'dig' => -1, 'each' => -3,
        'epp' => -2, 'filter' => -3, 'find_file' => -2, 'hiera' => -2, 'hiera_array' => -2, 'hiera_hash' => -2,
        'hiera_include' => -2, 'inline_epp' => -2, 'lest' => -2, 'lookup' => -2, 'map' => -3, 'match' => 2,
        'new' => -1, 'next' => -2, 'reduce' => -3, 'regsubst' => -4, 'return' => -2, 'reverse_each' => -1,
        'slice' => -3, 'split' => 2, 'step' => -1, 'strftime' => -3, 'then' => -2, 'type' => -1, 'with' => -1
      }.freeze

      def respond_to_missing?(name, all = false) = name.to_s.start_with?('function_') || super

      def method_missing(name, *args, &block)
        text = name.to_s
        return super unless text.start_with?('function_')
        called = text.delete_prefix('function_')
        Puppet::Parser::Functions.given(called, -1, args)
        # The legacy function of that name, in case the modern one made this call.
        return send(text, *args) if Bunraku.define_hidden_legacy(called)
        if (arity = NEWER_ONLY[called])
          Puppet::Parser::Functions.given(called, arity, args)
          raise Puppet::ParseError,
                "#{called}() can only be called using the 4.x function API. See Scope#call_function"
        end

        unless Bunraku.function?(called)
          raise NoMethodError.new("undefined method `#{text}' for #{self}", name)
        end

        Bunraku.call_puppet(called, args[0], block)
      end

      private

      def qualified(name)
        return name if @prefix.empty? || name.include?('::')

        "::#{name}"
      end

      class ClassScope
        def initialize(name) = @name = name
        def lookupvar(name, *) = Scope.current.lookupvar("#{@name}::#{name}")
        alias [] lookupvar
        def to_hash(*) = Bunraku.ask(:class_variables, @name) || {}
        def call_function(name, args) = Bunraku.ask(:call_in_class, @name, name.to_s, [*args])
      end

      # The scope that declared the class or define of a scope, `level` steps up. Functions and
      # templates use its variables and its source to find their caller.
      class ParentScope
        def self.at(level) = Bunraku.ask(:in_parent, level, 'scope_info', []) && new(level)
        def initialize(level) = @level = level
        def parent = ParentScope.at(@level + 1)
        def lookupvar(name, *) = ask('variable', name.to_s)
        alias [] lookupvar
        def include?(name) = ask('variable_set', name.to_s) ? true : false
        alias exist? include?
        alias bound? include?
        def to_hash(*) = ask('variables', false) || {}
        alias to_h to_hash
        def tags = ask('tags') || []
        def source = (info = ask('scope_info')) && Puppet::Resource::Type.new(info['kind'].to_sym, info['class_name'])
        def parent_module_name = parent&.source&.module_name
        def is_topscope? = ask('scope_info')['kind'] == 'top'
        def is_nodescope? = ask('scope_info')['kind'] == 'node'
        def is_classscope? = resource&.type == 'Class'
        def catalog = Puppet::Resource::Catalog.shim
        def compiler = Bunraku::Compiler.shim
        def environment = Puppet::Node::Environment.current
        def to_s = ask('scope_info')['label']
        def inspect = "#<#{self}>"

        def resource
          named = ask('scope_info')['resource']
          named && Puppet::Parser::Resource.known(*named)
        end

        private

        def ask(what, *args) = Bunraku.ask(:in_parent, @level, what, args)
      end
    end

    # `self` of an ERB template.
    class TemplateWrapper
      include Puppet::Util
      include Puppet::Util::Logging

      @methods = {}

      class << self
        def inherited(subclass)
          super
          subclass.instance_variable_set(:@methods, {})
        end

        def render(source, file, variables)
          method, changes = (@methods[source.hash] ||= {})[[source, file]] || compile(source, file)
          wrapper = new(Puppet::Parser::Scope.current, file)
          variables.each do |name, value|
            name = name.gsub(/[^\w]/, '_') if name.match?(/[^\w]/)
            wrapper.instance_variable_set(:"@#{name}", Bunraku::FactHash.variable(name, value))
          end
          watched = changes.empty? ? [] : watch(changes, variables)
          result = wrapper.send(method)
          watched.each { |name, value, was| Bunraku.ask(:variable_changed, name, value) unless dumped(value) == was }
          result
        end

        CHANGES = /<<|\w!|\][ \t]*(?:\|\|)?=(?![=~])|
                   \.(?:push|unshift|insert|concat|append|prepend|replace|clear|pop|shift|store|update|delete\w*)\b/x

        # Stores the values that the template may change in place, with their state before. The
        # compile sees such changes, as in Puppet.
        def watch(names, variables)
          variables.filter_map do |name, value|
            next unless value.is_a?(Array) || value.is_a?(Hash) || value.is_a?(String)

            [name, value, dumped(value)] if names.key?(name)
          end
        end

        # Returns the names of variables in a template that contains changing code.
        def changed_by(source)
          source.match?(CHANGES) ? source.scan(/@(\w+)/).to_h { |name,| [name, true] } : {}
        end

        def dumped(value)
          Marshal.dump(value)
        rescue TypeError
          nil
        end

        # Compiles the template to a method and caches it, because compiling takes longer than
        # running.
        def compile(source, file)
          require 'erb'
          erb = ERB.new(source, trim_mode: '-')
          name = :"__template_#{@methods.sum { |_, v| v.size }}"
          erb.def_method(self, "#{name}()", file.empty? ? '(erb)' : file)
          (@methods[source.hash] ||= {})[[source, file]] = [name, changed_by(source)]
        rescue SyntaxError
          # Compiles the code again without the method around it. Otherwise the error would count
          # the method's `end` as a line of the template.
          RubyVM::InstructionSequence.compile(erb.src, file.empty? ? '(erb)' : file, nil, 0)
          raise
        end
      end

      def initialize(scope, file = nil)
        @__scope__ = scope
        @__file__ = file.nil? || file.empty? ? nil : file
      end

      def file = @__file__
      def scope = @__scope__
      def has_variable?(name) = scope.include?(name.to_s)
      def classes = scope.catalog.classes
      def tags = raise(NotImplementedError, "Call 'all_tags' instead.")
      def all_tags = scope.catalog.tags

      def file=(name)
        @__file__ = Puppet::Parser::Files.find_template(name)
        raise Puppet::ParseError, "Could not find template '#{name}'" unless @__file__
      end

      def result(string = nil)
        source = string || File.read(@__file__, encoding: 'UTF-8')
        scope.to_hash.each { |name, value| instance_variable_set(:"@#{name.gsub(/[^\w]/, '_')}", value) }
        send(self.class.compile(source, @__file__.to_s).first)
      end

      def to_s = "template[#{@__file__ || 'inline'}]"
    end
  end
end

module Bunraku
  def self.function_cache = (@function_cache ||= {})

  # The methods of `scope.compiler` and of injected compilers.
  class Compiler
    def self.shim = (@shim ||= new)
    def environment = Puppet::Node::Environment.current
    def catalog = Puppet::Resource::Catalog.shim
    def node = Puppet::Node.new(Bunraku.ask(:scope_info)['node'])
    def topscope = Puppet::Parser::Scope.global
    def loaders = Puppet::Pops::Loaders.shim
    def resources = catalog.resources
    def findresource(*args) = catalog.resource(*args)
    def known_resource_types = Puppet::Resource::TypeCollection.shim
    def evaluate_classes(classes, _scope = nil, _lazy = true) = Bunraku.call_puppet('include', [Array(classes).map(&:to_s)])
    def add_class(*) = nil
    def add_catalog_validator(*) = nil
    def add_override(*) = nil
    def add_collection(*) = nil
    def has_local_entry?(*) = false
    def call_function(name, *args, &block) = Bunraku.call_puppet(name, args, block)
    def evaluate_string(text, *) = Bunraku.ask(:evaluate, text)
    def in_context = yield

    def add_resource(_scope, resource)
      return Bunraku.ask(:add_class, resource.title.to_s) if resource.type == 'Class' && resource.to_hash.empty?

      Bunraku.call_puppet('create_resources', [resource.type.downcase, { resource.title.to_s => resource.to_hash.transform_keys(&:to_s) }])
    end
  end
end
