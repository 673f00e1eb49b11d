file { 'WORK/plain': content => 'text' }
-> api_plain { 'a': size => 2, need => true }
