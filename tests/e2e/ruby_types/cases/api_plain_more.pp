file { 'WORK/plain': content => 'more' }
-> api_plain { 'a': size => 2, need => true }
