module Puppet::Parser::Functions
  newfunction(:web_old, type: :rvalue, doc: <<-DOC
    @summary An old one.

    Says "so" and \n so.

    @return [String] a text
    @param [Integer] n a number
  DOC
  ) do |args|
    args[0].to_s
  end
end
