// HOCON as Ruby's hocon 1.3 reads it, with its substitutions resolved.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/codec/yaml.h"

namespace bunraku::codec {

/// What a text reaches outside of itself; what is not given is not there.
struct HoconContext {
    std::function<std::optional<std::string>(const std::string& path)> read;
    std::function<std::optional<std::string>(const std::string& name)> variable;
    /// Whether `include "name"` is read too, as where Java's parser is given a file: "name", or
    /// "name.conf" and "name.json" if it has no such ending. Otherwise it is empty.
    bool relative = false;
};

/// The object a text stands for (Hocon.parse): a Mapping of Null, Boolean, Integer, Float, String,
/// Sequence and Mapping nodes. Whole doubles are Integers, as there. Includes are of files by
/// file("/path"), and by name where `around` says so; others are empty, as where Ruby is given a
/// text. required(..) around the name makes it an error if there is no such file. Substitutions
/// that the text does not answer are asked of the environment's variables. The error is Ruby's:
/// "String: 1: ..".
base::Result<YamlNode> parse_hocon(std::string_view text, const HoconContext& around = {});

}  // namespace bunraku::codec
