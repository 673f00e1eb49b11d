api_plain { 'a': size => 2, need => false }
-> notify { 'never': }
api_plain { 'b': size => 2, need => false }
api_plain { 'c': size => 2 }
api_plain { 'd': size => 2, need => true, noop => true }
