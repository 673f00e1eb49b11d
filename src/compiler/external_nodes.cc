#include "compiler/external_nodes.h"

#include <fmt/format.h>

#include "base/plain_error.h"
#include "base/text.h"
#include "codec/yaml.h"
#include "value/build.h"
#include "value/from_yaml.h"
#include "value/text.h"

namespace bunraku::compiler {

using base::PuppetError;
using value::Value;

namespace {

std::string stripped(std::string_view text) {
    auto begin = text.find_first_not_of(" \t\r\n\f\v");
    if (begin == std::string_view::npos) return {};
    auto end = text.find_last_not_of(std::string_view(" \t\r\n\f\v\0", 7));
    return std::string(text.substr(begin, end - begin + 1));
}

Value to_value(base::Arena& arena, const codec::YamlNode& node) {
    auto text_of = [&](const codec::YamlNode& n, bool key) {
        std::string_view text = n.text;
        if (key && text.size() > 1 && text[0] == ':') text.remove_prefix(1);
        return value::make_string(arena, text);
    };
    return value::from_yaml(arena, node, text_of);
}

// Ruby's word for the class of a document, for the message it gives when it is no hash.
std::string_view ruby_class(const codec::YamlNode& n) {
    using Kind = codec::YamlNode::Kind;
    switch (n.kind) {
        case Kind::Null: return "NilClass";
        case Kind::Boolean: return n.boolean ? "TrueClass" : "FalseClass";
        case Kind::Integer: return "Integer";
        case Kind::Float: return "Float";
        case Kind::String: return "String";
        case Kind::Sequence: return "Array";
        case Kind::Mapping: return "Hash";
    }
    return "";
}

}  // namespace

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

base::Result<Value> yaml_value(base::Arena& arena, std::string_view text, std::string_view file) {
    auto node = BUNRAKU_TRY(codec::parse_yaml(text, file));
    try {
        return to_value(arena, node);
    } catch (const PuppetError& e) {
        return base::failure(e.message());
    }
}

std::optional<Classification> ask_external_nodes(base::Arena& arena, sys::Processes& processes,
                                                 std::string_view external_nodes,
                                                 const std::string& node) {
    if (external_nodes == "none") {
        throw base::plain_error(
            "You must set the 'external_nodes' parameter to use the external node terminus");
    }
    sys::Command command;
    command.argv = base::texts(base::words(external_nodes, base::kBlanks));
    if (command.argv.empty() || command.argv[0][0] != '/')
        throw base::plain_error("You must set the exec parameter to a fully qualified command");
    command.argv.push_back(node);
    const auto shown = fmt::format("{}", fmt::join(command.argv, " "));
    auto outcome = processes.run(command);
    // A program that cannot be started counts as one that failed silently, as in Puppet.
    const int status = outcome ? outcome->status : 1;
    const std::string output = outcome ? std::move(outcome->output) : std::string();
    if (status != 0) {
        throw base::plain_error(fmt::format(
            "Failed to find {} via exec: Execution of '{}' returned {}: {}", node, shown,
            // A signal leaves Ruby without an exit status.
            outcome && outcome->signal ? std::string() : std::to_string(status), stripped(output)));
    }
    if (stripped(output).empty()) return std::nullopt;
    auto failed = [&](const std::string& detail) {
        return base::plain_error(
            fmt::format("Could not load external node results for {}: {}", node, detail));
    };
    auto parsed = codec::parse_yaml(output, "<unknown>");
    if (!parsed) throw failed(parsed.error().message);
    if (parsed->kind == codec::YamlNode::Kind::Null ||
        (parsed->kind == codec::YamlNode::Kind::Boolean && !parsed->boolean))
        return Classification{};
    if (parsed->kind != codec::YamlNode::Kind::Mapping) {
        if (parsed->kind == codec::YamlNode::Kind::Sequence) {
            if (parsed->items.empty()) return Classification{};
            throw failed(fmt::format("key is a {}, not a string or symbol",
                                     ruby_class(parsed->items.front())));
        }
        std::string shown_value;
        value::print_inspect(shown_value, to_value(arena, *parsed));
        throw failed(fmt::format("undefined method `each_with_object' for {}:{}", shown_value,
                                 ruby_class(*parsed)));
    }
    for (const auto& [key, ignored] : parsed->entries) {
        if (key.kind != codec::YamlNode::Kind::String)
            throw failed(fmt::format("key is a {}, not a string or symbol", ruby_class(key)));
    }
    const Value answer = to_value(arena, *parsed);
    if (const auto* given = answer.as_hash().find("parameters");
        given && given->is_array() && !given->as_array().empty())
        throw base::plain_error("no implicit conversion of String into Integer");
    return read_classification(answer);
}

std::string run_config_version(evaluator::Inputs& inputs, const std::string& command) {
    // Ruby's rule: a shell only where the line has a character that needs one.
    std::vector<std::string> argv;
    if (command.find_first_of("*?{}[]<>()~&|\\$;'`\"\n#=%") != std::string::npos) {
        argv = {"/bin/sh", "-c", command};
    } else {
        argv = base::texts(base::words(command, base::kBlanks));
    }
    auto outcome = inputs.run_command(argv, "");
    const int status = outcome ? outcome->status : 1;
    const std::string output = outcome ? stripped(outcome->output) : std::string();
    if (status != 0) {
        throw base::plain_error(
            fmt::format("Execution of config_version command `{}` failed: Execution of '{}' "
                        "returned {}: {}",
                        command, command, status, output));
    }
    return output;
}

}  // namespace bunraku::compiler
