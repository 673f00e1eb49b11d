# Evaluates Puppet expressions with real Puppet. Each input line is a JSON string; each output line
# is JSON: {"value": TEXT} or {"error": MESSAGE}.
require 'puppet'
require 'puppet_pal'
require 'json'
require 'tmpdir'
Puppet.initialize_settings(['--vardir', Dir.mktmpdir, '--confdir', Dir.mktmpdir]) rescue nil
Puppet[:strict] = :error
Puppet::Util::Log.level = :crit
Puppet::Pal.in_tmp_environment('e', modulepath: (ENV['MODULEPATH'] || '').split(':'), facts: {}) do |pal|
  STDIN.each_line do |line|
    code = JSON.parse(line)
    out = begin
      pal.with_catalog_compiler do |c|
        v = c.evaluate_string(code)
        {value: v.is_a?(String) ? v : Puppet::Pops::Types::StringConverter.singleton.convert(v, '%p')}
      end
    rescue Exception => e
      {error: e.message}
    end
    puts JSON.generate(out) rescue puts JSON.generate({value: '?unprintable'})
  end
end
