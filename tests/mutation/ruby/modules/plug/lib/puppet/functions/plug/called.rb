# Calls other functions, also with a block.
Puppet::Functions.create_function(:'plug::called') do
  dispatch :each do
    param 'Array', :list
    block_param 'Callable[1, 1]', :block
  end
  dispatch :plain do
    param 'Array', :list
  end

  def each(list)
    list.map { |item| yield(item) }
  end

  def plain(list)
    list.map { |item| call_function('plug::scoped', item.to_s) }
  end
end
