api_line { 'x': text => 'a', on => 'maybe' }
