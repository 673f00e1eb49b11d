// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/external_nodes.h"

#include <cstring>
#include <fmt/format.h>

#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/yaml.h"
#include "core/value/build.h"
#include "core/value/from_yaml.h"
#include "core/value/text.h"

namespace bunraku::compiler {

using base::PuppetError;
using value::Value;

std::string stripped_output(std::string_view text) {
    auto begin = text.find_first_not_of(" \t\r\n\f\v");
    if (begin == std::string_view::npos) return {};
    auto end = text.find_last_not_of(std::string_view(" \t\r\n\f\v\0", 7));
    return std::string(text.substr(begin, end - begin + 1));
}

void Classification::apply_to(NodeData& node) const {
    if (parameters.is_hash()) node.parameters = parameters;
    node.classes.insert(node.classes.end(), classes.begin(), classes.end());
    if (classes_with_parameters) node.classes_with_parameters = true;
}

Classification read_classification(const Value& answer) {
    Classification out;
    if (!answer.is_hash()) return out;
    const auto& hash = answer.as_hash();
    if (const auto* parameters = hash.find("parameters"); parameters && parameters->is_hash())
        out.parameters = *parameters;
    if (const auto* environment = hash.find("environment"); environment && environment->is_string())
        out.environment = environment->as_string();
    const auto* classes = hash.find("classes");
    if (!classes) return out;
    if (classes->is_hash()) {
        out.classes_with_parameters = true;
        for (const auto& e : classes->as_hash())
            out.classes.push_back({value::to_text(e.key), e.value});
    } else if (classes->is_array()) {
        for (const auto& v : classes->as_array()) out.classes.push_back({value::to_text(v), {}});
    } else if (classes->is_string()) {
        out.classes.push_back({std::string(classes->as_string()), {}});
    }
    return out;
}

Value yaml_value(base::Arena& arena, const codec::YamlNode& node) {
    auto text_of = [&](const codec::YamlNode& n, bool key) {
        std::string_view text = n.text;
        if (key && text.size() > 1 && text[0] == ':') text.remove_prefix(1);
        return value::make_string(arena, text);
    };
    return value::from_yaml(arena, node, text_of);
}

base::Result<Value> yaml_value(base::Arena& arena, std::string_view text, std::string_view file) {
    auto node = BUNRAKU_TRY(codec::parse_yaml(text, file));
    try {
        return yaml_value(arena, node);
    } catch (const PuppetError& e) {
        return base::failure(e.message());
    }
}

std::string run_config_version(evaluator::Inputs& inputs, const std::string& command) {
    // Like Ruby, uses a shell only if the line has a character that needs one.
    std::vector<std::string> argv;
    if (command.find_first_of("*?{}[]<>()~&|\\$;'`\"\n#=%") != std::string::npos) {
        argv = {"/bin/sh", "-c", command};
    } else {
        argv = base::texts(base::words(command, base::kBlanks));
    }
    auto outcome = inputs.run_command(argv, "");
    const int status = outcome ? outcome->status : 1;
    std::string output = outcome ? stripped_output(outcome->output) : std::string();
    if (!outcome && outcome.error().code != 0 && !argv.empty()) {
        output = fmt::format("Error: Could not execute posix command: {} - {}",
                             std::strerror(outcome.error().code), argv[0]);
    }
    if (status != 0) {
        throw base::plain_error(
            fmt::format("Execution of config_version command `{}` failed: Execution of '{}' "
                        "returned {}: {}",
                        command, command, status, output));
    }
    return output;
}

}  // namespace bunraku::compiler
