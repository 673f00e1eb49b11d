// SPDX-License-Identifier: Apache-2.0
#include "modules/module/deploy_config.h"

#include <fmt/format.h>

#include "core/codec/yaml.h"
#include "core/regex/regex.h"
#include "core/sys/file_system.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;
using codec::YamlNode;

/// Returns a key or word. Removes the colon of a symbol.
std::string_view word_of(const YamlNode& node) {
    std::string_view text = node.text;
    if (node.symbol && text.starts_with(':')) text.remove_prefix(1);
    return text;
}

const YamlNode* entry(const YamlNode* node, std::string_view key) {
    if (!node || node->kind != YamlNode::Kind::Mapping) return nullptr;
    for (const auto& e : node->entries) {
        if (word_of(e.first) == key) return &e.second;
    }
    return nullptr;
}

bool is_true(const YamlNode* node) {
    return node && ((node->kind == YamlNode::Kind::Boolean && node->boolean) ||
                    (node->kind == YamlNode::Kind::String && word_of(*node) == "true"));
}

std::string text_of(const YamlNode* node) {
    return node && node->kind == YamlNode::Kind::String ? std::string(word_of(*node)) : "";
}

Result<std::vector<std::string>> texts_of(const YamlNode* node, std::string_view key) {
    std::vector<std::string> out;
    if (!node || node->kind == YamlNode::Kind::Null) return out;
    if (node->kind == YamlNode::Kind::String) return std::vector{std::string(word_of(*node))};
    if (node->kind != YamlNode::Kind::Sequence) {
        return failure(fmt::format("the setting '{}' should be a list of strings", key));
    }
    for (const YamlNode& item : node->items) {
        if (item.kind == YamlNode::Kind::Integer) {
            out.push_back(std::to_string(item.integer));
        } else if (item.kind == YamlNode::Kind::String) {
            out.emplace_back(word_of(item));
        } else {
            return failure(fmt::format("the setting '{}' should be a list of strings", key));
        }
    }
    return out;
}

Result<DeploySource> source_of(const std::string& name, const YamlNode& node) {
    DeploySource out;
    out.name = name;
    out.remote = text_of(entry(&node, "remote"));
    out.basedir = text_of(entry(&node, "basedir"));
    if (std::string type = text_of(entry(&node, "type")); !type.empty()) out.type = type;
    if (!out.has_branches() && out.type != "yaml" && out.type != "yamldir" && out.type != "exec") {
        return failure(
            fmt::format("source '{}': invalid type '{}': expected git, svn, yaml, yamldir or exec",
                        name, out.type));
    }
    out.config = text_of(entry(&node, "config"));
    out.command = text_of(entry(&node, "command"));
    out.user = text_of(entry(&node, "username"));
    out.password = text_of(entry(&node, "password"));
    if (out.type == "exec" && out.command.empty()) {
        return failure(
            fmt::format("Environment source {} missing required parameter: command", name));
    }
    if ((out.has_branches() && out.remote.empty()) || out.basedir.empty()) {
        return failure(fmt::format("source '{}' needs a remote and a basedir", name));
    }
    if (out.remote.starts_with('-') || out.user.starts_with('-')) {
        return failure(fmt::format("source '{}': a remote cannot begin with '-'", name));
    }
    out.basedir = sys::expand_path(out.basedir);
    if (out.basedir == "/") return failure(fmt::format("source '{}': basedir is /", name));
    out.prefix_by_name = is_true(entry(&node, "prefix"));
    if (!out.prefix_by_name) out.prefix = text_of(entry(&node, "prefix"));
    if (const YamlNode* strip = entry(&node, "strip_component");
        strip && !(strip->kind == YamlNode::Kind::Boolean && !strip->boolean) &&
        strip->kind != YamlNode::Kind::Null) {
        if (strip->kind != YamlNode::Kind::String) {
            return failure(
                fmt::format("Improper configuration value given for strip_component "
                            "setting in {} source. Value must be a string, a /regex/, "
                            "false, or omitted.",
                            name));
        }
        out.strip_component = strip->text;
    }
    if (std::string how = text_of(entry(&node, "invalid_branches")); !how.empty()) {
        if (how != "correct_and_warn" && how != "correct" && how != "error") {
            return failure(fmt::format("source '{}': invalid_branches cannot be '{}'", name, how));
        }
        out.invalid_branches = std::move(how);
    }
    out.ignore_branch_prefixes =
        BUNRAKU_TRY(texts_of(entry(&node, "ignore_branch_prefixes"), "ignore_branch_prefixes"));
    out.filter_command = text_of(entry(&node, "filter_command"));
    if (std::string file = text_of(entry(&node, "puppetfile_name")); !file.empty()) {
        out.puppetfile = std::move(file);
    }
    if (("/" + out.puppetfile + "/").find("/../") != std::string::npos) {
        return failure(
            fmt::format("source '{}': puppetfile_name leads out of the environment", name));
    }
    return out;
}

