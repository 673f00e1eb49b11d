Puppet::Type.type(:web_site).provide(:apache, parent: Puppet::Provider) do
  desc 'With Apache.'
  commands apachectl: 'apachectl', a2: '/usr/sbin/a2ensite'
  confine 'os.family' => :debian
  defaultfor 'os.name' => :debian
  has_feature :vhosts
end
