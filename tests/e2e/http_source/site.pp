$web = "http://127.0.0.1:${facts['port']}"
['sha256', 'md5', 'dated', 'no_head', 'both', 'moved', 'big'].each |$n| { file { "${top}/${n}": source => "${web}/${n}" } }
file { "${top}/asked_for_md5": source => "${web}/both", checksum => 'md5' }
file { "${top}/mode": source => "${web}/sha256", mode => '0600', source_permissions => 'use' }
file { "${top}/user": source => "http://u:p@127.0.0.1:${facts['port']}/user" }
file { "${top}/second": source => ["${web}/missing", "${web}/sha256"] }
file { "${top}/fixed": source => "${web}/bare", checksum_value => 'ab929fcd5594037960792ea0b98caf5fdaf6b60645e4ef248c28db74260f393e' }
file { "${top}/wrong": source => "${web}/wrong" }
file { "${top}/missing": source => "${web}/missing" }
file { "${top}/refused": source => 'http://127.0.0.1:9/x' }
file { "${top}/gone": source => "${web}/gone_later" }
file { "${top}/tree": source => "${web}/sha256", recurse => true }
file { "${top}/secret_missing": source => "http://u:planted@127.0.0.1:${facts['port']}/missing" }
file { "${top}/secret_refused": source => ['http://planted@127.0.0.1:9/x'] }
['md5', 'sha1', 'sha256', 'weak', 'other'].each |$n| { file { "${top}/tag_${n}": source => "${web}/tag_${n}", checksum => etag } }
file { "${top}/tag_text": content => "abc", checksum => etag }
file { "${top}/tag_local": source => "${top}/tag_text", checksum => etag, require => File["${top}/tag_text"] }
