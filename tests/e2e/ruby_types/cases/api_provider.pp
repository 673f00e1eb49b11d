api_line { 'x': text => 'a', provider => 'api_line' }
