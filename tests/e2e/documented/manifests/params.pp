# @api private
class web::params { $x = -1 }
