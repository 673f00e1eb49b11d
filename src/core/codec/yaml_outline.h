// SPDX-License-Identifier: Apache-2.0
// The scalars of a YAML text with their places, for editors. yaml.h reads values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::codec {

/// A place in a text. Line and column count from 0, the column in characters.
struct YamlPlace {
    std::size_t line = 0, column = 0;
};

struct YamlScalar {
    std::string text;
    YamlPlace start, end;  ///< including quotes, anchors and tags
    bool key = false;      ///< true for the key of a mapping
    bool quoted = false;
    int depth = 0;    ///< number of collections around it
    int parent = -1;  ///< index of the key to whose value the scalar belongs; -1 if there is none
};

struct YamlOutline {
    std::vector<YamlScalar> scalars;  ///< in order; up to the error, if there is one
    struct Problem {
        std::string message;
        YamlPlace place;
    };
    std::optional<Problem> problem;
};

/// Reads the first document of a text. Aliases are not expanded.
YamlOutline outline_yaml(std::string_view text);

}  // namespace bunraku::codec
