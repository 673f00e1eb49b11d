file { 'WORK/plain': content => 'nameless' }
-> api_plain { 'a': size => 2, need => true }
