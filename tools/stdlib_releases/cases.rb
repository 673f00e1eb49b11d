# The calls that `compare` makes: those of stdlib's own specs, generated ones with values of all
# types, and manual ones that need a catalog, a file or a module.

module Cases
  Skip = Class.new(StandardError)
  POOL = ['undef', 'true', 'false', "''", "'a'", "'abc'", "'Foo Bar'", "'42'", "'-3.7'", '0', '1', '-1', '3.5',
          '[]', "['a','b','a']", '[1,[2,3]]', "['a', undef, '', 1]", '{}', "{'a'=>1,'b'=>[1]}", "{'a'=>undef, 2=>''}",
          'default', '/a.c/', 'Integer', "'true'", "'no'", "'/usr/bin'", "'C:\\\\x\\\\y'", "'1.2.3.4'", "'::1'",
          "'host.example.com'", "'é ß'", "'a1-b_2.c'", "Sensitive('x')", "'^a'", "'a,b'", "['1','2']", "'10M'",
          "[{'a'=>1},{'b'=>2}]", "'a@b.org'", "'00:11:22:aa:bb:cc'"].freeze

  module_function

  # Returns a Ruby value in Puppet's syntax.
  def source(v)
    case v
    when nil, :undef then 'undef'
    when :default then 'default'
    when true, false, Integer then v.to_s
    when Float then v.finite? ? v.to_s : raise(Skip)
    when String then quote(v)
    when Array then "[#{v.map { |e| source(e) }.join(', ')}]"
    when Hash then "{#{v.map { |k, e| "#{source(k)} => #{source(e)}" }.join(', ')}}"
    when Regexp then v.inspect
    else raise Skip
    end
  end

  def quote(text)
    text = text.dup.force_encoding('UTF-8')
    raise Skip unless text.valid_encoding?
    return "'#{text.gsub(/['\\]/) { "\\#{_1}" }}'" unless text =~ /[\x00-\x1f]/
    "\"#{text.gsub(/["\\$]/) { "\\#{_1}" }.gsub(/[\x00-\x1f]/) { format('\\u{%x}', _1.ord) }}\""
  end

  # Returns the arguments of each `with_params` in a spec: [function, [source of arguments]].
  def from_spec(text)
    name = text[/describe\s*\(?\s*['"]([a-z0-9_:]+)['"]/, 1] or return nil
    found = text.to_enum(:scan, /with_params\(/).filter_map do
      rest = $~.post_match
      depth = 1
      length = rest.each_char.with_index do |c, i|
        depth += { '(' => 1, ')' => -1 }.fetch(c, 0)
        break i if depth.zero?
      end
      next if !length.is_a?(Integer) || rest[0, length].match?(/`|%x|\b(?:system|exec)\b/)
      begin
        values = eval("[#{rest[0, length]}]", Object.new.instance_eval { binding }, 'spec', 1) # rubocop:disable Security/Eval
        values.map { |v| source(v) }
      rescue Skip, SyntaxError, StandardError
        nil
      end
    end
    found << [] if text.include?('with_params.')
    [name, found]
  end

  def made_up(name)
    random = Random.new(name.sum)
    pick = -> { POOL[random.rand(POOL.size)] }
    [[]] + POOL.map { |v| [v] } + Array.new(30) { [pick[], pick[]] } + Array.new(12) { [pick[], pick[], pick[]] } +
      Array.new(4) { Array.new(4) { pick[] } }
  end

  # Returns one call as a manifest.
  def manifest(name, arguments, statement)
    call = "#{name}(#{arguments.join(', ')})"
    return "#{call} notice('done')" if statement
    case name
    when 'shuffle' then "with(#{call}) |$r| { notice(String(type($r, generalized)), size($r)) }"
    # The function returns the result of logging, which has no meaning.
    when 'deprecation' then "#{call} notice('done')"
    when 'time' then "notice(#{call} =~ Integer[1700000000])"
    else "with(#{call}) |$r| { notice(String($r, '%p')) }"
    end
  end

  def by_hand(fixtures)
    ensured = lambda do |call|
      ["class c { #{call} }\ninclude c", "define d() { #{call} }\nd { 'one': }", call, "#{call}\n#{call}",
       "package { 'p': }\n#{call}", "package { 'p': ensure => present }\n#{call}",
       "package { 'p': ensure => installed }\n#{call}", "package { 'p': ensure => '1.2' }\n#{call}",
       "class c { #{call} }\nclass e { #{call} }\ninclude c, e", "package { 'x': name => 'p' }\n#{call}",
       "@package { 'p': ensure => present }\n#{call}", "Package { provider => 'gem' }\n#{call}"]
    end
    package_arguments = ["'p'", "['p', 'q']", "'p', {'ensure' => 'present'}", "'p', {'ensure' => 'latest'}",
                         "'p', {'ensure' => 'installed'}", "{'p' => {'ensure' => 'present'}}",
                         "{'p' => {'ensure' => 'installed'}, 'q' => {}}, {'ensure' => 'present'}",
                         "{'p' => {}}", "{'p' => undef}", "['p', 'p']", "[['p'], 'q']", "''", "['']",
                         "'p', {'provider' => 'gem'}", "{'p' => {'provider' => 'gem'}}, {'provider' => 'pip'}"]
    all = Hash.new { |h, k| h[k] = [] }
    %w[ensure_packages stdlib::ensure_packages].each do |f|
      package_arguments.each { |a| all[f].concat(ensured["#{f}(#{a})"]) }
    end
    resource_arguments = ["'package', 'p', {'ensure' => 'present'}", "'package', ['p', 'q'], {'ensure' => 'installed'}",
                          "'package', 'p'", "'Package', 'p', {}", "'package', 'p', undef", "'d', 'p'", "'nothing', 'p'",
                          "Package, 'p', {'ensure' => present}", "'package', 42, {'ensure' => present}",
                          "'user', 'p', {'ensure' => 'present', 'uid' => 3}", "'package', ''", "'', 'p'",
                          "'package', 'p', 'x'", "'package', [80, '443']", "'package', [['p'], 'q']", "'@package', 'p', {}", "'class', 'c'", "'file', '/tmp/x/', {}"]
    resource_arguments.each { |a| all['ensure_resource'].concat(ensured["ensure_resource(#{a})"]) }
    hashes = ["'package', {'p' => {'ensure' => 'present'}, 'q' => {}}", "'package', {'p' => {}}, {'ensure' => 'installed'}",
              "'package', {'p' => undef}, {'ensure' => present}", "'package', {}", "'package', 'p', {}",
              "'package', {'p' => {'ensure' => 'latest'}}, {'ensure' => 'present'}", "'user', {'p' => {'uid' => 1}}"]
    hashes.each { |a| all['ensure_resources'].concat(ensured["ensure_resources(#{a})"]) }
    declared = "package { 'p': ensure => present, provider => 'gem', tag => ['x','y'] }\nfile { '/x': mode => '0644' }\n" \
               "user { 'u': uid => 0, groups => ['a'], home => undef }\n"
    ["'Package[p]', {}", "'Package[p]', {'ensure' => 'present'}", "'Package[p]', {'ensure' => 'installed'}", "Package['p']",
     "Package['p'], {'provider' => 'gem'}", "Package['q'], {}", "'Package[p]', {'ensure' => undef}", "File['/x'], {'mode' => '0644'}",
     "'file[/x]'", "'File[/x]', {'owner' => undef}", "'User[u]', {'uid' => 0}", "'User[u]', {'uid' => '0'}", "'User[u]', {'groups' => ['a']}",
     "'User[u]', {'home' => undef}", "'User[u]', {'home' => ''}", "Package, {}", "'Package', {}", "'Package[p]', 'x'",
     "'Package[p]', {'ensure' => 'present', 'provider' => 'apt'}", "['Package[p]', 'x'], {}", "'User[u]', {'uid' => 1}"].each do |a|
      all['defined_with_params'] << "#{declared}notice(defined_with_params(#{a}))"
    end
    ["Package['p'], 'ensure'", "'Package[p]', 'ensure'", "Package['p'], 'tag'", "Package['p'], 'nothing'", "Package['q'], 'ensure'",
     "User['u'], 'uid'", "User['u'], 'home'", "File['/x'], 'mode'", "Package['p']", "Package['p'], ''", "'x', 'y'",
     "User['u'], 'groups'", "File['/x'], 'ensure'", "Package['p'], 'title'", "Package['p'], 'name'"].each do |a|
      all['getparam'] << "#{declared}notice(String(getparam(#{a}), '%p'))"
    end
    ["'Package[p]'", "'User[u]'", "'Package[q]'", "'File[/x]'", "'package[p]'", "'Package'", "'Class[main]'", "'File[\"/x\"]'",
     "''", "'Package[p'"].each { |a| all['stdlib::str2resource'] << "#{declared}notice(String(stdlib::str2resource(#{a}), '%p'))" }
    %w[assert_private private].each do |f|
      all[f] << "include plain::#{f}" << "include plain::uses_#{f}" << "include plain::said_#{f}" << "plain::define_#{f} { 'x': }"
    end
    %w[loadyaml loadjson].each do |f|
      %w[good.yaml good.json bad.yaml bad.json none empty.yaml list.json odd.yaml].each do |file|
        all[f] << "notice(String(#{f}('#{fixtures}/#{file}'), '%p'))" << "notice(String(#{f}('#{fixtures}/#{file}', {'d' => 1}), '%p'))"
      end
      all[f] << "notice(#{f}('#{fixtures}/good.yaml', 1, 2))"
    end
    ["'plain'", "'nothing'", "'plain', true", "'nothing', true", "'nothing', false"].each do |a|
      all['load_module_metadata'] << "notice(String(load_module_metadata(#{a}), '%p'))"
    end
    ["'plain'", "'nothing'", ''].each { |a| all['get_module_path'] << "notice(get_module_path(#{a}))" }
    ["'#{fixtures}/*.yaml'", "['#{fixtures}/good.*', '#{fixtures}/n*']", "'#{fixtures}/{bad,good}.json'", "'#{fixtures}/none*'"].each do |a|
      all['glob'] << "notice(String(glob(#{a}), '%p'))"
    end
    ["'a', '/bin/true'", "'a', '/bin/false'", "'a', '/bin/grep a'", "'a', '/bin/grep b', 'no b in it'", "'a', '/bin/grep b %'",
     "'a', '/bin/grep a %'", "'a', 'true'", "'a', '/nothing/here'", "'', '/bin/grep a'"].each { |a| all['validate_cmd'] << "validate_cmd(#{a})\nnotice('done')" }
    ["[3,1,2]) |$x| { -$x }", "{'b'=>1,'a'=>2}) |$k, $v| { $v }", "['b','a'])", "{'b'=>1,'a'=>2}) |$e| { $e[0] }",
     "['bb','a']) |$x| { $x.length }", "'x') |$x| { $x }", "[1,'a']) |$x| { $x }", "[]) |$x| { $x }"].each do |a|
      all['stdlib::sort_by'] << "notice(String(stdlib::sort_by(#{a}, '%p'))"
    end
    ["{'a'=>1}, {'b'=>2}", "{'a'=>1}", "{'a'=>{'x'=>1}}, {'a'=>{'y'=>2}}", "{'a'=>1}, ''", "{'a'=>1}, undef", "{}, {'a'=>1}, {'a'=>2}",
     "'', {'a'=>1}", "{'a'=>1}, [1]"].each do |a|
      %w[merge stdlib::merge deep_merge].each { |f| all[f] << "notice(String(#{f}(#{a}), '%p'))" }
    end
    ["[{'a'=>1},{'b'=>2}]) |$x| { {'k' => $x} }", "[1,2]) |$x| { {$x => 1} }", "[1,2]) |$i, $x| { {$x => $i} }",
     "{'a'=>1}) |$k, $v| { {$v => $k} }", "[1]) |$x| { 1 }"].each do |a|
      %w[merge stdlib::merge].each { |f| all[f] << "notice(String(#{f}(#{a}, '%p'))" }
    end
    [%w[validate_legacy String validate_string 'x'], %w[validate_legacy Integer validate_integer 'x'], %w[validate_legacy Hash validate_hash {}],
     %w[validate_legacy Integer validate_integer '1'], %w[validate_legacy String validate_re 'a' '^b'], %w[validate_legacy Array validate_array 'x']].each do |f, type, old, *args|
      all[f] << "#{f}(#{type}, '#{old}', #{args.join(', ')})\nnotice('done')"
      all[f] << "#{f}('#{type}', '#{old}', #{args.join(', ')})\nnotice('done')"
    end
    ["'x'", "'x', 'm'", "'x', 'm', true", "'x', 'm', false", "'x', 1"].each do |a|
      all['deprecation'] << "deprecation(#{a})\nnotice('done')" << "deprecation(#{a})\ndeprecation(#{a})\nnotice('done')"
    end
    ["'interfaces', 'lo'", "'ipaddress', '127.0.0.1'", "'ipaddress', '9.9.9.9'", "'macaddress', '02:00:00:00:00:01'", "'lo'", "'eth0'", "'eth9'",
     "'netmask', '255.0.0.0'", "'network', '10.0.0.0'", "'mtu', '1500'", "'mtu', 1500", "'bogus', 'x'", "'ip', '10.0.0.5'", "'ipaddress6', '::1'"].each do |a|
      %w[has_interface_with stdlib::has_interface_with].each { |f| all[f] << "notice(#{f}(#{a}))" }
    end
    ["'127.0.0.1'", "'10.0.0.5'", "'9.9.9.9'"].each { |a| all['has_ip_address'] << "notice(has_ip_address(#{a}))" }
    ["'127.0.0.0'", "'10.0.0.0'", "'9.9.9.0'"].each { |a| all['has_ip_network'] << "notice(has_ip_network(#{a}))" }
    ["'Debian', '9'", "'Debian', '12'", "'Debian', '13'", "'Ubuntu', '1'", "'Debian', '12.5'"].each do |a|
      %w[os_version_gte stdlib::os_version_gte].each { |f| all[f] << "notice(#{f}(#{a}))" }
    end
    ["'os.name'", "'networking.interfaces.lo.ip'", "'os.nothing'", "'\"os\".name'", "'os'", "'list.0'", "'list.9'", "'list.x'", "'quoted.\"a.b\"'"].each do |a|
      all['fact'] << "notice(String(fact(#{a}), '%p'))"
    end
    %w[pick has_key notice nothing stdlib::merge].each do |n|
      all['is_function_available'] << "notice(is_function_available('#{n}'))" unless n == 'has_key'
      all['stdlib::has_function'] << "notice(stdlib::has_function('#{n}'))" unless n == 'has_key'
    end
    all.each_value(&:uniq!)
    all
  end
end
