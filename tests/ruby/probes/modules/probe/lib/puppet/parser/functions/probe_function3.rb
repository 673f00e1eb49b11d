# Evaluates the probes of the section `function3`: self is the scope.
Puppet::Parser::Functions.newfunction(:probe_function3, type: :rvalue, arity: 1) do |args|
  load args[0]
  ProbeRunner.run('function3') { |text| eval(text) }
  ''
end
