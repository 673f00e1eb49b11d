# Reads the scope and the environment.
Puppet::Functions.create_function(:'plug::scoped', Puppet::Functions::InternalFunction) do
  dispatch :text do
    scope_param
    param 'String', :name
    optional_param 'Hash', :more
  end

  def text(scope, name, more = {})
    facts = scope.lookupvar('facts')
    parts = [name, scope.lookupvar('plug::found'), facts['role'], facts['networking']['hostname'], ENV['MUTATION'] || 'none']
    more.each { |key, value| parts << "#{key}=#{value}" }
    parts << call_function('lookup', 'plug::second')
    parts.join(' ')
  end
end