Result<void> read_deploy_section(const YamlNode* deploy, DeployConfig& out) {
    out.write_lock = text_of(entry(deploy, "write_lock"));
    out.exclude_spec = is_true(entry(deploy, "exclude_spec"));
    if (const YamlNode* levels = entry(deploy, "purge_levels")) {
        out.purge_deployment = out.purge_environment = out.purge_puppetfile = false;
        for (const std::string& level : BUNRAKU_TRY(texts_of(levels, "purge_levels"))) {
            if (level == "deployment") {
                out.purge_deployment = true;
            } else if (level == "environment") {
                out.purge_environment = true;
            } else if (level == "puppetfile") {
                out.purge_puppetfile = true;
            } else {
                return failure(
                    fmt::format("Setting purge_levels should contain 'deployment', "
                                "'environment' and 'puppetfile', not '{}'",
                                level));
            }
        }
    }
    out.purge_allowlist =
        BUNRAKU_TRY(texts_of(entry(deploy, "purge_allowlist"), "purge_allowlist"));
    auto old = BUNRAKU_TRY(texts_of(entry(deploy, "purge_whitelist"), "purge_whitelist"));
    if (!old.empty() && !out.purge_allowlist.empty()) {
        return failure(
            "Values found for both purge_whitelist and purge_allowlist. Setting purge_whitelist is "
            "deprecated, please only use purge_allowlist.");
    }
    if (!old.empty()) {
        out.warnings.emplace_back(
            "Setting purge_whitelist is deprecated; please use purge_allowlist instead.");
        out.purge_allowlist = std::move(old);
    }
    return {};
}

bool word_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

Result<DeployConfig> read_deploy_config(std::string_view text, const std::string& path) {
    auto document = codec::parse_yaml(text, path);
    if (!document) return failure("Couldn't load config file: " + document.error().message);
    if (document->kind != YamlNode::Kind::Mapping) {
        return failure(fmt::format("File exists at {} but doesn't contain any YAML", path));
    }
    const YamlNode* top = &*document;
    DeployConfig out;
    out.path = path;
    out.cachedir = text_of(entry(top, "cachedir"));
    out.proxy = text_of(entry(top, "proxy"));
    if (const YamlNode* sources = entry(top, "sources");
        sources && sources->kind == YamlNode::Kind::Mapping) {
        for (const auto& e : sources->entries) {
            out.sources.push_back(BUNRAKU_TRY(source_of(std::string(word_of(e.first)), e.second)));
        }
    }
    if (out.sources.empty()) {
        return failure(
            "Unable to load sources; the supplied configuration does not define the 'sources' key");
    }
    if (const YamlNode* postrun = entry(top, "postrun")) {
        if (postrun->kind != YamlNode::Kind::Sequence) {
            return failure("The postrun setting should be an array of strings");
        }
        out.postrun = BUNRAKU_TRY(texts_of(postrun, "postrun"));
    }
    if (const YamlNode* size = entry(top, "pool_size")) {
        if (size->kind != YamlNode::Kind::Integer || size->integer < 1 || size->integer > 1024) {
            return failure("The pool_size setting should be an integer greater than zero.");
        }
        out.pool_size = static_cast<int>(size->integer);
    }
    const YamlNode* forge = entry(top, "forge");
    out.forge_url = text_of(entry(forge, "baseurl"));
    out.forge_token = text_of(entry(forge, "authorization_token"));
    out.forge_override = is_true(entry(forge, "allow_puppetfile_override"));
    if (std::string proxy = text_of(entry(forge, "proxy")); !proxy.empty()) {
        out.proxy = std::move(proxy);
    }
    // git: each repository of a source may have its own prefixes to ignore.
    if (const YamlNode* list = entry(entry(top, "git"), "repositories");
        list && list->kind == YamlNode::Kind::Sequence) {
        for (const YamlNode& item : list->items) {
            for (DeploySource& source : out.sources) {
                if (text_of(entry(&item, "remote")) != source.remote) continue;
                if (!source.ignore_branch_prefixes.empty()) continue;
                source.ignore_branch_prefixes = BUNRAKU_TRY(
                    texts_of(entry(&item, "ignore_branch_prefixes"), "ignore_branch_prefixes"));
            }
        }
    }
    BUNRAKU_TRY_VOID(read_deploy_section(entry(top, "deploy"), out));
    return out;
}

BranchName environment_of_branch(const DeploySource& source, const std::string& branch) {
    BranchName out;
    out.name = branch;
    const std::string& strip = source.strip_component;
    if (strip.size() > 1 && strip.starts_with('/') && strip.ends_with('/')) {
        if (auto regex = regex::Regex::compile(strip.substr(1, strip.size() - 2))) {
            std::string rest;
            std::size_t at = 0;
            while (at <= branch.size()) {
                const auto match = (*regex)->search(branch, at);
                if (!match || !match->groups[0]) break;
                const auto [begin, end] = *match->groups[0];
                rest += branch.substr(at, begin - at);
                if (end == begin && begin < branch.size()) rest += branch[begin];
                at = end == begin ? end + 1 : end;
            }
            if (at < branch.size()) rest += branch.substr(at);
            out.name = std::move(rest);
        }
    } else if (!strip.empty() && branch.starts_with(strip)) {
        out.name = branch.substr(strip.size());
    }
    std::string folder = out.name;
    bool valid = !folder.empty();
    for (char& c : folder) {
        if (word_character(c)) continue;
        valid = false;
        c = '_';
    }
    if (!valid && (source.invalid_branches == "error" || folder.empty())) {
        out.refused = true;
        return out;
    }
    out.corrected = !valid;
    const std::string prefix = source.prefix_by_name    ? source.name + "_"
                               : !source.prefix.empty() ? source.prefix + "_"
                                                        : "";
    out.dirname = prefix + folder;
    // A prefix is free text, so its characters must be checked.
    for (const char c : out.dirname) out.refused |= !word_character(c) && c != '-' && c != '.';
    if (out.dirname.starts_with('.') || out.dirname.size() > 200) out.refused = true;
    if (out.refused) out.dirname.clear();
    return out;
}

}  // namespace bunraku::module
