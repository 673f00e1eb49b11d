// SPDX-License-Identifier: Apache-2.0
// The tokens of HOCON (internal to codec/hocon.cc).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/codec/yaml.h"

namespace bunraku::codec::hocon {

struct Token {
    enum class Kind {
        End,
        Comma,
        Equals,
        Colon,
        OpenCurly,
        CloseCurly,
        OpenSquare,
        CloseSquare,
        PlusEquals,
        Newline,
        Value,
        Unquoted,
        IgnoredBlank,
        Comment,
        Problem,
        Substitution,
    };
    Kind kind = Kind::End;
    int line = 1;
    std::string text;           ///< the text as written; for a Problem, the faulty text
    YamlNode value;             ///< for a Value
    bool quoted = false;        ///< true for a quoted Value
    std::string message;        ///< for a Problem
    bool optional = false;      ///< ${?..}
    std::vector<Token> inside;  ///< for a Substitution

    bool simple() const {
        return kind == Kind::Value || kind == Kind::Unquoted || kind == Kind::Substitution;
    }
    /// Returns the token as error messages show it.
    std::string shown() const;
};

/// Returns all tokens; the last one is End.
std::vector<Token> tokenize(std::string_view text);

}  // namespace bunraku::codec::hocon
