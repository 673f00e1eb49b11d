tree { 'oak/tall': }
tree { 'elm': before => Notify['done'] }
notify { 'done': }
