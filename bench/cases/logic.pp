# Mostly evaluation, few resources: iteration, hashes, patterns, types, functions.
function digits(Integer $n) >> Array[Integer] {
  String($n).split('').map |$d| { Integer($d) }
}
function collatz(Integer[1] $n) >> Integer {
  if $n == 1 { 1 } elsif $n % 2 == 0 { 1 + collatz($n / 2) } else { 1 + collatz(3 * $n + 1) }
}

$sums = Integer[1, 2000].reduce({}) |$memo, $n| {
  $memo + { "k${$n % 100}" => digits($n).reduce |$a, $b| { $a + $b } }
}
$lengths = Integer[1, 200].map |$n| { collatz($n) }
$words = Integer[1, 1000].map |$n| {
  $text = "host${n}.dc${$n % 7}.example.org"
  case $text {
    /^host(\d+)\.dc([0-3])\./: { "${2}/${1}" }
    /\Ahost\d*5\./:            { regsubst($text, '\.', '-', 'G') }
    default:                   { $text.upcase }
  }
}
$grouped = $words.filter |$w| { $w =~ /\// }.map |$w| { $w.split('/') }
$types = Integer[1, 500].map |$n| {
  $n ? { Integer[1, 100] => 'low', Integer[101, 300] => 'middle', default => 'high' }
}
notify { 'result':
  message => sprintf('%s %s %s %d %d', md5(String($sums)), sha256(String($words)),
    $lengths[26], $grouped.length, $types.unique.length),
}
