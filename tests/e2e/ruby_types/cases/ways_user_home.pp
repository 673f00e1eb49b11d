user { 'ann': managehome => true }
