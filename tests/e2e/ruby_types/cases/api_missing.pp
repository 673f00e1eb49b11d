api_line { 'x': count => 2 }
