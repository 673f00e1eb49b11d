// The tokens of HOCON (codec/hocon.cc alone uses this).
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
    std::string text;           ///< as written; of a Problem: what is wrong
    YamlNode value;             ///< of a Value
    bool quoted = false;        ///< a Value in quotes
    std::string message;        ///< of a Problem
    bool optional = false;      ///< ${?..}
    std::vector<Token> inside;  ///< of a Substitution

    bool simple() const {
        return kind == Kind::Value || kind == Kind::Unquoted || kind == Kind::Substitution;
    }
    /// As messages show it.
    std::string shown() const;
};

/// All tokens; the last is End.
std::vector<Token> tokenize(std::string_view text);

}  // namespace bunraku::codec::hocon
