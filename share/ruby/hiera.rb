# frozen_string_literal: true
# What old code asks of Hiera 3.

class Hiera
  module Backend; end

  module Util; end
  class << self
    def debug(text) = Bunraku.log(:debug, text)
    def warn(text) = Bunraku.log(:warning, text)
    def logger=(_name); end
  end

  def initialize(*) = nil

  def lookup(key, default, _scope = nil, _override = nil, type = nil)
    merge = { array: 'unique', hash: 'hash' }[type]
    Bunraku.call_puppet('lookup', [key, { 'default_value' => default, 'merge' => merge }.compact])
  end
end

