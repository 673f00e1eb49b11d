api_line { 'x': text => 'a', flags => 'one' }
