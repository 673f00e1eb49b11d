// SPDX-License-Identifier: Apache-2.0
#include "modules/module/deploy_definitions.h"

#include <fmt/format.h>

#include "modules/module/puppetfile_text.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;
using codec::YamlNode;
using Argument = Declaration::Argument;

std::string_view key_of(const YamlNode& node) {
    std::string_view text = node.text;
    if (node.symbol && text.starts_with(':')) text.remove_prefix(1);
    return text;
}

/// Converts a scalar to the equivalent argument of `mod`.
Result<Argument> argument(std::string_view key, const YamlNode& node) {
    Argument out{.key = std::string(key), .text = {}, .kind = Argument::Kind::Text};
    switch (node.kind) {
        case YamlNode::Kind::String:
            out.text = key_of(node);
            if (node.symbol) out.kind = Argument::Kind::Symbol;
            return out;
        case YamlNode::Kind::Integer: out.text = std::to_string(node.integer); return out;
        case YamlNode::Kind::Float: out.text = fmt::format("{}", node.number); return out;
        case YamlNode::Kind::Boolean:
            out.text = node.boolean ? "true" : "false";
            out.kind = Argument::Kind::Constant;
            return out;
        case YamlNode::Kind::Null:
            out.text = "nil";
            out.kind = Argument::Kind::Constant;
            return out;
        default: return failure(fmt::format("'{}' is not a string", key));
    }
}

/// Converts a definition to a module, as `mod` in a Puppetfile would.
Result<PuppetfileModule> module_of(Declaration words) {
    words.word = "mod";
    auto file = interpret_puppetfile({std::move(words)});
    if (!file) {
        const std::string& text = file.error().message;
        return failure(text.starts_with("line 0: ") ? text.substr(8) : text);
    }
    return std::move(file->modules.front());
}

Result<PuppetfileModule> defined_module(std::string_view name, const YamlNode& node,
                                        const std::string& moduledir) {
    Declaration words;
    words.arguments.push_back({.key = {}, .text = std::string(name), .kind = {}});
    if (node.kind == YamlNode::Kind::Mapping) {
        for (const auto& e : node.entries)
            words.arguments.push_back(BUNRAKU_TRY(argument(key_of(e.first), e.second)));
    } else {
        words.arguments.push_back(BUNRAKU_TRY(argument("", node)));
    }
    auto out = BUNRAKU_TRY(module_of(std::move(words)));
    if (!out.own_folder) out.moduledir = moduledir;
    return out;
}

class DefinitionReader {
public:
    explicit DefinitionReader(std::string name) { out_.name = std::move(name); }

    Result<EnvironmentDefinition> read(const YamlNode& node) {
        if (node.kind != YamlNode::Kind::Mapping) return failure("it is not a mapping");
        for (const auto& e : node.entries) BUNRAKU_TRY_VOID(option(key_of(e.first), e.second));
        if (type_ == "plain" || type_ == "bare") {
            if (type_ == "bare")
                out_.warnings.emplace_back(
                    "\"bare\" environment type is deprecated; please use \"plain\" instead");
            out_.content.kind = PuppetfileModule::Kind::Local;
        } else if (type_ == "git" || type_ == "svn" || type_ == "tarball") {
            content_.arguments.insert(content_.arguments.begin(),
                                      {.key = {}, .text = "environment", .kind = {}});
            content_.arguments.push_back({.key = "type", .text = type_, .kind = {}});
            out_.content = BUNRAKU_TRY(module_of(std::move(content_)));
        } else {
            return failure(
                fmt::format("invalid type '{}': expected git, svn, tarball or plain", type_));
        }
        for (const auto& [name, module] : modules_)
            out_.modules.push_back(BUNRAKU_TRY(defined_module(name, *module, moduledir_)));
        return std::move(out_);
    }

private:
    Result<void> option(std::string_view key, const YamlNode& node) {
        if (key == "modules") {
            if (node.kind != YamlNode::Kind::Mapping)
                return failure("its modules are not a mapping");
            for (const auto& e : node.entries)
                modules_.emplace_back(std::string(key_of(e.first)), &e.second);
            return {};
        }
        auto value = BUNRAKU_TRY(argument(key, node));
        if (key == "type") {
            type_ = std::move(value.text);
        } else if (key == "moduledir") {
            moduledir_ = std::move(value.text);
        } else if (key == "puppetfile_name") {
            out_.puppetfile = std::move(value.text);
            if (("/" + out_.puppetfile + "/").find("/../") != std::string::npos)
                return failure("puppetfile_name leads out of the environment");
        } else if (key == "module_conflicts") {
            out_.conflicts = std::move(value.text);
            if (out_.conflicts != "override_and_warn" && out_.conflicts != "override" &&
                out_.conflicts != "error")
                return failure(fmt::format("Unexpected value for `module_conflicts` setting: {}",
                                           out_.conflicts));
        } else {
            if (key == "remote") value.key = "source";
            content_.arguments.push_back(std::move(value));
        }
        return {};
    }

