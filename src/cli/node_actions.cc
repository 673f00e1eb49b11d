#include "cli/node_actions.h"

#include <algorithm>
#include <fmt/format.h>

#include "cli/ca_actions.h"
#include "cli/node_options.h"
#include "compile/site/external_nodes.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/yaml.h"
#include "core/sys/system.h"
#include "core/value/build.h"
#include "core/value/from_yaml.h"
#include "core/value/rich_data.h"
#include "core/value/yaml_document.h"
#include "services/agent/download.h"
#include "services/agent/open_link.h"

namespace bunraku::cli {

namespace {

using base::plain_error;
using value::Value;

constexpr std::string_view kTermini[] = {"exec",     "json", "memory",        "msgpack", "plain",
                                         "puppetdb", "rest", "store_configs", "yaml"};

/// A name that stands for one file.
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

/// Of this machine's facts and the classifier's answer.
Value made(Invocation& invocation, base::Arena& arena, const std::string& node, bool classified,
           base::LogSink& log) {
    const auto& settings = invocation.settings;
    std::optional<compiler::Classification> answer;
    if (classified) {
        answer = site::ask_external_nodes(arena, *sys::make_real_processes(),
                                          settings.text("external_nodes"), node);
    }
    site::Site site(settings, site_options(log));
    site::NodeRequest asked;
    asked.node = node;
    asked.facts.kind = site::FactSource::Kind::Machine;
    asked.sources.no_manifest = true;
    asked.classify = false;
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
    // The facts live in the session.
    out.set("parameters", *value::parse_json(arena, value::to_json(parameters.build())));
    return out.build();
}

/// A file that a server keeps; undef: there is none.
Value kept(const config::Settings& settings, base::Arena& arena, const std::string& node,
           bool yaml) {
    check_name(node);
    const auto path = fmt::format("{}/node/{}.{}",
                                  yaml ? settings.text("yamldir") : settings.text("server_datadir"),
                                  node, yaml ? "yaml" : "json");
    auto files = sys::make_real_file_system();
    const auto text = files->read(path);
    if (!text) {
        if (!files->exists(path)) return Value::undef();
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

Value of_server(const config::Settings& settings, base::Arena& arena, const std::string& node,
                base::LogSink& log) {
    sys::RealSystem system;
    const auto link =
        agent::open_link(settings, log, system.system(),
                         fmt::format("Puppet/{} Bunraku/{}", kPuppetVersion, kVersion));
    if (!link) throw plain_error(link.error().message);
    const auto answer = (*link)->get("node/" + node, {}, "application/json");
    if (!answer) throw plain_error(answer.error().message);
    if (answer->status == 404) return Value::undef();
    if (answer->status != 200) throw plain_error(agent::refusal_text(*answer));
    const auto data = value::parse_json(arena, answer->body);
    if (!data) throw plain_error(data.error().message);
    return *data;
}

}  // namespace

void find_node(Invocation& invocation, const std::string& node, const std::string& asked,
               const std::string& format, base::LogSink& log) {
    const auto& settings = invocation.settings;
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
        found = made(invocation, arena, node, terminus == "exec", log);
    } else if (terminus == "yaml" || terminus == "json") {
        found = kept(settings, arena, node, terminus == "yaml");
    } else if (terminus == "rest") {
        found = of_server(settings, arena, node, log);
    }
    // As Puppet's: nothing is found, and nothing is said.
    if (found.is_undef()) return;
    std::string out;
    if (format == "yaml") {
        out = value::yaml_document(found, "--- !ruby/object:Puppet::Node");
    } else {
        out = (format == "json" ? value::to_json(found) : value::to_pretty_json(found)) + "\n";
    }
    std::fwrite(out.data(), 1, out.size(), stdout);
}

int clean_nodes(Invocation& invocation, const std::vector<std::string>& nodes, base::LogSink& log) {
    if (nodes.empty()) throw plain_error("At least one node should be passed");
    const auto& settings = invocation.settings;
    auto files = sys::make_real_file_system();
    int code = 0;
    for (const std::string& given : nodes) {
        const std::string node = base::lower(given);
        check_name(node);
        const auto tell = [&](std::string_view what) {
            log.log(base::Level::Info, fmt::format("{}'s {} removed", node, what));
        };
        const auto remove = [&](const std::string& path) {
            if (const auto done = files->remove_all(path); !done) {
                log.log(base::Level::Err, done.error().message);
                code = 1;
            }
        };
        if (files->exists(settings.text("cacert")) || files->exists(settings.text("localcacert"))) {
            CaInput input;
            input.settings = settings;
            input.program = invocation.program;
            input.certnames = {node};
            const auto cleaned = ca_clean(input);
            if (!cleaned) log.log(base::Level::Err, cleaned.error().message);
            if (!cleaned || *cleaned != 0) code = 1;
        } else {
            log.log(base::Level::Info,
                    fmt::format("Not managing {} certs as this host is not a CA", node));
        }
        remove(fmt::format("{}/facts/{}.yaml", settings.text("yamldir"), node));
        tell("facts");
        remove(fmt::format("{}/node/{}.yaml", settings.text("yamldir"), node));
        tell("cached node");
        remove(fmt::format("{}/{}", settings.text("reportdir"), node));
        tell("reports");
    }
    return code;
}

}  // namespace bunraku::cli
