// SPDX-License-Identifier: Apache-2.0
// Answers of an external node classifier (node_terminus = exec).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compiler/compile.h"
#include "core/codec/yaml.h"

namespace bunraku::compiler {

/// The classification of a node.
struct Classification {
    std::vector<NodeClass> classes;
    bool classes_with_parameters = false;
    value::Value parameters;  ///< hash, or undef
    std::string environment;  ///< empty if the classifier does not set it

    void apply_to(NodeData& node) const;
};

/// Reads a classification from data with the keys classes (a name, names, or a hash of parameters
/// by class), parameters and environment. Ignores other keys.
Classification read_classification(const value::Value& answer);

/// Parses YAML into values of `arena`. Symbols that are keys become strings.
base::Result<value::Value> yaml_value(base::Arena& arena, std::string_view text,
                                      std::string_view file);
value::Value yaml_value(base::Arena& arena, const codec::YamlNode& node);

/// Returns the output of a program without surrounding white space and trailing NULs, like Ruby's
/// String#strip.
std::string stripped_output(std::string_view text);

/// Runs the command of an environment's `config_version` and returns its output without surrounding
/// white space. Throws base::PuppetError.
std::string run_config_version(evaluator::Inputs& inputs, const std::string& command);

}  // namespace bunraku::compiler
