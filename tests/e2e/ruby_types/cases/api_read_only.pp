api_line { 'x': text => 'a', seen => 2 }
