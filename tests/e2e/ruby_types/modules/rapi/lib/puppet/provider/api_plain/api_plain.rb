class Puppet::Provider::ApiPlain::ApiPlain
  def get(_context)
    case ENV['API_PLAIN'] || (File.exist?("#{ENV['WORK']}/plain") ? File.read("#{ENV['WORK']}/plain") : '')
    when 'symbol' then [{ name: 'a', size: :many, need: true }]
    when 'text' then [{ name: 'a', size: '7', need: true }]
    when 'more' then [{ name: 'a', size: 1, need: true, colour: 'red' }]
    when 'nameless' then [{ size: 1, need: false }]
    when 'raise' then raise('nothing to get')
    else [{ name: 'a', size: 1, need: false }, { name: 'b', size: 2, need: true }]
    end
  end

  def set(context, changes)
    changes.each { |name, change| context.warning("#{name}: #{change[:is][:size]} to #{change[:should][:size]}") }
    context.failed(changes.keys, message: 'no luck')
    raise 'set is broken' if changes['b']
  end
end
