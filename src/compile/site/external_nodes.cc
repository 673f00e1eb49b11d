// SPDX-License-Identifier: Apache-2.0
#include "compile/site/external_nodes.h"

#include <fmt/format.h>

#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/base/work_limit.h"
#include "core/codec/yaml.h"
#include "core/value/text.h"

namespace bunraku::site {

using value::Value;

namespace {

// Returns the Ruby class of a YAML document, for the error message if it is not a hash.
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

std::optional<compiler::Classification> ask_external_nodes(base::Arena& arena,
                                                           sys::Processes& processes,
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
    if (base::work_is_limited()) {
        command.stop = [] {
            return base::work_end() == base::WorkEnd::None ? sys::Stop::No : sys::Stop::Kill;
        };
    }
    auto outcome = processes.run(command);
    base::check_work_limit();
    // A program that cannot be started counts as one that failed without output, as in Puppet.
    const int status = outcome ? outcome->status : 1;
    const std::string output = outcome ? std::move(outcome->output) : std::string();
    if (status != 0) {
        throw base::plain_error(fmt::format(
            "Failed to find {} via exec: Execution of '{}' returned {}: {}", node, shown,
            // In Ruby, a process ended by a signal has no exit status.
            outcome && outcome->signal ? std::string() : std::to_string(status),
            compiler::stripped_output(output)));
    }
    if (compiler::stripped_output(output).empty()) return std::nullopt;
    auto failed = [&](const std::string& detail) {
        return base::plain_error(
            fmt::format("Could not load external node results for {}: {}", node, detail));
    };
    auto parsed = codec::parse_yaml(output, "<unknown>");
    if (!parsed) throw failed(parsed.error().message);
    if (parsed->kind == codec::YamlNode::Kind::Null ||
        (parsed->kind == codec::YamlNode::Kind::Boolean && !parsed->boolean))
        return compiler::Classification{};
    if (parsed->kind != codec::YamlNode::Kind::Mapping) {
        if (parsed->kind == codec::YamlNode::Kind::Sequence) {
            if (parsed->items.empty()) return compiler::Classification{};
            throw failed(fmt::format("key is a {}, not a string or symbol",
                                     ruby_class(parsed->items.front())));
        }
        std::string shown_value;
        value::print_inspect(shown_value, compiler::yaml_value(arena, *parsed));
        throw failed(fmt::format("undefined method `each_with_object' for {}:{}", shown_value,
                                 ruby_class(*parsed)));
    }
    for (const auto& [key, ignored] : parsed->entries) {
        if (key.kind != codec::YamlNode::Kind::String)
            throw failed(fmt::format("key is a {}, not a string or symbol", ruby_class(key)));
    }
    const Value answer = compiler::yaml_value(arena, *parsed);
    if (const auto* given = answer.as_hash().find("parameters");
        given && given->is_array() && !given->as_array().empty())
        throw base::plain_error("no implicit conversion of String into Integer");
    return compiler::read_classification(answer);
}

}  // namespace bunraku::site
