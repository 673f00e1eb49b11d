talker { 'a': }
talker { 'b': loglevel => warning, noop => false }
class around { talker { 'c': } }
include around
