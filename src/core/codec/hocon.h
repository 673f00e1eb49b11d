// SPDX-License-Identifier: Apache-2.0
// Parses HOCON like Ruby's hocon 1.3, and resolves its substitutions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/codec/yaml.h"

namespace bunraku::codec {

/// Access to files and variables outside the text. A null function means that nothing exists there.
struct HoconContext {
    std::function<std::optional<std::string>(const std::string& path)> read;
    std::function<std::optional<std::string>(const std::string& name)> variable;
    /// True if `include "name"` is read too, as Java's parser does for a file. It tries "name", or
    /// "name.conf" and "name.json" if the name has no such ending. If false, such an include is
    /// empty.
    bool relative = false;
};

/// Parses a text like Hocon.parse. Returns a Mapping of Null, Boolean, Integer, Float, String,
/// Sequence and Mapping nodes. Doubles without a fraction become Integers, as in Ruby.
///
/// Reads includes of the form file("/path"), and includes by name if `around.relative` is set.
/// Other includes are empty, as in Ruby when it parses a text. required(..) makes a missing file an
/// error. Substitutions that the text does not define are looked up in the environment variables.
/// The error is Ruby's: "String: 1: ..".
base::Result<YamlNode> parse_hocon(std::string_view text, const HoconContext& context = {});

}  // namespace bunraku::codec
