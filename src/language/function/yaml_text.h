// Values as YAML in the form of Ruby's Psych.
#pragma once

#include <string>

#include "core/codec/yaml_writer.h"
#include "core/value/value.h"

namespace bunraku::function {

/// Writes a value as Psych does; arrays and hashes that occur twice become anchors and aliases.
std::string yaml_text(const value::Value& v, const codec::YamlWriteOptions& options = {});

}  // namespace bunraku::function
