# @summary Joins two texts.
# @param a the first
# @return [String] both
# @example
#   web::join('a', 'b')
function web::join(String $a, String $b = '-', Any *$rest) >> String {
  "${a}${b}"
}
