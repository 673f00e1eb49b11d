// What an external node classifier answers (node_terminus = exec).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compiler/compile.h"
#include "core/codec/yaml.h"

namespace bunraku::compiler {

/// What a classifier says of a node.
struct Classification {
    std::vector<NodeClass> classes;
    bool classes_with_parameters = false;
    value::Value parameters;  ///< hash, or undef
    std::string environment;  ///< empty: it leaves that open

    void apply_to(NodeData& node) const;
};

/// From data with the keys classes (a name, names, or a hash of parameters by class), parameters
/// and environment; others are ignored.
Classification read_classification(const value::Value& answer);

/// YAML as values of `arena`; symbols used as keys become strings.
base::Result<value::Value> yaml_value(base::Arena& arena, std::string_view text,
                                      std::string_view file);
value::Value yaml_value(base::Arena& arena, const codec::YamlNode& node);

/// What a program printed, without blanks at the ends (and zeros behind), as Ruby's String#strip.
std::string stripped_output(std::string_view text);

/// Runs the command of an environment's `config_version`; what it prints, without blanks at the
/// ends. Throws base::PuppetError.
std::string run_config_version(evaluator::Inputs& inputs, const std::string& command);

}  // namespace bunraku::compiler
