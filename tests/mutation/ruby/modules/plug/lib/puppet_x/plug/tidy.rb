# Used by several functions.
module PuppetX
  module Plug
    PREFIX = 'tidy '.freeze

    def self.tidy(value)
      value.is_a?(String) ? "#{PREFIX}#{value.strip}" : value
    end

    def self.remembered
      @remembered ||= {}
    end
  end
end
