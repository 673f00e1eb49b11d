# Evaluates the probes of the section `function`.
Puppet::Functions.create_function(:probe_function, Puppet::Functions::InternalFunction) do
  dispatch :probe do
    scope_param
    param 'String', :script
    optional_param 'Any', :given
  end
  def probe(scope, script, given = nil)
    load script
    ProbeRunner.run('function') { |text| eval(text) }
    nil
  end
end
