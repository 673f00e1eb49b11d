service { 'x': enable => mask, provider => kept }
