# frozen_string_literal: true
# The numbers of the messages between Bunraku and a child. src/language/ruby/protocol.h has the same
# tables, and describes the content of each message; tests/ruby_protocol compares them.

module Bunraku
  # Messages to Ruby.
  module ToRuby
    VALUE = 0
    ERROR = 1
    UNWIND = 2
    SIMPLIFY = 3
    UNSET = 4
    CALL = 10
    LOAD = 11
    RENDER = 12
    PROC = 13
    LOAD_TYPE = 14
    CHECK = 15
    LOAD_DATA = 16
    METHOD = 17
    FACTS = 18
    SETUP = 19
    RESET = 20
    TITLE = 21
    HIERA3 = 22
    MANAGE = 23
    READY = 24
  end

  # Messages from Ruby.
  module FromRuby
    VALUE = 0
    ERROR = 1
    CALLBACK = 2
    LOG = 3
    UNWIND = 4
    READS = 5
  end
end
