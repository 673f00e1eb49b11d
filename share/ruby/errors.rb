# frozen_string_literal: true
# Converts errors of the compile to the classes that Puppet raises, so that `rescue` clauses of
# modules catch the same errors. tests/e2e/ruby_errors.sh has the behaviour of Puppet 8.11.

module Bunraku
  module Errors
    # Functions of Puppet and stdlib that raise a ParseError although neither the text nor Ruby
    # shows it.
    PARSE_ERROR = %w[
      any2bool assert_private base64 basename binary_file bool2num bool2str clamp concat convert_base deep_merge delete
      delete_at delete_regex delete_undef_values delete_values difference dig44 dirname dos2unix enclose_ipv6 epp fail
      file fqdn_rotate generate get_module_path glob grep has_interface_with has_ip_address has_ip_network has_key hash
      inline_epp inline_template intersection is_domain_name is_email_address is_function_available is_hash is_integer
      is_mac_address join_keys_to_values load_module_metadata member num2bool pick prefix private range regexpescape
      reject reverse shell_escape shell_join shell_split shuffle squeeze stdlib::str2resource str2bool str2saltedsha512
      suffix swapcase tag template time to_bytes type3x union unix2dos uriescape validate_absolute_path validate_array
      validate_augeas validate_bool validate_cmd validate_domain_name validate_email_address validate_hash
      validate_integer validate_ip_address validate_ipv4_address validate_ipv6_address validate_legacy validate_numeric
      validate_re validate_slength validate_string validate_x509_rsa_key_pair values_at zip
    ].freeze
    # For these functions `Wrong number of arguments` is an ArgumentError, because the arity is
    # declared or checked like a declared one.
    ARITY_DECLARED = %w[fail file generate inline_template tag template validate_cmd validate_augeas].freeze

    module_function

    # Returns the error for a text, the issue code of the compile and the called function; nil means
    # an ArgumentError.
    def make(text, code, function)
      function = function.to_s.delete_prefix('::')
      # Errors with a position have passed through Puppet code.
      return Puppet::PreformattedError.new(text) if code == 'LOCATED'
      return ArgumentError.new(unknown(function)) if code == 'UNKNOWN_FUNCTION' && text.include?("'#{function}'")

      by_text(text, function) || by_function(text, function) ||
        (code.empty? ? nil : Puppet::Error.new(text))
    end

    def unknown(function) = "Unknown function '#{function}'"

    def by_text(text, function)
      case text
      when /\AFunction lookup\(\) did not find a value for the name/
        Puppet::DataBinding::LookupError.new(text)
      when /\A(?:Found value|Default value|The value|Value|value returned from \S+|Lookup of key .*|Data Provider .*) ?(?:has|returned|found)? ?(?:a )?(?:value that )?(?:has )?wrong type, /, /\Aassert_type\(\): /
        Puppet::Pops::Types::TypeAssertionError.new(text, nil, nil)
      when /\ACould not find class \S+ for / then Puppet::Error.new(text)
      when /\A(?:Class|Node|Definition) '[^']*' is already defined/ then Puppet::ParseError.new(text)
      when /\ADuplicate declaration: / then Puppet::Resource::Catalog::DuplicateResourceError.new(text)
      when /\A[A-Z]\w*(?:::[A-Z]\w*)*\[.*\]:\s/ then Puppet::ParseError.new(text)
      when /\A(?:end pattern|premature end|target of|invalid|empty|unmatched|too|undefined|unknown|numbered|char-class)\b.*: \/.*\/\z/m
        RegexpError.new(text)
      when /\Adeprecation\. /, 'Syntax error in dotted-navigation string' then RuntimeError.new(text)
      when /\A(?:no implicit conversion|can't convert|can't dup|wrong argument type|nil can't be coerced|\S+ can't be coerced)/
        TypeError.new(text)
      when /\Aundefined method / then NoMethodError.new(text)
      when /\Akey not found: / then KeyError.new(text)
      when /\A(?:\(<unknown>\): |\([^)]*\): )?(?:did not find expected|could not find expected|mapping values are not|block sequence entries|found )/
        if %w[parseyaml loadyaml yaml_data].include?(function)
          require 'yaml'
          Psych::SyntaxError.new('<unknown>', 0, 0, 0, text, nil).tap { |e| e.define_singleton_method(:message) { text } }
        end
      end
    end

    def by_function(text, function)
      # A call that matches no signature. The 3.x functions of stdlib count their arguments
      # themselves.
      return if text.start_with?("'#{function}' ", 'The function ')
      return if ARITY_DECLARED.include?(function) && text.start_with?("#{function}(): Wrong number of arguments")
      return if text.start_with?('invalid value for ')

      case function
      when *PARSE_ERROR then Puppet::ParseError.new(text)
      when 'parsejson', 'loadjson', 'to_json' then Puppet::Util::Json::ParseError.new(text)
      when 'md5', 'sha1', 'sha256' then TypeError.new(text)
      when 'stdlib::ip_in_range' then IPAddr::InvalidAddressError.new(text)
      end
    end
  end
end
