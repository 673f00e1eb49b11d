tree { 'not a name': }
