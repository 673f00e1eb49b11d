crasher { 'throw': how => 'throw' }
-> notify { 'skipped': }
crasher { 'raise': how => 'raise' }
crasher { 'missing': how => 'missing' }
crasher { 'command': how => 'command' }
crasher { 'output': how => 'output' }
thing { 'last': ensure => present, size => 2 }
