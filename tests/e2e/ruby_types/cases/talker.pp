talker { 'a': }
talker { 'b': loglevel => warning, noop => false, audit => all }
class around { talker { 'c': } }
include around
