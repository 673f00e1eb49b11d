# @summary Serves pages.
#
# A longer text,
# of two lines.
#
#   code that is indented
#
# @note Not for the faint of heart.
# @todo more
# @deprecated use `other`
# @since 1.2.0
# @see https://example.org/web the page
# @see web::site
# @author Ada
#
# @example the usual
#   include web
#
#   class { 'web':
#     ports => [80],
#   }
#
# @param ports Where to listen,
#   on further lines
#
#   and after a gap
# @param [String] user who runs it
# @param options
#   What else there is.
# @option options [Integer] :depth how deep
# @option options :width how wide
# @param mode
#   how
# @enum mode fast quickly
# @enum mode slow
#   with patience
class web (
  Array[Integer[1, 65535]] $ports = [80, 443],
  $user = undef,
  Hash[String, Any] $options = {
    'depth' => 1,
  },
  Enum['fast', 'slow'] $mode = $facts['x'] ? {
    'y'     => 'fast',
    default => 'slow',
  },
  Optional[String] $undocumented = undef,
) inherits web::params {
  notify { 'x': }
}
