# Completes a generated file while the catalog is applied, like concat_file of concat 10.
Puppet::Type.newtype(:gathering) do
  newparam(:name, namevar: true)
  newparam(:text)
  def place = "#{ENV.fetch('WORK')}/#{self[:name]}"
  def generate = [Puppet::Type.type(:file).new(path: place, ensure: 'file')]
  def eval_generate
    catalog.resource("File[#{place}]")[:content] = self[:text]
    catalog.resource("File[#{place}]").parameters[:content].sensitive = parameters[:text].sensitive
    [catalog.resource("File[#{place}]")]
  end

  def set_sensitive_parameters(names)
    parameter(:text).sensitive = true if names.delete(:text)
    super
  end
end
