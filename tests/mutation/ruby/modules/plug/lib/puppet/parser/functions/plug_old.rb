Puppet::Parser::Functions.newfunction(:plug_old, type: :rvalue, arity: -2) do |args|
  found = lookupvar('plug::found') || lookupvar('::legacy')
  template = Puppet::Parser::Files.find_template('plug/plain.erb', compiler.environment)
  [args.first, found, lookupvar('::legacy'), compiler.catalog.classes.include?('plug'), File.size?(template.to_s).nil?].join('/')
end
