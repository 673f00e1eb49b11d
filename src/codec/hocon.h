// HOCON as Ruby's hocon 1.3 reads it, with its substitutions resolved.
#pragma once

#include <string_view>

#include "base/result.h"
#include "codec/yaml.h"

namespace bunraku::codec {

/// The object a text stands for (Hocon.parse): a Mapping of Null, Boolean, Integer, Float, String,
/// Sequence and Mapping nodes. Whole doubles are Integers, as there. Includes are of files by
/// file("/path") only; others are empty, as where Ruby is given a text. Substitutions that the text
/// does not answer are asked of the process's environment. The error is Ruby's: "String: 1: ..".
base::Result<YamlNode> parse_hocon(std::string_view text);

}  // namespace bunraku::codec
