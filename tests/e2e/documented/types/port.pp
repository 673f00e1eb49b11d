# @summary A port.
# Any one.
type Web::Port = Integer[1, 65535]
