$a = "b ${c['d']} $e[1][2] $f-g \${h} ${"i ${j}"} \"" // k
$l = @("END"/L)
  text ${m} $n
  | - END
/* o
 * p */
$q = "puppet:///r"
if $version >= 1.2 and $s =~ /t\/u/ { include ::v }
