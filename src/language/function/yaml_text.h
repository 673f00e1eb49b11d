// SPDX-License-Identifier: Apache-2.0
// Writes values as YAML in the format of Ruby's Psych.
#pragma once

#include <string>

#include "core/codec/yaml_writer.h"
#include "core/value/value.h"

namespace bunraku::function {

/// Writes a value as Psych does. Arrays and hashes that occur twice become anchors and aliases.
std::string yaml_text(const value::Value& v, const codec::YamlWriteOptions& options = {});

}  // namespace bunraku::function
