# A Hiera backend with one key per file of a folder.
Puppet::Functions.create_function(:'plug::folder') do
  dispatch :all do
    param 'Hash', :options
    param 'Puppet::LookupContext', :context
  end

  def all(options, _context)
    Dir.glob(File.join(options['path'], "*#{options['suffix']}")).sort.to_h do |file|
      [File.basename(file, options['suffix']).gsub('__', '::'), File.read(file).chomp]
    end
  end
end
