// SPDX-License-Identifier: Apache-2.0
// Builds YAML nodes for the reader and the scalar scanner (internal to this folder).
#pragma once

#include <string>
#include <string_view>

#include "core/codec/yaml.h"

namespace bunraku::codec {

inline YamlNode make_text(std::string_view s) {
    YamlNode n;
    n.kind = YamlNode::Kind::String;
    n.text = std::string(s);
    return n;
}

inline YamlNode make_symbol(std::string_view s) {
    YamlNode n = make_text(":" + std::string(s));
    n.symbol = true;
    return n;
}

}  // namespace bunraku::codec
