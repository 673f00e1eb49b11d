# frozen_string_literal: true
# URIs are sent as text.
require 'uri'

class URI::Generic
  def _dump(_depth) = to_s
  def bunraku_value? = true
end
