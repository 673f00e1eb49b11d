api_sync { 'a': }
-> api_sync { 'b': mode => 'out' }
-> api_sync { 'c': mode => 'plain' }
-> api_sync { 'd': mode => 'odd' }
-> api_sync { 'e': mode => 'out', noop => true }
