// SPDX-License-Identifier: Apache-2.0
#include "services/agent/node_actions.h"

#include <algorithm>
#include <fmt/format.h>

#include "compile/site/external_nodes.h"
#include "compile/site/site.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/yaml.h"
#include "core/sys/disk.h"
#include "core/sys/system.h"
#include "core/value/build.h"
#include "core/value/from_yaml.h"
#include "core/value/rich_data.h"
#include "core/value/yaml_document.h"
#include "services/agent/download.h"
#include "services/agent/open_link.h"
#include "services/server/ca_actions.h"

namespace bunraku::agent {

namespace {

using base::plain_error;
using value::Value;

constexpr std::string_view kTermini[] = {"exec",     "json", "memory",        "msgpack", "plain",
                                         "puppetdb", "rest", "store_configs", "yaml"};

/// Checks that the name is valid as a file name.
void check_name(const std::string& node) {
    if (node.empty() || node.starts_with("..") || node.find_first_of("/\\") != node.npos)
        throw plain_error("invalid key");
}

Value classes_of(base::Arena& arena, const compiler::Classification& answer) {
    if (!answer.classes_with_parameters) {
        std::vector<Value> names;
        for (const auto& c : answer.classes) names.push_back(value::make_string(arena, c.name));
        return value::make_array(arena, names);
    }
    value::HashBuilder out(arena);
    for (const auto& c : answer.classes) {
        out.set(value::make_string(arena, c.name), c.parameters);
    }
    return out.build();
}

/// Builds the node from this machine's facts and the classifier's response.
Value made(const config::Settings& settings, const site::Options& options, base::Arena& arena,
           const std::string& node, bool classified, base::LogSink& log) {
    std::optional<compiler::Classification> answer;
    if (classified) {
        answer = site::ask_external_nodes(arena, *sys::make_real_processes(),
                                          settings.text("external_nodes"), node);
    }
    site::Site site(settings, options);
    site::NodeRequest asked;
    asked.node = node;
    asked.facts.kind = site::FactSource::Kind::Machine;
    asked.sources.no_manifest = true;
    asked.classification = site::Unclassified();
    if (answer && !answer->environment.empty())
        asked.overlay.set("environment", answer->environment);
    const auto session = site.session(std::move(asked), log);
    value::HashBuilder out(arena, 4);
    out.set("name", value::make_string(arena, node));
    out.set("environment", value::make_string(arena, session->environment()->name()));
    if (answer && !answer->classes.empty()) out.set("classes", classes_of(arena, *answer));
    value::HashBuilder parameters(arena);
    if (session->facts().is_hash()) parameters.merge(session->facts().as_hash());
    if (answer && answer->parameters.is_hash()) parameters.merge(answer->parameters.as_hash());
    // Copy the facts, because they belong to the session.
    out.set("parameters", *value::parse_json(arena, value::to_json(parameters.build())));
    return out.build();
}

/// Returns the content of a file that a server has stored, or undef if it does not exist.
Value stored_file(const config::Settings& settings, base::Arena& arena, const std::string& node,
                  bool yaml) {
    check_name(node);
    const auto path = fmt::format("{}/node/{}.{}",
                                  yaml ? settings.text("yamldir") : settings.text("server_datadir"),
                                  node, yaml ? "yaml" : "json");
    auto& files = sys::disk();
    const auto text = files.read(path);
    if (!text) {
        if (!files.exists(path)) return Value::undef();
        throw plain_error(text.error().message);
    }
    if (!yaml) {
        const auto data = value::parse_json(arena, *text);
        if (!data) throw plain_error(data.error().message);
        return *data;
    }
    const auto document = codec::parse_yaml(*text, path, codec::YamlDates::Text, "Puppet::Node");
    if (!document) throw plain_error(document.error().message);
    return value::from_yaml(arena, *document, [&](const codec::YamlNode& n, bool) {
        return value::make_string(arena, n.text);
    });
}

Value of_server(const config::Settings& settings, const std::string& user_agent, base::Arena& arena,
                const std::string& node, base::LogSink& log) {
    sys::RealSystem system;
    const auto link = open_link(settings, log, system.system(), user_agent);
    if (!link) throw plain_error(link.error().message);
    const auto answer = (*link)->get("node/" + node, {}, "application/json");
    if (!answer) throw plain_error(answer.error().message);
    if (answer->status == 404) return Value::undef();
    if (answer->status != 200) throw plain_error(refusal_text(*answer));
    const auto data = value::parse_json(arena, answer->body);
    if (!data) throw plain_error(data.error().message);
    return *data;
}

}  // namespace

std::string find_node(const config::Settings& settings, const site::Options& options,
                      const std::string& node, const std::string& asked, const std::string& format,
                      base::LogSink& log) {
    const std::string terminus = asked.empty() ? settings.text("node_terminus") : asked;
    if (std::ranges::find(kTermini, terminus) == std::end(kTermini)) {
        throw plain_error(
            fmt::format("Could not set 'node' terminus to '{0}' (Could not find terminus {0} for "
                        "indirection node); valid terminus types are {1}",
                        terminus, fmt::join(kTermini, ", ")));
    }
    base::Arena arena;
    Value found;
    if (terminus == "plain" || terminus == "exec") {
        found = made(settings, options, arena, node, terminus == "exec", log);
    } else if (terminus == "yaml" || terminus == "json") {
        found = stored_file(settings, arena, node, terminus == "yaml");
    } else if (terminus == "rest") {
        found = of_server(settings, options.user_agent, arena, node, log);
    }
    // Like Puppet, prints nothing if nothing is found.
    if (found.is_undef()) return {};
    if (format == "yaml") return value::yaml_document(found, "--- !ruby/object:Puppet::Node");
    return (format == "json" ? value::to_json(found) : value::to_pretty_json(found)) + "\n";
}

int clean_nodes(const config::Settings& settings, const std::string& program,
                const std::vector<std::string>& nodes, base::LogSink& log) {
    if (nodes.empty()) throw plain_error("At least one node should be passed");
    auto& files = sys::disk();
    int code = 0;
    for (const std::string& given : nodes) {
        const std::string node = base::lower(given);
        check_name(node);
        const auto report = [&](std::string_view what) {
            log.log(base::Level::Info, fmt::format("{}'s {} removed", node, what));
        };
        const auto remove = [&](const std::string& path) {
            if (const auto done = files.remove_all(path); !done) {
                log.log(base::Level::Err, done.error().message);
                code = 1;
            }
        };
        if (files.exists(settings.text("cacert")) || files.exists(settings.text("localcacert"))) {
            server::CaInput input;
            input.settings = settings;
            input.program = program;
            input.certnames = {node};
            const auto cleaned = server::ca_clean(input);
            if (!cleaned) log.log(base::Level::Err, cleaned.error().message);
            if (!cleaned || *cleaned != 0) code = 1;
        } else {
            log.log(base::Level::Info,
                    fmt::format("Not managing {} certs as this host is not a CA", node));
        }
        remove(fmt::format("{}/facts/{}.yaml", settings.text("yamldir"), node));
        report("facts");
        remove(fmt::format("{}/node/{}.yaml", settings.text("yamldir"), node));
        report("cached node");
        remove(fmt::format("{}/{}", settings.text("reportdir"), node));
        report("reports");
    }
    return code;
}

}  // namespace bunraku::agent
