require 'yaml'
require_relative '../../../puppet_x/plug/tidy'
# Caches values in its context.
Puppet::Functions.create_function(:'plug::keys') do
  dispatch :find do
    param 'String', :key
    param 'Hash', :options
    param 'Puppet::LookupContext', :context
  end

  def find(key, options, context)
    return context.cached_value(key) if context.cache_has_key(key)

    data = context.cached_file_data(options['path']) { |text| YAML.safe_load(text) || {} }
    context.explain { "asked for #{key}" }
    context.not_found unless data.is_a?(Hash) && data.key?(key)
    context.cache(key, PuppetX::Plug.tidy(context.interpolate(data[key])))
  end
end
