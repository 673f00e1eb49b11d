# frozen_string_literal: true

# @summary Makes a URL.
#
# Of what it is given.
# @raise ArgumentError where it cannot
Puppet::Functions.create_function(:'web::url') do
  # @param host the host
  # @param path "and" the path
  # @return the URL
  # @example plain
  #   web::url('h') # => http://h/
  dispatch :plain do
    param 'String[1]', :host
    optional_param 'String', :path
    repeated_param 'Any', :more
    return_type 'String'
  end

  # Takes it apart.
  # @param parts what it is made of
  # @param block does more
  dispatch :of_hash do
    required_param 'Hash', :parts
    optional_block_param 'Callable[1]', :block
  end

  def plain(host, path = '', *more)
    "http://#{host}/#{path}"
  end

  def of_hash(parts)
    plain(parts['host'])
  end
end
