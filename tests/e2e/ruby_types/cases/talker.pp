talker { 'a': }
talker { 'b': loglevel => warning, noop => false }
