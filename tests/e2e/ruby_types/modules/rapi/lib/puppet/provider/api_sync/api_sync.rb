class Puppet::Provider::ApiSync::ApiSync
  def get(_context) = []

  def insync?(_context, title, attribute, is, should)
    Puppet.notice("#{title} #{attribute} #{is.inspect} #{should.inspect}")
    case should[:mode]
    when 'in' then true
    when 'out' then [false, 'because I say so']
    when 'plain' then false
    when 'odd' then 'yes'
    end
  end

  def set(context, changes, noop: false)
    changes.each_key { |name| context.processing(name, 'a', 'b') { context.info("noop #{noop}") } }
  end
end
