require_relative '../../../puppet_x/plug/tidy'
# Caches files for the lifetime of its process.
Puppet::Functions.create_function(:'plug::memo') do
  dispatch :read do
    param 'String', :path
    return_type 'String'
  end

  def read(path)
    seen = PuppetX::Plug.remembered
    seen[path] ||= File.exist?(path) ? File.read(path).lines.first.to_s.chomp : 'none'
    PuppetX::Plug.tidy("#{seen[path]} (#{File.directory?(File.dirname(path))})")
  end
end