    EnvironmentDefinition out_;
    std::string type_, moduledir_;
    Declaration content_;
    std::vector<std::pair<std::string, const YamlNode*>> modules_;
};

Result<YamlNode> read_yaml(sys::System& system, const std::string& path) {
    auto text = system.files.read(path);
    if (!text) return std::unexpected(text.error());
    return codec::parse_yaml(*text, path);
}

Result<YamlNode> read_folder(const DeploySource& source, sys::System& system) {
    const std::string folder =
        source.config.empty() ? "/etc/puppetlabs/r10k/environments.d" : source.config;
    const auto names = system.files.list(folder);
    if (!names) return failure(fmt::format("Error opening {}: config must be a directory", folder));
    YamlNode out;
    out.kind = YamlNode::Kind::Mapping;
    for (const std::string& name : *names) {
        if (!name.ends_with(".yaml") || name.starts_with('.')) continue;
        auto node = read_yaml(system, folder + "/" + name);
        if (!node)
            return failure(
                fmt::format("Error loading {}/{}: {}", folder, name, node.error().message));
        codec::YamlEntry entry;
        entry.first.kind = YamlNode::Kind::String;
        entry.first.text = name.substr(0, name.size() - 5);
        entry.second = std::move(*node);
        out.entries.push_back(std::move(entry));
    }
    return out;
}

Result<YamlNode> run_command(const DeploySource& source, sys::System& system) {
    sys::Command c;
    c.argv = {source.command};
    c.timeout = std::chrono::minutes(5);
    const auto done = system.processes.run(c);
    if (!done) return failure(fmt::format("{}: {}", source.command, done.error().message));
    if (!done->ok())
        return failure(fmt::format("{} ended with {}: {}", source.command, done->status,
                                   done->errors.substr(0, 500)));
    // JSON is a subset of YAML.
    return codec::parse_yaml(done->output, source.command);
}

}  // namespace

Result<std::vector<EnvironmentDefinition>> read_definitions(const YamlNode& document) {
    if (document.kind != YamlNode::Kind::Mapping)
        return failure("it does not define environments as a mapping of names");
    std::vector<EnvironmentDefinition> out;
    for (const auto& e : document.entries) {
        const std::string name(key_of(e.first));
        auto one = DefinitionReader(name).read(e.second);
        if (!one) return failure(fmt::format("environment '{}': {}", name, one.error().message));
        out.push_back(std::move(*one));
    }
    return out;
}

Result<std::vector<EnvironmentDefinition>> definitions_of(const DeploySource& source,
                                                          sys::System& system) {
    const std::string file =
        source.config.empty() ? "/etc/puppetlabs/r10k/environments.yaml" : source.config;
    auto document = source.type == "yamldir" ? read_folder(source, system)
                    : source.type == "exec"  ? run_command(source, system)
                                             : read_yaml(system, file);
    if (!document && source.type == "yaml")
        return failure(
            fmt::format("Couldn't open environments file {}: {}", file, document.error().message));
    if (!document) return std::unexpected(document.error());
    return read_definitions(*document);
}

}  // namespace bunraku::module
