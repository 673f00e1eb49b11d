file { 'WORK/plain': content => 'symbol' }
-> api_plain { 'a': size => 2, need => true }
