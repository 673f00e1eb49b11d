api_line { 'x': text => 'a', count => 10 }
