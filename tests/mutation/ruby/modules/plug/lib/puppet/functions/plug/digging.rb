require 'yaml'
Puppet::Functions.create_function(:'plug::digging') do
  dispatch :dig do
    param 'Array[Variant[String, Integer]]', :segments
    param 'Hash', :options
    param 'Puppet::LookupContext', :context
  end

  def dig(segments, options, context)
    found = YAML.safe_load(File.read(options['path']))
    segments.each do |segment|
      context.not_found unless found.respond_to?(:[]) && !found.is_a?(String)
      found = found[segment]
      context.not_found if found.nil?
    end
    found
  end
end
