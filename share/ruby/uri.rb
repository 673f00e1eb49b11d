# frozen_string_literal: true
# URIs travel as their text.
require 'uri'

class URI::Generic
  def _dump(_depth) = to_s
  def bunraku_value? = true
end
