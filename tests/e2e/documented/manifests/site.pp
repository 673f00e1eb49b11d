## A site with marks that are doubled.
##
define web::site(
  String[1] $path, Integer $depth = -1) {
  include web
}
# Nobody: it has no line of its own
#

class web::alone($a, $b = "x${a}y") {}
