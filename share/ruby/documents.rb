# Extracts the documentation from a module's Ruby files: functions of both APIs, resource types and
# providers, data types, custom facts. Runs in a separate Ruby process
# (src/language/ruby/documents.cc) with paths as arguments, and executes no code of the files.
# Prints a JSON list with one object per definition. Comments are printed as written, without their
# markers.
module BunrakuDocuments
  require 'json'
  require 'ripper'

  Node = RubyVM::AbstractSyntaxTree::Node

  # One file.
  class Reader
    def initialize(path)
      @path = path
      @text = File.read(path, mode: 'rb').force_encoding('UTF-8')
      @text = @text.scrub('?') unless @text.valid_encoding?
      @lines = @text.lines
      @comments = comments_by_last_line
      @found = []
    end

    def read
      walk(RubyVM::AbstractSyntaxTree.parse(@text))
      @found
    end

    private

    # Maps last lines to comments. Comments that fill their lines are included, and adjacent ones
    # are joined.
    def comments_by_last_line
      found = {}
      column = nil
      Ripper.lex(@text).each do |(line, at), kind, token|
        next if line == 1 && token.start_with?('#!')
        next unless kind == :on_comment && @lines[line - 1][0...at].strip.empty?
        text = token.chomp.sub(/\A#+\s?/, '')
        before = found[line - 1]
        if before && column == at
          found[line] = found.delete(line - 1) << text
        else
          found[line] = [text]
        end
        column = at
      end
      found
    end

    def comment(node)
      line = node.first_lineno
      lines = @comments[line - 1] || (@lines[line - 2].to_s.strip.empty? ? @comments[line - 2] : nil)
      lines ? lines.join("\n") : ''
    end

    # Columns count bytes.
    def slice(node)
      first, last = node.first_lineno - 1, node.last_lineno - 1
      return @lines[first].byteslice(node.first_column...node.last_column).to_s if first == last
      ([@lines[first].byteslice(node.first_column..)] + @lines[first + 1...last] +
        [@lines[last].to_s.byteslice(0...node.last_column)]).join
    end

    # Returns a literal name or text; nil for an expression that must be computed.
    def literal(node)
      return nil unless node.is_a?(Node)
      case node.type
      when :LIT, :SYM
        value = node.children[0]
        return value.to_s if value.is_a?(Symbol) || value.is_a?(String)
        value.is_a?(Regexp) ? slice(node) : nil
      when :REGX then slice(node)
      when :STR
        source = slice(node)
        written = heredoc(node, source)
        return written if written
        return source if source == "''" || source == '""' # As puppet-strings shows it.
        quoted = source.match(/\A(['"])(.*)\1\z/m)
        # The content of a quoted text is returned as written, escapes included.
        quoted && quoted[2] !~ /(?<!\\)#{quoted[1]}/ ? quoted[2] : node.children[0]
      when :DSTR
        source = slice(node)
        written = heredoc(node, source)
        return written if written
        source =~ /\A(['"])(.*)\1\z/m ? $2 : node.children.flat_map { |c| parts(c) }.join
      end
    end

    # Returns the lines of a heredoc as written; nil for other nodes.
    def heredoc(node, source)
      mark = source[/\A<<[-~]?(['"`]?)(\w+)\1/, 2] or return nil
      body = @lines[node.first_lineno..]
      last = body.index { |line| line.strip == mark }
      last && body.first(last).join
    end

    def parts(node)
      return [node] if node.is_a?(String)
      return [] unless node.is_a?(Node)
      return node.children.flat_map { |c| parts(c) } if node.type == :LIST || node.type == :ARRAY
      node.type == :STR ? [node.children[0]] : [slice(node)]
    end

    def shown(node)
      literal(node) || slice(node)
    end

    # Returns [receiver's text, name, arguments, block] of a call; nil for anything else.
    def call(node)
      block = nil
      if node.type == :ITER
        block = node.children[1]
        node = node.children[0]
      end
      case node.type
      when :CALL then [node.children[0], node.children[1], list(node.children[2]), block]
      when :FCALL then [nil, node.children[0], list(node.children[1]), block]
      when :VCALL then [nil, node.children[0], [], block]
      end
    end

    def list(node)
      return [] unless node.is_a?(Node)
      return [node.children[0]] if node.type == :SPLAT
      return [] unless %i[LIST ARRAY].include?(node.type)
      node.children.compact
    end

    # Returns [[key, value], ..] of a hash argument.
    def pairs(node)
      return [] unless node.is_a?(Node) && node.type == :HASH
      list(node.children[0]).each_slice(2).to_a
    end

    # Returns the statements of a block or a body.
    def statements(scope)
      return [] unless scope.is_a?(Node)
      body = scope.type == :SCOPE ? scope.children[2] : scope
      return [] unless body.is_a?(Node)
      body.type == :BLOCK ? body.children.compact.select { |c| c.is_a?(Node) } : [body]
    end

    def walk(node)
      return unless node.is_a?(Node)
      return if %i[DEFN DEFS].include?(node.type)
      if %i[ITER CALL FCALL].include?(node.type)
        return if definition(node)
      end
      node.children.each { |c| walk(c) }
    end

    def definition(node)
      receiver, name, arguments, block = call(node)
      return false unless name
      of = receiver.is_a?(Node) ? slice(receiver) : ''
      case name
      when :create_function
        return false unless of == 'Puppet::Functions'
        add_function(node, arguments, block)
      when :newfunction
        return false unless ['', 'Puppet::Parser::Functions'].include?(of)
        add_older_function(node, arguments)
      when :newtype
        return false unless %w[Puppet::Type Type].include?(of)
        add_type(node, arguments, block)
      when :register_type
        return false unless of == 'Puppet::ResourceApi'
        add_resource_api_type(node, arguments)
      when :provide
        type = type_named(receiver, %w[Puppet::Type]) or return false
        add_provider(node, type, arguments, block)
      when :newparam, :newproperty, :ensurable
        type = type_named(receiver, %w[Puppet::Type Type]) or return false
        what = name == :newparam ? 'parameters' : 'properties'
        @found << { kind: 'type_part', name: type, what => [attribute(name, arguments, node, block)].compact }
      when :add
        return false unless of == 'Facter'
        add(node, 'fact', literal(arguments[0]), {})
      when :create_type
        return false unless %w[Puppet::DataTypes DataTypes].include?(of)
        add_data_type(node, arguments, block)
      else
        return false
      end
      true
    end

    # Returns the name in Puppet::Type.type(:name).
    def type_named(receiver, modules)
      return nil unless receiver.is_a?(Node) && receiver.type == :CALL
      of, name, arguments = call(receiver)
      return nil unless name == :type && of.is_a?(Node) && modules.include?(slice(of))
      literal(arguments[0])
    end

    def add(node, kind, name, more)
      return unless name
      @found << { kind: kind, name: name, file: @path, line: node.first_lineno, comment: comment(node),
                  source: slice(node) }.merge(more)
    end

    def add_function(node, arguments, block)
      name = literal(arguments[0]) or return
      dispatches = []
      default = nil
      statements(block).each do |part|
        if part.type == :DEFN
          default = part if part.children[0].to_s == name.split('::').last
        elsif part.type == :ITER
          _, word, given, inner = call(part)
          dispatches << dispatch(part, inner) if word == :dispatch && given.size == 1
        end
      end
      dispatches << plain_method(default) if dispatches.empty? && default
      add(node, 'function', name, api: 4, dispatches: dispatches)
    end

    def dispatch(node, block)
      out = { comment: comment(node), parameters: [], returns: nil }
      last = nil
      statements(block).each do |part|
        _, word, given = call(part)
        word = word.to_s
        if word == 'return_type'
          out[:returns] = literal(given[0])
        elsif %w[block_param required_block_param optional_block_param].include?(word)
          type, name = case given.size
                       when 0 then %w[Callable block]
                       when 1 then ['Callable', literal(given[0])]
                       else [literal(given[0]), literal(given[1])]
                       end
          last ||= { name: name, type: type, optional: word.include?('optional'), mark: '&' }
        elsif word =~ /\A(required_|optional_|repeated_|optional_repeated_|required_repeated_)?param\z/ && given.size == 2
          out[:parameters] << { name: literal(given[1]), type: literal(given[0]), optional: word.include?('optional'),
                                mark: word.include?('repeated') ? '*' : '' }
        end
      end
      out[:parameters] << last if last
      out
    end

    def plain_method(node)
      scope = node.children[1]
      names, arguments = scope.children
      required, _, optional, _, _, _, rest, _, _, block = arguments.children
      parameters = names.first(required).map { |n| { name: n.to_s } }
      while optional
        assignment, optional = optional.children
        parameters << { name: assignment.children[0].to_s, default: slice(assignment.children[1]), optional: true }
      end
      parameters << { name: rest.to_s, mark: '*' } if rest
      parameters << { name: block.to_s, mark: '&' } if block
      { comment: comment(node), parameters: parameters, returns: nil }
    end

    def add_older_function(node, arguments)
      doc = pairs(arguments[1]).find { |k, _| literal(k) == 'doc' }
      add(node, 'function', literal(arguments[0]), api: 3, doc: doc && literal(doc[1]))
    end

    def add_type(node, arguments, block)
      parts = { 'properties' => [], 'parameters' => [], 'checks' => [], features: [] }
      statements(block).each do |part|
        _, word, given, inner = call(part)
        what = { newproperty: 'properties', ensurable: 'properties', newparam: 'parameters', newcheck: 'checks' }[word]
        if what
          one = attribute(word, given, part, inner)
          parts[what] << one if one
        elsif word == :feature && given.size >= 2
          name, text = literal(given[0]), literal(given[1])
          parts[:features] << { name: name, doc: text } if name && text
        end
      end
      add(node, 'type', literal(arguments[0]), parts.merge(doc: description(node)))
    end

    # Returns the first description below the node.
    def description(node)
      return nil unless node.is_a?(Node)
      if node.type == :IASGN && node.children[0] == :@doc
        return literal(node.children[1])
      elsif %i[FCALL CALL].include?(node.type)
        _, word, given = call(node)
        return literal(given[0]) if %i[desc doc=].include?(word) && given.size == 1
      elsif node.type == :ATTRASGN && node.children[1] == :doc=
        return literal(list(node.children[2])[0])
      end
      node.children.each do |c|
        text = description(c)
        return text if text
      end
      nil
    end

    def attribute(word, given, node, block)
      if word == :ensurable
        name = 'ensure'
        return { name: name, doc: nil, values: %w[present absent], aliases: {}, default: 'present' } unless block
      else
        name = literal(given[0]) or return nil
      end
      out = { name: name, doc: description(node), values: [], aliases: {} }
      statements(block).each do |part|
        _, inner, told = call(part)
        case inner
        when :newvalue then out[:values] << shown(told[0]) if told[0]
        when :newvalues then out[:values].concat(told.map { |t| shown(t) })
        when :aliasvalue
          next unless told.size >= 2
          out[:values] << shown(told[0]) unless out[:values].include?(shown(told[0]))
          out[:aliases][shown(told[0])] = shown(told[1])
        when :defaultto then out[:default] = shown(told[0]) if told[0]
        when :isnamevar then out[:namevar] = true
        when :defaultvalues
          next unless name == 'ensure'
          out[:values].push('present', 'absent')
          out[:default] = 'present'
        end
      end
      pairs(given[1]).each do |key, value|
        case literal(key)
        when 'required_features' then out[:features] = literal(value)
        when 'parent'
          out[:values] |= %w[true false yes no] if slice(value) == 'Puppet::Parameter::Boolean'
        end
      end
      out
    end

    # Returns the literal values in a schema, and the source text of other values.
    def constant(node)
      return nil unless node.is_a?(Node)
      case node.type
      when :HASH then pairs(node).to_h { |k, v| [constant(k).to_s, constant(v)] }
      when :LIST, :ARRAY then list(node).map { |n| constant(n) }
      when :ZLIST, :ZARRAY then []
      when :TRUE then true
      when :FALSE then false
      when :NIL then nil
      when :INTEGER, :FLOAT then node.children[0]
      when :LIT then node.children[0].is_a?(Numeric) ? node.children[0] : literal(node)
      else shown(node)
      end
    end

    def add_resource_api_type(node, arguments)
      schema = constant(arguments[0])
      return unless schema.is_a?(Hash) && schema['name']
      parts = { 'properties' => [], 'parameters' => [], 'checks' => [], features: [] }
      (schema['attributes'].is_a?(Hash) ? schema['attributes'] : {}).each do |name, told|
        told = {} unless told.is_a?(Hash)
        what = %w[parameter namevar].include?(told['behaviour']) ? 'parameters' : 'properties'
        one = { name: name, doc: told['desc'], values: [], aliases: {}, data_type: told['type'],
                default: told['default'], plain: true }
        one[:namevar] = true if told['behaviour'] == 'namevar'
        parts[what] << one
      end
      add(node, 'type', schema['name'], parts.merge(doc: schema['docs'] || schema['desc'], resource_api: true))
    end

    def add_provider(node, type, arguments, block)
      out = { type: type, confines: {}, features: [], defaults: [], commands: {}, doc: description(node) }
      statements(block).each do |part|
        _, word, given = call(part)
        case word
        when :confine, :commands
          pairs(given[0]).each { |k, v| out[word == :commands ? :commands : :confines][shown(k)] = shown(v) }
        when :has_feature, :has_features then out[:features].concat(given.map { |g| shown(g) })
        when :defaultfor
          given.each do |g|
            all = pairs(g).map { |k, v| [shown(k), shown(v)] }
            out[:defaults] << all unless all.empty?
          end
        end
      end
      add(node, 'provider', literal(arguments[0]), out)
    end

    def add_data_type(node, arguments, block)
      add(node, 'data_type', literal(arguments[0]), interface: interface(block))
    end

    def interface(node)
      return nil unless node.is_a?(Node)
      _, word, given = call(node)
      return literal(given[0]) if word == :interface && given[0]
      node.children.each do |c|
        text = interface(c)
        return text if text
      end
      nil
    end
  end

  def self.run(paths)
    paths.flat_map do |path|
      Reader.new(path).read
    rescue SyntaxError, StandardError => e
      [{ kind: 'error', name: path, file: path, line: 0, message: e.message.lines.first.to_s.strip }]
    end
  end
end
puts JSON.generate(BunrakuDocuments.run(ARGV)) if $bunraku_documents
