gathering { 'open': text => "text\n" }
gathering { 'secret': text => Sensitive("hidden\n") }
exec { '/bin/sh -c "echo old >WORK/secret; echo old >WORK/open"': creates => 'WORK/open', before => Gathering['open', 'secret'] }
