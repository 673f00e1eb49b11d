Puppet::Reports.register_report(:fails) { def process; raise 'no way'; end }
