file { 'WORK/plain': content => 'raise' }
-> api_plain { 'a': size => 2, need => true }
