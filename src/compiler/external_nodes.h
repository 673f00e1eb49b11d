// The answer of an external node classifier (node_terminus = exec), and how it is asked.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/compile.h"
#include "sys/process.h"

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

/// Runs `external_nodes` (split at blanks, no shell) with the node's name behind and reads the YAML
/// it prints. nullopt: it printed nothing, there is no such node. Throws base::PuppetError with
/// Puppet's text: "Failed to find x via exec: Execution of '/bin/enc x' returned 1: ...".
std::optional<Classification> ask_external_nodes(base::Arena& arena, sys::Processes& processes,
                                                 std::string_view external_nodes,
                                                 const std::string& node);

/// YAML as values of `arena`; symbols used as keys become strings.
base::Result<value::Value> yaml_value(base::Arena& arena, std::string_view text,
                                      std::string_view file);

/// Runs the command of an environment's `config_version`; what it prints, without blanks at the
/// ends. Throws base::PuppetError.
std::string run_config_version(evaluator::Inputs& inputs, const std::string& command);

}  // namespace bunraku::compiler
