api_line { 'x': text => ['a', 2], flags => { 'a' => 1 }, nosuch => 1 }
