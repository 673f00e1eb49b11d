# Counts.
#
# @param x this is not for here
Puppet::Functions.create_function(:"web::size") do
  # @param list of what
  # @return [Integer] how many
  def size(list, least = nil, *others, &block)
    list.size
  end
end
