api_line { 'x y': text => 'a' }
